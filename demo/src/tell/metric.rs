//! Metrics by name, as `--metric` takes them: those of the core's table.

use crate::tell::text::{likely, wrap};
use undercurve::measure::{Entry, Metric, Needs, TABLE, Wrong};

/// What `--metric` understands, for help texts.
pub fn help() -> String {
    let is_plain = |entry: &Entry| !matches!(entry.needs, Needs::Queries | Needs::Groups);
    let names = |told: &dyn Fn(&Entry) -> bool| {
        TABLE.iter().filter(|entry| told(entry)).map(|entry| entry.name).collect::<Vec<_>>().join(", ")
    };
    let part = |head: &str, told: &dyn Fn(&Entry) -> bool| {
        let lines = TABLE
            .iter()
            .filter(|entry| told(entry))
            .map(|entry| wrap(&format!("  {:<24}{}", format!("{}{}", entry.name, entry.form), entry.about), 26));
        format!("{head}\n{}\n", lines.collect::<Vec<_>>().join("\n"))
    };
    let compared = format!(
        "{} come with 95 % intervals, also of rows with weights (--weight) or in clusters (--cluster).",
        names(&Entry::is_compared)
    );
    [
        part("Metrics:", &is_plain),
        format!("A THRESHOLD left out is the model's, or that of --threshold. {} are of a model's probabilities, or of scores from 0 to 1.\n",
            names(&|entry| entry.needs == Needs::Probabilities)),
        format!("{compared}\n"),
        part(
            "Metrics of queries (--query), each by itself, and the mean over those with something to find:",
            &|entry| entry.needs == Needs::Queries,
        ),
        part("Metrics of groups (--group), the worst pair or group:", &|entry| entry.needs == Needs::Groups),
    ]
    .map(|text| wrap_lines(&text))
    .concat()
    .trim_end()
    .to_string()
}

/// Lines that are too long.
fn wrap_lines(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| if line.starts_with(' ') { line.to_string() } else { wrap(line, 0) })
        .collect()
}

/// A metric from its name, for clap.
pub fn parse(text: &str) -> Result<Metric, String> {
    text.parse().map_err(|wrong| match &wrong {
        Wrong::Unknown(name) => {
            let known: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
            let plain = name.to_lowercase().replace([' ', '_'], "-");
            match likely(&plain, &known) {
                Some(meant) => format!("no metric \"{name}\"; did you mean {meant}? There are {}", known.join(", ")),
                None => wrong.to_string(),
            }
        }
        Wrong::Form(_) => wrong.to_string(),
    })
}
