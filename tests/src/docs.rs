//! Parts of the documentation that are made from the registry.

use std::fmt::Write as _;
use std::sync::Arc;
use undercurve::data::Dataset;
use undercurve::measure::{Needs, TABLE};
use undercurve::registry::{METHODS, OPTIMIZERS, Source, class_methods};
use undercurve::trainer::{Config, Trainer};

/// Where the steps of a method with these settings can be made: in lanes on a GPU, by evaluations of the whole objective there, or on
/// the CPU alone.
fn steps_of(method: &str, settings: &[(&str, &str)]) -> &'static str {
    let labels: Vec<u8> = (0..100).map(|row| u8::from(row % 4 == 0)).collect();
    let x = labels.iter().map(|&label| f32::from(label)).collect();
    let data = Arc::new(Dataset::dense(x, labels, 1).expect("rows"));
    let settings = settings.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    let config = Config { method: method.into(), settings, ..Config::default() };
    // (The method's own steps, which others may come before. Methods that want groups are no lanes either.)
    match Trainer::<f32>::new(&config, data, None) {
        Ok(trainer) if trainer.step_spec().is_ok() => "lanes",
        Ok(trainer) if matches!(trainer.whole(), Ok(Some(_))) => "exact",
        _ => "CPU",
    }
}

/// A parameter that leaves out the steps before a method's own, where it has one.
fn alone(method: &undercurve::registry::Method) -> &'static [(&'static str, &'static str)] {
    if method.params.iter().any(|param| param.name == "pretrain") { &[("pretrain", "0")] } else { &[] }
}

/// The table of core/METRICS.md.
pub fn metrics_table() -> String {
    let mut out = String::from(
        "| name | what | formula | range | needs | weights | 95 % interval | other names |\n|---|---|---|---|---|---|---|---|\n",
    );
    for entry in TABLE {
        let needs = match entry.needs {
            Needs::Nothing => "",
            Needs::Threshold => "a threshold",
            Needs::Probabilities => "probabilities",
            Needs::Queries => "queries",
            Needs::Groups => "groups",
        };
        let yes = |told| if told { "yes" } else { "" };
        let limits = if entry.limits.is_empty() { String::new() } else { format!("; {}", entry.limits) };
        let (name, about, formula, range) = (entry.name, entry.about, entry.formula.replace('|', "\\|"), entry.range);
        let (weights, interval, names) = (yes(entry.weights), yes(entry.has_interval()), entry.aliases.join(", "));
        writeln!(
            out,
            "| `{name}{}` | {about}{limits} | {formula} | {range} | {needs} | {weights} | {interval} | {names} |",
            entry.form
        )
        .unwrap();
    }
    out
}

/// The table paper → method → files → command-line name of core/METHODS.md.
pub fn methods_table() -> String {
    let mut out = String::from("| paper | part | what | name | GPU | files |\n|---|---|---|---|---|---|\n");
    let link = |files: &[&str]| {
        files.iter().map(|f| format!("[{f}]({})", f.trim_start_matches("core/"))).collect::<Vec<_>>().join(", ")
    };
    for m in METHODS {
        let (paper, part) = (m.source.paper, m.source.part);
        let (gpu, files) = (steps_of(m.name, alone(m)), link(m.files));
        writeln!(out, "| {paper} | {part} | {} | `--method {}` | {gpu} | {files} |", m.title, m.name).unwrap();
    }
    for m in class_methods() {
        let Source { paper, part } = m.source;
        let files = link(m.files);
        writeln!(out, "| {paper} | {part} | {} | `--method {}`, several classes | CPU | {files} |", m.title, m.name)
            .unwrap();
    }
    for o in OPTIMIZERS {
        let (paper, part) = (o.source.paper, o.source.part);
        let gpu = steps_of("soap", &[("optimizer", o.name), ("pretrain", "0")]);
        writeln!(
            out,
            "| {paper} | {part} | {} | `--set optimizer={}` | {gpu} | {} |",
            o.about,
            o.name,
            link(&[o.file])
        )
        .unwrap();
    }
    out
}
