//! Warnings about a trained model: runs that end without an error but learned nothing, or cannot continue.

use super::run::{Diagnostic, Run};
use super::{Figures, ModelSpec, Trainer};
use crate::decimal;
use crate::error::Result;
use crate::estimator::Link;
use crate::features::{COMPACT, EXACT, MINIMAL};
use crate::metric::{self, Summary};
use crate::model::Model;
use crate::real::Real;
use crate::registry::Method;
use crate::rng::Rng;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;

/// A warning about the model of a [`Report`](super::Report).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// All training rows have one score.
    Constant,
    /// More than half of the pairs of a positive and a negative have one score.
    Tied {
        /// Share of such pairs.
        share: f64,
    },
    /// Scores lie where the link σ is flat: the mean of h(1 − h) over the training rows is below 10⁻³, and gradients vanish.
    Saturated {
        /// That mean.
        slope: f64,
    },
    /// More positives score below a negative than above it.
    Reversed {
        /// AUROC of the training rows.
        auroc: f64,
    },
    /// The average precision is below 1.5 p, for the share p of positives, or, where more rows are positive than negative,
    /// below p + (1 − p)/2.
    Chance {
        /// The average precision of the training rows.
        ap: f64,
        /// The share of positives there.
        share: f64,
    },
    /// One of the last two of a network, with how far it has come: too short a way, or too long a one.
    Unfit {
        /// The average precision of the training rows.
        ap: f64,
        /// The share of positives there.
        share: f64,
        /// The distance of the parameters from their start values, as a multiple of the length of these.
        moved: f64,
    },
    /// More positives score below a negative than above it, or the average precision is near chance, at a penalty of constraints
    /// larger than the method's default.
    Outweighed {
        /// The penalty.
        penalty: f64,
    },
    /// An average precision near chance on the test rows alone: what was learned holds for the training rows only.
    Unseen {
        /// The average precision of the test rows.
        ap: f64,
        /// The share of positives there.
        share: f64,
    },
    /// The model ranks training rows far better than test rows: it has learned them by heart. The AUROC of the training rows is
    /// higher by more than 0.05 and twice the error of that of the test rows, and the average precision by more than 0.1.
    Memorised {
        /// The average precision of the training rows.
        train: f64,
        /// The average precision of the test rows.
        test: f64,
    },
    /// The parameters lie on the edge of the ball that a method projects them onto: without it they would have diverged.
    Edge {
        /// The ball's radius.
        radius: f64,
    },
    /// The algorithm ended without a step, because no step along the gradient lowered the objective.
    NoDescent,
    /// The method's own steps did not raise the metric on the training rows: the model is that before them.
    Start,
    /// A linear model by a finite sum, or by exact cross-entropy, whose gradient at the end is more than [`CONVERGED`](super::CONVERGED) of that
    /// at the start values.
    Unconverged {
        /// Its norm over that.
        share: f64,
    },
    /// A linear model of two classes by `ce` at its own weak decay, with fewer than ten rows of the rarer class a column, the
    /// least that Peduzzi et al. 1996 find unpenalised logistic regression to hold with.
    Sparse,
    /// The objective of a finite sum is larger than where it began: the run has diverged.
    Risen {
        /// Where it began.
        from: f64,
        /// Where it is.
        to: f64,
    },
}

/// Least mean of h(1 − h).
const FLAT: f64 = 1e-3;

/// Rows of the rarer class a column: on 141 splits of 47 tables `ce` was more than .02 AP behind `ce-exact` on 8 of the 54 with
/// fewer, and on none of the 87 with more (tests/results/front.md).
const SPARSE: f64 = 10.0;

/// Networks that have learned something lie up to twice the length of their start values away from them; those that steps too
/// large have driven off, more than ten times.
const NEAR: f64 = 4.0;

/// Balls of this radius are meant to hold everything but a run that diverges.
const WIDE: f64 = 1e6;

/// What to try, as the command line says it; or, with `compact`, as a page or a package does, which have no `--set`.
const fn words(line: &'static str, plain: &'static str) -> &'static str {
    if COMPACT { plain } else { line }
}

impl Warning {
    /// Whether the model is no result: its scores do not tell rows apart, or training cannot go on from it.
    #[must_use]
    pub fn collapsed(self) -> bool {
        matches!(self, Self::Constant | Self::Tied { .. } | Self::Saturated { .. })
    }

    /// Whether a network that fits little is near its start.
    fn is_near(self) -> bool {
        matches!(self, Self::Unfit { moved, .. } if moved < NEAR)
    }

