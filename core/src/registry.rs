//! Every method by name: what it is made of, its parameters with ranges and defaults, and where it was published.
//!
//! The command line, the page and the packages all read this one table; so does the documentation.

#[cfg(feature = "multiclass")]
mod classes;

#[cfg(feature = "every-method")]
use crate::algorithm::Lbfgs;
use crate::algorithm::{
    Adagrad, Adam, AdamForm, AnyAlgorithm, Momentum, Oauc, Pesg, Pga, Point, PpdAdagrad, PpdSg, Schedule,
    ScheduleShape, Sgd, StageLength, Stages,
};
use crate::decimal;
use crate::error::{Error, Result};
use crate::estimator::{
    AnyEstimator, AucMargin, AucMarginForm, AucMinMax, AucPairwise, ClassBalanced, ClassWeights, CrossEntropy,
    Estimator, Exact, FastAp, First, Focal, Ldam, Link, MinMaxAp, Prior, SmoothAp, Soap, Weights,
};
use crate::finite_sum::{
    AdamSum, AiSarah, AnySum, BoundedAiSarah, GLM_LOSSES, GlmLoss, MomentumSum, Sampling, Sarah, Svrg,
    TheoreticalAiSarah,
};
use crate::real::Real;
use crate::sampler::{AnySampler, Shuffle, Stratified, Whole};
use crate::surrogate::{AnySurrogate, SURROGATES};

#[cfg(feature = "multiclass")]
pub use classes::{CLASS_METHODS, class_method};

/// The values a parameter may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// A number from `low` to `high`, both included.
    Number {
        /// Least value.
        low: f64,
        /// Greatest value.
        high: f64,
    },
    /// A whole number from `low` to `high`, both included.
    Count {
        /// Least value.
        low: u64,
        /// Greatest value.
        high: u64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number from `low` to `high`, both included, or a word for what the data gives.
    CountOr {
        /// The word.
        word: &'static str,
        /// Least value.
        low: u64,
        /// Greatest value.
        high: u64,
    },
    /// A number from `low` to `high`, both included, or a word for what the data gives.
    NumberOr {
        /// The word.
        word: &'static str,
        /// Least value.
        low: f64,
        /// Greatest value.
        high: f64,
    },
}

/// A parameter of a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// Its name in `--set name=value`.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// What it may be.
    pub domain: Domain,
    /// Its default, as text.
    pub default: &'static str,
    /// What the default `auto` stands for.
    pub auto: Option<Auto>,
}

impl Param {
    /// Its least value.
    fn least(&self) -> f64 {
        match self.domain {
            Domain::Number { low, .. } | Domain::NumberOr { low, .. } => low,
            Domain::Count { low, .. } | Domain::CountOr { low, .. } => low as f64,
            Domain::Choice(_) => 0.0,
        }
    }
}

/// A default that depends on what is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Auto {
    /// One number for linear models and another for networks.
    Model {
        /// Of linear models.
        linear: f64,
        /// Of networks.
        network: f64,
    },
    /// The same, divided by the number of training rows.
    PerRow {
        /// Of linear models.
        linear: f64,
        /// Of networks.
        network: f64,
    },
    /// The same, times the model's parameters over the positives: how freely the model can follow single positives.
    PerPositive {
        /// Of linear models.
        linear: f64,
        /// Of networks.
        network: f64,
    },
    /// Steps that make so many passes over the training rows, and at least so many.
    Passes {
        /// Passes.
        passes: f64,
        /// Least steps of linear models.
        linear: u64,
        /// Least steps of networks.
        network: u64,
    },
    /// A share of the steps of the method's own.
    Share {
        /// For linear models.
        linear: f64,
        /// For networks.
        network: f64,
    },
}

/// What a default that is not one number depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scope {
    /// Negatives and positives of the training rows, or all rows and 0 where there are several classes.
    pub population: [u32; 2],
    /// Whether a network is trained.
    pub network: bool,
    /// Parameters of the model.
    pub params: usize,
    /// Rows of a batch.
    pub batch: u32,
    /// Steps of the run; the method's own where it has some before.
    pub steps: u64,
}

impl Scope {
    fn rows(&self) -> f64 {
        f64::from(self.population[0]) + f64::from(self.population[1])
    }
}

/// Where a method was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Authors, year and title.
    pub paper: &'static str,
    /// Equations and algorithm numbers.
    pub part: &'static str,
}

/// The objective of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Objective {
    /// Cross-entropy.
    CrossEntropy,
    /// Cross-entropy with classes of equal weight.
    BalancedCrossEntropy,
    /// Pairwise surrogate of the AUC.
    AucPairwise,
    /// SOAP's surrogate of the average precision.
    Soap,
    /// The pairwise surrogate over all pairs of the data.
    AucExact,
    /// SOAP's surrogate over the whole data.
    ApExact,
    /// The AUC's square loss as a saddle point.
    AucMinMax,
    /// The min-max margin objective of the AUC.
    AucMargin,
    /// Focal loss.
    Focal,
    /// Class-balanced cross-entropy.
    ClassBalanced,
    /// Label-distribution-aware margins.
    Ldam,
    /// Smooth-AP.
    SmoothAp,
    /// FastAP.
    FastAp,
    /// Recall at several precisions.
    MinMaxAp,
    /// The pairwise surrogate over the negatives of a false-positive range.
    PaucExact,
    /// A finite sum of losses of one linear score each, with its own algorithms.
    FiniteSum,
    /// Cross-entropy of several classes.
    #[cfg(feature = "multiclass")]
    Softmax,
    /// The AUC's square loss over pairs of classes as saddle points.
    #[cfg(feature = "multiclass")]
    AucMulticlass,
}

/// A method: an objective in score space, joined with an algorithm in parameter space by its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Name on the command line.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What it optimises, in one sentence.
    pub about: &'static str,
    /// Its objective.
    pub objective: Objective,
    /// Its parameters, in the order they are shown.
    pub params: &'static [Param],
    /// The settings of its paper where they are others than the defaults: the preset `paper`.
    pub paper: &'static [(&'static str, &'static str)],
    /// Where it comes from.
    pub source: Source,
    /// Its files, from the repository's root.
    pub files: &'static [&'static str],
}

/// A text for people. The feature `compact` leaves them out.
const fn text(text: &'static str) -> &'static str {
    if cfg!(feature = "compact") { "" } else { text }
}

/// Methods with the texts that are for people. A build with `compact` also leaves out the parameters of methods that it only
/// lists, and without `every-method` the papers' settings.
const fn with_texts<const N: usize>(mut methods: [Method; N]) -> [Method; N] {
    let mut k = 0;
    while k < N {
        let Method { title, about, source, files, params, paper, .. } = methods[k];
        let listed = cfg!(feature = "compact") && !methods[k].is_built();
        methods[k] = Method {
            title: text(title),
            about: text(about),
            source: Source { paper: text(source.paper), part: text(source.part) },
            files: if cfg!(feature = "compact") { &[] } else { files },
            params: if listed { &[] } else { params },
            paper: if cfg!(all(feature = "compact", not(feature = "every-method"))) { &[] } else { paper },
            ..methods[k]
        };
        k += 1;
    }
    methods
}

impl Method {
    /// Whether it minimises a finite sum by algorithms of its own, instead of joining an estimator and an algorithm. A
    /// linear model's rows are then meant to have unit length.
    #[must_use]
    pub const fn is_finite_sum(&self) -> bool {
        matches!(self.objective, Objective::FiniteSum)
    }

    /// Whether it looks at the whole data at every step.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        matches!(self.objective, Objective::AucExact | Objective::ApExact | Objective::PaucExact)
    }

    /// Whether this build can train it; without the feature `every-method` some are listed only.
    #[must_use]
    pub const fn is_built(&self) -> bool {
        cfg!(feature = "every-method") || !(self.is_exact() || self.is_finite_sum())
    }
}

const fn number(name: &'static str, default: &'static str, low: f64, high: f64, about: &'static str) -> Param {
    Param { name, about: text(about), domain: Domain::Number { low, high }, default, auto: None }
}
const fn count(name: &'static str, default: &'static str, low: u64, about: &'static str) -> Param {
    Param { name, about: text(about), domain: Domain::Count { low, high: u32::MAX as u64 }, default, auto: None }
}
const fn choice(
    name: &'static str,
    default: &'static str,
    words: &'static [&'static str],
    about: &'static str,
) -> Param {
    Param { name, about: text(about), domain: Domain::Choice(words), default, auto: None }
}

const fn number_or(name: &'static str, word: &'static str, low: f64, high: f64, about: &'static str) -> Param {
    Param { name, about: text(about), domain: Domain::NumberOr { word, low, high }, default: word, auto: None }
}

