//! What is wanted of a ranking, as people say it: `--want`.

use undercurve::metric::Top;

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Want {
    /// A metric, by the core's name.
    Metric(&'static str),
    /// Few false positives.
    Fpr(f64),
    /// The best of so many alerts.
    Alerts(Top),
}

/// The false-positive rates of the partial AUC, where nothing says others.
pub const RANGE: (f64, f64) = (0.0, 0.05);

/// Reads it.
///
/// # Errors
/// What was expected.
pub fn want(text: &str) -> Result<Want, String> {
    let plain: String = text.to_lowercase().split_whitespace().collect();
    let alerts = |count: &str| count.parse().ok().map(Want::Alerts);
    let found = match plain.as_str() {
        "ap" => Some(Want::Metric("ap")),
        "auroc" => Some(Want::Metric("auroc")),
        "pauc" => Some(Want::Metric("pauc")),
        other => {
            let of = |start: &str| other.strip_prefix(start);
            if let Some(rate) = of("fpr<=") {
                rate.parse().ok().filter(|&rate: &f64| rate > 0.0 && rate <= 1.0).map(Want::Fpr)
            } else if let Some(count) = of("recall@").or(of("precision@")).or(of("alerts<=")) {
                alerts(count)
            } else {
                other.strip_suffix("alerts").or(other.strip_suffix("alert")).and_then(alerts)
            }
        }
    };
    found.ok_or_else(|| {
        "expected ap, auroc, pauc, \"100 alerts\", \"2% alerts\", recall@100 or \"fpr<=0.001\"".to_string()
    })
}

impl Want {
    /// The metric of folds, and the range of false-positive rates: of alerts that of as many negatives.
    ///
    /// # Errors
    /// For more alerts than rows.
    pub fn of(self, rows: usize, positives: usize, range: (f64, f64)) -> crate::Result<(&'static str, (f64, f64))> {
        Ok(match self {
            Self::Alerts(Top::Rows(count)) if count > rows as u64 => {
                return Err(crate::Error::Input(format!("{count} alerts of {rows} rows")));
            }
            Self::Metric(name) => (name, range),
            Self::Fpr(most) => ("pauc", (0.0, most)),
            Self::Alerts(top) => {
                let alerts = top.of(rows as f64).unwrap_or(rows as f64);
                // (To three digits, as people read it.)
                let most = format!("{:.2e}", (alerts / (rows - positives).max(1) as f64).min(1.0));
                ("pauc", (0.0, most.parse().unwrap_or(1.0)))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Want, want};
    use undercurve::metric::Top;

    #[test]
    fn it_is_read_as_people_say_it() {
        for text in ["100 alerts", "recall@100", "precision@100", "alerts<=100", " 100 Alerts", "alerts <= 100"] {
            assert_eq!(want(text), Ok(Want::Alerts(Top::Rows(100))), "{text}");
        }
        assert_eq!(want("2% alerts"), Ok(Want::Alerts(Top::Percent(2.0))));
        assert_eq!(want("1 alert"), Ok(Want::Alerts(Top::Rows(1))));
        let of = |text, rows, positives| {
            want(text).and_then(|want| want.of(rows, positives, (0.0, 0.05)).map_err(|error| error.to_string()))
        };
        assert_eq!(of("fpr <= 0.001", 1000, 100), Ok(("pauc", (0.0, 0.001))));
        assert_eq!(of("90 alerts", 1000, 100), Ok(("pauc", (0.0, 0.1))));
        assert_eq!(of("100 alerts", 5472, 559), Ok(("pauc", (0.0, 0.0204))));
        assert_eq!(of("ap", 1000, 100), Ok(("ap", (0.0, 0.05))));
        assert_eq!(of("1000 alerts", 999, 100), Err("1000 alerts of 999 rows".to_string()));
        for text in ["", "alerts", "0 alerts", "1.5 alerts", "fpr<=0", "fpr<=2", "101% alerts", "map"] {
            assert!(want(text).is_err(), "{text}");
        }
    }
}