    /// What is so, and what to try with the method.
    #[must_use]
    pub fn sentence(self, method: &Method) -> String {
        // (Written bit by bit: formatting takes more room in a small module.)
        let mut text = String::new();
        match self {
            Self::Tied { share } => push_percent(&mut text, share),
            Self::Chance { ap, share } | Self::Unfit { ap, share, .. } | Self::Unseen { ap, share } => {
                text.push_str("an average precision of ");
                push_percent(&mut text, ap);
                text.push_str(" is little above chance, ");
                push_percent(&mut text, share);
            }
            Self::Memorised { train, test } => {
                text.push_str("the average precision is ");
                push_percent(&mut text, train);
                text.push_str(" on training rows and ");
                push_percent(&mut text, test);
            }
            Self::Unconverged { share } => {
                text.push_str("the gradient is still ");
                push_percent(&mut text, share);
            }
            Self::Constant
            | Self::Saturated { .. }
            | Self::Reversed { .. }
            | Self::Outweighed { .. }
            | Self::Edge { .. }
            | Self::NoDescent
            | Self::Start
            | Self::Sparse
            | Self::Risen { .. } => {}
        }
        let near = self.is_near();
        text.push_str(match self {
            Self::Constant => "all training rows have the same score, so this model ranks nothing",
            Self::Tied { .. } => " of the pairs of a positive and a negative have the same score",
            Self::Saturated { .. } => "the scores lie where the sigmoid link is flat, so gradients vanish",
            Self::Reversed { .. } => "more positives score below a negative than above it",
            Self::Chance { .. } => " of positives",
            Self::Unfit { .. } if near => " of positives, and the network is near its start values",
            Self::Unfit { .. } => " of positives, and the network is far from its start values",
            Self::Unseen { .. } => " of positives, on the test rows alone",
            Self::Memorised { .. } => " on test rows: the model has learned rows by heart",
            Self::Outweighed { .. } if MINIMAL => "",
            Self::Outweighed { .. } => "the constraints outweigh the objective, and the model ranks little above chance",
            Self::Edge { .. } => "the parameters lie on the edge of their ball (radius)",
            Self::NoDescent => "no step lowered the objective",
            Self::Start => {
                "no step of the method's own raised its metric on the training rows: this is the model that they began at"
            }
            Self::Unconverged { .. } if MINIMAL => "",
            Self::Unconverged { .. } => " of what it was at the start: the run has not converged",
            Self::Sparse if !EXACT => "",
            Self::Sparse => "fewer than ten rows of the rarer class a column, and a decay that no rows chose",
            Self::Risen { .. } => "the objective is larger than where it began",
        });
        let tries = self.tries(method);
        let mut before = "; try ";
        let last = tries.iter().rposition(|(fits, _)| *fits);
        for (at, (_, one)) in tries.iter().enumerate().filter(|(_, (fits, _))| *fits) {
            text.push_str(if before == ", " && Some(at) == last { " or " } else { before });
            text.push_str(one);
            before = ", ";
        }
        text
    }

