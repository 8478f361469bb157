//! `undercurve methods`: what can be trained with, and by which parameters.

use crate::args::method::find;
use crate::error::Result;
use crate::output;
use crate::tell::text::wrap;
use anyhow::Context as _;
use serde_json::Value;
use undercurve::registry::{Domain, METHODS, Method, Param, class_methods};

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

/// The methods by what they are for, each with when to take it; the first of a group is the one to try first.
const GROUPS: &[(&str, &[(&str, &str)])] = &[
    (
        "The baseline: begin here, and take others where `compare` shows a gain",
        &[
            ("ce-exact", "linear models whose rows fit in memory: probabilities, with a penalty by cross-validation"),
            ("ce", "the same in batches, and networks"),
            ("ce-balanced", "positives are rare and should weigh as much as the others"),
        ],
    ),
    (
        "The best rows first (average precision)",
        &[
            ("soap", "positives are rare; linear models and networks, in batches"),
            ("ap-exact", "a linear model, and all rows fit in memory: no step size to choose"),
        ],
    ),
    (
        "A good ranking of all rows (AUROC)",
        &[
            ("ppd-sg", "many rows, linear models and networks; also several classes"),
            ("ppd-adagrad", "the same, where columns differ much in scale"),
            ("auc-exact", "a linear model, and all rows fit in memory: no step size to choose"),
        ],
    ),
    (
        "A budget of false alarms (partial AUC, --fpr)",
        &[
            ("top", "first: cross-entropy or one of the next two, by folds"),
            ("pauc-threshold", "linear models and networks, in batches, over any range"),
            ("pauc-exact", "a linear model, and all rows fit in memory"),
            ("agd-sbcd", "a linear model over a range that does not begin at 0"),
            ("sorr", "some labels are wrong: the worst examples are left out"),
        ],
    ),
    (
        "Bounds on groups, or the worst groups (--group, --constraint)",
        &[
            ("sonex", "first: bounds on gaps between groups, or the worst groups' loss"),
            ("alexr2", "SONEX oscillates: it steps between proximal points"),
            ("lagrange", "a multiplier for each bound is wanted"),
            ("ooa", "the worst groups' loss alone, as in group DRO"),
        ],
    ),
    (
        "Convex problems to their minimum (finite sums)",
        &[("ai-sarah", "logistic or least-squares loss without a step size")],
    ),
];

/// What the papers compare with, and variants.
const OTHERS: &[(&str, &str)] = &[
    ("smooth-ap", "large batches with many positives, as in retrieval"),
    ("fast-ap", "the same, with scores in a bounded range"),
    ("min-max-ap", "recall at several precisions counts"),
    ("auc-margin", "networks with wrong labels or many easy negatives"),
    ("auc-pairwise", "to compare: pairs in batches"),
    ("pga", "to compare with PPD-SG"),
    ("oauc", "to compare with PPD-SG: plain primal-dual steps"),
    ("sopa", "a range from 0, by the risk of each positive"),
    ("sopa-s", "the same in a soft form, tuned by lambda"),
    ("sota-s", "true-positive rates count, too (two-way partial AUC)"),
    ("svm-pauc-tight", "a linear model and a convex problem"),
    ("dca", "to compare with AGD: outer steps that are linear in what is left out"),
    ("proximal-dca", "the same, with a proximal term"),
    ("pauc-minibatch", "to compare: the range of each batch"),
    ("sox", "to compare with SONEX: a squared penalty"),
    ("msvr", "the same, with a corrected running gradient"),
    ("sonx", "the same, with a penalty that is not smoothed"),
    ("icppac", "the same, by an inexact proximal point method"),
    ("focal", "many easy examples drown the hard ones"),
    ("cb-ce", "classes of very different size"),
    ("ldam", "rare classes in networks, which overfit them"),
    ("bounded-ai-sarah", "AI-SARAH takes steps that are too long"),
    ("theoretical-ai-sarah", "to compare with the theory, on few rows"),
    ("sarah", "to compare: recursive gradients"),
    ("sarah+", "the same with inner loops that end by themselves"),
    ("svrg", "to compare: an anchor reduces the variance"),
    ("momentum-sum", "sparse rows and a step size of one's own"),
    ("adam-sum", "a familiar method, pass by pass"),
];

