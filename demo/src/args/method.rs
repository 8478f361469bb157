//! Methods by name, and their settings.

use crate::error::{CliError, Result};
use crate::tell::text::likely;
use undercurve::registry::{METHODS, Method, method};
use undercurve::trainer::Config;

/// Other names of methods, as papers and other libraries have them.
const ALIASES: &[(&str, &str)] = &[
    ("cross-entropy", "ce"),
    ("bce", "ce"),
    ("logistic", "ce"),
    ("logistic-regression", "ce"),
    ("logreg", "ce"),
    ("ridge", "ce-exact"),
    ("balanced-cross-entropy", "ce-balanced"),
    ("balanced", "ce-balanced"),
    ("auc-m", "auc-margin"),
    ("aucm", "auc-margin"),
    ("agd", "agd-sbcd"),
    ("smoothap", "smooth-ap"),
    ("fastap", "fast-ap"),
    ("aisarah", "ai-sarah"),
];

/// The method of a name, or of another name that it has; capitals and underscores do not matter.
pub fn find(name: &str) -> Result<&'static Method> {
    let plain = plain(name);
    let known = ALIASES.iter().find(|(alias, _)| *alias == plain).map_or(&*plain, |(_, known)| known);
    method(known).ok_or_else(|| {
        let names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
        CliError::input(match likely(&plain, &names) {
            Some(known) => format!("no method \"{name}\"; did you mean {known}? `undercurve methods` lists them"),
            None => format!("no method \"{name}\"; `undercurve methods` lists them"),
        })
    })
}

/// A name as the lists of names have it.
pub fn plain(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// Refuses settings that are given twice.
pub fn check_once(set: &[(String, String)]) -> Result<()> {
    match set.iter().enumerate().find(|(at, (name, _))| set[..*at].iter().any(|(before, _)| before == name)) {
        Some((_, (name, _))) => Err(CliError::input(format!("--set {name}: given twice"))),
        None => Ok(()),
    }
}

/// Refuses settings that the method does not have or whose values do not fit.
pub fn check_settings(method: &'static Method, config: &Config) -> Result<()> {
    for (name, _) in &config.settings {
        if method.params.iter().all(|param| param.name != name) {
            let names: Vec<&str> = method.params.iter().map(|param| param.name).collect();
            let several = if std::ptr::eq(method, find(method.name)?) { "" } else { " of several classes" };
            let meant = match likely(name, &names) {
                Some(known) => format!("did you mean {known}? It"),
                None => "it".to_string(),
            };
            return Err(CliError::input(format!(
                "method {}{several} has no parameter \"{name}\"; {meant} has {}",
                method.name,
                names.join(", ")
            )));
        }
    }
    Ok(config.check(method)?)
}