    /// What may help, and whether it does here. (Each is tried, on runs that get it, in tests/tests/remedies.rs. Exact methods
    /// choose their steps themselves.)
    fn tries(self, method: &Method) -> [(bool, &'static str); 15] {
        let near = self.is_near();
        let first = has(method, "pretrain");
        let narrow = matches!(self, Self::Edge { radius } if radius < WIDE) && has(method, "radius");
        let rows = matches!(self, Self::Unseen { .. } | Self::Memorised { .. });
        let heavy = matches!(self, Self::Outweighed { .. });
        let short = matches!(self, Self::Unconverged { .. });
        let sparse = EXACT && self == Self::Sparse;
        let still = rows || heavy || short || matches!(self, Self::Chance { .. } | Self::NoDescent | Self::Start);
        let rate = !(near || narrow || still || sparse || method.is_exact());
        let surrogate = self == Self::Start && has(method, "surrogate");
        [
            (
                matches!(self, Self::Saturated { .. }) && has(method, "link"),
                words("--set link=identity", "link=identity"),
            ),
            (
                matches!(self, Self::Constant | Self::NoDescent) && method.is_exact() && first,
                words("more steps of cross-entropy before (--set pretrain=STEPS)", "a larger pretrain"),
            ),
            (!MINIMAL && heavy, words("a smaller --set penalty=WEIGHT", "a smaller penalty")),
            (narrow, words("a larger --set radius=RADIUS", "a larger radius")),
            (rate && has(method, "lr"), words("a smaller --set lr=RATE", "a smaller lr")),
            (!MINIMAL && rate && has(method, "alpha"), words("a smaller --set alpha=STEP", "a smaller alpha")),
            (surrogate, words("--set surrogate=sigmoid --set scale=10", "surrogate sigmoid of scale 10")),
            (near || short, "more steps"),
            (near && first, words("a larger --set pretrain-lr=RATE", "a larger pretrain-lr")),
            (near && !first && has(method, "lr"), words("a larger --set lr=RATE", "a larger lr")),
            (rows, "more rows"),
            (rows, "fewer columns"),
            (matches!(self, Self::Chance { .. }), words("a network (--model mlp:16)", "a network")),
            (sparse, if EXACT { words("--method ce-exact", "method ce-exact") } else { "" }),
            (!(rows || near || heavy || short || sparse || matches!(self, Self::Chance { .. })), "another method"),
        ]
    }
}

/// Whether a method has a parameter of this name.
#[inline(never)]
fn has(method: &Method, name: &str) -> bool {
    method.params.iter().any(|param| param.name == name)
}

/// A share in percent, in whole numbers or with one digit behind the point.
#[inline(never)]
fn push_percent(text: &mut String, share: f64) {
    let tenths = libm::round(share * 1000.0) as u32;
    for place in [1000, 100, 10, 1] {
        if tenths >= place || place <= 10 {
            if place == 1 {
                if tenths.is_multiple_of(10) {
                    break;
                }
                text.push('.');
            }
            text.push(char::from(b'0' + (tenths / place % 10) as u8));
        }
    }
    text.push_str(" %");
}

/// Whether an average precision is hardly above a share of positives.
fn chance(summary: &Summary) -> Option<Warning> {
    let share = summary.positives as f64 / (summary.positives + summary.negatives) as f64;
    let rest = if share < 0.5 { share } else { 1.0 - share };
    (summary.ap < share + 0.5 * rest).then_some(Warning::Chance { ap: summary.ap, share })
}

/// What a figure of two classes says against a model, given another that was not doubted.
fn of_binary(train: &Summary, test: Option<&Summary>) -> Option<Warning> {
    if train.auroc < 0.5 {
        return Some(Warning::Reversed { auroc: train.auroc });
    }
    chance(train).or_else(|| {
        let test = test?;
        match chance(test) {
            Some(Warning::Chance { ap, share }) => Some(Warning::Unseen { ap, share }),
            _ => memorised(train, test),
        }
    })
}

/// Whether a model ranks training rows far better than test rows.
fn memorised(train: &Summary, test: &Summary) -> Option<Warning> {
    // (The variance of an AUROC A is at most A (1 − A)/min(n₊, n₋): Cortes and Mohri 2004.)
    let fewer = test.positives.min(test.negatives) as f64;
    let error = crate::Real::sqrt(test.auroc * (1.0 - test.auroc) / fewer);
    let far = train.auroc - test.auroc > 0.05 + 2.0 * error && train.ap - test.ap > 0.1;
    far.then_some(Warning::Memorised { train: train.ap, test: test.ap })
}

impl From<Diagnostic> for Warning {
    fn from(diagnostic: Diagnostic) -> Self {
        match diagnostic {
            Diagnostic::Start => Self::Start,
            Diagnostic::Stuck => Self::NoDescent,
            Diagnostic::Unconverged { share } => Self::Unconverged { share },
            Diagnostic::Risen { from, to } => Self::Risen { from, to },
            Diagnostic::Edge { radius } => Self::Edge { radius },
        }
    }
}

impl<T: Real, R: Run<T>> Trainer<T, R> {
    /// The `warning` of a [`report`](Self::report), now, without the rest of it. `test` are metrics of held-out rows, where
    /// there are any and two classes, as [`evaluate`](Self::evaluate) gives them. O(n log n), for each class.
    ///
    /// # Errors
    /// `NonFinite` when a score is NaN or infinite.
    pub fn warning(&mut self, test: Option<&Summary>) -> Result<Option<Warning>> {
        if self.steps_done() == 0 {
            return Ok(None);
        }
        let train = Arc::clone(&self.train);
        let mut scores = vec![T::ZERO; train.len() * self.run.heads()];
        self.score(train.rows(), &mut scores)?;
        let figures = Figures::of(&scores, &train, self.range, self.work.lend(metric::need(scores.len())))?;
        self.warning_of(&scores, &figures, test)
    }

    /// Warnings about a model whose training rows have these scores and metrics; none before the first
    /// step. The gravest first.
    pub(super) fn warning_of(
        &mut self,
        scores: &[T],
        train: &Figures,
        test: Option<&Summary>,
    ) -> Result<Option<Warning>> {
        let found = self.found_in(scores, train, test)?;
        Ok(match (found, self.penalty()) {
            (Some(Warning::Reversed { .. } | Warning::Chance { .. } | Warning::Unfit { .. }), Some(penalty)) => {
                Some(Warning::Outweighed { penalty })
            }
            _ => found,
        })
    }

