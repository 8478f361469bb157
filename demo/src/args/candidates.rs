//! Models and losses that are compared: `--methods` and `--model` of `compare` and `auto`.

use super::method;
use crate::error::{CliError, Result};
use undercurve::trainer::ModelSpec;
use undercurve_search::{Candidate, TOP};

/// Options that name methods and models.
#[derive(clap::Args, Debug)]
pub struct CandidateArgs {
    /// Methods, with commas between them, each held against cross-entropy with its model: of linear models the ridge, whose penalty and class
    /// weight are chosen in the metric [default, without --model: models are searched first, then one loss for the metric on the best]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    methods: Vec<String>,
    /// linear, mlp:WIDTHS or mlp-tanh:WIDTHS; of several, each with an option of its own, every method trains each [default: linear]
    #[arg(long, value_name = "MODEL")]
    model: Vec<String>,
}

impl CandidateArgs {
    /// Every method with every model, cross-entropy first, each once; `None` where models are searched.
    pub fn check(&self, metric: &str) -> Result<Option<Vec<Candidate>>> {
        if self.methods.is_empty() && self.model.is_empty() {
            return Ok(None);
        }
        let linear = ["linear".to_string()];
        let models = if self.model.is_empty() { &linear[..] } else { &self.model };
        let mut candidates: Vec<Candidate> = Vec::new();
        for text in models {
            let model = ModelSpec::parse(text).map_err(CliError::Input)?;
            if candidates.iter().any(|one| one.model == model) {
                continue;
            }
            let mut own = vec![Candidate::base(model.clone(), metric)];
            for name in &self.methods {
                let method = if method::plain(name) == TOP { TOP } else { method::find(name)?.name };
                if own.iter().all(|one| one.method != method) {
                    own.push(Candidate::new(method, model.clone()));
                }
            }
            if models.len() > 1 {
                own.iter_mut().for_each(|one| one.name = format!("{} {model}", one.name));
            }
            candidates.extend(own);
        }
        Ok(Some(candidates))
    }
}
