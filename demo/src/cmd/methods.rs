//! `undercurve methods`: what can be trained with, and by which parameters.

use crate::args::method::find;
use crate::error::Result;
use crate::output;
use serde_json::{Value, json};
use undercurve::registry::{Auto, Domain, Kind, METHODS, Method, Param, class_methods};

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

pub fn run(Args { name, json }: Args) -> Result<()> {
    let chosen = match &name {
        Some(name) => vec![find(name)?],
        None => METHODS.iter().collect(),
    };
    let several: Vec<&Method> = match &name {
        Some(name) => find(name)?.of_classes().into_iter().collect(),
        None => class_methods().collect(),
    };
    if json {
        chosen.iter().try_for_each(|method| output::line(object(method)))?;
        return several.iter().try_for_each(|method| {
            let mut object = object(method);
            object["classes"] = "several".into();
            output::line(object)
        });
    }
    if name.is_some() {
        chosen.iter().try_for_each(|method| details(method))?;
        return several.iter().try_for_each(|method| {
            output::line("\nOn more than two classes:\n")?;
            details(method)
        });
    }
    let width = chosen.iter().map(|method| method.name.len()).max().unwrap_or(0);
    for method in &chosen {
        output::line(format!("{:width$}  {}", method.name, method.about))?;
        output::line(format!("{:width$}  {}; {}", "", method.source.paper, method.source.part))?;
    }
    let names: Vec<&str> = several.iter().map(|method| method.name).collect();
    output::line(format!("\nOn more than two classes: {}.", names.join(", ")))?;
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
        Domain::CountOr { word, low, .. } => format!("{word}, or a whole number, at least {low}"),
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
        let stands = param.auto.map_or_else(String::new, |auto| format!("; auto: {}", meaning(auto)));
        output::line(format!("  {:name$}  {:default$}  {}{stands}", param.name, param.default, param.about))?;
        output::line(format!("  {:name$}  {:default$}  [{}]", "", "", values(param)))?;
    }
    if !method.paper.is_empty() {
        let paper: Vec<String> = method.paper.iter().map(|(name, value)| format!("{name}={value}")).collect();
        output::line(format!("\nThe paper's settings (--preset paper): {}", paper.join(" ")))?;
    }
    Ok(())
}

/// What the default `auto` stands for.
fn meaning(auto: Auto) -> String {
    let of = |linear: String, network: String| match linear == network {
        true => linear,
        false => format!("{linear} for linear models, {network} for networks"),
    };
    match auto {
        Auto::Model { linear, network } => of(number(linear), number(network)),
        Auto::Rate { linear, network, steps } => {
            let shorter =
                format!("{} (times the root of {steps}/steps in shorter runs, at most tenfold)", number(network));
            of(number(linear), shorter)
        }
        Auto::Penalised { linear, network, penalty } => {
            let (rate, most) = (of(number(linear), number(network)), number(penalty));
            format!("{rate}, for a penalty above {most} times √({most}/penalty)")
        }
        Auto::PerRow { linear, network, from_linear } => {
            let of = of(format!("{}/rows", number(linear)), format!("{}/rows", number(network)));
            format!("{of}, {} root of parameters/rows for those that begin at a linear model", number(from_linear))
        }
        Auto::PerPositive { linear, network } => {
            let share = |share: f64| format!("{} parameters/positives", number(share));
            of(share(linear), share(network))
        }
        Auto::Positives(times) => format!("{} times the positives", number(times)),
        Auto::InRange { unit, least } => {
            format!("{}, or for five negatives in the range of --fpr up to {}", unit * least, 9 * unit)
        }
        Auto::Passes { passes, linear, network } => {
            format!("{} passes, at least {}", number(passes), of(linear.to_string(), network.to_string()))
        }
        Auto::Share { linear, network } => {
            let share = |share: f64| format!("{} of the method's own steps", number((share * 1000.0).round() / 1000.0));
            of(share(linear), share(network))
        }
        _ => "what fits the data".into(),
    }
}

/// A method as JSON.
#[must_use]
pub fn object(method: &Method) -> Value {
    let params = method.params.iter().map(|param| {
        let domain = match param.domain {
            Domain::Number { low, high } => json!({"kind": "number", "low": low, "high": high}),
            Domain::Count { low, high } => json!({"kind": "count", "low": low, "high": high}),
            Domain::Choice(words) => json!({"kind": "choice", "values": words}),
            Domain::CountOr { word, low, high } => json!({"kind": "count", "low": low, "high": high, "word": word}),
            Domain::NumberOr { word, low, high } => json!({"kind": "number", "low": low, "high": high, "word": word}),
        };
        let mut object = json!({"name": param.name, "default": param.default, "about": param.about, "domain": domain});
        if let Some(auto) = param.auto {
            object["auto"] = meaning(auto).into();
        }
        object
    });
    json!({
        "name": method.name, "title": method.title, "about": method.about, "metric": method.metric(),
        "groups": method.kind == Kind::Cells,
        "paper_settings": method.paper.iter().map(|(name, value)| ((*name).to_string(), json!(value))).collect::<serde_json::Map<_, _>>(),
        "paper": method.source.paper, "part": method.source.part, "files": method.files,
        "params": params.collect::<Vec<_>>(),
    })
}
