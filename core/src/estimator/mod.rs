//! Score space: one file per published objective.
//!
//! An estimator takes the scores of a batch and returns an estimate of the objective and its derivative by each score.
//! It holds configuration only. Moving averages are in a state slice of the caller's, passed at each call.

pub(crate) mod auc_margin;
pub(crate) mod auc_min_max;
pub(crate) mod auc_multiclass;
pub(crate) mod auc_pairwise;
pub(crate) mod ce_exact;
pub(crate) mod class_balanced;
pub(crate) mod constrained;
mod contrastive;
mod count;
pub(crate) mod cross_entropy;
pub(crate) mod exact;
pub(crate) mod fast_ap;
pub(crate) mod fcco;
pub(crate) mod focal;
pub(crate) mod gdro;
pub(crate) mod ldam;
mod levels;
pub(crate) mod min_max_ap;
mod pair;
pub(crate) mod pauc_dro;
pub(crate) mod pauc_dual;
pub(crate) mod pauc_minibatch;
pub(crate) mod pauc_threshold;
pub(crate) mod pauc_tight;
pub(crate) mod smooth_ap;
pub(crate) mod soap;
pub(crate) mod softmax;
pub mod sorr;
mod tracker;

pub use auc_margin::{AucMargin, AucMarginForm};
pub use auc_min_max::{AucMinMax, Prior};
pub use auc_multiclass::{AucMulticlass, PairWeighting};
pub use auc_pairwise::AucPairwise;
pub use ce_exact::CrossEntropyExact;
pub use class_balanced::ClassBalanced;
pub use constrained::{Constrained, ConstrainedSettings, Form, Function, Minimised, Thresholds, Uses};
pub use contrastive::{Contrastive, Views};
pub use cross_entropy::{ClassWeights, CrossEntropy};
pub use exact::Exact;
pub use fast_ap::FastAp;
pub use focal::Focal;
pub use gdro::{Blocks, Gdro, GdroSettings, Risk};
pub use ldam::Ldam;
pub use min_max_ap::MinMaxAp;
pub use pair::{PairEstimator, PairSums, PairWeights};
pub use pauc_dro::{DroForm, PaucDro};
pub use pauc_dual::PaucDual;
pub use pauc_minibatch::PaucMinibatch;
pub use pauc_threshold::PaucThreshold;
pub use pauc_tight::PaucTight;
pub use smooth_ap::SmoothAp;
pub use soap::{First, Soap, SoapSettings};
pub use softmax::SoftmaxCrossEntropy;
use softmax::softmax;
pub use sorr::Sorr;
pub use tracker::Tracker;

use crate::batch::{Batch, Drawn, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result, exact_len};
use crate::features::MULTICLASS;
use crate::real::Real;
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};
use crate::surrogate::{AnySurrogate, SURROGATES};
use core::ops::Range;

/// Gradient of the objective's estimate. Ascent variables come with the sign flipped, so that descent on everything
/// is right.
#[derive(Debug)]
pub struct Grad<'a, T> {
    /// By raw score, rows × heads.
    pub scores: &'a mut [T],
    /// By auxiliary variable.
    pub aux: &'a mut [T],
}

