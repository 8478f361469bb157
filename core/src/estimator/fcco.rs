//! The methods of finite-sum coupled compositional optimisation: which estimator and which algorithm each is made of.
//!
//! Source: Stochastic Momentum Methods for Non-smooth Non-Convex Finite-Sum Coupled Compositional Optimization, and the
//! methods it compares with. Each minimises an objective under constraints (`constrained.rs`); SONEX, ALEXR2, SOX, MSVR
//! and SONX also the conditional value at risk of the losses of groups, and OOA that alone (`gdro.rs`).

use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{
    Auto, BETA1, BETA2, BIG, DECAYS, EPS, LR, MARGIN, PER_CELL, Param, SCALE, SCHEDULE, STEPS, TINY, auto_count,
    auto_lr, auto_number, choice, count, number, rule,
};

/// What makes estimators of settings.
#[cfg(feature = "group-methods")]
pub(crate) mod make {
    use super::super::constrained::{Constrained, ConstrainedSettings, Form, Minimised, Thresholds, Uses};
    use super::super::gdro::{Blocks, Gdro, GdroSettings, Risk};
    use super::super::tracker::Tracker;
    use super::super::{AnyEstimator, surrogate};
    use crate::error::{Error, Result};
    use crate::registry::settings::Settings;

    /// How u moves, and which u the weights are made of.
    fn tracked(settings: &Settings<'_>) -> Result<(Tracker, Uses)> {
        let correction = if settings.text("correction").is_some() { settings.value("correction") } else { 0.0 };
        let uses = if settings.text("u") == Some("new") { Uses::New } else { Uses::Old };
        Ok((Tracker::new(settings.value("gamma"), correction)?, uses))
    }

    /// What constraints and losses of groups cost in a method.
    #[derive(Clone, Copy, PartialEq)]
    enum Costs {
        Smoothed,
        Hinge,
        Squared,
        Multipliers,
        Weights,
    }

    /// The estimator of a method.
    fn estimator(settings: &Settings<'_>, costs: Costs) -> Result<AnyEstimator> {
        let (tracker, uses) = tracked(settings)?;
        let groups = settings.scope().groups;
        let objective = settings.text("objective");
        if costs == Costs::Weights || objective == Some("cvar") {
            let blocks = if settings.text("blocks") == Some("cells") { Blocks::Cells } else { Blocks::Groups };
            let risk = match costs {
                Costs::Weights => Risk::Weights,
                Costs::Hinge => Risk::Hinge,
                Costs::Smoothed | Costs::Squared | Costs::Multipliers => Risk::Smoothed(settings.value("smoothing")),
            };
            let share = settings.value("share");
            return Ok(AnyEstimator::Gdro(Gdro::new(GdroSettings { share, groups, blocks, risk, tracker, uses })?));
        }
        let objective = match objective {
            Some("ce") => Minimised::CrossEntropy,
            Some("auc") | None => Minimised::Auc(surrogate(settings)?),
            Some(_) => return Err(Error::Param { what: "objective" }),
        };
        let form = match costs {
            Costs::Smoothed => Form::Smoothed(settings.value("smoothing")),
            Costs::Squared => Form::Squared,
            Costs::Multipliers => Form::Multipliers,
            Costs::Hinge | Costs::Weights => Form::Hinge,
        };
        let thresholds = if settings.text("thresholds") == Some("raw") { Thresholds::Raw } else { Thresholds::Pooled };
        let (constraints, penalty, aim) = (settings.constraints(), settings.value("penalty"), settings.value("aim"));
        let protected = settings.scope().protected;
        let of = ConstrainedSettings {
            objective,
            constraints,
            groups,
            protected,
            aim,
            form,
            penalty,
            tracker,
            uses,
            thresholds,
        };
        Ok(AnyEstimator::Constrained(Constrained::new(of)?))
    }

    /// SONEX and ALEXR2, of settings.
    pub(crate) fn smoothed(settings: &Settings<'_>) -> Result<AnyEstimator> {
        estimator(settings, Costs::Smoothed)
    }
    /// SONX, of settings.
    pub(crate) fn hinge(settings: &Settings<'_>) -> Result<AnyEstimator> {
        estimator(settings, Costs::Hinge)
    }
    /// SOX and MSVR, of settings.
    pub(crate) fn squared(settings: &Settings<'_>) -> Result<AnyEstimator> {
        estimator(settings, Costs::Squared)
    }
    /// The methods with multipliers, of settings.
    pub(crate) fn multipliers(settings: &Settings<'_>) -> Result<AnyEstimator> {
        estimator(settings, Costs::Multipliers)
    }
    /// OOA, of settings.
    pub(crate) fn weights(settings: &Settings<'_>) -> Result<AnyEstimator> {
        estimator(settings, Costs::Weights)
    }
}

