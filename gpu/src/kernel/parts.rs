//! The texts that steps of one workgroup and of many share: what every step consists of, estimators, surrogates and rules.

pub(crate) use super::objective::Family;
use super::{objective, rule, surrogate};
use crate::GpuError;
use std::fmt::Write;
use undercurve::device::Shape;

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
    let of = objective::by_name(shape.objective).ok_or_else(|| none("objective", shape.objective))?;
    let surrogate = if shape.surrogate.is_empty() && of.surrogate.is_empty() {
        ""
    } else {
        surrogate::source(shape.surrogate).ok_or_else(|| none("surrogate", shape.surrogate))?
    };
    Ok(Estimator { family: of.family, text: [of.shared, of.text, surrogate].concat() })
}

/// A shape's constants, what every step consists of, and the rule.
///
/// # Errors
/// `NoKernel` for a rule without a text.
pub(crate) fn common(shape: &Shape) -> Result<String, GpuError> {
    let rule = rule::by_name(shape.rule).ok_or_else(|| none("rule", shape.rule))?;
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
        ("START", shape.pull.unwrap_or(0)),
    ] {
        let _ = writeln!(text, "const {name} = {value}u;");
    }
    for (name, value) in
        [("SIGMOID", shape.sigmoid), ("TANH", shape.tanh), ("PULL", shape.pull.is_some()), ("RISING", rule.rising)]
    {
        let _ = writeln!(text, "const {name} = {value};");
    }
    text.push_str(wgsl!("common.wgsl"));
    text.push_str(rule.text);
    Ok(text)
}