/// An objective in score space: a sum of terms, one for most.
///
/// What moves from batch to batch is in a state of the caller's: [`track`](Self::track) moves it,
/// [`gradient`](Self::gradient) reads it, [`update`](Self::update) does both. An objective of your own needs `need`,
/// `value` and `gradient`, and `state_len` and `track` where it has a state.
pub trait Estimator<T: Real> {
    /// The segments whose rows own a slot of the state each: all but the first, unless said otherwise (the positives, of two
    /// classes). A row's slot is its ordinal among all of theirs in [`Segments::order`](crate::data::Segments::order).
    fn owners(&self, segments: usize) -> Range<usize> {
        1..segments
    }
    /// Elements of state for so many slots (the positives of the data, for SOAP). They start at 0.
    fn state_len(&self, _slots: usize) -> usize {
        0
    }
    /// Auxiliary variables that ride behind the parameters: how many are minimised over, then how many maximised.
    fn aux(&self) -> (usize, usize) {
        (0, 0)
    }
    /// Terms that an algorithm may ask for by number ([`Batch::of_term`]).
    fn terms(&self) -> u8 {
        1
    }
    /// The function between raw scores and the scores the objective sees; class means for dual resets are means of it.
    fn link(&self) -> Link {
        Link::Identity
    }
    /// Elements of memory that [`prepare`](Self::prepare) fills.
    fn tables_len(&self) -> usize {
        0
    }
    /// Makes what does not change over a run, for [`Batch::with_tables`]; the part of the memory that holds it.
    fn prepare<'t>(&self, _tables: &'t mut [f64]) -> &'t [f64] {
        &[]
    }
    /// Working memory for a batch of this shape.
    fn need(&self, shape: Shape) -> Need;
    /// The estimate on the batch alone of the whole objective, of all its terms; the state stays as it is. With
    /// [`Drawn::All`] it is exact.
    ///
    /// # Errors
    /// As [`gradient`](Self::gradient).
    fn value(&self, batch: &Batch<'_, T>, aux: &[T], scratch: Scratch<'_, T>) -> Result<f64>;
    /// Writes the gradient of the batch's term, given the state, and returns that term's estimate.
    ///
    /// # Errors
    /// `Length` (state, scratch, gradient), `Index` (a slot past the state), `OneClass`, `Unsupported` (segments, terms),
    /// `Param` (rate), `Overflow`. After an error the gradient is as before.
    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64>;
    /// Moves the state to what the batch says. A term without a state leaves it.
    ///
    /// # Errors
    /// As [`gradient`](Self::gradient). After an error the state is as before.
    fn track(&self, _batch: &Batch<'_, T>, _state: &mut [T], _scratch: Scratch<'_, T>) -> Result<()> {
        Ok(())
    }
    /// Both, in the order that is the objective's own (the state first, unless said otherwise); in one sweep over the
    /// pairs where it has some.
    ///
    /// # Errors
    /// As [`gradient`](Self::gradient). After an error state and gradient are as before; so they are by the default, if
    /// `gradient` refuses nothing that `track` takes.
    fn update(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &mut [T],
        mut scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.track(batch, state, scratch.reborrow())?;
        self.gradient(batch, aux, state, scratch, grad)
    }
    /// The same objective over the whole data by near-linear sums, where it has such a form.
    fn whole(&self) -> Option<Exact> {
        None
    }
    /// Whether it takes batches of everything only ([`Drawn::All`]).
    fn needs_all(&self) -> bool {
        false
    }
    /// Whether it reads [`Batch::weights`]; a host that has some for a batch of everything refuses what does not.
    fn takes_weights(&self) -> bool {
        false
    }
    /// Whether its value over the whole data looks at all pairs one by one; reports then take a part of the rows.
    fn values_all_pairs(&self) -> bool {
        false
    }
    /// The same objective cut into sums over pairs, weights and slopes, for code elsewhere that computes sums and slopes.
    fn pairs(&self) -> Option<&dyn PairEstimator<T>> {
        None
    }
    /// An algorithm begins a new inner problem on a term: what the state tracks of it starts again as the objective wants.
    ///
    /// # Errors
    /// `Length` (state), `Unsupported` (a term there is not). The state is then as before.
    fn turn(&self, _term: u8, _state: &mut [T]) -> Result<()> {
        Ok(())
    }
    /// What a kernel elsewhere needs to know of it, for batches like this one, whose scores and slots are not looked at; `None`
    /// where it cannot be computed by one.
    fn recipe(&self, _batch: &Batch<'_, T>) -> Option<Recipe> {
        None
    }
}

/// A state that an evaluation reads, or also moves.
enum Held<'a, T> {
    Read(&'a [T]),
    Moved(&'a mut [T]),
}

impl<T> Held<'_, T> {
    fn read(&self) -> &[T] {
        match self {
            Self::Read(state) => state,
            Self::Moved(state) => state,
        }
    }
}

/// Weights of the examples of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weights {
    /// So that the estimate's mean over all draws is the objective over the whole data.
    Unbiased,
    /// Every example of the batch alike, however it was drawn (what papers and peers do).
    AsDrawn,
}

/// The function between raw scores and the scores an objective sees. Metrics always use raw scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Link {
    /// h = s.
    Identity,
    /// h = σ(s).
    Sigmoid,
}