const RUN: Param = auto_count("steps", 1, Auto::Passes { passes: 20.0, linear: 2000, network: 2000 }, STEPS);
const fn step(default: &'static str) -> Param {
    choice("step", default, &["adam", "momentum", "sgd"], "the step along the estimate of the gradient")
}
const OBJECTIVE: Param = choice(
    "objective",
    "auc",
    &["auc", "ce", "cvar"],
    "what is minimised: the pairwise surrogate or the cross-entropy under the constraints, or the mean loss of the worst groups",
);
const UNDER: Param = choice(
    "objective",
    "auc",
    &["auc", "ce"],
    "what is minimised under the constraints: the pairwise surrogate or the cross-entropy",
);
const fn surrogates(default: &'static str) -> Param {
    let words = &["sigmoid", "logistic", "squared-hinge", "hinge"];
    choice("surrogate", default, words, "loss of the margin (objective=auc)")
}
const fn penalty(default: &'static str) -> Param {
    number("penalty", default, 0.0, BIG, "weight of the constraints, and the largest one's multiplier")
}
const fn smoothing(about: &'static str) -> Param {
    number("smoothing", "0.002", TINY, BIG, about)
}
const LAMBDA: Param = smoothing(
    "width of the smoothing: a constraint has its full weight smoothing times penalty past its bound, a gap twice as far, a loss (objective=cvar) smoothing / share past the worst share",
);
const OF_LOSSES: Param =
    smoothing("a loss has its full weight smoothing / share past the worst share (objective=cvar)");