/// The word for a default that depends on what is trained.
const AUTO: &str = "auto";
const fn auto_number(name: &'static str, low: f64, auto: Auto, about: &'static str) -> Param {
    let domain = Domain::NumberOr { word: AUTO, low, high: BIG };
    Param { name, about: text(about), domain, default: AUTO, auto: Some(auto) }
}
const fn auto_count(name: &'static str, low: u64, auto: Auto, about: &'static str) -> Param {
    let domain = Domain::CountOr { word: AUTO, low, high: u32::MAX as u64 };
    Param { name, about: text(about), domain, default: AUTO, auto: Some(auto) }
}

/// Greatest value of an open-ended number, and least value of one that must be positive.
const BIG: f64 = 1e30;
const TINY: f64 = 1e-30;

const SURROGATE_NAMES: &[&str] =
    &["square", "squared-hinge", "hinge", "logistic", "sigmoid", "exponential", "smoothed-hinge", "ramp"];

const OPTIMIZER_NAMES: &[&str] = &["sgd", "momentum", "adam", "adam-plain", "amsgrad", "adagrad"];

const STEPS: &str = "steps of the algorithm, over which the rate falls";
const fn optimizer(default: &'static str) -> Param {
    choice("optimizer", default, OPTIMIZER_NAMES, "step rule; adam-plain and amsgrad are SOAP's own forms")
}
const LR: &str = "learning rate of the first step";
const fn lr(default: &'static str) -> Param {
    number("lr", default, 0.0, BIG, LR)
}
const fn auto_lr(linear: f64, network: f64) -> Param {
    auto_number("lr", 0.0, Auto::Model { linear, network }, LR)
}
/// Steps of a method of batches.
const BATCH_STEPS: Param = auto_count("steps", 1, Auto::Passes { passes: 20.0, linear: 6000, network: 20_000 }, STEPS);
const SCHEDULE: Param =
    choice("schedule", "linear", &["constant", "linear", "cosine", "steps"], "how the learning rate falls");
const BETA1: Param = number("beta1", "0.9", 0.0, 0.999_999, "weight of the old first moment (momentum, adam)");
const BETA2: Param = number("beta2", "0.999", 0.0, 0.999_999_999, "weight of the old second moment (adam)");
const EPS: Param = number("eps", "1e-8", TINY, BIG, "keeps adam's division finite");
const DECAYS: &str = "weight decay: adds decay/2 times the squared norm to the objective";
const fn decay(linear: f64, network: f64) -> Param {
    auto_number("decay", 0.0, Auto::PerRow { linear, network }, DECAYS)
}
const DECAY: Param = decay(0.1, 1.0);
/// Of methods that go on from cross-entropy: the more parameters a positive has, the nearer to it they stay.
const fn pull(linear: f64, network: f64) -> Param {
    auto_number("decay", 0.0, Auto::PerPositive { linear, network }, PULLS)
}
const PULLS: &str = "weight decay: adds decay/2 times the squared distance from what decay-to says to the objective";
const DECAY_TO: Param = choice(
    "decay-to",
    "start",
    &["start", "zero"],
    "what weight decay pulls to: where the method's own steps start, or 0",
);

const SAMPLING: Param = choice(
    "sampling",
    "stratified",
    &["stratified", "uniform"],
    "so many of each class a batch, or uniform over all rows",
);
const POSITIVES: Param = count("positives", "8", 1, "positives a batch (stratified; at most those there are)");
const NEGATIVES: Param = count("negatives", "56", 1, "negatives a batch (stratified; at most those there are)");
const BATCH: Param = count("batch", "64", 1, "rows a batch (uniform; at most those there are)");
const WEIGHTS: Param = choice(
    "weights",
    "unbiased",
    &["unbiased", "as-drawn"],
    "weigh examples so that estimates are unbiased, or all alike as drawn",
);
const SURROGATE: Param = choice("surrogate", "squared-hinge", SURROGATE_NAMES, "loss of the margin");
const MARGIN_OF: &str = "margin of square, squared-hinge, hinge and ramp";
const MARGIN: Param = number("margin", "1", TINY, BIG, MARGIN_OF);
const SMOOTHING: Param = number("smoothing", "1", TINY, BIG, "width of smoothed-hinge's round part (its margin is 1)");
const SCALE_OF: &str = "scale of logistic, sigmoid and exponential";
const SCALE: Param = number("scale", "1", TINY, BIG, SCALE_OF);
const fn link(default: &'static str) -> Param {
    choice("link", default, &["sigmoid", "identity"], "function of the raw score inside the objective")
}

const PRETRAINING: &str = "steps of cross-entropy by adam before the method's own";
const PRETRAIN: Param = count("pretrain", "0", 0, PRETRAINING);
/// Of methods whose objective is flat, or has poor optima, far from where cross-entropy leads. A network's run is then as
/// long as one of cross-entropy.
const FROM_CE: Param = auto_count("pretrain", 0, Auto::Share { linear: 1.0, network: 7.0 / 3.0 }, PRETRAINING);
const FROM_CE_STEPS: Param = auto_count("steps", 1, Auto::Passes { passes: 6.0, linear: 6000, network: 6000 }, STEPS);
/// The same where steps of the method look at all rows.
const EXACT_PRETRAIN: Param =
    auto_count("pretrain", 0, Auto::Passes { passes: 20.0, linear: 6000, network: 20_000 }, PRETRAINING);
const PRETRAIN_LR: Param = auto_number(
    "pretrain-lr",
    0.0,
    Auto::Model { linear: 0.05, network: 0.003 },
    "learning rate of the first of them; it falls linearly",
);
const RESTARTS: &str =
    "what starts again after them: the last layer, or nothing (auto: the last layer unless it is the whole model)";
const RESTART_WORDS: &[&str] = &["auto", "last", "none"];
const RESTART: Param = choice("restart", "auto", RESTART_WORDS, RESTARTS);
/// The published two stages start the last layer again; going on from it was better or as good everywhere it was tried.
const NO_RESTART: Param = choice("restart", "none", RESTART_WORDS, RESTARTS);
const PRIOR: Param = choice(
    "prior",
    "known",
    &["known", "online", "online-exact"],
    "share of positives: of the data, or estimated from uniform batches so far",
);
const UNITS: Param = choice(
    "units",
    "balanced",
    &["balanced", "raw"],
    "lr and prox in units of 1/(p(1-p)), p the share of positives, by which the objective is small; or as they are",
);
const PROX: Param = number("prox", "1e5", TINY, BIG, "radius of the proximal term");
const FIRST_STAGE: Auto = Auto::Share { linear: 1.0 / 12.0, network: 1.0 / 12.0 };
const STAGE: Param = auto_number("stage", 1.0, FIRST_STAGE, "steps of the first stage");
const STAGE_FACTOR: Param =
    number("stage-factor", "3", 1.0, 1e6, "growth of stages (and the rate's division) per stage");
const STAGE_SCHEDULE: Param = choice(
    "schedule",
    "practice",
    &["practice", "theory"],
    "stages by stage and stage-factor, or by the constants mu, smoothness and l-tilde of the theorems (prox too)",
);
const MU: Param = number("mu", "0.1", TINY, BIG, "Polyak-Lojasiewicz constant (schedule=theory)");
const SMOOTHNESS: Param = number("smoothness", "1", TINY, BIG, "Lipschitz constant of the gradient (schedule=theory)");
const L_TILDE: Param =
    number("l-tilde", "1", 0.0, BIG, "bound of the score's gradient (schedule=theory; ppd-adagrad: stages=data)");
const ANSWER: Param =
    choice("answer", "last", &["last", "mean"], "what is reported and saved: the last iterate, or their running mean");
const RESET: Param = count("reset", "4", 0, "batches of the first dual reset, growing with the stages; 0 for none");