    /// The penalty of constraints, where it is larger than the method's default.
    fn penalty(&self) -> Option<f64> {
        if MINIMAL {
            return None;
        }
        let (_, set) = self.config.settings.iter().rev().find(|(name, _)| name == "penalty")?;
        let method = crate::registry::method(&self.config.method)?;
        let usual = method.params.iter().find(|param| param.name == "penalty")?.default;
        let [set, usual] = [decimal::parse(set)?, decimal::parse(usual)?];
        (set > usual).then_some(set)
    }

    fn found_in(&mut self, scores: &[T], train: &Figures, test: Option<&Summary>) -> Result<Option<Warning>> {
        if self.steps_done() == 0 {
            return Ok(None);
        }
        let heads = self.run.heads();
        if scores.chunks_exact(heads).all(|row| row == &scores[..heads]) {
            return Ok(Some(Warning::Constant));
        }
        if let Figures::Binary(summary) = train {
            if summary.tied > 0.5 {
                return Ok(Some(Warning::Tied { share: summary.tied }));
            }
            if let Some(slope) = self.link_slope(scores)
                && slope < FLAT
            {
                return Ok(Some(Warning::Saturated { slope }));
            }
        }
        let found = self.run.diagnostic(self.beside.rows(&self.train))?;
        let short = found.filter(|found| matches!(found, Diagnostic::Unconverged { .. }));
        if let (Some(diagnostic), None) = (found, short) {
            // (No step is better than one that ranks all rows rightly.)
            let done = matches!((diagnostic, train), (Diagnostic::Stuck, Figures::Binary(train)) if train.auroc == 1.0);
            return Ok((!done).then(|| diagnostic.into()));
        }
        // (Networks are stopped before they have converged, and better for it.)
        let short = short.filter(|_| self.config.model == ModelSpec::Linear).map(Warning::from);
        Ok(match train {
            Figures::Binary(train) => match (of_binary(train, test), chance(train)) {
                (
                    found @ Some(Warning::Reversed { .. } | Warning::Chance { .. }),
                    Some(Warning::Chance { ap, share }),
                ) => self.moved().map_or(short.or(found), |moved| Some(Warning::Unfit { ap, share, moved })),
                // (Rows learned by heart are not learned better by more steps.)
                (found @ Some(Warning::Unseen { .. } | Warning::Memorised { .. }), _) => found,
                (found, _) => short.or(found).or_else(|| self.is_sparse(train).then_some(Warning::Sparse)),
            },
            #[cfg(feature = "multiclass")]
            Figures::Classes(train) => (train.hand_till < 0.5).then_some(Warning::Reversed { auroc: train.hand_till }),
            Figures::Values(_) => short,
        })
    }

    /// Whether it is plain cross-entropy by its own decay on few rows a column. (Builds without exact methods have no other for them.)
    fn is_sparse(&self, train: &Summary) -> bool {
        let few = || (train.positives.min(train.negatives) as f64) < SPARSE * self.train.cols() as f64;
        let own = || self.config.settings.iter().all(|(name, _)| name != "decay") && self.beside.start().is_none();
        EXACT && self.config.method == "ce" && self.config.model == ModelSpec::Linear && own() && few()
    }

    /// How far a network is from its start values, in lengths of these; `None` of other models, and of one that began at an
    /// earlier one.
    fn moved(&self) -> Option<f64> {
        if self.config.model == ModelSpec::Linear || self.beside.start().is_some() {
            return None;
        }
        let model = self.config.model.build_with(self.train.cols(), self.run.heads()).ok()?;
        let now = self.run.copy_params(&self.train);
        let mut start = vec![T::ZERO; now.len()];
        model.init(&mut Rng::keyed(self.config.seed, 0x1217, 0), &mut start).ok()?;
        let (mut way, mut length) = (0.0, 0.0);
        for (&x, &from) in now.iter().zip(&start) {
            let (x, from) = (x.f64(), from.f64());
            way += (x - from) * (x - from);
            length += from * from;
        }
        Some(crate::Real::sqrt(way / length))
    }

    /// Mean slope of the method's link over scores; `None` where it is the identity.
    fn link_slope(&self, scores: &[T]) -> Option<f64> {
        if self.run.link() == Link::Identity {
            return None;
        }
        let slope = |&score: &T| {
            let h = score.f64().sigmoid();
            h * (1.0 - h)
        };
        Some(scores.iter().map(slope).sum::<f64>() / scores.len() as f64)
    }
}
