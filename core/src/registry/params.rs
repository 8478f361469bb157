//! Parameters of methods: names, domains and defaults; and those that several methods share.

use crate::features::COMPACT;
use crate::surrogate::SURROGATE_NAMES;

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
        /// The word that is allowed instead.
        word: &'static str,
        /// Least value.
        low: u64,
        /// Greatest value.
        high: u64,
    },
    /// A number from `low` to `high`, both included, or a word for what the data gives.
    NumberOr {
        /// The word that is allowed instead.
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
    pub(super) fn least(&self) -> f64 {
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
        /// For linear models.
        linear: f64,
        /// For networks.
        network: f64,
    },
    /// A learning rate: the same, and of networks in runs of fewer steps than these times the root of how many times fewer they
    /// are, at most ten times as much.
    Rate {
        /// For linear models.
        linear: f64,
        /// For networks.
        network: f64,
        /// Steps of the method that the latter is for.
        steps: u64,
    },
    /// As `Model`, up to a penalty; less where it is larger, by how many times: steps are no longer than at that penalty.
    Penalised {
        /// For linear models.
        linear: f64,
        /// For networks.
        network: f64,
        /// The penalty ρ up to which they stay.
        penalty: f64,
    },
    /// As `Model`, divided by the number of training rows.
    PerRow {
        /// For linear models.
        linear: f64,
        /// For networks.
        network: f64,
        /// Of networks that begin at a linear model, times the root of their parameters.
        from_linear: f64,
    },
    /// Weight decay that cross-validation chooses for linear models ([`Path`](crate::trainer::Path)); for networks, and where rows
    /// cannot be held out, a number divided by the training rows.
    Validated {
        /// Of linear models whose rows cannot be held out.
        linear: f64,
        /// For networks.
        network: f64,
    },
    /// As `PerRow`, times the model's parameters over the positives: how freely the model can follow single positives.
    PerPositive {
        /// For linear models.
        linear: f64,
        /// For networks.
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
    /// The positives, times a number.
    Positives(f64),
    /// Rows of one class in a batch of one positive to seven negatives: the least multiple of `unit`, 8 or 56, with which at
    /// least five negatives are in the false-positive range; at least `least` times `unit`, and at most nine times.
    InRange {
        /// Rows that batches grow by.
        unit: u32,
        /// Least multiple.
        least: u32,
    },
    /// A share of the steps of the method's own.
    Share {
        /// For linear models.
        linear: f64,
        /// For networks.
        network: f64,
    },
}

/// A text for people. The feature `compact` leaves them out.
pub(crate) const fn text(text: &'static str) -> &'static str {
    if COMPACT { "" } else { text }
}

pub(crate) const fn number(
    name: &'static str,
    default: &'static str,
    low: f64,
    high: f64,
    about: &'static str,
) -> Param {
    Param { name, about: text(about), domain: Domain::Number { low, high }, default, auto: None }
}
pub(crate) const fn count(name: &'static str, default: &'static str, low: u64, about: &'static str) -> Param {
    Param { name, about: text(about), domain: Domain::Count { low, high: u32::MAX as u64 }, default, auto: None }
}
pub(crate) const fn choice(
    name: &'static str,
    default: &'static str,
    words: &'static [&'static str],
    about: &'static str,
) -> Param {
    Param { name, about: text(about), domain: Domain::Choice(words), default, auto: None }
}

pub(crate) const fn number_or(
    name: &'static str,
    word: &'static str,
    low: f64,
    high: f64,
    about: &'static str,
) -> Param {
    Param { name, about: text(about), domain: Domain::NumberOr { word, low, high }, default: word, auto: None }
}

/// The word for a default that depends on what is trained.
pub(crate) const AUTO: &str = "auto";
pub(crate) const fn auto_number(name: &'static str, low: f64, auto: Auto, about: &'static str) -> Param {
    let domain = Domain::NumberOr { word: AUTO, low, high: BIG };
    Param { name, about: text(about), domain, default: AUTO, auto: Some(auto) }
}
pub(crate) const fn auto_count(name: &'static str, low: u64, auto: Auto, about: &'static str) -> Param {
    let domain = Domain::CountOr { word: AUTO, low, high: u32::MAX as u64 };
    Param { name, about: text(about), domain, default: AUTO, auto: Some(auto) }
}

/// Greatest value of an open-ended number, and least value of one that must be positive.
pub(crate) const BIG: f64 = 1e30;
pub(crate) const TINY: f64 = 1e-30;

pub(crate) const STEPS: &str = "steps of the algorithm, over which the rate falls";
pub(crate) const LR: &str = "learning rate of the first step";
pub(crate) const fn lr(default: &'static str) -> Param {
    number("lr", default, TINY, BIG, LR)
}
pub(crate) const fn auto_lr(linear: f64, network: f64) -> Param {
    auto_number("lr", TINY, Auto::Model { linear, network }, LR)
}
/// That of Adam, which networks need higher in a short run.
pub(crate) const fn adam_lr(linear: f64, network: f64, steps: u64) -> Param {
    auto_number("lr", TINY, Auto::Rate { linear, network, steps }, LR)
}
/// Steps of a method of batches.
pub(crate) const BATCH_STEPS: Param =
    auto_count("steps", 1, Auto::Passes { passes: 20.0, linear: 6000, network: 6000 }, STEPS);
pub(crate) const SCHEDULE: Param =
    choice("schedule", "linear", &["constant", "linear", "cosine", "steps"], "how the learning rate falls");
pub(crate) const BETA1: Param =
    number("beta1", "0.9", 0.0, 0.999_999, "weight of the old first moment (momentum, adam)");
pub(crate) const BETA2: Param = number("beta2", "0.999", 0.0, 0.999_999_999, "weight of the old second moment (adam)");
pub(crate) const EPS: Param = number("eps", "1e-8", TINY, BIG, "keeps adam's division finite");
pub(crate) const DECAYS: &str = "weight decay: adds decay/2 times the squared norm to the objective; of networks that begin at a \
     linear model the squared distance from where the steps start";
pub(crate) const fn decay(linear: f64, network: f64) -> Param {
    auto_number("decay", 0.0, Auto::PerRow { linear, network, from_linear: 1.0 }, DECAYS)
}
pub(crate) const DECAY: Param = decay(0.1, 3.0);
/// That of cross-entropy over all rows.
pub(crate) const fn ridge_decay(linear: f64, network: f64) -> Param {
    auto_number("decay", 0.0, Auto::Validated { linear, network }, DECAYS)
}
/// Of several classes.
pub(crate) const CLASS_DECAY: Param = decay(0.1, 1.0);
/// Of methods that go on from cross-entropy: the more parameters a positive has, the nearer to it they stay.
pub(crate) const fn pull(linear: f64, network: f64) -> Param {
    auto_number("decay", 0.0, Auto::PerPositive { linear, network }, PULLS)
}
pub(crate) const PULLS: &str =
    "weight decay: adds decay/2 times the squared distance from what decay-to says to the objective";
pub(crate) const DECAY_TO: Param = choice(
    "decay-to",
    "start",
    &["start", "zero"],
    "what weight decay pulls to: where the method's own steps start, or 0",
);

pub(crate) const fn sampling(default: &'static str) -> Param {
    choice("sampling", default, &["stratified", "uniform"], "so many of each class a batch, or uniform over all rows")
}
pub(crate) const SAMPLING: Param = sampling("stratified");
pub(crate) const POSITIVES: Param =
    count("positives", "8", 1, "positives a batch (stratified; at most those there are)");
pub(crate) const NEGATIVES: Param =
    count("negatives", "56", 1, "negatives a batch (stratified; at most those there are)");
/// Rows a batch of methods that look at the negatives of a false-positive range in it.
pub(crate) const fn in_range(least: u32) -> [Param; 2] {
    const fn of(name: &'static str, unit: u32, least: u32, about: &'static str) -> Param {
        auto_count(name, 1, Auto::InRange { unit, least }, about)
    }
    [
        of("positives", 8, least, "positives a batch (at most those there are)"),
        of("negatives", 56, least, "negatives a batch (at most those there are)"),
    ]
}
pub(crate) const BATCH: Param = count("batch", "64", 1, "rows a batch (uniform; at most those there are)");
pub(crate) const WEIGHTS: Param = choice(
    "weights",
    "unbiased",
    &["unbiased", "as-drawn"],
    "weigh examples so that estimates are unbiased, or all alike as drawn",
);
pub(crate) const fn surrogate(default: &'static str) -> Param {
    choice("surrogate", default, SURROGATE_NAMES, "loss of the margin")
}
pub(crate) const SURROGATE: Param = surrogate("squared-hinge");
pub(crate) const MARGIN: Param = number("margin", "1", TINY, BIG, "margin of square, squared-hinge, hinge and ramp");
pub(crate) const SMOOTHING: Param =
    number("smoothing", "1", TINY, BIG, "width of smoothed-hinge's round part (its margin is 1)");
pub(crate) const fn scale(default: &'static str) -> Param {
    number("scale", default, TINY, BIG, "scale of logistic, sigmoid and exponential")
}
pub(crate) const SCALE: Param = scale("1");
pub(crate) const fn link(default: &'static str) -> Param {
    choice("link", default, &["sigmoid", "identity"], "function of the raw score inside the objective")
}

pub(crate) const PRETRAINING: &str = "steps of cross-entropy by adam before the method's own";
pub(crate) const PRETRAIN: Param = count("pretrain", "0", 0, PRETRAINING);
/// Of methods whose objective is flat, or has poor optima, far from where cross-entropy leads.
pub(crate) const FROM_CE: Param = auto_count("pretrain", 0, Auto::Share { linear: 1.0, network: 1.0 }, PRETRAINING);
pub(crate) const FROM_CE_STEPS: Param =
    auto_count("steps", 1, Auto::Passes { passes: 6.0, linear: 6000, network: 6000 }, STEPS);
/// The same where steps of the method look at all rows.
pub(crate) const EXACT_PRETRAIN: Param =
    auto_count("pretrain", 0, Auto::Passes { passes: 20.0, linear: 6000, network: 6000 }, PRETRAINING);
pub(crate) const PRETRAIN_LR: Param = auto_number(
    "pretrain-lr",
    0.0,
    Auto::Rate { linear: 0.05, network: 0.003, steps: 20_000 },
    "learning rate of the first of them; it falls linearly",
);
pub(crate) const RESTARTS: &str =
    "what starts again after them: the last layer, or nothing (auto: the last layer unless it is the whole model)";
pub(crate) const RESTART_WORDS: &[&str] = &["auto", "last", "none"];
pub(crate) const RESTART: Param = choice("restart", "auto", RESTART_WORDS, RESTARTS);
/// The published two stages start the last layer again; going on from it was better or as good everywhere it was tried.
pub(crate) const NO_RESTART: Param = choice("restart", "none", RESTART_WORDS, RESTARTS);
pub(crate) const PRIOR: Param = choice(
    "prior",
    "known",
    &["known", "online", "online-exact"],
    "share of positives: of the data, or estimated from uniform batches so far",
);
pub(crate) const UNITS: Param = choice(
    "units",
    "balanced",
    &["balanced", "raw"],
    "lr and prox in units of 1/(p(1-p)), p the share of positives, by which the objective is small; or as they are",
);
/// When a stage of PPD-AdaGrad ends, and what its first steps are divided by.
pub(crate) const STAGES: Param = choice(
    "stages",
    "fixed",
    &["fixed", "data"],
    "stage lengths by the schedule, or from the gradients seen (lemma 3)",
);
pub(crate) const DELTA: Param = number("delta", "1e-3", TINY, BIG, "keeps the first steps short");
pub(crate) const PROX: Param = number("prox", "1e5", TINY, BIG, "radius of the proximal term");
pub(crate) const FIRST_STAGE: Auto = Auto::Share { linear: 1.0 / 12.0, network: 1.0 / 12.0 };
pub(crate) const STAGE: Param = auto_number("stage", 1.0, FIRST_STAGE, "steps of the first stage");
pub(crate) const STAGE_FACTOR: Param =
    number("stage-factor", "3", 1.0, 1e6, "growth of stages (and the rate's division) per stage");
pub(crate) const STAGE_SCHEDULE: Param = choice(
    "schedule",
    "practice",
    &["practice", "theory"],
    "stages by stage and stage-factor, or by the constants mu, smoothness and l-tilde of the theorems (prox too)",
);
pub(crate) const MU: Param = number("mu", "0.1", TINY, BIG, "Polyak-Lojasiewicz constant (schedule=theory)");
pub(crate) const SMOOTHNESS: Param =
    number("smoothness", "1", TINY, BIG, "Lipschitz constant of the gradient (schedule=theory)");
pub(crate) const L_TILDE: Param =
    number("l-tilde", "1", 0.0, BIG, "bound of the score's gradient (schedule=theory; ppd-adagrad: stages=data)");
pub(crate) const ANSWER: Param =
    choice("answer", "last", &["last", "mean"], "what is reported and saved: the last iterate, or their running mean");
pub(crate) const RESET: Param =
    count("reset", "4", 0, "batches of the first dual reset, growing with the stages; 0 for none");

/// The one step rule of a method that was published with it.
pub(crate) const fn rule(name: &'static str, only: &'static [&'static str]) -> Param {
    choice("optimizer", name, only, "step rule, part of the method")
}

pub(crate) const SUM_PASSES: Param =
    number("passes", "20", TINY, BIG, "passes: a full gradient is one, a minibatch its share of the rows");
pub(crate) const LOSS: Param =
    choice("loss", "logistic", &["logistic", "least-squares", "squared-hinge"], "loss of one example");
pub(crate) const LAMBDA: Param =
    number_or("lambda", "1/n", 0.0, BIG, "adds lambda/2 times the squared norm to the objective, biases included");
pub(crate) const SUM_BATCH: Param = count("batch", "64", 1, "examples a minibatch (at most those there are)");
pub(crate) const ALPHA: Param = number_or(
    "alpha",
    "1/L",
    TINY,
    BIG,
    "step size; L bounds the curvature of every example (linear models; networks need a number)",
);
pub(crate) const INNER: Param = number_or("inner", "n/batch", 1.0, 4e9, "steps of an inner loop");
pub(crate) const STOP: Param =
    number("stop", "0.03125", TINY, 0.999_999, "an inner loop ends when |v|^2 falls below this share");
pub(crate) const SUM_DECAY: Param =
    number("decay", "0", 0.0, 0.999_999, "the step size falls by this share after every pass");

pub(crate) const PER_CLASS: Param =
    count("per-class", "8", 1, "rows of each class a batch (stratified; at most those there are)");

/// Of methods that draw from cells, a label in a group.
pub(crate) const PER_CELL: Param =
    count("per-cell", "32", 1, "rows of each label in each group a batch (at most those there are)");

pub(crate) const MEMORY: Param = Param {
    name: "memory",
    about: text("pairs of vectors lbfgs keeps"),
    domain: Domain::Count { low: 1, high: 100 },
    default: "10",
    auto: None,
};

/// Parameters of the exact methods: most gradients of linear models and of networks, loss of the margin and its scale, decay.
pub(crate) const fn exact(
    steps: [f64; 2],
    loss: &'static str,
    steepness: &'static str,
    decay: [f64; 2],
) -> [Param; 18] {
    [
        // Networks have the freedom to learn the training rows by heart, and stay near the start.
        auto_count(
            "steps",
            1,
            Auto::Model { linear: steps[0], network: steps[1] },
            "gradients over the whole data, at most",
        ),
        choice(
            "optimizer",
            "lbfgs",
            &["lbfgs", "sgd", "momentum", "adam"],
            "step rule on exact gradients; sgd is descent",
        ),
        lr("0.1"),
        SCHEDULE,
        surrogate(loss),
        MARGIN,
        scale(steepness),
        SMOOTHING,
        link("identity"),
        MEMORY,
        number(
            "tolerance",
            "1e-6",
            0.0,
            0.999_999,
            "lbfgs ends when the gradient has fallen to this share of its first",
        ),
        BETA1,
        BETA2,
        EPS,
        pull(decay[0], decay[1]),
        DECAY_TO,
        EXACT_PRETRAIN,
        PRETRAIN_LR,
    ]
}

/// Parameters of the losses that look at one example at a time, after their own.
macro_rules! with_first_order {
    ($linear:literal, $network:literal, $($own:expr),*) => {
        &[
            BATCH_STEPS, optimizer("adam"), adam_lr($linear, $network, 20_000), SCHEDULE, $($own,)* SAMPLING, POSITIVES,
            NEGATIVES, BATCH, WEIGHTS, BETA1, BETA2, EPS, DECAY, PRETRAIN, PRETRAIN_LR, RESTART,
        ]
    };
}

/// The same, from cross-entropy: for objectives that are flat, or have poor optima, far from where it leads.
macro_rules! from_cross_entropy {
    ($linear:literal, $network:literal, $($own:expr),*) => {
        &[
            FROM_CE_STEPS, optimizer("adam"), adam_lr($linear, $network, 6000), SCHEDULE, $($own,)* SAMPLING, POSITIVES,
            NEGATIVES, BATCH, WEIGHTS, BETA1, BETA2, EPS, pull(0.008, 0.008), DECAY_TO, FROM_CE, PRETRAIN_LR, NO_RESTART,
        ]
    };
}

pub(crate) use {from_cross_entropy, with_first_order};