/// The one step rule of a method that was published with it.
const fn rule(name: &'static str, only: &'static [&'static str]) -> Param {
    choice("optimizer", name, only, "step rule, part of the method")
}

/// Parameters of the losses that look at one example at a time, after their own.
macro_rules! with_first_order {
    ($linear:literal, $network:literal, $($own:expr),*) => {
        &[
            BATCH_STEPS, optimizer("adam"), auto_lr($linear, $network), SCHEDULE, $($own,)* SAMPLING, POSITIVES,
            NEGATIVES, BATCH, WEIGHTS, BETA1, BETA2, EPS, DECAY, PRETRAIN, PRETRAIN_LR, RESTART,
        ]
    };
}

/// The same, from cross-entropy: for objectives that are flat, or have poor optima, far from where it leads.
macro_rules! from_cross_entropy {
    ($linear:literal, $network:literal, $($own:expr),*) => {
        &[
            FROM_CE_STEPS, optimizer("adam"), auto_lr($linear, $network), SCHEDULE, $($own,)* SAMPLING, POSITIVES,
            NEGATIVES, BATCH, WEIGHTS, BETA1, BETA2, EPS, pull(0.008, 0.008), DECAY_TO, FROM_CE, PRETRAIN_LR, NO_RESTART,
        ]
    };
}

const MINMAX_PAPER: &str = "Liu, Yuan, Ying, Yang 2020, Stochastic AUC Maximization with Deep Neural Networks";

/// Parameters of plain and balanced cross-entropy.
const CE: &[Param] = &[
    BATCH_STEPS,
    optimizer("adam"),
    auto_lr(0.05, 0.003),
    SCHEDULE,
    SAMPLING,
    POSITIVES,
    NEGATIVES,
    BATCH,
    WEIGHTS,
    BETA1,
    BETA2,
    EPS,
    DECAY,
];

const fn exact_optimizer() -> Param {
    choice("optimizer", "lbfgs", &["lbfgs", "sgd", "momentum", "adam"], "step rule on exact gradients; sgd is descent")
}
const MEMORY: Param = Param {
    name: "memory",
    about: text("pairs of vectors lbfgs keeps"),
    domain: Domain::Count { low: 1, high: 100 },
    default: "10",
    auto: None,
};
const TOLERANCE: Param =
    number("tolerance", "1e-6", 0.0, 0.999_999, "lbfgs ends when the gradient has fallen to this share of its first");
const EVALUATIONS: &str = "gradients over the whole data, at most";

/// Networks have the freedom to learn the training rows by heart, and stay near the start.
const EXACT_STEPS: Param = auto_count("steps", 1, Auto::Model { linear: 200.0, network: 10.0 }, EVALUATIONS);

/// Parameters of exact AUC.
const AUC_EXACT: &[Param] = &[
    EXACT_STEPS,
    exact_optimizer(),
    lr("0.1"),
    SCHEDULE,
    SURROGATE,
    MARGIN,
    SCALE,
    SMOOTHING,
    link("identity"),
    MEMORY,
    TOLERANCE,
    BETA1,
    BETA2,
    EPS,
    pull(0.008, 0.1),
    DECAY_TO,
    EXACT_PRETRAIN,
    PRETRAIN_LR,
];

/// Parameters of exact partial AUC: a bounded loss, for an unbounded one is ruled by the highest negatives; and a start
/// from cross-entropy, for it is flat far from there.
const PAUC_EXACT: &[Param] = &[
    EXACT_STEPS,
    exact_optimizer(),
    lr("0.1"),
    SCHEDULE,
    choice("surrogate", "sigmoid", SURROGATE_NAMES, "loss of the margin"),
    MARGIN,
    number("scale", "30", TINY, BIG, SCALE_OF),
    SMOOTHING,
    link("identity"),
    MEMORY,
    TOLERANCE,
    BETA1,
    BETA2,
    EPS,
    pull(0.008, 4.0),
    DECAY_TO,
    EXACT_PRETRAIN,
    PRETRAIN_LR,
];

const SUM_PASSES: Param =
    number("passes", "20", TINY, BIG, "passes: a full gradient is one, a minibatch its share of the rows");
const LOSS: Param = choice("loss", "logistic", &["logistic", "least-squares", "squared-hinge"], "loss of one example");
const LAMBDA: Param =
    number_or("lambda", "1/n", 0.0, BIG, "adds lambda/2 times the squared norm to the objective, biases included");
const SUM_BATCH: Param = count("batch", "64", 1, "examples a minibatch (at most those there are)");
const ALPHA: Param = number_or(
    "alpha",
    "1/L",
    TINY,
    BIG,
    "step size; L bounds the curvature of every example (linear models; networks need a number)",
);
const INNER: Param = number_or("inner", "n/batch", 1.0, 4e9, "steps of an inner loop");
const STOP: Param = number("stop", "0.03125", TINY, 0.999_999, "an inner loop ends when |v|^2 falls below this share");
const SUM_DECAY: Param = number("decay", "0", 0.0, 0.999_999, "the step size falls by this share after every pass");

const AI_SARAH_PAPER: &str =
    "Shi, Sadiev, Loizou, Richtarik, Takac 2021, AI-SARAH: Adaptive and Implicit Stochastic Recursive Gradient Methods";

const SARAH_PAPER: &str = "Nguyen, Liu, Scheinberg, Takac 2017, SARAH: A Novel Method for Machine Learning Problems Using Stochastic Recursive Gradient";

/// Rates are those of its grid's upper end, as its objective has them; the batches are its own.
const MINMAX_SETTINGS: &[(&str, &str)] = &[
    ("units", "raw"),
    ("lr", "0.1"),
    ("stage", "2000"),
    ("prox", "1000"),
    ("sampling", "uniform"),
    ("batch", "128"),
    ("pretrain", "0"),
];

/// Every method. With the feature `compact` without titles, sentences, sources and files, and those that are not built
/// without parameters.
pub static METHODS: &[Method] = &with_texts([
    Method {
        name: "soap",
        title: "SOAP",
        about: "Maximises a surrogate of the average precision (AUPRC).",
        objective: Objective::Soap,
        params: &[
            auto_count("steps", 1, Auto::Passes { passes: 6.0, linear: 12_000, network: 6000 }, STEPS),
            optimizer("adam"),
            auto_lr(0.1, 0.0003),
            SCHEDULE,
            choice("surrogate", "sigmoid", SURROGATE_NAMES, "loss of the margin"),
            MARGIN,
            number("scale", "2", TINY, BIG, SCALE_OF),
            SMOOTHING,
            link("identity"),
            number("gamma", "0.9", TINY, 1.0, "weight of the new estimate in the moving averages u"),
            number("u0", "0", 0.0, BIG, "least value of u2"),
            choice("first", "estimate", &["estimate", "zero"], "what the first visit does to u"),
            SAMPLING,
            POSITIVES,
            NEGATIVES,
            BATCH,
            WEIGHTS,
            BETA1,
            BETA2,
            EPS,
            pull(0.008, 0.008),
            DECAY_TO,
            auto_count("pretrain", 0, Auto::Share { linear: 0.5, network: 7.0 / 3.0 }, PRETRAINING),
            PRETRAIN_LR,
            NO_RESTART,
        ],
        paper: &[
            ("optimizer", "adam-plain"),
            ("lr", "1e-3"),
            ("schedule", "steps"),
            ("surrogate", "squared-hinge"),
            ("link", "sigmoid"),
            ("decay", "1e-5"),
            ("decay-to", "zero"),
            ("weights", "as-drawn"),
            ("restart", "last"),
        ],
        source: Source {
            paper: "Qi, Luo, Xu, Ji, Yang 2021, Stochastic Optimization of Areas Under Precision-Recall Curves with Provable Convergence",
            part: "equations (2)-(4), (9), algorithms 1-3",
        },
        files: &["core/src/estimator/soap.rs", "core/src/pairs/kept.rs"],
    },
    Method {
        name: "auc-pairwise",
        title: "Pairwise AUC",
        about: "Minimises a surrogate of the share of wrongly ordered pairs (AUROC).",
        objective: Objective::AucPairwise,
        params: &[
            BATCH_STEPS,
            optimizer("adam"),
            auto_lr(0.02, 0.003),
            SCHEDULE,
            SURROGATE,
            MARGIN,
            SCALE,
            SMOOTHING,
            link("identity"),
            POSITIVES,
            NEGATIVES,
            BETA1,
            BETA2,
            EPS,
            DECAY,
            PRETRAIN,
            PRETRAIN_LR,
            RESTART,
        ],
        paper: &[],
        source: Source {
            paper: "Gao, Jin, Zhu, Zhou 2013, One-Pass AUC Optimization",
            part: "the pairwise objective, equation (1)",
        },
        files: &["core/src/estimator/auc_pairwise.rs", "core/src/pairs/brute.rs"],
    },
    Method {
        name: "ap-exact",
        title: "Exact AP",
        about: "Minimises SOAP's surrogate of the average precision by exact gradients over the whole data.",
        objective: Objective::ApExact,
        params: &[
            auto_count("steps", 1, Auto::Model { linear: 200.0, network: 20.0 }, EVALUATIONS),
            exact_optimizer(),
            lr("0.1"),
            SCHEDULE,
            choice("surrogate", "sigmoid", SURROGATE_NAMES, "loss of the margin"),
            MARGIN,
            number("scale", "2", TINY, BIG, SCALE_OF),
            SMOOTHING,
            link("identity"),
            MEMORY,
            TOLERANCE,
            BETA1,
            BETA2,
            EPS,
            pull(0.002, 0.1),
            DECAY_TO,
            EXACT_PRETRAIN,
            PRETRAIN_LR,
        ],
        paper: &[],
        source: Source {
            paper: "Qi, Luo, Xu, Ji, Yang 2021, Stochastic Optimization of Areas Under Precision-Recall Curves with Provable Convergence",
            part: "equations (2)-(4)",
        },
        files: &["core/src/estimator/exact.rs", "core/src/pairs/mod.rs", "core/src/algorithm/lbfgs.rs"],
    },
    Method {
        name: "auc-exact",
        title: "Exact AUC",
        about: "Minimises a surrogate of the share of wrongly ordered pairs over all pairs of the data.",
        objective: Objective::AucExact,
        params: AUC_EXACT,
        paper: &[],
        source: Source {
            paper: "Gao, Jin, Zhu, Zhou 2013, One-Pass AUC Optimization",
            part: "the pairwise objective, equation (1)",
        },
        files: &["core/src/estimator/exact.rs", "core/src/pairs/mod.rs", "core/src/algorithm/lbfgs.rs"],
    },
    Method {
        name: "pauc-exact",
        title: "Exact partial AUC",
        about: "Minimises the pairwise surrogate over the negatives of a false-positive range (--fpr).",
        objective: Objective::PaucExact,
        params: PAUC_EXACT,
        paper: &[],
        source: Source {
            paper: "Yao, Lin, Yang 2022, Large-scale Optimization of Partial AUC in a Range of False Positive Rates",
            part: "equation (2), exactly instead of by AGD-SBCD",
        },
        files: &["core/src/estimator/exact.rs", "core/src/pairs/mod.rs", "core/src/algorithm/lbfgs.rs"],
    },
    Method {
        name: "ce",
        title: "Cross-entropy",
        about: "Minimises the mean cross-entropy (logistic regression, for a linear model).",
        objective: Objective::CrossEntropy,
        params: CE,
        paper: &[],
        source: Source {
            paper: "Cox 1958, The Regression Analysis of Binary Sequences",
            part: "the likelihood of the logistic model",
        },
        files: &["core/src/estimator/cross_entropy.rs"],
    },
    Method {
        name: "ce-balanced",
        title: "Balanced cross-entropy",
        about: "Minimises the mean of the two classes' mean cross-entropies.",
        objective: Objective::BalancedCrossEntropy,
        params: CE,
        paper: &[],
        source: Source {
            paper: "King, Zeng 2001, Logistic Regression in Rare Events Data",
            part: "weighting, equation (8), with a target share of one half",
        },
        files: &["core/src/estimator/cross_entropy.rs"],
    },
    Method {
        name: "ppd-sg",
        title: "PPD-SG",
        about: "Maximises the AUROC through its min-max square loss, in stages that start from the mean of the last.",
        objective: Objective::AucMinMax,
        params: &[
            FROM_CE_STEPS,
            rule("ppd-sg", &["ppd-sg"]),
            auto_lr(0.3, 0.01),
            UNITS,
            STAGE,
            STAGE_FACTOR,
            PROX,
            RESET,
            STAGE_SCHEDULE,
            MU,
            SMOOTHNESS,
            L_TILDE,
            link("sigmoid"),
            PRIOR,
            SAMPLING,
            POSITIVES,
            NEGATIVES,
            BATCH,
            WEIGHTS,
            DECAY,
            ANSWER,
            FROM_CE,
            PRETRAIN_LR,
            NO_RESTART,
        ],
        paper: MINMAX_SETTINGS,
        source: Source { paper: MINMAX_PAPER, part: "proposition 1, algorithms 2 and 4, theorem 2" },
        files: &["core/src/estimator/auc_min_max.rs", "core/src/algorithm/ppd_sg.rs", "core/src/algorithm/stages.rs"],
    },
    Method {
        name: "ppd-adagrad",
        title: "PPD-AdaGrad",
        about: "PPD-SG with AdaGrad's coordinate-wise steps.",
        objective: Objective::AucMinMax,
        params: &[
            FROM_CE_STEPS,
            rule("ppd-adagrad", &["ppd-adagrad"]),
            auto_lr(0.03, 0.001),
            UNITS,
            STAGE,
            STAGE_FACTOR,
            choice(
                "stages",
                "fixed",
                &["fixed", "data"],
                "stage lengths by the schedule, or from the gradients seen (lemma 3)",
            ),
            number("delta", "1e-3", TINY, BIG, "keeps the first steps short"),
            PROX,
            RESET,
            STAGE_SCHEDULE,
            MU,
            SMOOTHNESS,
            L_TILDE,
            link("sigmoid"),
            PRIOR,
            SAMPLING,
            POSITIVES,
            NEGATIVES,
            BATCH,
            WEIGHTS,
            ANSWER,
            FROM_CE,
            PRETRAIN_LR,
            NO_RESTART,
        ],
        paper: MINMAX_SETTINGS,
        source: Source { paper: MINMAX_PAPER, part: "proposition 1, algorithms 2-4, lemma 3, theorem 3" },
        files: &[
            "core/src/estimator/auc_min_max.rs",
            "core/src/algorithm/ppd_adagrad.rs",
            "core/src/algorithm/stages.rs",
        ],
    },
    Method {
        name: "pga",
        title: "PGA",
        about: "Maximises the AUROC through its min-max square loss by the proximally guided algorithm.",
        objective: Objective::AucMinMax,
        params: &[
            FROM_CE_STEPS,
            rule("pga", &["pga"]),
            auto_lr(0.3, 0.01),
            UNITS,
            STAGE,
            PROX,
            number("radius", "1e6", TINY, BIG, "radius of the ball of the minimised variables"),
            number("dual-radius", "1e6", TINY, BIG, "radius of the ball of the maximised variable"),
            link("sigmoid"),
            PRIOR,
            SAMPLING,
            POSITIVES,
            NEGATIVES,
            BATCH,
            WEIGHTS,
            choice(
                "answer",
                "last",
                &["last", "mean", "stage"],
                "what is reported and saved: the last iterate, the mean of the stage, or the mean of a random stage",
            ),
            FROM_CE,
            PRETRAIN_LR,
            NO_RESTART,
        ],
        paper: MINMAX_SETTINGS,
        source: Source { paper: MINMAX_PAPER, part: "algorithm 1, after Rafique, Liu, Lin, Yang 2018" },
        files: &["core/src/estimator/auc_min_max.rs", "core/src/algorithm/pga.rs"],
    },
    Method {
        name: "oauc",
        title: "OAUC",
        about: "Maximises the AUROC through its min-max square loss by plain primal-dual steps.",
        objective: Objective::AucMinMax,
        params: &[
            FROM_CE_STEPS,
            rule("oauc", &["oauc"]),
            auto_lr(0.3, 0.03),
            UNITS,
            number(
                "radius",
                "1e6",
                TINY,
                BIG,
                "radius of the ball of the minimised variables; twice that for the other",
            ),
            link("sigmoid"),
            PRIOR,
            SAMPLING,
            POSITIVES,
            NEGATIVES,
            BATCH,
            WEIGHTS,
            ANSWER,
            FROM_CE,
            PRETRAIN_LR,
            NO_RESTART,
        ],
        paper: &[
            ("units", "raw"),
            ("lr", "0.1"),
            ("sampling", "uniform"),
            ("batch", "128"),
            ("answer", "mean"),
            ("pretrain", "0"),
        ],
        source: Source {
            paper: "Ying, Wen, Lyu 2016, Stochastic Online AUC Maximization",
            part: "equation (2), algorithm 1",
        },
        files: &["core/src/estimator/auc_min_max.rs", "core/src/algorithm/oauc.rs"],
    },
    Method {
        name: "auc-margin",
        title: "AUC-M",
        about: "Maximises the AUROC through the min-max margin objective.",
        objective: Objective::AucMargin,
        params: &[
            FROM_CE_STEPS,
            choice(
                "optimizer",
                "pesg",
                &["pesg", "sgd", "momentum", "adam", "adam-plain", "amsgrad", "adagrad"],
                "step rule; only pesg keeps the dual variable at 0 or above",
            ),
            auto_lr(0.3, 0.01),
            SCHEDULE,
            auto_number("stage", 1.0, Auto::Share { linear: 1.0 / 3.0, network: 1.0 / 3.0 }, "steps of a stage (pesg)"),
            number("pull", "0.002", 0.0, BIG, "weight of the pull toward the last stage's mean (pesg)"),
            number("margin", "1", TINY, BIG, "margin between the classes' mean scores"),
            choice("form", "per-class", &["per-class", "joint"], "means over each class, or over all examples"),
            link("sigmoid"),
            SAMPLING,
            POSITIVES,
            NEGATIVES,
            BATCH,
            WEIGHTS,
            BETA1,
            BETA2,
            EPS,
            DECAY,
            FROM_CE,
            PRETRAIN_LR,
            NO_RESTART,
        ],
        paper: &[("lr", "0.1"), ("stage", "2000"), ("weights", "as-drawn"), ("pretrain", "0")],
        source: Source {
            paper: "Yuan, Yan, Sonka, Yang 2021, Large-scale Robust Deep AUC Maximization",
            part: "equation (4), algorithm 1",
        },
        files: &["core/src/estimator/auc_margin.rs", "core/src/algorithm/pesg.rs", "core/src/algorithm/stages.rs"],
    },
    Method {
        name: "focal",
        title: "Focal loss",
        about: "Minimises a cross-entropy that gives less weight to examples already told apart.",
        objective: Objective::Focal,
        params: with_first_order!(0.05, 0.003, number("focus", "2", 0.0, 100.0, "exponent of the weight")),
        paper: &[],
        source: Source {
            paper: "Lin, Goyal, Girshick, He, Dollar 2017, Focal Loss for Dense Object Detection",
            part: "equation (4)",
        },
        files: &["core/src/estimator/focal.rs"],
    },
    Method {
        name: "cb-ce",
        title: "Class-balanced CE",
        about: "Minimises the cross-entropy with classes weighted by the inverse of their effective numbers.",
        objective: Objective::ClassBalanced,
        params: with_first_order!(
            0.05,
            0.003,
            number("beta", "0.999", 0.0, 0.999_999_999, "weights are (1-beta)/(1-beta^n)")
        ),
        paper: &[],
        source: Source {
            paper: "Cui, Jia, Lin, Song, Belongie 2019, Class-Balanced Loss Based on Effective Number of Samples",
            part: "equations (4), (8)",
        },
        files: &["core/src/estimator/class_balanced.rs"],
    },
    Method {
        name: "ldam",
        title: "LDAM",
        about: "Minimises a cross-entropy with a larger margin for the rarer class, re-weighted late.",
        objective: Objective::Ldam,
        params: with_first_order!(
            0.05,
            0.003,
            number("margin", "0.5", 0.0, BIG, "margin of the rarer class"),
            number("scale", "1", TINY, BIG, "scale of the scores"),
            number("beta", "0.999", 0.0, 0.999_999_999, "of the effective numbers that weigh the classes late"),
            auto_count("defer", 0, Auto::Share { linear: 0.8, network: 0.8 }, "updates before classes are weighted")
        ),
        paper: &[],
        source: Source {
            paper: "Cao, Wei, Gaidon, Arechiga, Ma 2019, Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss",
            part: "equations (10), (13), algorithm 1",
        },
        files: &["core/src/estimator/ldam.rs"],
    },
    Method {
        name: "smooth-ap",
        title: "Smooth-AP",
        about: "Maximises a smoothed average precision of the batch.",
        objective: Objective::SmoothAp,
        params: from_cross_entropy!(
            0.02,
            0.0003,
            number("temperature", "0.01", TINY, BIG, "of the sigmoid that stands for the indicator"),
            link("sigmoid")
        ),
        paper: &[("weights", "as-drawn"), ("decay-to", "zero"), ("pretrain", "0")],
        source: Source {
            paper: "Brown, Xie, Kalogeiton, Zisserman 2020, Smooth-AP: Smoothing the Path Towards Large-Scale Image Retrieval",
            part: "equations (5), (6)",
        },
        files: &["core/src/estimator/smooth_ap.rs", "core/src/pairs/kept.rs"],
    },
    Method {
        name: "fast-ap",
        title: "FastAP",
        about: "Maximises the average precision of the batch through soft histograms.",
        objective: Objective::FastAp,
        params: from_cross_entropy!(
            0.02,
            0.0003,
            Param {
                name: "bins",
                about: "bins of the histogram",
                domain: Domain::Count { low: 1, high: 65_536 },
                default: "20",
                auto: None
            }
        ),
        paper: &[("weights", "as-drawn"), ("decay-to", "zero"), ("pretrain", "0")],
        source: Source {
            paper: "Cakir, He, Xia, Kulis, Sclaroff 2019, Deep Metric Learning to Rank",
            part: "equations (7)-(12)",
        },
        files: &["core/src/estimator/fast_ap.rs"],
    },
    Method {
        name: "min-max-ap",
        title: "MinMax AP",
        about: "Maximises the recall at several precisions by Lagrange multipliers.",
        objective: Objective::MinMaxAp,
        params: with_first_order!(
            0.02,
            0.003,
            Param {
                name: "anchors",
                about: "number of precisions",
                domain: Domain::Count { low: 1, high: 1000 },
                default: "10",
                auto: None
            },
            SURROGATE,
            MARGIN,
            SCALE,
            SMOOTHING,
            link("identity")
        ),
        paper: &[],
        source: Source {
            paper: "Eban, Schain, Mackey, Gordon, Saurous, Elidan 2017, Scalable Learning of Non-Decomposable Objectives",
            part: "equations (8)-(12)",
        },
        files: &["core/src/estimator/min_max_ap.rs", "core/src/pairs/brute.rs"],
    },
    Method {
        name: "ai-sarah",
        title: "AI-SARAH",
        about: "Minimises a finite sum with step sizes that need no tuning.",
        objective: Objective::FiniteSum,
        params: &[
            SUM_PASSES,
            LOSS,
            LAMBDA,
            SUM_BATCH,
            STOP,
            number("beta", "0.999", 0.0, 0.999_999_999, "weight of the old bound in the bound of the step size"),
        ],
        paper: &[],
        source: Source { paper: AI_SARAH_PAPER, part: "algorithm 2" },
        files: &["core/src/finite_sum/ai_sarah.rs", "core/src/finite_sum/recursive.rs"],
    },
    Method {
        name: "theoretical-ai-sarah",
        title: "Theoretical-AI-SARAH",
        about: "Minimises a finite sum of a linear model by steps from each example's smoothness; a step walks over all rows.",
        objective: Objective::FiniteSum,
        params: &[
            number("passes", "2", TINY, BIG, "passes: a full gradient is one, a step one row's share"),
            LOSS,
            LAMBDA,
            choice("sampling", "importance", &["importance", "uniform"], "rows in proportion to smoothness, or alike"),
            number_or("inner", "n/16", 1.0, 4e9, "steps of an inner loop"),
        ],
        paper: &[],
        source: Source { paper: AI_SARAH_PAPER, part: "algorithms 1, 3, 4" },
        files: &["core/src/finite_sum/theoretical_ai_sarah.rs", "core/src/finite_sum/recursive.rs"],
    },
    Method {
        name: "bounded-ai-sarah",
        title: "Bounded AI-SARAH",
        about: "Minimises a finite sum by AI-SARAH's steps within fixed bounds.",
        objective: Objective::FiniteSum,
        params: &[
            SUM_PASSES,
            LOSS,
            LAMBDA,
            SUM_BATCH,
            number_or(
                "alpha-min",
                "1/L",
                TINY,
                BIG,
                "least step size; L as for sarah (linear models; networks need a number)",
            ),
            number_or("alpha-max", "4/L", TINY, BIG, "greatest step size (networks need a number)"),
            INNER,
        ],
        paper: &[],
        source: Source { paper: AI_SARAH_PAPER, part: "algorithm 5" },
        files: &["core/src/finite_sum/bounded_ai_sarah.rs", "core/src/finite_sum/recursive.rs"],
    },
    Method {
        name: "sarah",
        title: "SARAH",
        about: "Minimises a finite sum by recursive gradients with a constant step size.",
        objective: Objective::FiniteSum,
        params: &[SUM_PASSES, LOSS, LAMBDA, SUM_BATCH, ALPHA, INNER],
        paper: &[],
        source: Source { paper: SARAH_PAPER, part: "algorithm 1" },
        files: &["core/src/finite_sum/sarah.rs", "core/src/finite_sum/recursive.rs"],
    },
    Method {
        name: "sarah+",
        title: "SARAH+",
        about: "Minimises a finite sum by SARAH with inner loops that end by themselves.",
        objective: Objective::FiniteSum,
        params: &[SUM_PASSES, LOSS, LAMBDA, SUM_BATCH, ALPHA, STOP],
        paper: &[],
        source: Source { paper: SARAH_PAPER, part: "algorithm 2" },
        files: &["core/src/finite_sum/sarah.rs", "core/src/finite_sum/recursive.rs"],
    },
    Method {
        name: "svrg",
        title: "SVRG",
        about: "Minimises a finite sum by gradients whose variance an anchor reduces.",
        objective: Objective::FiniteSum,
        params: &[SUM_PASSES, LOSS, LAMBDA, SUM_BATCH, ALPHA, INNER],
        paper: &[],
        source: Source {
            paper: "Johnson, Zhang 2013, Accelerating Stochastic Gradient Descent using Predictive Variance Reduction",
            part: "procedure SVRG, option I",
        },
        files: &["core/src/finite_sum/svrg.rs"],
    },
    Method {
        name: "momentum-sum",
        title: "Momentum on a finite sum",
        about: "Minimises a finite sum by the heavy ball, pass by pass, lazily on sparse rows.",
        objective: Objective::FiniteSum,
        params: &[
            SUM_PASSES,
            LOSS,
            LAMBDA,
            SUM_BATCH,
            number("alpha", "0.1", TINY, BIG, "step size of the first pass"),
            number("beta", "0.9", 0.0, 0.999_999, "weight of the old direction; 0 is plain descent"),
            SUM_DECAY,
        ],
        paper: &[],
        source: Source {
            paper: "Polyak 1964, Some methods of speeding up the convergence of iteration methods",
            part: "the heavy ball",
        },
        files: &["core/src/finite_sum/momentum.rs"],
    },
    Method {
        name: "adam-sum",
        title: "Adam on a finite sum",
        about: "Minimises a finite sum by Adam, pass by pass.",
        objective: Objective::FiniteSum,
        params: &[
            SUM_PASSES,
            LOSS,
            LAMBDA,
            SUM_BATCH,
            number("alpha", "0.01", TINY, BIG, "step size of the first pass"),
            BETA1,
            BETA2,
            EPS,
            SUM_DECAY,
        ],
        paper: &[],
        source: Source { paper: "Kingma, Ba 2015, Adam: A Method for Stochastic Optimization", part: "algorithm 1" },
        files: &["core/src/finite_sum/adam.rs"],
    },
]);

/// A step rule that score-space methods may run on.
#[derive(Clone, Copy, Debug)]
pub struct Optimizer {
    /// Its name in `--set optimizer=`.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Where it comes from.
    pub source: Source,
    /// Its file, from the repository's root.
    pub file: &'static str,
}

/// Every step rule.
pub static OPTIMIZERS: &[Optimizer] = &[
    Optimizer {
        name: "sgd",
        about: "Stochastic gradient descent.",
        source: Source { paper: "Robbins, Monro 1951, A Stochastic Approximation Method", part: "the recursion" },
        file: "core/src/algorithm/sgd.rs",
    },
    Optimizer {
        name: "momentum",
        about: "Gradient descent along an average of gradients.",
        source: Source {
            paper: "Polyak 1964, Some methods of speeding up the convergence of iteration methods",
            part: "the heavy ball",
        },
        file: "core/src/algorithm/momentum.rs",
    },
    Optimizer {
        name: "adam",
        about: "Adam with bias correction.",
        source: Source { paper: "Kingma, Ba 2015, Adam: A Method for Stochastic Optimization", part: "algorithm 1" },
        file: "core/src/algorithm/adam.rs",
    },
    Optimizer {
        name: "adam-plain",
        about: "Adam without bias correction, epsilon inside the root.",
        source: Source {
            paper: "Qi, Luo, Xu, Ji, Yang 2021, Stochastic Optimization of Areas Under Precision-Recall Curves with Provable Convergence",
            part: "algorithm 3",
        },
        file: "core/src/algorithm/adam.rs",
    },
    Optimizer {
        name: "amsgrad",
        about: "adam-plain with a second moment that never falls.",
        source: Source {
            paper: "Qi, Luo, Xu, Ji, Yang 2021, Stochastic Optimization of Areas Under Precision-Recall Curves with Provable Convergence",
            part: "algorithm 3, after Reddi, Kale, Kumar 2018",
        },
        file: "core/src/algorithm/adam.rs",
    },
    Optimizer {
        name: "adagrad",
        about: "AdaGrad, diagonal.",
        source: Source {
            paper: "Duchi, Hazan, Singer 2011, Adaptive Subgradient Methods for Online Learning and Stochastic Optimization",
            part: "figure 1, diagonal matrices",
        },
        file: "core/src/algorithm/adagrad.rs",
    },
    Optimizer {
        name: "lbfgs",
        about: "L-BFGS with a weak Wolfe search (exact methods only).",
        source: Source {
            paper: "Liu, Nocedal 1989, On the Limited Memory BFGS Method for Large Scale Optimization",
            part: "algorithm 2.1; search: Lewis, Overton 2013, algorithm 2.6",
        },
        file: "core/src/algorithm/lbfgs.rs",
    },
];

/// The method of a name.
#[must_use]
pub fn method(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}

/// A setting that a method does not take, or not this value of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingError {
    /// The method has no parameter of this name.
    Unknown {
        /// Position among the settings.
        at: usize,
    },
    /// The value is outside the parameter's domain.
    Value {
        /// Position among the settings.
        at: usize,
        /// The parameter.
        param: &'static Param,
    },
}

