//! Metrics, sums over pairs, and surrogates: functions of their arguments alone, in memory of the caller's.

use crate::error::{CHOICE, Failure, PARAM, Result, guard, unknown};
use crate::memory::{self, Place, Plain, apart, input, output, place};
#[cfg(feature = "trainer")]
use alloc::vec::Vec;
use undercurve::decision::ThresholdRule;
#[cfg(feature = "trainer")]
use undercurve::measure::{self, Groups, Ranked, Rows};
use undercurve::metric::{self, FprRange, TieRule, Truth};
#[cfg(feature = "trainer")]
use undercurve::metric::{Interval, Metrics, Pair};
use undercurve::pairs::{self, Grade, Sum};
use undercurve::surrogate::{AnySurrogate, SURROGATES, Surrogate};
use undercurve::{Need, Real};

/// Rows as they come: scores, labels, and weights or NULL.
#[derive(Clone, Copy)]
struct Given<T> {
    scores: *const T,
    labels: *const u8,
    weights: *const f64,
    rows: usize,
}

impl<T: Real + Plain> Given<T> {
    fn weighted(&self) -> usize {
        if self.weights.is_null() { 0 } else { self.rows }
    }

    fn places(&self) -> Result<[Place; 3]> {
        memory::takes_weights(self.weights)?;
        Ok([
            place("scores", self.scores, self.rows)?,
            place("labels", self.labels, self.rows)?,
            place("weights", self.weights, self.weighted())?,
        ])
    }

    /// # Safety
    /// As [`input`].
    unsafe fn slices<'a>(&self) -> Result<(&'a [T], Truth<'a>)> {
        // SAFETY: as the caller promises.
        let (scores, labels, weights) = unsafe {
            let labels = input("labels", self.labels, self.rows)?;
            (input("scores", self.scores, self.rows)?, labels, input("weights", self.weights, self.weighted())?)
        };
        Ok((scores, Truth::new(labels, weights)?))
    }
}

/// The caller's working memory.
#[derive(Clone, Copy)]
struct Work {
    at: *mut u64,
    bytes: usize,
}

impl Work {
    fn place(self) -> Result<Place> {
        place("scratch", self.at.cast::<u8>(), self.bytes)
    }
}

/// Which metric.
enum Metric {
    Auroc,
    Ap,
    Pauc { low: f64, high: f64 },
}

/// # Safety
/// The pointers are NULL or as the header says.
unsafe fn metric<T: Real + Plain>(which: &Metric, given: Given<T>, work: Work, out: *mut f64) -> Result<()> {
    let value = place("value", out, 1)?;
    apart(&given.places()?, &[work.place()?, value])?;
    // SAFETY: as the caller promises; what is written is apart.
    let (slices, out) = unsafe { (given.slices(), output("value", out, 1)?) };
    let (scores, truth) = slices?;
    // SAFETY: the same.
    let scratch = unsafe { memory::scratch::<T>(work.at, work.bytes, metric::need(given.rows))? };
    let found = match *which {
        Metric::Auroc => metric::auroc(scores, &truth, scratch)?,
        Metric::Ap => metric::average_precision(scores, &truth, scratch)?,
        Metric::Pauc { low, high } => {
            metric::partial_auc(scores, &truth, FprRange::new(low, high)?, TieRule::Trapezoid, scratch)?
        }
    };
    out.fill(found);
    Ok(())
}

/// A threshold by a rule: it, and true positives, false positives, true negatives and false negatives.
///
/// # Safety
/// The pointers are NULL or as the header says.
unsafe fn decide<T: Real + Plain>(
    rule: *const u8,
    given: Given<T>,
    clusters: *const u32,
    work: Work,
    out: *mut f64,
) -> Result<()> {
    let grouped = if clusters.is_null() { 0 } else { given.rows };
    let [scores, labels, weights] = given.places()?;
    let read = [scores, labels, weights, place("clusters", clusters, grouped)?];
    apart(&read, &[work.place()?, place("decision", out, 5)?])?;
    // SAFETY: as the caller promises; what is written is apart.
    let (rule, slices, clusters, out) = unsafe {
        let clusters = input("clusters", clusters, grouped)?;
        (memory::text("rule", rule)?, given.slices(), clusters, output("decision", out, 5)?)
    };
    let known = rule.parse::<ThresholdRule>();
    let rule = known.map_err(|_| Failure::new(CHOICE, format_args!("rule: expected {}", ThresholdRule::FORMS)))?;
    let (scores, truth) = slices?;
    // SAFETY: the same.
    let scratch = unsafe { memory::scratch::<T>(work.at, work.bytes, metric::need(given.rows))? };
    let found = match rule {
        #[cfg(feature = "trainer")]
        ThresholdRule::Promised(promise) if grouped > 0 || given.weighted() > 0 => {
            promise.decide_in(scores, truth, Some(clusters).filter(|_| grouped > 0))?
        }
        #[cfg(not(feature = "trainer"))]
        ThresholdRule::Promised(_) if !clusters.is_empty() => {
            return Err(
                undercurve::Error::Unsupported { what: "promises on clusters, in a library without runs" }.into()
            );
        }
        _ => rule.decide(scores, &truth, scratch)?,
    };
    let counts = found.counts;
    out.copy_from_slice(&[
        found.threshold,
        counts.true_positives,
        counts.false_positives,
        counts.true_negatives,
        counts.false_negatives,
    ]);
    Ok(())
}