impl Link {
    /// Writes h(s); `out` is as long as `scores`.
    pub fn apply<T: Real>(self, scores: &[T], out: &mut [T]) {
        match self {
            Self::Identity => out.iter_mut().zip(scores).for_each(|(h, &s)| *h = s),
            Self::Sigmoid => out.iter_mut().zip(scores).for_each(|(h, &s)| *h = s.sigmoid()),
        }
    }
    /// Writes h of the scores of one row: of several classes their shares.
    pub(crate) fn apply_to_row<T: Real>(self, scores: &[T], out: &mut [T]) {
        if MULTICLASS && scores.len() > 1 {
            softmax(scores, out);
            return;
        }
        self.apply(scores, out);
    }
    /// Turns a gradient by h into one by s, given h; both are as long. What is as good as 0 becomes 0.
    pub fn chain<T: Real>(self, h: &[T], grad: &mut [T]) {
        if self == Self::Sigmoid {
            let least = least(grad.len());
            for (g, &h) in grad.iter_mut().zip(h) {
                *g = g.settled_below(least) * h.settled() * (T::ONE - h);
            }
        }
    }
}

impl Weights {
    /// Of settings; unbiased where a method has none.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Self {
        if settings.text("weights") == Some("as-drawn") { Self::AsDrawn } else { Self::Unbiased }
    }
}

impl Link {
    /// Of settings; the identity where a method has none.
    fn from_settings(settings: &Settings<'_>) -> Self {
        if settings.text("link") == Some("sigmoid") { Self::Sigmoid } else { Self::Identity }
    }
}

/// The surrogate of settings.
pub(crate) fn surrogate(settings: &Settings<'_>) -> Result<AnySurrogate<f64>> {
    let name = settings.word("surrogate")?;
    let known = SURROGATES.iter().find(|entry| entry.0 == name).ok_or(Error::Param { what: "surrogate" })?;
    AnySurrogate::by_name(name, settings.value(known.1))
}

/// Weight of each negative and of each positive in a mean over all examples.
fn class_weights<T: Real>(weights: Weights, batch: &Batch<'_, T>) -> [f64; 2] {
    let [low, high] = [batch.starts()[1], batch.starts()[2] - batch.starts()[1]].map(f64::from);
    match (weights, batch.drawn()) {
        (Weights::Unbiased, Drawn::Stratified) => {
            let [negatives, positives] = [batch.mass(0), batch.mass(1)];
            let all = negatives + positives;
            [negatives / (all * low), positives / (all * high)].map(|w| if w.is_finite() { w } else { 0.0 })
        }
        (Weights::AsDrawn, _) | (Weights::Unbiased, Drawn::Uniform | Drawn::All) => [1.0 / (low + high); 2],
    }
}

/// Weight of each row of a segment in a mean over all examples.
fn segment_weight<T: Real>(weights: Weights, batch: &Batch<'_, T>, segment: usize) -> f64 {
    let rows = f64::from(batch.starts()[segment + 1] - batch.starts()[segment]);
    match (weights, batch.drawn()) {
        (Weights::Unbiased, Drawn::Stratified) => {
            let all: f64 = (0..batch.shape().segments).map(|segment| batch.mass(segment)).sum();
            batch.mass(segment) / (all * rows)
        }
        (Weights::AsDrawn, _) | (Weights::Unbiased, Drawn::Uniform | Drawn::All) => 1.0 / batch.shape().rows as f64,
    }
}

/// Weight of each negative and each other positive in the rank of a positive: 1 each, or so that the rank in the batch is
/// unbiased for the rank in the whole data.
fn rank_weights<T: Real>(weights: Weights, batch: &Batch<'_, T>) -> [f64; 2] {
    let [low, high] = [batch.starts()[1], batch.starts()[2] - batch.starts()[1]].map(f64::from);
    let positives = f64::from(batch.population()[1]);
    // In units of the mean weight of a positive, which is what the positive itself counts.
    let negatives = batch.mass(0) / (batch.mass(1) / positives);
    match weights {
        Weights::AsDrawn => [1.0; 2],
        // With one positive there are no others to weigh; its weight only scales FastAP's histogram.
        Weights::Unbiased => [negatives / low, if high > 1.0 { (positives - 1.0) / (high - 1.0) } else { positives }],
    }
}

/// Both classes of a binary batch, each with at least one example.
fn both_classes<'a, T: Real>(batch: &Batch<'a, T>) -> Result<(&'a [T], &'a [T])> {
    let (low, high) = batch.binary()?;
    if low.is_empty() || high.is_empty() { Err(Error::OneClass) } else { Ok((low, high)) }
}