pub fn run(Args { name, json }: Args) -> Result<()> {
    if name.as_deref() == Some("top") && !json {
        return output::line(wrap(
            "top: cross-entropy, pauc-threshold or pauc-exact, whichever has the best partial AUC (--fpr) on folds of the training rows. It has no \
             settings of its own; the first lines of a run name what was taken.",
            0,
        ));
    }
    let chosen = match &name {
        Some(name) => vec![find(name)?],
        None => METHODS.iter().collect(),
    };
    let several: Vec<&Method> = match &name {
        Some(name) => find(name)?.of_classes().into_iter().collect(),
        None => class_methods().collect(),
    };
    if json {
        chosen.iter().try_for_each(|method| output::line(told(method)?))?;
        return several.iter().try_for_each(|method| {
            let mut object = told(method)?;
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
    let width = GROUPS.iter().flat_map(|group| group.1).map(|method| method.0.len()).max().unwrap_or(0);
    for (at, (title, methods)) in GROUPS.iter().enumerate() {
        output::line(format!("{}{title}", if at > 0 { "\n" } else { "" }))?;
        for (name, when) in *methods {
            output::line(wrap(&format!("  {name:width$}  {when}"), width + 4))?;
        }
    }
    let others: Vec<&str> = OTHERS.iter().map(|method| method.0).collect();
    output::line(wrap(&format!("\nVariants, and what the papers compare with: {}.", others.join(", ")), 2))?;
    let names: Vec<&str> = several.iter().map(|method| method.name).collect();
    output::line(format!("\nOn more than two classes: {}.", names.join(", ")))?;
    output::line("`undercurve methods NAME` tells what it minimises, its paper and its parameters.")
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

/// When to take a method.
fn when(name: &str) -> Option<&'static str> {
    GROUPS.iter().flat_map(|group| group.1).chain(OTHERS).find(|method| method.0 == name).map(|method| method.1)
}

fn details(method: &Method) -> Result<()> {
    output::line(format!("{} — {}", method.name, method.title))?;
    output::line(wrap(method.about, 0))?;
    if let Some(when) = when(method.name) {
        output::line(wrap(&format!("Take it when: {when}"), 8))?;
    }
    output::line(wrap(&format!("Source: {}; {}", method.source.paper, method.source.part), 8))?;
    output::line(wrap(&format!("Files:  {}", method.files.join(", ")), 8))?;
    output::line("\nParameters (--set NAME=VALUE):")?;
    let name = method.params.iter().map(|param| param.name.len()).max().unwrap_or(0);
    let default = method.params.iter().map(|param| param.default.len()).max().unwrap_or(0);
    for param in method.params {
        let stands = param.auto.map_or_else(String::new, |auto| format!("; auto: {auto}"));
        let begin = format!("  {:name$}  {:default$}  ", param.name, param.default);
        let indent = begin.chars().count();
        output::line(wrap(&format!("{begin}{}{stands} [{}]", param.about, values(param)), indent))?;
    }
    if !method.paper.is_empty() {
        let paper: Vec<String> = method.paper.iter().map(|(name, value)| format!("{name}={value}")).collect();
        output::line(wrap(&format!("\nThe paper's settings (--preset paper): {}", paper.join(" ")), 2))?;
    }
    Ok(())
}

/// A method as JSON, with when to take it.
fn told(method: &Method) -> Result<Value> {
    let mut object: Value = serde_json::from_str(&method.to_json()).context("the registry")?;
    object["when"] = when(method.name).into();
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, METHODS, OTHERS};

    #[test]
    fn every_method_is_in_one_group() {
        let listed = GROUPS.iter().flat_map(|group| group.1).chain(OTHERS).map(|method| method.0);
        // (Folds choose what `top` is.)
        let mut names: Vec<&str> = listed.filter(|name| *name != "top").collect();
        let mut all: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
        names.sort_unstable();
        all.sort_unstable();
        assert_eq!(names, all);
    }
}