/// Any metric by its name: its value and its interval, NaN where there are none.
///
/// # Safety
/// The pointers are NULL or as the header says.
#[cfg(feature = "trainer")]
unsafe fn named<T: Real + Plain>(
    name: *const u8,
    given: Given<T>,
    [clusters, queries, groups]: [*const u32; 3],
    out: *mut f64,
) -> Result<()> {
    let many = |of: *const u32| if of.is_null() { 0 } else { given.rows };
    let [scores, labels, weights] = given.places()?;
    let beside = [place("clusters", clusters, many(clusters))?, place("queries", queries, many(queries))?];
    let read = [scores, labels, weights, beside[0], beside[1], place("groups", groups, many(groups))?];
    apart(&read, &[place("found", out, 3)?])?;
    // SAFETY: as the caller promises; what is written is apart.
    let (name, slices, clusters, queries, groups, out) = unsafe {
        let queries = input("queries", queries, many(queries))?;
        let (clusters, groups) = (input("clusters", clusters, many(clusters))?, input("groups", groups, many(groups))?);
        (memory::text("name", name)?, given.slices(), clusters, queries, groups, output("found", out, 3)?)
    };
    let (scores, truth) = slices?;
    let scores: Vec<f64> = scores.iter().map(|score| score.f64()).collect();
    let count = groups.iter().max().map_or(0, |&most| most as usize + 1);
    let rows = Rows {
        single: size_of::<T>() == 4,
        queries: (!queries.is_empty()).then_some(Ranked { of: queries, gains: &[] }),
        groups: (!groups.is_empty()).then_some(Groups { of: groups, count }),
        ..Rows::new(&scores, truth.clustered(clusters)?)
    };
    let found = rows.find(&by_name(name)?, &mut Metrics::new())?;
    let [low, high] = ends(found.interval);
    out.copy_from_slice(&[found.value.unwrap_or(f64::NAN), low, high]);
    Ok(())
}

/// A metric of two scores of the same rows: both values, their difference with its interval, and a p-value.
///
/// # Safety
/// The pointers are NULL or as the header says.
#[cfg(feature = "trainer")]
unsafe fn compared<T: Real + Plain>(
    name: *const u8,
    given: Given<T>,
    other: *const T,
    clusters: *const u32,
    out: *mut f64,
) -> Result<()> {
    let grouped = if clusters.is_null() { 0 } else { given.rows };
    let [scores, labels, weights] = given.places()?;
    let read = [scores, labels, weights, place("b", other, given.rows)?, place("clusters", clusters, grouped)?];
    apart(&read, &[place("found", out, 6)?])?;
    // SAFETY: as the caller promises; what is written is apart.
    let (name, slices, other, clusters, out) = unsafe {
        let (other, clusters) = (input("b", other, given.rows)?, input("clusters", clusters, grouped)?);
        (memory::text("name", name)?, given.slices(), other, clusters, output("found", out, 6)?)
    };
    let (scores, truth) = slices?;
    let pair = Pair::new([scores, other], truth.clustered(clusters)?)?;
    let found = by_name(name)?.compare(&pair, FprRange::new(0.0, 0.05)?)?;
    let ([low, high], [a, b]) = (ends(found.interval), found.values);
    out.copy_from_slice(&[a, b, found.difference, low, high, found.p.unwrap_or(f64::NAN)]);
    Ok(())
}

