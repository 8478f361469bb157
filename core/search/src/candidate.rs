//! Models with losses, and the models that a search begins with.

use undercurve::data::{Encode, Options, Scale};
use undercurve::trainer::{Init, ModelSpec};

/// The method that folds choose.
pub const TOP: &str = "top";

/// What a candidate makes of columns of numbers, where it is not what the options say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Encoding {
    /// What columns of numbers become.
    pub encode: Option<Encode>,
    /// How they are scaled.
    pub scale: Option<Scale>,
}

impl Encoding {
    /// The options with it.
    #[must_use]
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
    /// Its method, in the registry or [`TOP`].
    pub method: &'static str,
    /// Settings of the method that are not its defaults.
    pub settings: Vec<(String, String)>,
    /// The model.
    pub model: ModelSpec,
    /// What it makes of columns.
    pub encoding: Encoding,
    /// Networks whose mean it is.
    pub average: u64,
    /// Where it begins.
    pub init: Init,
    /// What a row of each class counts, where that is not what the options say.
    pub class_weights: Vec<f64>,
    /// What its training begins at, where that is not its own start.
    pub from: Option<Box<Candidate>>,
}

impl Candidate {
    /// A method at its defaults with a model.
    #[must_use]
    pub fn new(method: &'static str, model: ModelSpec) -> Self {
        let (settings, encoding, init, class_weights) = (Vec::new(), Encoding::default(), Init::Auto, Vec::new());
        let name = method.to_string();
        Self { name, method, settings, model, encoding, average: 1, init, class_weights, from: None }
    }

    /// Cross-entropy with a model: of linear ones the ridge, chosen in the metric.
    #[must_use]
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

    /// Whether it is one.
    #[must_use]
    pub fn is_network(&self) -> bool {
        self.model != ModelSpec::Linear
    }

    /// The mean of so many networks.
    #[must_use]
    pub fn averaged(&self, average: u64) -> Self {
        Self { average, name: format!("{}, mean of {average}", self.name), ..self.clone() }
    }

    /// Another loss, from where this one leads.
    #[must_use]
    pub fn then(&self, method: &'static str) -> Self {
        let (settings, class_weights) = (Vec::new(), Vec::new());
        let name = format!("{}, then {method}", self.name);
        Self { name, method, settings, class_weights, from: Some(Box::new(self.clone())), ..self.clone() }
    }

    /// The options of `train` that make it.
    #[must_use]
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

/// The models that are searched, the simpler first: linear and network, of numbers as they are, of ranks and of splines. `encodes`: whether
/// columns have names, and nothing was said of how they are read; `finer`: whether there are rows for more pieces.
pub(crate) fn models(metric: &str, encodes: bool, finer: bool) -> Vec<Candidate> {
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
