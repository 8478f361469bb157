//! Methods and models that are compared: `--methods` and `--model` of `compare` and `auto`.

use super::{Word, method};
use crate::error::{CliError, Result};
use undercurve::trainer::ModelSpec;

/// What others are compared with.
pub const BASE: &str = "ce";

/// `--metric`, by the core's name.
pub const METRICS: &[Word<&str>] = &[
    ("auroc", "Area under the ROC curve", "auroc"),
    ("ap", "Average precision", "ap"),
    ("pauc", "Partial AUC over --fpr", "pauc"),
];

/// The methods that may gain in a metric.
fn usual(metric: &str) -> &'static [&'static str] {
    match metric {
        "auroc" => &[BASE, "ce-balanced", "ppd-sg", "ppd-adagrad", "auc-margin"],
        "ap" => &[BASE, "ce-balanced", "soap", "ap-exact"],
        _ => &[BASE, "ce-balanced", "pauc-threshold", "pauc-exact"],
    }
}

/// Options that name methods and models.
#[derive(clap::Args, Debug)]
pub struct CandidateArgs {
    /// Methods, with commas between them; cross-entropy is always one [default: those for the metric]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    methods: Vec<String>,
    /// linear, mlp:WIDTHS or mlp-tanh:WIDTHS; of several, each with an option of its own, every method trains each, and is held
    /// against cross-entropy with the same model
    #[arg(long, value_name = "MODEL", default_value = "linear")]
    model: Vec<String>,
}

/// A method with a model.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub method: &'static str,
    pub model: ModelSpec,
    /// What it is called beside the others.
    pub name: String,
}

impl CandidateArgs {
    /// Every method with every model, cross-entropy first, each once.
    pub fn check(&self, metric: &str) -> Result<Vec<Candidate>> {
        let usual = usual(metric).iter().copied().filter(|_| self.methods.is_empty());
        let mut methods = vec![BASE];
        for name in self.methods.iter().map(String::as_str).chain(usual) {
            let name = method::find(name)?.name;
            if !methods.contains(&name) {
                methods.push(name);
            }
        }
        let mut candidates: Vec<Candidate> = Vec::new();
        for text in &self.model {
            let model = ModelSpec::parse(text).map_err(CliError::Input)?;
            if candidates.iter().any(|one| one.model == model) {
                continue;
            }
            candidates.extend(methods.iter().map(|&method| {
                let name = if self.model.len() > 1 { format!("{method} {model}") } else { method.to_string() };
                Candidate { method, model: model.clone(), name }
            }));
        }
        Ok(candidates)
    }

    /// The models, as they were named.
    pub fn models(&self) -> String {
        self.model.join(", ")
    }
}