/// `Ok` when the gradient by the auxiliaries is finite.
fn commit_aux<T: Real>(by_aux: &[T]) -> Result<()> {
    crate::error::all_finite("grad.aux", by_aux).map_err(|_| Error::Overflow { what: "auxiliary gradient" })
}

/// Derivatives by one of so many scores that are smaller than this count as 0: all of them together are less than
/// [`Real::FAINT`].
fn least<T: Real>(rows: usize) -> T {
    T::FAINT / T::of(rows.max(1) as f64)
}

/// Copies a finished gradient out, with 0 for what is as good as that, or says that it does not fit.
fn commit<T: Real>(from: &[T], to: &mut [T]) -> Result<()> {
    exact_len("grad.scores", from.len(), to.len())?;
    crate::error::all_finite("grad", from).map_err(|_| Error::Overflow { what: "score gradient" })?;
    let least = least(from.len());
    to.iter_mut().zip(from).for_each(|(to, g)| *to = g.settled_below(least));
    Ok(())
}

/// A finite value, or `Overflow`.
fn finite(what: &'static str, value: f64) -> Result<f64> {
    if value.is_finite() { Ok(value) } else { Err(Error::Overflow { what }) }
}

/// The list of estimators, and what follows from it: those of every build, of builds that train several classes or are not
/// `compact`, and of builds with a feature.
macro_rules! estimators {
    (
        $d:tt
        always { $($Name:ident($Type:ident) $about:literal)* }
        several { $($Several:ident($SeveralType:ident) $several_about:literal)* }
        $($feature:literal { $($Every:ident($EveryType:ident) $every_about:literal)* })*
    ) => {
        /// Every estimator by value.
        // (There is no allocator to keep constraints elsewhere.)
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum AnyEstimator {
            $(#[doc = $about]
            $Name($Type),)*
            $(#[cfg(any(not(feature = "compact"), feature = "multiclass"))]
            #[doc = $several_about]
            $Several($SeveralType),)*
            $($(#[cfg(feature = $feature)]
            #[doc = $every_about]
            $Every($EveryType),)*)*
        }

        /// The same for whichever it is.
        macro_rules! each {
            ($d any:expr, $d e:ident => $d body:expr) => {
                match $d any {
                    $(AnyEstimator::$Name($d e) => $d body,)*
                    $(#[cfg(any(not(feature = "compact"), feature = "multiclass"))]
                    AnyEstimator::$Several($d e) => $d body,)*
                    $($(#[cfg(feature = $feature)]
                    AnyEstimator::$Every($d e) => $d body,)*)*
                }
            };
        }
    };
}

estimators! {
    $
    always {
        CrossEntropy(CrossEntropy) "Cross-entropy, plain or class-weighted."
        AucPairwise(AucPairwise) "Mean pairwise surrogate of the AUC."
        Soap(Soap) "SOAP's objective."
        AucMargin(AucMargin) "Min-max margin objective of the AUC (AUC-M)."
        AucMinMax(AucMinMax) "Min-max AUC."
        ClassBalanced(ClassBalanced) "Class-balanced cross-entropy."
        FastAp(FastAp) "FastAP."
        Focal(Focal) "Focal loss."
        Ldam(Ldam) "LDAM."
        MinMaxAp(MinMaxAp) "Recall at several precisions."
        SmoothAp(SmoothAp) "Smooth-AP."
    }
    several {
        AucMulticlass(AucMulticlass) "Min-max AUC of several classes."
        Softmax(SoftmaxCrossEntropy) "Cross-entropy of several classes."
    }
    "exact-methods" {
        CrossEntropyExact(CrossEntropyExact) "Cross-entropy over the whole data."
        Exact(Exact) "AUC, AP or partial AUC over the whole data."
    }
    "range-methods" {
        PaucMinibatch(PaucMinibatch) "Partial AUC of each batch."
        PaucDro(PaucDro) "Partial AUC by distributionally robust losses."
        PaucTight(PaucTight) "SVMpAUC-tight's bound."
        PaucThreshold(PaucThreshold) "Partial AUC by tracked thresholds."
    }
    "group-methods" {
        Constrained(Constrained) "An objective under constraints on groups."
        Gdro(Gdro) "CVaR of the losses of groups."
    }
    "term-methods" {
        PaucDual(PaucDual) "Partial AUC as a difference of two dual forms."
        Sorr(Sorr) "Sum of ranked range."
    }
}