#[cfg(feature = "trainer")]
fn ends(interval: Option<Interval>) -> [f64; 2] {
    interval.map_or([f64::NAN; 2], |ends| [ends.low, ends.high])
}

#[cfg(feature = "trainer")]
fn by_name(name: &str) -> Result<measure::Metric> {
    name.parse().map_err(|wrong| match wrong {
        measure::Wrong::Unknown(name) => {
            unknown(CHOICE, "metric", &name, measure::TABLE.iter().map(|entry| entry.name))
        }
        wrong => Failure::new(CHOICE, format_args!("name: {wrong}")),
    })
}

fn sum(which: u32, low: f64, high: f64, tpr: f64) -> Result<Sum> {
    match which {
        0 => Ok(Sum::Auc),
        1 => Ok(Sum::Ap),
        2 => Ok(Sum::Pauc { fpr: (low, high), tpr }),
        _ => Err(Failure::new(CHOICE, format_args!("there is no sum {which}"))),
    }
}

/// # Safety
/// `loss` is NULL or a text that ends.
unsafe fn surrogate(loss: *const u8, param: f64) -> Result<AnySurrogate<f64>> {
    // SAFETY: as the caller promises.
    let name = unsafe { memory::text("loss", loss)? };
    let names = SURROGATES.iter().map(|entry| entry.0);
    if names.clone().all(|known| known != name) {
        return Err(unknown(PARAM, "loss", name, names));
    }
    Ok(AnySurrogate::by_name(name, param)?)
}

/// A type that pair sums take: they are made of `f64`, once for all, so that the library has one copy of their kernels.
trait Summed: Real + Plain {
    /// How many `f64` a row takes to be turned into one and back.
    const BESIDE: usize;
    /// The sum of `scores`, with `beside` of `BESIDE` a row.
    fn sum(
        scores: &[Self],
        beside: &mut [f64],
        grad: &mut [Self],
        sum: impl FnOnce(&[f64], &mut [f64]) -> undercurve::Result<f64>,
    ) -> undercurve::Result<f64>;
}

impl Summed for f64 {
    const BESIDE: usize = 0;
    fn sum(
        scores: &[f64],
        _: &mut [f64],
        grad: &mut [f64],
        sum: impl FnOnce(&[f64], &mut [f64]) -> undercurve::Result<f64>,
    ) -> undercurve::Result<f64> {
        sum(scores, grad)
    }
}

impl Summed for f32 {
    const BESIDE: usize = 2;
    fn sum(
        scores: &[f32],
        beside: &mut [f64],
        grad: &mut [f32],
        sum: impl FnOnce(&[f64], &mut [f64]) -> undercurve::Result<f64>,
    ) -> undercurve::Result<f64> {
        let (wide, slopes) = beside.split_at_mut(beside.len() / 2);
        wide.iter_mut().zip(scores).for_each(|(wide, &score)| *wide = f64::from(score));
        let value = sum(wide, slopes)?;
        if slopes.iter().any(|slope| slope.abs() > f64::from(f32::MAX)) {
            return Err(undercurve::Error::Overflow { what: "grad" });
        }
        for (to, &slope) in grad.iter_mut().zip(&*slopes) {
            *to = if slope.abs() < f64::from(f32::TINY) { 0.0 } else { slope as f32 };
        }
        Ok(value)
    }
}

/// What a pair sum borrows.
fn pairs_need<T: Summed>(sum: Sum, loss: AnySurrogate<f64>, rows: usize, positives: usize, weighted: bool) -> Need {
    let need = if weighted { pairs::sum_need(rows) } else { pairs::need_for(sum, loss, rows, positives) };
    Need { f64: need.f64.saturating_add(rows.saturating_mul(T::BESIDE)), ..need }
}

/// # Safety
/// The pointers are NULL or as the header says.
unsafe fn pair_sum<T: Summed>(
    sum: Sum,
    loss: AnySurrogate<f64>,
    given: Given<T>,
    work: Work,
    out: *mut f64,
    grad: *mut T,
) -> Result<()> {
    let value = place("value", out, 1)?;
    apart(&given.places()?, &[work.place()?, value, place("grad", grad, given.rows)?])?;
    // SAFETY: as the caller promises; what is written is apart.
    let (slices, out, grad) = unsafe { (given.slices(), output("value", out, 1)?, output("grad", grad, given.rows)?) };
    let (scores, truth) = slices?;
    let positives = truth.labels().iter().filter(|&&label| label == 1).count();
    let need = pairs_need::<T>(sum, loss, given.rows, positives, given.weighted() > 0);
    // SAFETY: the same.
    let mut scratch = unsafe { memory::scratch::<f64>(work.at, work.bytes, need)? };
    let (beside, rest) = core::mem::take(&mut scratch.f64).split_at_mut(given.rows * T::BESIDE);
    scratch.f64 = rest;
    out.fill(<T as Summed>::sum(scores, beside, grad, |scores, grad| {
        pairs::sum(sum, scores, truth, loss, Grade::Full, scratch, grad)
    })?);
    Ok(())
}

