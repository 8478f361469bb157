//! Every method by name: what it is made of, its parameters with ranges and defaults, and where it was published.
//!
//! The command line, the page and the packages all read this one table; so does the documentation.

use crate::algorithm::{Adam, AdamForm, AnyAlgorithm, Lbfgs, Momentum, Schedule, ScheduleShape, Sgd};
use crate::error::{Error, Result};
use crate::estimator::{AnyEstimator, AucPairwise, ClassWeights, CrossEntropy, First, Link, Soap, Weights};
use crate::real::Real;
use crate::sampler::{AnySampler, Shuffle, Stratified, Whole};
use crate::surrogate::{AnySurrogate, SURROGATES};

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
    /// Where it comes from.
    pub source: Source,
    /// Its files, from the repository's root.
    pub files: &'static [&'static str],
}

const fn number(name: &'static str, default: &'static str, low: f64, high: f64, about: &'static str) -> Param {
    Param { name, about, domain: Domain::Number { low, high }, default }
}
const fn count(name: &'static str, default: &'static str, low: u64, about: &'static str) -> Param {
    Param { name, about, domain: Domain::Count { low, high: u32::MAX as u64 }, default }
}
const fn choice(
    name: &'static str,
    default: &'static str,
    words: &'static [&'static str],
    about: &'static str,
) -> Param {
    Param { name, about, domain: Domain::Choice(words), default }
}

/// Greatest value of an open-ended number, and least value of one that must be positive.
const BIG: f64 = 1e30;
const TINY: f64 = 1e-30;

const SURROGATE_NAMES: &[&str] =
    &["square", "squared-hinge", "hinge", "logistic", "sigmoid", "exponential", "smoothed-hinge", "ramp"];

const OPTIMIZER_NAMES: &[&str] = &["sgd", "momentum", "adam", "adam-plain"];

const STEPS: &str = "steps of the algorithm, over which the rate falls";
const fn optimizer(default: &'static str) -> Param {
    choice("optimizer", default, OPTIMIZER_NAMES, "step rule; adam-plain is SOAP's own form")
}
const fn lr(default: &'static str) -> Param {
    number("lr", default, 0.0, BIG, "learning rate of the first step")
}
const SCHEDULE: Param =
    choice("schedule", "linear", &["constant", "linear", "cosine", "steps"], "how the learning rate falls");
const BETA1: Param = number("beta1", "0.9", 0.0, 0.999_999, "weight of the old first moment (momentum, adam)");
const BETA2: Param = number("beta2", "0.999", 0.0, 0.999_999_999, "weight of the old second moment (adam)");
const EPS: Param = number("eps", "1e-8", TINY, BIG, "keeps adam's division finite");
const DECAY: Param =
    number("decay", "0", 0.0, BIG, "weight decay: adds decay/2 times the squared norm to the objective");
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
const MARGIN: Param = number("margin", "1", TINY, BIG, "margin of square, squared-hinge, hinge and ramp");
const SMOOTHING: Param = number("smoothing", "1", TINY, BIG, "width of smoothed-hinge's round part (its margin is 1)");
const SCALE: Param = number("scale", "1", TINY, BIG, "scale of logistic, sigmoid and exponential");
const fn link(default: &'static str) -> Param {
    choice("link", default, &["sigmoid", "identity"], "function of the raw score inside the objective")
}

/// Parameters of plain and balanced cross-entropy.
const CE: &[Param] = &[
    count("steps", "6000", 1, STEPS),
    optimizer("adam"),
    lr("0.05"),
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
    about: "pairs of vectors lbfgs keeps",
    domain: Domain::Count { low: 1, high: 100 },
    default: "10",
};
const TOLERANCE: Param =
    number("tolerance", "1e-6", 0.0, 0.999_999, "lbfgs ends when the gradient has fallen to this share of its first");
const EVALUATIONS: &str = "gradients over the whole data, at most";