// (What is not said here would be the trait's default, whatever the estimator says.)
#[deny(clippy::missing_trait_methods)]
impl<T: Real> Estimator<T> for AnyEstimator {
    fn owners(&self, segments: usize) -> Range<usize> {
        each!(self, e => Estimator::<T>::owners(e, segments))
    }
    fn state_len(&self, slots: usize) -> usize {
        each!(self, e => Estimator::<T>::state_len(e, slots))
    }
    fn aux(&self) -> (usize, usize) {
        each!(self, e => Estimator::<T>::aux(e))
    }
    fn terms(&self) -> u8 {
        each!(self, e => Estimator::<T>::terms(e))
    }
    fn link(&self) -> Link {
        each!(self, e => Estimator::<T>::link(e))
    }
    fn tables_len(&self) -> usize {
        each!(self, e => Estimator::<T>::tables_len(e))
    }
    fn prepare<'t>(&self, tables: &'t mut [f64]) -> &'t [f64] {
        each!(self, e => Estimator::<T>::prepare(e, tables))
    }
    fn need(&self, shape: Shape) -> Need {
        each!(self, e => Estimator::<T>::need(e, shape))
    }
    fn value(&self, batch: &Batch<'_, T>, aux: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        each!(self, e => Estimator::<T>::value(e, batch, aux, scratch))
    }
    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        each!(self, e => Estimator::<T>::gradient(e, batch, aux, state, scratch, grad))
    }
    fn track(&self, batch: &Batch<'_, T>, state: &mut [T], scratch: Scratch<'_, T>) -> Result<()> {
        each!(self, e => Estimator::<T>::track(e, batch, state, scratch))
    }
    fn update(
        &self,
        batch: &Batch<'_, T>,
        aux: &[T],
        state: &mut [T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        each!(self, e => Estimator::<T>::update(e, batch, aux, state, scratch, grad))
    }
    fn whole(&self) -> Option<Exact> {
        each!(self, e => Estimator::<T>::whole(e))
    }
    fn needs_all(&self) -> bool {
        each!(self, e => Estimator::<T>::needs_all(e))
    }
    fn takes_weights(&self) -> bool {
        each!(self, e => Estimator::<T>::takes_weights(e))
    }
    fn values_all_pairs(&self) -> bool {
        each!(self, e => Estimator::<T>::values_all_pairs(e))
    }
    fn pairs(&self) -> Option<&dyn PairEstimator<T>> {
        each!(self, e => Estimator::<T>::pairs(e))
    }
    fn turn(&self, term: u8, state: &mut [T]) -> Result<()> {
        each!(self, e => Estimator::<T>::turn(e, term, state))
    }
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        each!(self, e => Estimator::<T>::recipe(e, batch))
    }
}

impl AnyEstimator {
    /// Cross-entropy of two classes with one score a row, or of several with one each.
    pub(crate) fn cross_entropy(weights: Weights, heads: usize) -> Self {
        #[cfg(feature = "multiclass")]
        if heads > 1 {
            return Self::Softmax(SoftmaxCrossEntropy::new(weights));
        }
        debug_assert_eq!(heads, 1, "several classes come with the feature");
        Self::CrossEntropy(CrossEntropy::new(ClassWeights::Plain, weights))
    }
}

/// What does not depend on the number type, without naming one.
impl AnyEstimator {
    /// [`Estimator::state_len`].
    #[must_use]
    pub fn state_len(&self, slots: usize) -> usize {
        Estimator::<f32>::state_len(self, slots)
    }
    /// [`Estimator::aux`].
    #[must_use]
    pub fn aux(&self) -> (usize, usize) {
        Estimator::<f32>::aux(self)
    }
    /// [`Estimator::link`].
    #[must_use]
    pub fn link(&self) -> Link {
        Estimator::<f32>::link(self)
    }
    /// [`Estimator::need`].
    #[must_use]
    pub fn need(&self, shape: Shape) -> Need {
        Estimator::<f32>::need(self, shape)
    }
    /// [`Estimator::needs_all`].
    #[must_use]
    pub fn needs_all(&self) -> bool {
        Estimator::<f32>::needs_all(self)
    }
}
