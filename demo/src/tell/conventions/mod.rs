//! The same scores as other programs measure them: which convention gives a number that somebody else reports.
//!
//! Each convention is a row of [`table`]; `tests/peers/conventions.py` holds every row against the program itself.

use crate::error::Result;
use crate::output;
use crate::tell::text::likely;
use serde_json::{Value, json};
use table::{Convention, conventions};
use undercurve::metric::Truth;

mod steps;
mod table;

/// Programs, and the versions whose numbers these are.
const PROGRAMS: [(&str, &str); 15] = [
    ("CatBoost", "1.2.10"),
    ("Keras", "3.15.1"),
    ("LightGBM", "4.7.0"),
    ("MLmetrics", "1.1.1"),
    ("NumPy", "2.4.6"),
    ("pROC", "1.18.0"),
    ("river", "0.26.1"),
    ("ROCR", "1.0.11"),
    ("scikit-learn", "1.9.1"),
    ("Spark", "4.3.0"),
    ("torcheval", "0.0.7"),
    ("torchmetrics", "1.9.0"),
    ("trec_eval", "9.0.8"),
    ("undercurve", env!("CARGO_PKG_VERSION")),
    ("XGBoost", "3.2.0"),
];

/// Those whose numbers with weights were compared, too.
const WEIGHTED: [&str; 2] = ["scikit-learn", "undercurve"];

/// What is asked: the conventions of a program, of all, or those that give a number.
#[derive(Clone, Debug)]
pub enum Asked {
    Like(&'static str),
    All,
    Reported(Reported),
}

/// A number as somebody wrote it.
#[derive(Clone, Debug)]
pub struct Reported {
    text: String,
    value: f64,
    /// Half of its last digit.
    half: f64,
}

/// A program's name, or all.
pub fn program(text: &str) -> std::result::Result<Asked, String> {
    if text == "all" {
        return Ok(Asked::All);
    }
    let names = PROGRAMS.map(|(name, _)| name);
    if let Some(name) = names.iter().find(|name| name.eq_ignore_ascii_case(text)) {
        return Ok(Asked::Like(name));
    }
    let meant = likely(text, &names).map_or(String::new(), |name| format!("; {name}?"));
    Err(format!("all, or one of {}{meant}", names.join(", ")))
}

/// A number with its digits, also in percent.
pub fn reported(text: &str) -> std::result::Result<Asked, String> {
    let expected = || "a number with its digits, as 0.8312 or 83.12%".to_string();
    let number = text.trim().trim_end_matches('%').trim_end();
    let value: f64 = number.parse().map_err(|_| expected())?;
    let places = number.split_once('.').map_or(0, |(_, places)| places.len());
    if !number.bytes().all(|c| c.is_ascii_digit() || b"+-.".contains(&c)) || places > 17 {
        return Err(expected());
    }
    let unit = if text.trim().ends_with('%') || value.abs() > 1.0 { 0.01 } else { 1.0 };
    let half = 0.5 * 0.1f64.powi(places as i32) * unit;
    if value.abs() * unit > 1.0 {
        return Err(expected());
    }
    Ok(Asked::Reported(Reported { text: text.trim().to_string(), value: value * unit, half }))
}

impl Reported {
    /// Leaves the conventions that give the number, the nearest first, or if there is none the nearest three; whether there is one.
    fn nearest(&self, all: &mut Vec<Convention>) -> bool {
        let given = all.iter().any(|one| self.is(one.value));
        all.retain(|one| if given { self.is(one.value) } else { one.value.is_finite() });
        all.sort_by(|a, b| (a.value - self.value).abs().total_cmp(&(b.value - self.value).abs()));
        all.truncate(if given { all.len() } else { 3 });
        given
    }

    /// Whether a value is written so: rounded, or with the digits after these left out.
    fn is(&self, value: f64) -> bool {
        let past = value.abs() - self.value.abs();
        let cut = value * self.value >= 0.0 && (0.0..2.0 * self.half * (1.0 - 1e-9)).contains(&past);
        let rounded = (value - self.value).abs() <= self.half * (1.0 + 1e-9) + 1e-12;
        rounded || cut
    }
}

impl Asked {
    /// Measures scores by other programs' conventions, and prints the numbers that are asked for.
    pub fn tell(&self, name: &str, scores: &[f64], truth: Truth<'_>, json: bool) -> Result<()> {
        let (labels, weights) = (truth.labels(), truth.weights());
        let positives = labels.iter().filter(|&&label| label == 1).count();
        let mut all = conventions(scores, labels, weights);
        if !weights.is_empty() {
            all.iter_mut().for_each(|one| one.of.retain(|(program, _)| WEIGHTED.contains(program)));
            all.retain(|one| !one.of.is_empty());
            let plain = conventions(scores, labels, &[]).into_iter();
            all.extend(plain.map(|one| Convention { what: format!("{}; without the weights", one.what), ..one }));
        }
        let head = match self {
            Self::All => "as other programs measure them".to_string(),
            Self::Like(program) => {
                all.iter_mut().for_each(|one| one.of.retain(|(name, _)| name == program));
                all.retain(|one| !one.of.is_empty());
                format!("as {program} measures them")
            }
            Self::Reported(reported) if reported.nearest(&mut all) => format!("these give {}", reported.text),
            Self::Reported(Reported { text, .. }) => {
                format!("no convention gives {text}\nThe nearest; are rows, labels, scores and weights the same?")
            }
        };
        if json {
            let mut told = json!({"rows": labels.len(), "positives": positives, "conventions": all.iter().map(Convention::json).collect::<Vec<_>>()});
            if let Self::Reported(reported) = self {
                told["reported"] = reported.value.into();
                told["given"] = all.iter().all(|one| reported.is(one.value)).into();
            }
            return output::line(told);
        }
        output::line(format!("{name}, {} rows, {positives} positive: {head}", labels.len()))?;
        all.iter().try_for_each(|one| output::line(one.text()))
    }
}

impl Convention {
    fn json(&self) -> Value {
        let call = |(name, call): &(&str, String)| json!({"program": name, "version": version(name), "call": call});
        json!({"value": self.value, "what": self.what, "of": self.of.iter().map(call).collect::<Vec<_>>()})
    }