/// A method with its settings: `(name, value)` pairs that override defaults, a later one an earlier one.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    method: &'static Method,
    pairs: &'a [(&'a str, &'a str)],
    #[cfg_attr(not(feature = "every-method"), allow(dead_code))]
    fpr: (f64, f64),
    seed: u64,
    scope: Scope,
}

impl<'a> Settings<'a> {
    /// Checks every pair against the method's table.
    ///
    /// # Errors
    /// [`SettingError`], for the first pair that does not fit.
    pub fn new(method: &'static Method, pairs: &'a [(&'a str, &'a str)]) -> Result<Self, SettingError> {
        for (at, (name, value)) in pairs.iter().enumerate() {
            let param = method.params.iter().find(|p| p.name == *name).ok_or(SettingError::Unknown { at })?;
            let fits = match param.domain {
                Domain::Number { low, high } => decimal::parse(value).is_some_and(|x| x >= low && x <= high),
                Domain::Count { low, high } => value.parse().is_ok_and(|x: u64| x >= low && x <= high),
                Domain::Choice(words) => words.contains(value),
                Domain::CountOr { word, low, high } => {
                    *value == word || value.parse().is_ok_and(|x: u64| x >= low && x <= high)
                }
                Domain::NumberOr { word, low, high } => {
                    *value == word || decimal::parse(value).is_some_and(|x| x >= low && x <= high)
                }
            };
            if !fits {
                return Err(SettingError::Value { at, param });
            }
        }
        let scope = Scope { population: [900, 100], network: false, params: 10, batch: 64, steps: 6000 };
        Ok(Self { method, pairs, fpr: (0.0, 0.05), seed: 1, scope })
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &'static Method {
        self.method
    }

