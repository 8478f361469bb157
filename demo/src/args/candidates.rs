//! Models and losses that are compared: `--methods` and `--model` of `compare` and `auto`, and the models that both search without them.

use super::method;
use super::train::TOP;
use crate::error::{CliError, Result};
use undercurve::data::{Encode, Options, Scale};
use undercurve::trainer::{Init, ModelSpec};

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

/// What a candidate makes of columns of numbers, where it is not what the options say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Encoding {
    pub encode: Option<Encode>,
    pub scale: Option<Scale>,
}

impl Encoding {
    /// The options with it.
    pub fn options(self, options: &Options) -> Options {
        Options {
            encode: self.encode.unwrap_or(options.encode),
            scale: self.scale.or(options.scale),
            ..options.clone()
        }
    }
}

/// A model with a loss.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What it is called beside the others.
    pub name: String,
    pub method: &'static str,
    pub settings: Vec<(String, String)>,
    pub model: ModelSpec,
    pub encoding: Encoding,
    /// Networks whose mean it is.
    pub average: u64,
    pub init: Init,
    /// What a row of each class counts, where that is not what the options say.
    pub class_weights: Vec<f64>,
    /// What its training begins at, where that is not its own start.
    pub from: Option<Box<Candidate>>,
}

impl Candidate {
    fn new(method: &'static str, model: ModelSpec) -> Self {
        let (settings, encoding, init, class_weights) = (Vec::new(), Encoding::default(), Init::Auto, Vec::new());
        let name = method.to_string();
        Self { name, method, settings, model, encoding, average: 1, init, class_weights, from: None }
    }

    /// Cross-entropy with a model: of linear ones the ridge, chosen in the metric.
    pub fn base(model: ModelSpec, metric: &str) -> Self {
        if model != ModelSpec::Linear {
            return Self::new("ce", model);
        }
        let settings = vec![("choose".to_string(), metric.to_string())];
        Self { settings, name: "ridge".to_string(), ..Self::new("ce-exact", model) }
    }

    fn encoded(self, encoding: Encoding, name: String) -> Self {
        Self { encoding, name, ..self }
    }

    pub fn is_network(&self) -> bool {
        self.model != ModelSpec::Linear
    }

    /// The mean of so many networks.
    pub fn averaged(&self, average: u64) -> Self {
        Self { average, name: format!("{}, mean of {average}", self.name), ..self.clone() }
    }

    /// Another loss, from where this one leads.
    pub fn then(&self, method: &'static str) -> Self {
        let (settings, class_weights) = (Vec::new(), Vec::new());
        let name = format!("{}, then {method}", self.name);
        Self { name, method, settings, class_weights, from: Some(Box::new(self.clone())), ..self.clone() }
    }

    /// The options of `train` that make it.
    pub fn options(&self) -> String {
        let mut text = format!("--method {}", self.method);
        for (name, value) in &self.settings {
            text += &format!(" --set {name}={value}");
        }
        if self.is_network() {
            text += &format!(" --model {}", self.model);
        }
        if let Some(encode) = self.encoding.encode {
            text += &format!(" --encode {encode}");
        }
        if self.encoding.scale == Some(Scale::Rank) {
            text += " --scale rank";
        }
        if self.average > 1 {
            text += &format!(" --average {}", self.average);
        }
        text
    }
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

/// The models that are searched, the simpler first: linear and network, of numbers as they are, of ranks and of splines. `encodes`: whether
/// columns have names, and nothing was said of how they are read; `finer`: whether there are rows for more pieces.
pub fn models(metric: &str, encodes: bool, finer: bool) -> Vec<Candidate> {
    let splines = |count: u8| Encoding { encode: Some(Encode::Splines(count)), scale: None };
    let ranks = Encoding { encode: None, scale: Some(Scale::Rank) };
    let ridge = Candidate::base(ModelSpec::Linear, metric);
    let network = Candidate::base(ModelSpec::Mlp { hidden: vec![32], tanh: false }, metric);
    let network = Candidate { name: "mlp:32".to_string(), ..network };
    let mut all = vec![ridge.clone()];
    if encodes {
        all.push(ridge.clone().encoded(ranks, "ridge, ranks".into()));
        all.push(ridge.clone().encoded(splines(6), "ridge, splines:6".into()));
        if finer {
            all.push(ridge.encoded(splines(24), "ridge, splines:24".into()));
        }
    }
    all.push(network.clone());
    if encodes {
        all.push(network.clone().encoded(ranks, "mlp:32, ranks".into()));
        all.push(network.encoded(splines(6), "mlp:32, splines:6".into()));
    }
    all
}