    fn text(&self) -> String {
        let calls = self.of.iter().map(|(name, call)| format!("\n{:11}{name} {}: {call}", "", version(name)));
        format!("{:9.6}  {}{}", self.value, self.what, calls.collect::<String>())
    }
}

fn version(program: &str) -> &'static str {
    PROGRAMS.iter().find(|(name, _)| *name == program).map_or("", |(_, version)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABELS: [u8; 5] = [1, 0, 1, 0, 1];
    const SCORES: [f64; 5] = [0.9, 0.5, 0.5, 0.5, 0.1];

    /// What the programs themselves print of these rows; of other rows tests/peers/conventions.py.
    #[test]
    fn numbers_of_five_rows() {
        let found = |scores: &[f64], program: &str, call: &str| {
            let all = conventions(scores, &LABELS, &[]);
            let one = all.iter().find(|one| one.of.iter().any(|(name, of)| *name == program && of == call));
            one.map(|one| one.value)
        };
        let large = SCORES.map(|score| 100.0 * score);
        for (scores, program, call, value) in [
            (&SCORES, "scikit-learn", "roc_auc_score(y, s)", 0.5),
            (&SCORES, "scikit-learn", "average_precision_score(y, s)", 0.7),
            (&SCORES, "scikit-learn", "auc(recall, precision)", 0.766_666_666_666_666_6),
            (&SCORES, "scikit-learn", "roc_auc_score(y, s, max_fpr=0.3)", 0.637_254_901_960_784_3),
            (&SCORES, "pROC", "auc(roc(y, s), partial.auc=c(1, 0.7))", 0.115),
            (&SCORES, "XGBoost", "aucpr", 0.731_703_881_429_037_3),
            (&SCORES, "Keras", "AUC(curve=\"PR\")", 0.731_703_877_449_035_6),
            (&SCORES, "MLmetrics", "PRAUC", 0.433_333_333_333_333_3),
            (&SCORES, "trec_eval", "map", 0.755_555_555_555_555_6),
            (&SCORES, "Spark", "areaUnderPR", 0.766_666_666_666_666_6),
            (&large, "torchmetrics", "binary_auroc(s.float(), y)", 0.333_333_343_267_440_8),
        ] {
            let ours = found(scores, program, call).unwrap();
            assert!((ours - value).abs() < 2e-8, "{program}, {call}: {ours}, {value}");
        }
        assert_eq!(found(&large, "torchmetrics", "binary_auroc(s, y)"), None);
        assert_eq!(found(&large, "Keras", "AUC()"), None);
    }

    #[test]
    fn numbers_are_rounded_or_cut() {
        let is = |text: &str, value: f64| match reported(text) {
            Ok(Asked::Reported(reported)) => reported.is(value),
            _ => panic!("{text}"),
        };
        assert!(is("0.8312", 0.83124) && is("0.8312", 0.83115) && is("0.8312", 0.83129) && !is("0.8312", 0.8313));
        assert!(
            is("83.12%", 0.83124)
                && is("83.12", 0.83124)
                && is(".5", 0.5)
                && is("-0.25", -0.2549)
                && !is("0.25", -0.25)
        );
        for text in ["", "x", "1e-3", "inf", "120", "0.1.2", "%"] {
            assert!(reported(text).is_err(), "{text}");
        }
    }

    /// The guide names every program, and the numbers of its table are those of the five rows.
    #[test]
    fn the_guide_is_true() {
        let guide = include_str!("../../../../core/src/guide/other_numbers.md");
        PROGRAMS
            .iter()
            .filter(|(name, _)| *name != "undercurve")
            .for_each(|(name, _)| assert!(guide.contains(name), "{name}"));
        let all = conventions(&SCORES, &LABELS, &[]);
        let large = conventions(&SCORES.map(|score| 100.0 * score), &LABELS, &[]);
        let numbers: Vec<&str> = guide.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()).collect();
        let numbers: Vec<&str> = numbers.into_iter().filter(|number| number.starts_with(['.', '0'])).collect();
        assert_eq!(numbers.len(), 10);
        for number in numbers {
            let Ok(Asked::Reported(reported)) = reported(number) else { panic!("{number}") };
            assert!(all.iter().chain(&large).any(|one| reported.is(one.value)), "{number}");
        }
    }
}
