//! The texts that lanes and wide steps share: what every step consists of, estimators, surrogates and rules.

use super::surrogate;
use crate::GpuError;
use std::fmt::Write;
use undercurve::lane::Shape;

/// How an engine computes an estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Sums over the pairs of every positive, of which `weigh` makes weights.
    Pairs,
    /// Losses of single rows: `point`.
    Points,
    /// Moments of both classes: `by_score`, `saddle`.
    Moments,
    /// Pairs of a positive with the negatives, each with a weight of its own: `prepare`, `begin`, `between`, `weight`. Of a batch
    /// whose scores are all at hand.
    Gates,
    /// None of these: the text is `estimate` itself, of a batch whose scores are all at hand.
    Own,
}

/// An estimator's text, its surrogate's behind it.
#[derive(Clone, Debug)]
pub(crate) struct Estimator {
    pub family: Family,
    pub text: String,
}

fn none(what: &str, name: &str) -> GpuError {
    GpuError::NoKernel { what: format!("the {what} {name:?}") }
}

/// The estimator of a shape.
///
/// # Errors
/// `NoKernel`.
pub(crate) fn estimator(shape: &Shape) -> Result<Estimator, GpuError> {
    let (family, text) = match shape.objective {
        "soap" => (Family::Pairs, wgsl!("estimator/soap.wgsl")),
        "auc-pairwise" => (Family::Pairs, wgsl!("estimator/auc-pairwise.wgsl")),
        "smooth-ap" => (Family::Pairs, wgsl!("estimator/smooth-ap.wgsl")),
        "cross-entropy" => (Family::Points, wgsl!("estimator/cross-entropy.wgsl")),
        "focal" => (Family::Points, wgsl!("estimator/focal.wgsl")),
        "auc-margin" => (Family::Moments, wgsl!("estimator/auc-margin.wgsl")),
        "auc-min-max" => (Family::Moments, wgsl!("estimator/auc-min-max.wgsl")),
        "pauc-minibatch" => (Family::Gates, wgsl!("estimator/pauc-minibatch.wgsl")),
        "pauc-threshold" => (Family::Gates, wgsl!("estimator/pauc-threshold.wgsl")),
        "sopa" => (Family::Gates, wgsl!("estimator/sopa.wgsl")),
        "sopa-s" => (Family::Gates, wgsl!("estimator/sopa-s.wgsl")),
        "sota-s" => (Family::Gates, wgsl!("estimator/sota-s.wgsl")),
        "pauc-dual" => (Family::Gates, wgsl!("estimator/pauc-dual.wgsl")),
        "sorr" => (Family::Own, wgsl!("estimator/sorr.wgsl")),
        "ldam" => (Family::Own, wgsl!("estimator/ldam.wgsl")),
        "fast-ap" => (Family::Own, wgsl!("estimator/fast-ap.wgsl")),
        "min-max-ap" => (Family::Own, wgsl!("estimator/min-max-ap.wgsl")),
        name => return Err(none("objective", name)),
    };
    let shared = match shape.objective {
        "min-max-ap" => wgsl!("pairs.wgsl"),
        _ if family == Family::Pairs => wgsl!("pairs.wgsl"),
        "pauc-minibatch" | "pauc-threshold" => wgsl!("estimator/range.wgsl"),
        "sopa-s" | "sota-s" => wgsl!("estimator/kl.wgsl"),
        _ => "",
    };
    let surrogate = match shape.surrogate {
        "" if matches!(family, Family::Pairs | Family::Gates) || shape.objective == "min-max-ap" => {
            return Err(none("surrogate", ""));
        }
        "" => "",
        name => surrogate::source(name).ok_or_else(|| none("surrogate", name))?,
    };
    Ok(Estimator { family, text: [shared, text, surrogate].concat() })
}

/// A shape's constants, what every step consists of, and the rule.
///
/// # Errors
/// `NoKernel` for a rule without a text.
pub(crate) fn common(shape: &Shape) -> Result<String, GpuError> {
    let rule = match shape.rule {
        "sgd" => wgsl!("rule/sgd.wgsl"),
        "momentum" => wgsl!("rule/momentum.wgsl"),
        "adam" | "amsgrad" => wgsl!("rule/adam.wgsl"),
        "adagrad" => wgsl!("rule/adagrad.wgsl"),
        "ppd-sg" => wgsl!("rule/ppd-sg.wgsl"),
        "ppd-adagrad" => wgsl!("rule/ppd-adagrad.wgsl"),
        "pesg" => wgsl!("rule/pesg.wgsl"),
        "dca" => wgsl!("rule/dca.wgsl"),
        name => return Err(none("rule", name)),
    };
    let mut text = String::new();
    for (name, value) in [
        ("ROWS", shape.rows),
        ("INPUTS", shape.widths[0]),
        ("PARAMS", shape.params),
        ("LENGTH", shape.length),
        ("SLOTS", shape.slots),
        ("BANK", shape.bank),
        ("STATE", shape.state),
        ("ASCENT", shape.ascent),
    ] {
        let _ = writeln!(text, "const {name} = {value}u;");
    }
    for (name, value) in
        [("SIGMOID", shape.sigmoid), ("TANH", shape.tanh), ("PULL", shape.pull), ("RISING", shape.rule == "amsgrad")]
    {
        let _ = writeln!(text, "const {name} = {value};");
    }
    text.push_str(wgsl!("common.wgsl"));
    text.push_str(rule);
    Ok(text)
}