    /// With the false-positive range to train for, in methods that have one; [0, 0.05] without.
    #[must_use]
    pub fn with_fpr(self, fpr: (f64, f64)) -> Self {
        Self { fpr, ..self }
    }

    /// With the seed of what an algorithm draws by itself, PGA's random stage; 1 without.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// With what defaults that are not one number depend on; without, a linear model with 10 parameters on
    /// 900 negatives and 100 positives.
    #[must_use]
    pub fn with_scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// With batches of so many rows.
    #[must_use]
    pub fn with_batch(self, batch: usize) -> Self {
        let batch = u32::try_from(batch).unwrap_or(u32::MAX).max(1);
        Self { scope: Scope { batch, ..self.scope }, ..self }
    }

    /// In a run with so many steps of the method's own.
    #[must_use]
    pub fn with_steps(self, steps: u64) -> Self {
        Self { scope: Scope { steps, ..self.scope }, ..self }
    }

    /// What a default that is not one number comes to here; `None` where a parameter has no such default.
    #[must_use]
    pub fn auto(&self, param: &Param) -> Option<f64> {
        let of = |linear: f64, network: f64| if self.scope.network { network } else { linear };
        Some(match param.auto? {
            Auto::Model { linear, network } => of(linear, network),
            Auto::PerRow { linear, network } => of(linear, network) / self.scope.rows(),
            Auto::PerPositive { linear, network } => {
                let positives = f64::from(self.scope.population[1].max(1));
                of(linear, network) * self.scope.params as f64 / positives
            }
            Auto::Passes { passes, linear, network } => {
                let (steps, least) = (
                    libm::ceil(passes * self.scope.rows() / f64::from(self.scope.batch)),
                    of(linear as f64, network as f64),
                );
                if steps > least { steps } else { least }
            }
            Auto::Share { linear, network } => {
                let (steps, least) = (libm::ceil(of(linear, network) * self.scope.steps as f64), param.least());
                if steps > least { steps } else { least }
            }
        })
    }