/// # Safety
/// The pointers are NULL or as the header says.
unsafe fn tell_pairs_need<T: Summed>(
    which: u32,
    loss: *const u8,
    param: f64,
    rows: usize,
    positives: usize,
    weighted: bool,
    bytes: *mut usize,
) -> Result<()> {
    let sum = sum(which, 0.0, 1.0, 0.5)?;
    // SAFETY: as the caller promises.
    let (loss, bytes) = unsafe { (surrogate(loss, param)?, output("bytes", bytes, 1)?) };
    let need = |sum| pairs_need::<T>(sum, loss, rows, positives, weighted);
    bytes.fill(memory::bytes::<f64>(match sum {
        Sum::Pauc { fpr, .. } => need(sum).either(need(Sum::Pauc { fpr, tpr: 0.0 })),
        Sum::Auc | Sum::Ap => need(sum),
    }));
    Ok(())
}

#[cfg(feature = "trainer")]
macro_rules! by_names {
    ($T:ty, $metric:ident, $compare:ident) => {
        /// Any metric by its name.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $metric(
            name: *const u8,
            scores: *const $T,
            labels: *const u8,
            weights: *const f64,
            clusters: *const u32,
            queries: *const u32,
            groups: *const u32,
            rows: usize,
            found: *mut f64,
        ) -> i32 {
            let given = Given { scores, labels, weights, rows };
            // SAFETY: as the caller promises.
            guard(|| unsafe { named(name, given, [clusters, queries, groups], found) })
        }

        /// A metric of two scores of the same rows.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $compare(
            name: *const u8,
            scores: *const $T,
            b: *const $T,
            labels: *const u8,
            weights: *const f64,
            clusters: *const u32,
            rows: usize,
            found: *mut f64,
        ) -> i32 {
            let given = Given { scores, labels, weights, rows };
            // SAFETY: as the caller promises.
            guard(|| unsafe { compared(name, given, b, clusters, found) })
        }
    };
}

#[cfg(feature = "trainer")]
by_names!(f32, uc_metric_f32, uc_compare_f32);
#[cfg(feature = "trainer")]
by_names!(f64, uc_metric_f64, uc_compare_f64);

/// The bytes of scratch of the metrics of so many rows; `SIZE_MAX` for more than they take.
#[unsafe(no_mangle)]
pub extern "C" fn uc_metrics_need(rows: usize) -> usize {
    memory::bytes::<f64>(metric::need(rows))
}