/// Every method.
pub const METHODS: &[Method] = &[
    Method {
        name: "soap",
        title: "SOAP",
        about: "Maximises a surrogate of the average precision (AUPRC).",
        objective: Objective::Soap,
        params: &[
            count("steps", "3000", 1, STEPS),
            optimizer("adam"),
            lr("0.02"),
            SCHEDULE,
            SURROGATE,
            MARGIN,
            SCALE,
            SMOOTHING,
            link("sigmoid"),
            number("gamma", "0.1", TINY, 1.0, "weight of the new estimate in the moving averages u"),
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
            DECAY,
        ],
        source: Source {
            paper: "Qi, Luo, Xu, Ji, Yang 2021, Stochastic Optimization of Areas Under Precision-Recall Curves with Provable Convergence",
            part: "equations (2)-(4), (9), algorithms 1-3",
        },
        files: &["core/src/estimator/soap.rs", "core/src/pairs/brute.rs"],
    },
    Method {
        name: "auc-pairwise",
        title: "Pairwise AUC",
        about: "Minimises a surrogate of the share of wrongly ordered pairs (AUROC).",
        objective: Objective::AucPairwise,
        params: &[
            count("steps", "3000", 1, STEPS),
            optimizer("adam"),
            lr("0.02"),
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
        ],
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
            count("steps", "200", 1, EVALUATIONS),
            exact_optimizer(),
            lr("0.1"),
            SCHEDULE,
            SURROGATE,
            MARGIN,
            SCALE,
            SMOOTHING,
            link("sigmoid"),
            MEMORY,
            TOLERANCE,
            BETA1,
            BETA2,
            EPS,
            DECAY,
        ],
        source: Source {
            paper: "Qi, Luo, Xu, Ji, Yang 2021, Stochastic Optimization of Areas Under Precision-Recall Curves with Provable Convergence",
            part: "equations (2)-(4)",
        },
        files: &["core/src/estimator/soap.rs", "core/src/algorithm/lbfgs.rs"],
    },
    Method {
        name: "auc-exact",
        title: "Exact AUC",
        about: "Minimises a surrogate of the share of wrongly ordered pairs over all pairs of the data.",
        objective: Objective::AucExact,
        params: &[
            count("steps", "200", 1, EVALUATIONS),
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
            DECAY,
        ],
        source: Source {
            paper: "Gao, Jin, Zhu, Zhou 2013, One-Pass AUC Optimization",
            part: "the pairwise objective, equation (1)",
        },
        files: &["core/src/estimator/auc_pairwise.rs", "core/src/algorithm/lbfgs.rs"],
    },
    Method {
        name: "ce",
        title: "Cross-entropy",
        about: "Minimises the mean cross-entropy (logistic regression, for a linear model).",
        objective: Objective::CrossEntropy,
        params: CE,
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
        source: Source {
            paper: "King, Zeng 2001, Logistic Regression in Rare Events Data",
            part: "weighting, equation (8), with a target share of one half",
        },
        files: &["core/src/estimator/cross_entropy.rs"],
    },
];

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
pub const OPTIMIZERS: &[Optimizer] = &[
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
                Domain::Number { low, high } => value.parse().is_ok_and(|x: f64| x >= low && x <= high),
                Domain::Count { low, high } => value.parse().is_ok_and(|x: u64| x >= low && x <= high),
                Domain::Choice(words) => words.contains(value),
            };
            if !fits {
                return Err(SettingError::Value { at, param });
            }
        }
        Ok(Self { method, pairs })
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &'static Method {
        self.method
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
        self.word(name)?.parse().map_err(|_| Error::Param { what: name })
    }

    /// The value of a whole-number parameter.
    ///
    /// # Errors
    /// `Param` when the method has none of this name.
    pub fn count(&self, name: &'static str) -> Result<u64> {
        self.word(name)?.parse().map_err(|_| Error::Param { what: name })
    }

    fn surrogate<T: Real>(&self) -> Result<AnySurrogate<T>> {
        let name = self.word("surrogate")?;
        let known = SURROGATES.iter().find(|entry| entry.0 == name).ok_or(Error::Param { what: "surrogate" })?;
        AnySurrogate::by_name(name, T::of(self.number(known.1)?))
    }

    fn link(&self) -> Result<Link> {
        Ok(if self.word("link")? == "sigmoid" { Link::Sigmoid } else { Link::Identity })
    }

    fn weights(&self) -> Result<Weights> {
        Ok(if self.word("weights")? == "unbiased" { Weights::Unbiased } else { Weights::AsDrawn })
    }

    /// The estimator.
    ///
    /// # Errors
    /// `Param` for values that do not go together.
    pub fn estimator<T: Real>(&self) -> Result<AnyEstimator<T>> {
        Ok(match self.method.objective {
            Objective::CrossEntropy => {
                AnyEstimator::CrossEntropy(CrossEntropy::new(ClassWeights::Plain, self.weights()?))
            }
            Objective::BalancedCrossEntropy => {
                AnyEstimator::CrossEntropy(CrossEntropy::new(ClassWeights::Balanced, self.weights()?))
            }
            Objective::AucPairwise | Objective::AucExact => {
                AnyEstimator::AucPairwise(AucPairwise::new(self.surrogate()?, self.link()?))
            }
            Objective::ApExact => {
                let (surrogate, link) = (self.surrogate()?, self.link()?);
                let (weights, first) = (Weights::Unbiased, First::Estimate);
                AnyEstimator::Soap(Soap::new(surrogate, link, T::ONE, T::ZERO, weights, first)?)
            }
            Objective::Soap => {
                let first = if self.word("first")? == "zero" { First::Zero } else { First::Estimate };
                let (gamma, floor) = (T::of(self.number("gamma")?), T::of(self.number("u0")?));
                AnyEstimator::Soap(Soap::new(self.surrogate()?, self.link()?, gamma, floor, self.weights()?, first)?)
            }
        })
    }

    /// The algorithm, over `steps` steps.
    ///
    /// # Errors
    /// `Param`.
    pub fn algorithm(&self, steps: u64) -> Result<AnyAlgorithm> {
        let shape = match self.word("schedule")? {
            "linear" => ScheduleShape::Linear,
            "cosine" => ScheduleShape::Cosine,
            "steps" => ScheduleShape::Steps,
            _ => ScheduleShape::Constant,
        };
        let lr = Schedule::new(self.number("lr")?, shape, steps);
        let (beta1, beta2, decay) = (self.number("beta1")?, self.number("beta2")?, self.number("decay")?);
        let adam = |form| Ok(AnyAlgorithm::Adam(Adam::new(lr, beta1, beta2, self.number("eps")?, decay, form)?));
        match self.word("optimizer")? {
            "sgd" => Ok(AnyAlgorithm::Sgd(Sgd::new(lr, decay)?)),
            "momentum" => Ok(AnyAlgorithm::Momentum(Momentum::new(lr, beta1, decay)?)),
            "adam" => adam(AdamForm::Corrected),
            "lbfgs" => Ok(AnyAlgorithm::Lbfgs(Lbfgs::new(self.count("memory")? as usize, self.number("tolerance")?)?)),
            _ => adam(AdamForm::Plain),
        }
    }

    /// The sampler for data with so many negatives and positives; batches shrink to what there is.
    ///
    /// # Errors
    /// `Param`, `OneClass` (stratified).
    pub fn sampler(&self, seed: u64, population: [u32; 2]) -> Result<AnySampler> {
        let [negatives, positives] = population;
        let at_most = |name, there: u32| Ok::<_, Error>((self.count(name)?).min(u64::from(there)) as u32);
        if matches!(self.method.objective, Objective::AucExact | Objective::ApExact) {
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
