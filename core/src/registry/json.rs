//! A method as JSON text, for programs in other languages, and what automatic defaults stand for.

use super::{Auto, Domain, Kind, Method, Param};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Display, Write as _};

/// What a default stands for, in words: `0.1 for linear models, 0.003 for networks`.
impl Display for Auto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Model { linear, network } => f.write_str(&either(linear, network)),
            Self::Rate { linear, network, steps } => {
                let shorter =
                    format!("{} (times the root of {steps}/steps in shorter runs, at most tenfold)", number(network));
                f.write_str(&of(number(linear), shorter))
            }
            Self::Penalised { linear, network, penalty } => {
                let (rate, most) = (either(linear, network), number(penalty));
                write!(f, "{rate}, for a penalty above {most} times {most}/penalty")
            }
            Self::PerRow { linear, network, from_linear } => {
                let of = of(format!("{}/rows", number(linear)), format!("{}/rows", number(network)));
                let from = number(from_linear);
                write!(f, "{of}, {from} root of parameters/rows for those that begin at a linear model")
            }
            Self::Validated { network, .. } => {
                write!(f, "by cross-validation for linear models, {}/rows for networks", number(network))
            }
            Self::PerPositive { linear, network } => {
                let share = |share: f64| format!("{} parameters/positives", number(share));
                f.write_str(&of(share(linear), share(network)))
            }
            Self::Positives(times) => write!(f, "{} times the positives", number(times)),
            Self::InRange { unit, least } => {
                let most = 9 * unit;
                write!(f, "{}, or for five negatives in the range of --fpr up to {most}", unit * least)
            }
            Self::Passes { passes, linear, network } => {
                write!(f, "{} passes, at least {}", number(passes), of(linear.to_string(), network.to_string()))
            }
            Self::Share { linear, network } => {
                let share =
                    |share: f64| format!("{} of the method's own steps", number(libm::round(share * 1000.0) / 1000.0));
                f.write_str(&of(share(linear), share(network)))
            }
        }
    }
}

fn either(linear: f64, network: f64) -> String {
    of(number(linear), number(network))
}

fn of(linear: String, network: String) -> String {
    if linear == network { linear } else { format!("{linear} for linear models, {network} for networks") }
}

/// Without a row of zeros.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e6).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}

/// Text in quotes.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                // (A string takes everything.)
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn domain(domain: Domain) -> String {
    let range =
        |kind: &str, low: String, high: String| format!("{{\"high\":{high},\"kind\":\"{kind}\",\"low\":{low}}}");
    let or = |range: String, word: &str| format!("{},\"word\":{}}}", &range[..range.len() - 1], quoted(word));
    match domain {
        Domain::Number { low, high } => range("number", format!("{low:?}"), format!("{high:?}")),
        Domain::Count { low, high } => range("count", low.to_string(), high.to_string()),
        Domain::Choice(words) => {
            format!("{{\"kind\":\"choice\",\"values\":{}}}", list(words.iter().map(|word| quoted(word))))
        }
        Domain::CountOr { word, low, high } => or(range("count", low.to_string(), high.to_string()), word),
        Domain::NumberOr { word, low, high } => or(range("number", format!("{low:?}"), format!("{high:?}")), word),
    }
}

fn param(param: &Param) -> String {
    let auto = param.auto.map_or_else(String::new, |auto| format!("\"auto\":{},", quoted(&auto.to_string())));
    format!(
        "{{\"about\":{},{auto}\"default\":{},\"domain\":{},\"name\":{}}}",
        quoted(param.about),
        quoted(param.default),
        domain(param.domain),
        quoted(param.name)
    )
}

impl Method {
    /// The method with its parameters as a JSON object: `name`, `title`, `about`, `metric`, `paper`, `part`, `files`,
    /// `groups` (whether it trains on rows of groups), `paper_settings` and `params`, each of these with `name`, `default`,
    /// `about`, `domain` and, where the default is automatic, what it stands for as `auto`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let settings: Vec<String> =
            self.paper.iter().map(|(name, value)| format!("{}:{}", quoted(name), quoted(value))).collect();
        format!(
            "{{\"about\":{},\"files\":{},\"groups\":{},\"metric\":{},\"name\":{},\"paper\":{},\"paper_settings\":{{{}}},\
             \"params\":{},\"part\":{},\"title\":{}}}",
            quoted(self.about),
            list(self.files.iter().map(|file| quoted(file))),
            self.kind == Kind::Cells,
            quoted(self.metric()),
            quoted(self.name),
            quoted(self.source.paper),
            settings.join(","),
            list(self.params.iter().map(param)),
            quoted(self.source.part),
            quoted(self.title),
        )
    }
}