macro_rules! functions {
    ($T:ty, $auroc:ident, $ap:ident, $pauc:ident, $decide:ident, $need:ident, $pairs:ident) => {
        /// AUROC.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $auroc(
            scores: *const $T,
            labels: *const u8,
            weights: *const f64,
            rows: usize,
            scratch: *mut u64,
            bytes: usize,
            value: *mut f64,
        ) -> i32 {
            let (given, work) = (Given { scores, labels, weights, rows }, Work { at: scratch, bytes });
            // SAFETY: as the caller promises.
            guard(|| unsafe { metric(&Metric::Auroc, given, work, value) })
        }

        /// Average precision.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $ap(
            scores: *const $T,
            labels: *const u8,
            weights: *const f64,
            rows: usize,
            scratch: *mut u64,
            bytes: usize,
            value: *mut f64,
        ) -> i32 {
            let (given, work) = (Given { scores, labels, weights, rows }, Work { at: scratch, bytes });
            // SAFETY: as the caller promises.
            guard(|| unsafe { metric(&Metric::Ap, given, work, value) })
        }

        /// Partial AUC.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $pauc(
            scores: *const $T,
            labels: *const u8,
            weights: *const f64,
            rows: usize,
            low: f64,
            high: f64,
            scratch: *mut u64,
            bytes: usize,
            value: *mut f64,
        ) -> i32 {
            let (given, work) = (Given { scores, labels, weights, rows }, Work { at: scratch, bytes });
            // SAFETY: as the caller promises.
            guard(|| unsafe { metric(&Metric::Pauc { low, high }, given, work, value) })
        }

        /// A threshold by a rule.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $decide(
            rule: *const u8,
            scores: *const $T,
            labels: *const u8,
            weights: *const f64,
            clusters: *const u32,
            rows: usize,
            scratch: *mut u64,
            bytes: usize,
            decision: *mut f64,
        ) -> i32 {
            let (given, work) = (Given { scores, labels, weights, rows }, Work { at: scratch, bytes });
            // SAFETY: as the caller promises.
            guard(|| unsafe { decide(rule, given, clusters, work, decision) })
        }

        /// The bytes of scratch of a pair sum.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $need(
            which: u32,
            loss: *const u8,
            param: f64,
            rows: usize,
            positives: usize,
            weighted: i32,
            bytes: *mut usize,
        ) -> i32 {
            // SAFETY: as the caller promises.
            guard(|| unsafe { tell_pairs_need::<$T>(which, loss, param, rows, positives, weighted != 0, bytes) })
        }

        /// A sum over pairs with its gradient.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $pairs(
            which: u32,
            low: f64,
            high: f64,
            tpr: f64,
            loss: *const u8,
            param: f64,
            scores: *const $T,
            labels: *const u8,
            weights: *const f64,
            rows: usize,
            scratch: *mut u64,
            bytes: usize,
            value: *mut f64,
            grad: *mut $T,
        ) -> i32 {
            let (given, work) = (Given { scores, labels, weights, rows }, Work { at: scratch, bytes });
            guard(|| {
                // SAFETY: as the caller promises.
                unsafe {
                    let loss = surrogate(loss, param)?;
                    pair_sum(sum(which, low, high, tpr)?, loss, given, work, value, grad)
                }
            })
        }
    };
}

functions!(f32, uc_auroc_f32, uc_ap_f32, uc_pauc_f32, uc_decide_f32, uc_pairs_need_f32, uc_pairs_f32);
functions!(f64, uc_auroc_f64, uc_ap_f64, uc_pauc_f64, uc_decide_f64, uc_pairs_need_f64, uc_pairs_f64);

/// Values and slopes of a surrogate at so many margins.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uc_surrogate(
    loss: *const u8,
    param: f64,
    margins: *const f64,
    count: usize,
    values: *mut f64,
    slopes: *mut f64,
) -> i32 {
    guard(|| {
        // SAFETY: as the caller promises.
        let loss = unsafe { surrogate(loss, param)? };
        apart(
            &[place("margins", margins, count)?],
            &[place("values", values, count)?, place("slopes", slopes, count)?],
        )?;
        // SAFETY: as the caller promises; what is written is apart.
        let (margins, values, slopes) = unsafe {
            let values = output("values", values, count)?;
            (input("margins", margins, count)?, values, output("slopes", slopes, count)?)
        };
        if let Some(at) = margins.iter().position(|margin| !margin.is_finite()) {
            return Err(undercurve::Error::NonFinite { what: "margins", at }.into());
        }
        let of = |margin: f64| [loss.value(margin), loss.slope(margin)];
        if !margins.iter().all(|&margin| of(margin).iter().all(|part| part.is_finite())) {
            return Err(undercurve::Error::Overflow { what: "loss" }.into());
        }
        for ((&margin, value), slope) in margins.iter().zip(values).zip(slopes) {
            [*value, *slope] = of(margin);
        }
        Ok(())
    })
}

/// The allocator, for programs around a wasm module: so many bytes at a multiple of 8, or NULL.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
pub extern "C" fn uc_alloc(bytes: usize) -> *mut u8 {
    match alloc::alloc::Layout::from_size_align(bytes.max(1), 8) {
        // SAFETY: of more than 0 bytes.
        Ok(layout) => unsafe { alloc::alloc::alloc(layout) },
        Err(_) => core::ptr::null_mut(),
    }
}

/// Gives back what [`uc_alloc`] gave, of the same size.
///
/// # Safety
/// `at` is from there, and was not given back.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uc_free(at: *mut u8, bytes: usize) {
    if let (false, Ok(layout)) = (at.is_null(), alloc::alloc::Layout::from_size_align(bytes.max(1), 8)) {
        // SAFETY: as the caller promises.
        unsafe { alloc::alloc::dealloc(at, layout) }
    }
}