const fn gamma(default: &'static str) -> Param {
    number("gamma", default, TINY, 1.0, "weight of the new estimate in running values")
}
const fn correction(default: &'static str) -> Param {
    number(
        "correction",
        default,
        0.0,
        10.0,
        "weight of the change since the point before, on the same rows, in running values",
    )
}
const fn uses(default: &'static str, words: &'static [&'static str]) -> Param {
    choice("u", default, words, "running values that weigh a batch: from before it or after it")
}
const EITHER: &[&str] = &["old", "new"];
const fn aim(default: &'static str) -> Param {
    number(
        "aim",
        default,
        1e-3,
        1.0,
        "share of a gap's bound that training aims at: the gap over all thresholds is larger",
    )
}
const THRESHOLDS: Param = choice(
    "thresholds",
    "pooled",
    &["pooled", "raw"],
    "gaps at pooled false-positive rates, or at the scores -3 to 3 (as published; met by a shift of all scores)",
);
const SHARE: Param = number("share", "0.15", 1e-6, 1.0, "share of the groups that are the worst (objective=cvar)");
const BLOCKS: Param = choice(
    "blocks",
    "groups",
    &["groups", "cells"],
    "what losses are of: groups, or the rows of each label in each group (objective=cvar)",
);
const DUAL_LR: Param = number("dual-lr", "0.03", 0.0, BIG, "rate of the multipliers");
const fn inner(default: &'static str) -> Param {
    count("inner", default, 1, "inner steps of an outer step, of two batches each")
}
const fn prox(default: &'static str) -> Param {
    number("prox", default, TINY, BIG, "radius of the proximal term")
}
const fn decay(default: &'static str) -> Param {
    number("decay", default, 0.0, BIG, DECAYS)
}

/// Parameters of a method with a penalty: those of its steps, then those of the penalty and the running values, among what all
/// have.
macro_rules! penalised {
    ($($steps:expr),*; $($own:expr),*) => {
        &[
            RUN, $($steps,)* OBJECTIVE, surrogates("logistic"), SCALE, MARGIN, $($own,)* THRESHOLDS, SHARE, BLOCKS, PER_CELL,
            BETA1, BETA2, EPS, decay("0.001"),
        ]
    };
}

const PAPER: &str =
    "Stochastic Momentum Methods for Non-smooth Non-Convex Finite-Sum Coupled Compositional Optimization";

/// Its entry in the table of methods.
pub(crate) const SONEX: Entry = Entry {
    name: "sonex",
    title: "SONEX",
    about: "Minimises an objective under constraints on groups (--constraint), or the mean loss of the worst groups, by a smoothed penalty.",
    kind: Kind::Cells,
    metric: Metric::Auroc,
    params: penalised!(
        rule("sonex", &["sonex"]), step("adam"), auto_lr(0.01, 0.003), SCHEDULE;
        penalty("4"), aim("0.2"), LAMBDA, gamma("0.3"), correction("0.1"), uses("old", EITHER)
    ),
    paper: &[],
    source: Source { paper: PAPER, part: "algorithm 1, appendix E" },
    files: &[
        "core/src/estimator/constrained/mod.rs",
        "core/src/estimator/gdro.rs",
        "core/src/estimator/tracker.rs",
        "core/src/algorithm/sonex.rs",
    ],
};

/// Its entry in the table of methods.
pub(crate) const ALEXR2: Entry = Entry {
    name: "alexr2",
    title: "ALEXR2",
    about: "The same by steps between proximal points, which an inner loop finds.",
    kind: Kind::Cells,
    metric: Metric::Auroc,
    params: penalised!(
        rule("alexr2", &["alexr2"]), step("adam"), auto_lr(0.03, 0.01), SCHEDULE, inner("5"), number("inner-lr", "0.1", TINY, BIG, "learning rate of the first inner steps"), prox("0.1");
        penalty("4"), aim("0.2"), LAMBDA, gamma("0.2"), correction("0.1")
    ),
    paper: &[],
    source: Source { paper: PAPER, part: "algorithm 2" },
    files: &[
        "core/src/estimator/constrained/mod.rs",
        "core/src/estimator/gdro.rs",
        "core/src/estimator/tracker.rs",
        "core/src/algorithm/alexr2.rs",
    ],
};

/// Its entry in the table of methods.
pub(crate) const MSVR: Entry = Entry {
    name: "msvr",
    title: "MSVR",
    about: "The same as SOX by a running gradient that each batch corrects.",
    kind: Kind::Cells,
    metric: Metric::Auroc,
    params: penalised!(
        rule("msvr", &["msvr"]), step("adam"), auto_lr(0.01, 0.003), SCHEDULE,
        number("beta", "0.5", TINY, 1.0, "weight of a batch's gradient by itself in the running one; 1 corrects nothing");
        penalty("40"), aim("0.2"), OF_LOSSES, gamma("0.1"), correction("0.9"), uses("new", &["new"])
    ),
    paper: &[],
    source: Source {
        paper: "Jiang, Li, Wang, Zhang, Yang 2022, Multi-block-Single-probe Variance Reduced Estimator for Coupled Compositional Optimization",
        part: "the estimator with the running gradient of STORM",
    },
    files: &[
        "core/src/estimator/constrained/mod.rs",
        "core/src/estimator/gdro.rs",
        "core/src/estimator/tracker.rs",
        "core/src/algorithm/msvr.rs",
    ],
};

/// Its entry in the table of methods.
pub(crate) const SONX: Entry = Entry {
    name: "sonx",
    title: "SONX",
    about: "The same by a penalty that is not smoothed.",
    kind: Kind::Cells,
    metric: Metric::Auroc,
    params: penalised!(
        rule("sonex", &["sonex"]), step("sgd"), auto_lr(0.1, 0.3), SCHEDULE;
        penalty("4"), aim("0.2"), gamma("0.3"), correction("0.1"), uses("new", EITHER)
    ),
    paper: &[],
    source: Source {
        paper: "Hu, Zhu, Yang 2023, Non-Smooth Weakly-Convex Finite-sum Coupled Compositional Optimization",
        part: "algorithm 1",
    },
    files: &["core/src/estimator/constrained/mod.rs", "core/src/estimator/gdro.rs", "core/src/algorithm/sonex.rs"],
};

/// Its entry in the table of methods. (The slope of a squared excess is 2ρ times it, and a threshold's width follows the scores,
/// so a network's first gradients grow with ρ over how little its first scores differ: at ρ = 40 a rate of .3 left all scores
/// equal, .1 and less did not.)
pub(crate) const SOX: Entry = Entry {
    name: "sox",
    title: "SOX",
    about: "The same by the squares of what exceeds the bounds.",
    kind: Kind::Cells,
    metric: Metric::Auroc,
    params: penalised!(
        choice("optimizer", "momentum", &["sgd", "momentum", "adam"], "step rule"),
        auto_number("lr", 0.0, Auto::Penalised { linear: 0.1, network: 0.03, penalty: 40.0 }, LR), SCHEDULE;
        penalty("40"), aim("0.2"), OF_LOSSES, gamma("0.3"), uses("old", EITHER)
    ),
    paper: &[],
    source: Source {
        paper: "Wang, Yang 2022, Finite-Sum Coupled Compositional Stochastic Optimization: Theory and Applications",
        part: "algorithm 1 (SOX)",
    },
    files: &["core/src/estimator/constrained/mod.rs", "core/src/estimator/gdro.rs", "core/src/algorithm/momentum.rs"],
};

/// Its entry in the table of methods.
pub(crate) const LAGRANGE: Entry = Entry {
    name: "lagrange",
    title: "Lagrange multipliers",
    about: "Minimises an objective under constraints on groups (--constraint) with a multiplier for each, which rises while it is violated.",
    kind: Kind::Cells,
    metric: Metric::Auroc,
    params: &[
        RUN,
        rule("lagrange", &["lagrange"]),
        step("adam"),
        auto_lr(0.01, 0.002),
        SCHEDULE,
        UNDER,
        surrogates("sigmoid"),
        SCALE,
        MARGIN,
        penalty("20"),
        aim("0.4"),
        DUAL_LR,
        gamma("0.8"),
        THRESHOLDS,
        PER_CELL,
        BETA1,
        BETA2,
        EPS,
        decay("0.001"),
    ],
    paper: &[],
    source: Source {
        paper: "Cotter, Jiang, Sridharan 2019, Two-Player Games for Efficient Non-Convex Constrained Optimization",
        part: "algorithm 2",
    },
    files: &["core/src/estimator/constrained/mod.rs", "core/src/algorithm/lagrange.rs"],
};

/// Its entry in the table of methods.
pub(crate) const ICPPAC: Entry = Entry {
    name: "icppac",
    title: "ICPPAC",
    about: "The same by proximal points, each from an inner loop whose multipliers look at constraints a step ahead.",
    kind: Kind::Cells,
    metric: Metric::Auroc,
    params: &[
        RUN,
        rule("icppac", &["icppac"]),
        step("adam"),
        auto_lr(0.02, 0.005),
        SCHEDULE,
        inner("5"),
        prox("10"),
        UNDER,
        surrogates("sigmoid"),
        SCALE,
        MARGIN,
        penalty("20"),
        aim("0.4"),
        DUAL_LR,
        gamma("1"),
        correction("1"),
        THRESHOLDS,
        PER_CELL,
        BETA1,
        BETA2,
        EPS,
        decay("0.001"),
    ],
    paper: &[],
    source: Source {
        paper: "Boob, Deng, Lan 2023, Stochastic First-order Methods for Convex and Nonconvex Functional Constrained Optimization",
        part: "constraint extrapolation in the inexact constrained proximal point method",
    },
    files: &["core/src/estimator/constrained/mod.rs", "core/src/estimator/tracker.rs", "core/src/algorithm/icppac.rs"],
};

/// Its entry in the table of methods.
pub(crate) const OOA: Entry = Entry {
    name: "ooa",
    title: "OOA",
    about: "Minimises the mean loss of the worst groups with a weight for each, which rises with its loss.",
    kind: Kind::Cells,
    metric: Metric::Auroc,
    params: &[
        RUN,
        rule("ooa", &["ooa"]),
        step("adam"),
        auto_lr(0.01, 0.003),
        SCHEDULE,
        number("dual-lr", "0.01", 0.0, BIG, "rate of the weights"),
        gamma("1"),
        SHARE,
        BLOCKS,
        PER_CELL,
        BETA1,
        BETA2,
        EPS,
        decay("0.02"),
    ],
    paper: &[],
    source: Source {
        paper: "Sagawa, Koh, Hashimoto, Liang 2020, Distributionally Robust Neural Networks for Group Shifts",
        part: "algorithm 1, over the weights of CVaR",
    },
    files: &["core/src/estimator/gdro.rs", "core/src/algorithm/ooa.rs"],
};