    /// The value of a parameter as text; `None` when the method has no such parameter.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let set = self.pairs.iter().rev().find(|pair| pair.0 == name).map(|pair| pair.1);
        set.or_else(|| self.method.params.iter().find(|param| param.name == name).map(|param| param.default))
    }

    fn word(&self, name: &'static str) -> Result<&'a str> {
        self.text(name).ok_or(Error::Param { what: name })
    }

    /// The value of a numeric parameter.
    ///
    /// # Errors
    /// `Param` when the method has no numeric parameter of this name.
    pub fn number(&self, name: &'static str) -> Result<f64> {
        let word = self.word(name)?;
        let auto = || self.method.params.iter().find(|param| param.name == name).and_then(|param| self.auto(param));
        let value = if word == AUTO { auto() } else { decimal::parse(word) };
        value.ok_or(Error::Param { what: name })
    }

    /// The value of a whole-number parameter.
    ///
    /// # Errors
    /// `Param` when the method has none of this name.
    pub fn count(&self, name: &'static str) -> Result<u64> {
        let word = self.word(name)?;
        if word == AUTO {
            return Ok(self.number(name)? as u64);
        }
        word.parse().map_err(|_| Error::Param { what: name })
    }

    /// The value of a numeric parameter, NaN where there is none of this name: no constructor takes that.
    #[inline(never)]
    fn value(&self, name: &'static str) -> f64 {
        self.number(name).unwrap_or(f64::NAN)
    }

    /// Whether weight decay pulls toward the start of the method's own steps instead of 0.
    fn pulls(&self) -> bool {
        self.text("decay-to") == Some("start")
    }

    /// Weight of half the squared distance to the start of the method's own steps in what is minimised.
    #[must_use]
    pub fn pull(&self) -> f64 {
        if self.pulls() { self.number("decay").unwrap_or(0.0) } else { 0.0 }
    }

    /// Weight of half the squared norm of the parameters in what is minimised.
    #[must_use]
    pub fn decay(&self) -> f64 {
        if self.pulls() { 0.0 } else { self.number("decay").unwrap_or(0.0) }
    }

    fn surrogate<T: Real>(&self) -> Result<AnySurrogate<T>> {
        let name = self.word("surrogate")?;
        let known = SURROGATES.iter().find(|entry| entry.0 == name).ok_or(Error::Param { what: "surrogate" })?;
        AnySurrogate::by_name(name, T::of(self.value(known.1)))
    }

    fn link(&self) -> Result<Link> {
        Ok(if self.word("link")? == "sigmoid" { Link::Sigmoid } else { Link::Identity })
    }

    fn weights(&self) -> Result<Weights> {
        Ok(if self.word("weights")? == "unbiased" { Weights::Unbiased } else { Weights::AsDrawn })
    }

    /// Steps of cross-entropy before the method's own.
    #[must_use]
    pub fn pretrain_steps(&self) -> u64 {
        self.count("pretrain").unwrap_or(0)
    }

    /// Steps of cross-entropy before the method's own, in a run of so many steps in all: what is set, or the default, which
    /// leaves at least half of a run that is shorter than usual to the method.
    #[must_use]
    pub fn pretrain_steps_of(&self, total: u64) -> u64 {
        if self.text("pretrain") != Some(AUTO) {
            return self.pretrain_steps();
        }
        match self.method.params.iter().find(|param| param.name == "pretrain").and_then(|param| param.auto) {
            Some(Auto::Share { linear, network }) => {
                let share = if self.scope.network { network } else { linear };
                libm::ceil(total as f64 * share / (1.0 + share)) as u64
            }
            _ => self.pretrain_steps().min(total / 2),
        }
    }

    /// Whether the last layer starts again after them, where it is the whole model or not.
    #[must_use]
    pub fn restarts(&self, last_is_all: bool) -> bool {
        match self.text("restart") {
            Some("last") => true,
            Some("auto") => !last_is_all,
            _ => false,
        }
    }

    /// The estimator and the algorithm of `steps` steps of cross-entropy before the method's own.
    ///
    /// # Errors
    /// `Param`.
    pub fn pretraining<T: Real>(&self, steps: u64) -> Result<(AnyEstimator<T>, AnyAlgorithm)> {
        let estimator = CrossEntropy::new(ClassWeights::Plain, self.weights().unwrap_or(Weights::Unbiased));
        Ok((AnyEstimator::CrossEntropy(estimator), self.pretraining_rule(steps)?))
    }

    /// The algorithm of so many steps of pre-training.
    fn pretraining_rule(&self, steps: u64) -> Result<AnyAlgorithm> {
        let lr = Schedule::new(self.value("pretrain-lr"), ScheduleShape::Linear, steps);
        let decay = self.auto(&DECAY).unwrap_or(0.0);
        Ok(AnyAlgorithm::Adam(Adam::new(lr, 0.9, 0.999, 1e-8, decay, AdamForm::Corrected)?))
    }

    /// A numeric parameter, or what its word stands for.
    fn number_or(&self, name: &'static str, meaning: f64) -> Result<f64> {
        let param = self.method.params.iter().find(|param| param.name == name).ok_or(Error::Param { what: name })?;
        match param.domain {
            Domain::NumberOr { word, .. } if self.word(name)? == word => Ok(meaning),
            _ => self.number(name),
        }
    }

    /// Loss and λ of a finite sum of `n` examples.
    ///
    /// # Errors
    /// `Param` when the method is none.
    pub fn glm(&self, n: usize) -> Result<(GlmLoss, f64)> {
        let name = self.word("loss")?;
        let loss = GLM_LOSSES.iter().find(|entry| entry.0 == name).ok_or(Error::Param { what: "loss" })?;
        Ok((loss.1, self.number_or("lambda", 1.0 / n as f64)?))
    }

    /// The algorithm of a finite sum of `n` examples, each at most `smooth`-smooth.
    ///
    /// # Errors
    /// `Param`.
    pub fn finite_sum(&self, n: usize, smooth: f64) -> Result<AnySum> {
        let batch = || Ok::<_, Error>((self.count("batch")? as usize).min(n));
        // An α of 1 where every example is flat.
        let alpha = || self.number_or("alpha", if smooth > 0.0 { 1.0 / smooth } else { 1.0 });
        let inner = |batch: usize| Ok::<_, Error>(self.number_or("inner", n.div_ceil(batch) as f64)? as u64);
        Ok(match self.method.name {
            "theoretical-ai-sarah" => {
                let uniform = self.word("sampling")? == "uniform";
                let sampling = if uniform { Sampling::Uniform } else { Sampling::Importance };
                AnySum::Theoretical(TheoreticalAiSarah::new(inner(16)?, sampling)?)
            }
            "bounded-ai-sarah" => {
                let low = self.number_or("alpha-min", if smooth > 0.0 { 1.0 / smooth } else { 1.0 })?;
                let high = self.number_or("alpha-max", if smooth > 0.0 { 4.0 / smooth } else { 4.0 })?;
                AnySum::Bounded(BoundedAiSarah::new(batch()?, inner(batch()?)? as u32, low, high)?)
            }
            "sarah" => AnySum::Sarah(Sarah::new(batch()?, alpha()?, inner(batch()?)?)?),
            "sarah+" => AnySum::Sarah(Sarah::plus(batch()?, alpha()?, self.value("stop"))?),
            "svrg" => AnySum::Svrg(Svrg::new(batch()?, alpha()?, inner(batch()?)?)?),
            "momentum-sum" => AnySum::Momentum(MomentumSum::new(
                batch()?,
                self.value("alpha"),
                self.value("beta"),
                self.value("decay"),
            )?),
            "adam-sum" => {
                AnySum::Adam(AdamSum::new(batch()?, self.value("alpha"), self.value("decay"))?.with_moments(
                    self.value("beta1"),
                    self.value("beta2"),
                    self.value("eps"),
                )?)
            }
            _ => AnySum::AiSarah(AiSarah::new(batch()?, self.value("stop"), self.value("beta"))?),
        })
    }

    /// The estimator.
    ///
    /// # Errors
    /// `Param` for values that do not go together, `Unsupported` for a finite sum.
    pub fn estimator<T: Real>(&self) -> Result<AnyEstimator<T>> {
        Ok(match self.method.objective {
            Objective::CrossEntropy => {
                AnyEstimator::CrossEntropy(CrossEntropy::new(ClassWeights::Plain, self.weights()?))
            }
            Objective::BalancedCrossEntropy => {
                AnyEstimator::CrossEntropy(CrossEntropy::new(ClassWeights::Balanced, self.weights()?))
            }
            Objective::AucMinMax => {
                let prior = match self.word("prior")? {
                    "online" => Prior::Online,
                    "online-exact" => Prior::OnlineExact,
                    _ => Prior::Known,
                };
                AnyEstimator::AucMinMax(AucMinMax::new(self.link()?, self.weights()?, prior))
            }
            Objective::AucMargin => {
                let form = if self.word("form")? == "joint" { AucMarginForm::Joint } else { AucMarginForm::PerClass };
                AnyEstimator::AucMargin(AucMargin::new(self.value("margin"), form, self.link()?, self.weights()?)?)
            }
            Objective::Focal => AnyEstimator::Focal(Focal::new(self.value("focus"), self.weights()?)?),
            Objective::ClassBalanced => {
                AnyEstimator::ClassBalanced(ClassBalanced::new(self.value("beta"), self.weights()?)?)
            }
            Objective::Ldam => {
                let (margin, scale, beta) = (self.value("margin"), self.value("scale"), self.value("beta"));
                AnyEstimator::Ldam(Ldam::new(margin, scale, beta, self.count("defer")?, self.weights()?)?)
            }
            Objective::SmoothAp => {
                let temperature = T::of(self.value("temperature"));
                AnyEstimator::SmoothAp(SmoothAp::new(temperature, self.link()?, self.weights()?)?)
            }
            Objective::FastAp => AnyEstimator::FastAp(FastAp::new(self.count("bins")? as u32, self.weights()?)?),
            Objective::MinMaxAp => {
                let anchors = self.count("anchors")? as u32;
                AnyEstimator::MinMaxAp(MinMaxAp::new(self.surrogate()?, anchors, self.link()?, self.weights()?)?)
            }
            Objective::AucPairwise => AnyEstimator::AucPairwise(AucPairwise::new(self.surrogate()?, self.link()?)),
            #[cfg(feature = "every-method")]
            Objective::AucExact => AnyEstimator::Exact(Exact::auc(self.surrogate()?, self.link()?)),
            #[cfg(feature = "every-method")]
            Objective::ApExact => AnyEstimator::Exact(Exact::ap(self.surrogate()?, self.link()?)),
            #[cfg(feature = "every-method")]
            Objective::PaucExact => AnyEstimator::Exact(Exact::pauc(self.surrogate()?, self.link()?, self.fpr)?),
            #[cfg(not(feature = "every-method"))]
            Objective::AucExact | Objective::ApExact | Objective::PaucExact => {
                return Err(Error::Unsupported { what: "an exact method without the feature every-method" });
            }
            Objective::FiniteSum => return Err(Error::Unsupported { what: "an estimator of a finite sum" }),
            #[cfg(feature = "multiclass")]
            Objective::Softmax | Objective::AucMulticlass => {
                return Err(Error::Unsupported { what: "a method of several classes on two" });
            }
            Objective::Soap => {
                let first = if self.word("first")? == "zero" { First::Zero } else { First::Estimate };
                let (gamma, floor) = (T::of(self.value("gamma")), T::of(self.value("u0")));
                AnyEstimator::Soap(Soap::new(self.surrogate()?, self.link()?, gamma, floor, self.weights()?, first)?)
            }
        })
    }

    /// The objective over the whole data, where there is a faster way to it than the estimator's own.
    ///
    /// # Errors
    /// `Param`.
    pub fn whole(&self) -> Result<Option<Exact>> {
        Ok(match self.method.objective {
            Objective::AucPairwise => Some(Exact::auc(self.surrogate()?, self.link()?)),
            Objective::Soap => Some(Exact::ap(self.surrogate()?, self.link()?)),
            _ => None,
        })
    }

    /// The algorithm, over `steps` steps.
    ///
    /// # Errors
    /// `Param`.
    pub fn algorithm(&self, steps: u64) -> Result<AnyAlgorithm> {
        self.algorithm_for(steps, Estimator::<f32>::aux(&self.estimator::<f32>()?).1)
    }

    /// The algorithm where so many auxiliaries are maximised over.
    fn algorithm_for(&self, steps: u64, ascent: usize) -> Result<AnyAlgorithm> {
        if let Some(algorithm) = self.with_steps(steps).stagewise(ascent)? {
            return Ok(algorithm);
        }
        let shape = match self.word("schedule")? {
            "linear" => ScheduleShape::Linear,
            "cosine" => ScheduleShape::Cosine,
            "steps" => ScheduleShape::Steps,
            _ => ScheduleShape::Constant,
        };
        let lr = Schedule::new(self.value("lr"), shape, steps);
        let (beta1, beta2, decay) = (self.value("beta1"), self.value("beta2"), self.decay());
        let adam = |form| Ok(AnyAlgorithm::Adam(Adam::new(lr, beta1, beta2, self.value("eps"), decay, form)?));
        match self.word("optimizer")? {
            "sgd" => Ok(AnyAlgorithm::Sgd(Sgd::new(lr, decay)?)),
            "momentum" => Ok(AnyAlgorithm::Momentum(Momentum::new(lr, beta1, decay)?)),
            "adam" => adam(AdamForm::Corrected),
            #[cfg(feature = "every-method")]
            "lbfgs" => {
                let (memory, tolerance) = (self.count("memory")? as usize, self.value("tolerance"));
                Ok(AnyAlgorithm::Lbfgs(Lbfgs::new(memory, tolerance, decay)?))
            }
            "amsgrad" => adam(AdamForm::AmsGrad),
            "adagrad" => Ok(AnyAlgorithm::Adagrad(Adagrad::new(lr, self.value("eps"), decay)?)),
            _ => adam(AdamForm::Plain),
        }
    }

    /// The algorithm of a method that brings its own step rule.
    fn stagewise(&self, ascent: usize) -> Result<Option<AnyAlgorithm>> {
        let theory = self.text("schedule") == Some("theory");
        // The constants of the theorems are those of the objective as it is.
        let unit = if theory { 1.0 } else { self.unit() };
        let stages = |adagrad: bool| {
            let (lr, reset) = (unit * self.value("lr"), self.count("reset")? as f64);
            if theory {
                let (mu, l) = (self.value("mu"), self.value("smoothness"));
                return match adagrad {
                    true => Stages::theory_adagrad(lr, mu, l, reset),
                    false => Stages::theory(lr, mu, l, self.value("l-tilde"), reset),
                };
            }
            let factor = self.value("stage-factor");
            Stages::new(lr, 1.0 / factor, self.value("stage"), factor, reset)
        };
        let prox = || if theory { Ok(0.5 / self.value("smoothness")) } else { Ok(unit * self.number("prox")?) };
        let answer = Point(match self.text("answer") {
            Some("mean") => 1,
            Some("stage") => 2,
            _ => 0,
        });
        Ok(Some(match self.word("optimizer")? {
            "ppd-sg" => {
                let algorithm = PpdSg::new(stages(false)?, prox()?, self.value("decay"), ascent)?;
                AnyAlgorithm::PpdSg(algorithm.with_answer(answer))
            }
            "ppd-adagrad" => {
                let length = match (theory, self.word("stages")?) {
                    (true, _) => StageLength::Theory { l_tilde: self.value("l-tilde") },
                    (false, "data") => StageLength::Data { l_tilde: self.value("l-tilde") },
                    _ => StageLength::Fixed,
                };
                let delta = self.value("delta");
                AnyAlgorithm::PpdAdagrad(
                    PpdAdagrad::new(stages(true)?, prox()?, delta, length, ascent)?.with_answer(answer),
                )
            }
            "pga" => {
                let (radius, dual) = (self.value("radius"), self.value("dual-radius"));
                let (lr, stage, prox) = (unit * self.value("lr"), self.value("stage"), unit * self.value("prox"));
                AnyAlgorithm::Pga(Pga::new(lr, stage, prox, radius, dual, ascent, self.seed)?.with_answer(answer))
            }
            "oauc" => {
                let algorithm = Oauc::new(unit * self.value("lr"), self.value("radius"), ascent)?;
                AnyAlgorithm::Oauc(algorithm.with_answer(answer))
            }
            "pesg" => {
                let stages = Stages::new(self.value("lr"), 0.1, self.value("stage"), 1.0, 0.0)?;
                AnyAlgorithm::Pesg(Pesg::new(stages, self.value("pull"), self.value("decay"), ascent)?)
            }
            _ => return Ok(None),
        }))
    }

    /// What rates and proximal radii of the min-max methods are multiplied by.
    fn unit(&self) -> f64 {
        let [negatives, positives] = self.scope.population.map(f64::from);
        let p = positives / (positives + negatives);
        match self.text("units") {
            Some("balanced") if p > 0.0 && p < 1.0 => 1.0 / (p * (1.0 - p)),
            _ => 1.0,
        }
    }

    /// The sampler of the steps of cross-entropy before the method's own: the method's, or one of batches where that
    /// takes everything.
    ///
    /// # Errors
    /// As [`sampler`](Self::sampler).
    pub fn pretraining_sampler(&self, seed: u64, population: [u32; 2]) -> Result<AnySampler> {
        if !self.method.is_exact() {
            return self.sampler(seed, population);
        }
        let [negatives, positives] = population;
        Ok(AnySampler::Stratified(Stratified::new(seed, positives.min(8), negatives.min(56))?))
    }

    /// The sampler for data with so many negatives and positives; batches shrink to what there is.
    ///
    /// # Errors
    /// `Param`, `OneClass` (stratified).
    pub fn sampler(&self, seed: u64, population: [u32; 2]) -> Result<AnySampler> {
        let [negatives, positives] = population;
        let at_most = |name, there: u32| Ok::<_, Error>((self.count(name)?).min(u64::from(there)) as u32);
        if self.method.is_exact() {
            return Ok(AnySampler::Whole(Whole::new(negatives + positives)?));
        }
        if self.text("sampling").unwrap_or("stratified") == "uniform" {
            return Ok(AnySampler::Shuffle(Shuffle::new(seed, at_most("batch", negatives + positives)?)?));
        }
        if negatives == 0 || positives == 0 {
            return Err(Error::OneClass);
        }
        let (high, low) = (at_most("positives", positives)?, at_most("negatives", negatives)?);
        Ok(AnySampler::Stratified(Stratified::new(seed, high, low)?))
    }
}
