//! The methods that train several classes at once. Some share their name with a method of two classes.

use super::{
    ANSWER, BATCH, BATCH_STEPS, BETA1, BETA2, BIG, DECAY, EPS, L_TILDE, MINMAX_PAPER, MU, Method, Objective, PRETRAIN,
    PRETRAIN_LR, PROX, Param, RESET, RESTART, SCHEDULE, SMOOTHNESS, STAGE, STAGE_FACTOR, STAGE_SCHEDULE, Settings,
    Source, TINY, WEIGHTS, auto_lr, choice, count, lr, number, optimizer, rule, with_texts,
};
use crate::algorithm::AnyAlgorithm;
use crate::error::{Error, Result};
use crate::estimator::{AnyEstimator, AucMulticlass, Estimator, PairWeighting, SoftmaxCrossEntropy, Weights};
use crate::real::Real;
use crate::sampler::ClassSampler;

const fn sampling(default: &'static str) -> Param {
    choice("sampling", default, &["stratified", "uniform"], "so many of each class a batch, or uniform over all rows")
}
const PER_CLASS: Param = count("per-class", "8", 1, "rows of each class a batch (stratified; at most those there are)");
const WEIGHTING: Param = choice(
    "weighting",
    "hand-till",
    &["hand-till", "shares"],
    "pairs of classes all alike, or weighted by the product of their shares as in the paper",
);
const PAIRS: Param = count("pairs", "0", 0, "ordered pairs of classes drawn for each step; 0 for all");

/// Every method of several classes. With the feature `compact` without titles, sentences, sources and files.
pub static CLASS_METHODS: &[Method] = &with_texts([
    Method {
        name: "ce",
        title: "Softmax cross-entropy",
        about: "Minimises the mean cross-entropy of several classes (multinomial logistic regression, for a linear model).",
        objective: Objective::Softmax,
        params: &[
            BATCH_STEPS,
            optimizer("adam"),
            auto_lr(0.05, 0.003),
            SCHEDULE,
            sampling("uniform"),
            PER_CLASS,
            BATCH,
            WEIGHTS,
            BETA1,
            BETA2,
            EPS,
            DECAY,
        ],
        paper: &[],
        source: Source {
            paper: "McFadden 1974, Conditional Logit Analysis of Qualitative Choice Behavior",
            part: "the likelihood of the multinomial logit model",
        },
        files: &["core/src/estimator/softmax.rs"],
    },
    Method {
        name: "ppd-sg",
        title: "PPD-SG on several classes",
        about: "Maximises the Hand-Till AUC through its min-max square loss, in stages that start from the mean of the last.",
        objective: Objective::AucMulticlass,
        params: &[
            BATCH_STEPS,
            rule("ppd-sg", &["ppd-sg"]),
            lr("3"),
            STAGE,
            STAGE_FACTOR,
            PROX,
            RESET,
            STAGE_SCHEDULE,
            MU,
            SMOOTHNESS,
            L_TILDE,
            WEIGHTING,
            PAIRS,
            sampling("stratified"),
            PER_CLASS,
            BATCH,
            WEIGHTS,
            DECAY,
            ANSWER,
            PRETRAIN,
            PRETRAIN_LR,
            RESTART,
        ],
        paper: &[],
        source: Source { paper: MINMAX_PAPER, part: "equations (4), (5), algorithm 2" },
        files: &["core/src/estimator/auc_multiclass.rs", "core/src/algorithm/ppd_sg.rs"],
    },
    Method {
        name: "ppd-adagrad",
        title: "PPD-AdaGrad on several classes",
        about: "PPD-SG with AdaGrad's coordinate-wise steps.",
        objective: Objective::AucMulticlass,
        params: &[
            BATCH_STEPS,
            rule("ppd-adagrad", &["ppd-adagrad"]),
            lr("0.3"),
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
            WEIGHTING,
            PAIRS,
            sampling("stratified"),
            PER_CLASS,
            BATCH,
            WEIGHTS,
            ANSWER,
            PRETRAIN,
            PRETRAIN_LR,
            RESTART,
        ],
        paper: &[],
        source: Source { paper: MINMAX_PAPER, part: "equations (4), (5), algorithms 2 and 3, lemma 3" },
        files: &["core/src/estimator/auc_multiclass.rs", "core/src/algorithm/ppd_adagrad.rs"],
    },
]);

/// The method of several classes of a name.
#[must_use]
pub fn class_method(name: &str) -> Option<&'static Method> {
    CLASS_METHODS.iter().find(|method| method.name == name)
}

impl Settings<'_> {
    /// The estimator for so many classes; `seed` draws pairs of classes.
    ///
    /// # Errors
    /// `Param`; `Unsupported` for a method of two classes.
    pub fn class_estimator<T: Real>(&self, classes: usize, seed: u64) -> Result<AnyEstimator<T>> {
        match self.method().objective {
            Objective::Softmax => Ok(AnyEstimator::Softmax(SoftmaxCrossEntropy::new(self.weights()?))),
            Objective::AucMulticlass => {
                let shares = self.word("weighting")? == "shares";
                let weighting = if shares { PairWeighting::Shares } else { PairWeighting::HandTill };
                let classes = u32::try_from(classes).map_err(|_| Error::Param { what: "classes" })?;
                let pairs = self.count("pairs")? as u32;
                Ok(AnyEstimator::AucMulticlass(AucMulticlass::new(classes, weighting, pairs, seed, self.weights()?)?))
            }
            _ => Err(Error::Unsupported { what: "a method of two classes on several" }),
        }
    }

    /// The algorithm for an estimator of [`class_estimator`](Self::class_estimator), over `steps` steps.
    ///
    /// # Errors
    /// `Param`.
    pub fn class_algorithm<T: Real>(&self, estimator: &AnyEstimator<T>, steps: u64) -> Result<AnyAlgorithm> {
        self.algorithm_for(steps, estimator.aux().1)
    }

    /// The estimator and the algorithm of `steps` steps of cross-entropy before the method's own.
    ///
    /// # Errors
    /// `Param`.
    pub fn class_pretraining<T: Real>(&self, steps: u64) -> Result<(AnyEstimator<T>, AnyAlgorithm)> {
        let estimator = SoftmaxCrossEntropy::new(self.weights().unwrap_or(Weights::Unbiased));
        Ok((AnyEstimator::Softmax(estimator), self.pretraining_rule(steps)?))
    }

    /// The sampler for so many rows; batches shrink to what there is.
    ///
    /// # Errors
    /// `Param`, `Empty`.
    pub fn class_sampler(&self, seed: u64, rows: usize) -> Result<ClassSampler> {
        let most = u32::try_from(rows).map_err(|_| Error::Overflow { what: "rows" })?;
        if most == 0 {
            return Err(Error::Empty { what: "rows" });
        }
        let at_most = |name| Ok::<_, Error>(self.count(name)?.min(u64::from(most)) as u32);
        Ok(match self.word("sampling")? {
            "uniform" => ClassSampler::Uniform { seed, batch: at_most("batch")? },
            _ => ClassSampler::PerClass { seed, rows: at_most("per-class")? },
        })
    }
}
