//! `undercurve methods`: what can be trained with, and by which parameters.

use crate::error::{CliError, Result};
use crate::output;
use serde_json::{Value, json};
use undercurve::registry::{Domain, METHODS, Method, Param, method};

/// Options of `methods`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  undercurve methods\n  undercurve methods soap\n  undercurve methods --json")]
pub struct Args {
    /// One method, with its parameters
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print JSON: one object a method and line
    #[arg(long)]
    json: bool,
}

/// The method of a name.
///
/// # Errors
/// `Input`, with the name that may have been meant.
pub fn find(name: &str) -> Result<&'static Method> {
    method(name).ok_or_else(|| {
        let names = || METHODS.iter().map(|method| method.name);
        let likely = names()
            .map(|known| (strsim::normalized_damerau_levenshtein(name, known), known))
            .filter(|(likeness, _)| *likeness > 0.5)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let all = names().collect::<Vec<_>>().join(", ");
        CliError::input(match likely {
            Some((_, known)) => format!("no method \"{name}\"; did you mean {known}? There are {all}"),
            None => format!("no method \"{name}\"; there are {all}"),
        })
    })
}

/// Prints the methods.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &Args) -> Result<()> {
    let chosen = match &args.name {
        Some(name) => vec![find(name)?],
        None => METHODS.iter().collect(),
    };
    if args.json {
        return chosen.iter().try_for_each(|method| output::line(object(method)));
    }
    if args.name.is_some() {
        return chosen.iter().try_for_each(|method| details(method));
    }
    let width = chosen.iter().map(|method| method.name.len()).max().unwrap_or(0);
    for method in &chosen {
        output::line(format!("{:width$}  {}", method.name, method.about))?;
        output::line(format!("{:width$}  {}; {}", "", method.source.paper, method.source.part))?;
    }
    output::line("\n`undercurve methods NAME` lists the parameters of one.")
}

fn numbers(low: f64, high: f64) -> String {
    format!("{} to {}", number(low), number(high))
}

/// Without a row of zeros.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e6).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}

fn values(param: &Param) -> String {
    match param.domain {
        Domain::Number { low, high } => numbers(low, high),
        Domain::Count { low, high } if high == u64::from(u32::MAX) => format!("whole number, at least {low}"),
        Domain::Count { low, high } => format!("whole number, {low} to {high}"),
        Domain::Choice(words) => words.join(", "),
        Domain::NumberOr { word, low, high } => format!("{word}, or {}", numbers(low, high)),
    }
}

fn details(method: &Method) -> Result<()> {
    output::line(format!("{} — {}", method.name, method.title))?;
    output::line(method.about)?;
    output::line(format!("Source: {}; {}", method.source.paper, method.source.part))?;
    output::line(format!("Files:  {}", method.files.join(", ")))?;
    output::line("\nParameters (--set NAME=VALUE):")?;
    let name = method.params.iter().map(|param| param.name.len()).max().unwrap_or(0);
    let default = method.params.iter().map(|param| param.default.len()).max().unwrap_or(0);
    for param in method.params {
        output::line(format!("  {:name$}  {:default$}  {}", param.name, param.default, param.about))?;
        output::line(format!("  {:name$}  {:default$}  [{}]", "", "", values(param)))?;
    }
    Ok(())
}

/// A method as JSON.
#[must_use]
pub fn object(method: &Method) -> Value {
    let params = method.params.iter().map(|param| {
        let domain = match param.domain {
            Domain::Number { low, high } => json!({"kind": "number", "low": low, "high": high}),
            Domain::Count { low, high } => json!({"kind": "count", "low": low, "high": high}),
            Domain::Choice(words) => json!({"kind": "choice", "values": words}),
            Domain::NumberOr { word, low, high } => json!({"kind": "number", "low": low, "high": high, "word": word}),
        };
        json!({"name": param.name, "default": param.default, "about": param.about, "domain": domain})
    });
    json!({
        "name": method.name, "title": method.title, "about": method.about,
        "paper": method.source.paper, "part": method.source.part, "files": method.files,
        "params": params.collect::<Vec<_>>(),
    })
}
