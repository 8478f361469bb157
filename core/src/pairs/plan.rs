//! Tables of the panel sums that the caller keeps, for sums of one surrogate again and again.
//!
//! A sum by panels needs tables of its surrogate, which depend on nothing else. Without a plan each call makes them in its
//! scratch (3 to 18 µs); a plan is made once. Panels give the same bits either way.
//!
//! Layout of the memory: what the tables are of (2 elements), the tables of few rows, and those of the grade (see `tables.rs`).

use super::tables::{BROAD_TERMS, FAST_TERMS, FULL_TERMS, Grade, Shape, make, tables_len};
use super::{How, Sum, Way, sum_as, true_sum};
use crate::error::{Error, Result};
use crate::features::COMPACT;
use crate::metric::Truth;
use crate::real::Real;
use crate::scratch::Scratch;
use crate::surrogate::AnySurrogate;

/// What is said of a plan that does not fit.
pub(super) const OTHER: &str = "a plan of another surrogate or grade";

/// Elements before the tables.
const HEAD: usize = 2;

/// Terms of a grade.
const fn terms(grade: Grade) -> usize {
    match grade {
        Grade::Fast if !COMPACT => FAST_TERMS,
        Grade::Fast | Grade::Full => FULL_TERMS,
    }
}

impl<'a> How<'a> {
    /// With a plan, if there is one, of this surrogate and grade.
    pub(crate) fn of(loss: AnySurrogate<f64>, grade: Grade, plan: Option<Plan<'a>>) -> Result<Self> {
        let how = match plan {
            None => Self::new(Way::Chosen, loss, grade),
            Some(plan) => plan.how(Way::Chosen),
        };
        match (how.loss, how.grade) == (loss, grade) {
            true => Ok(how),
            false => Err(Error::Unsupported { what: OTHER }),
        }
    }
}

/// A smooth surrogate (sigmoid or logistic) with its tables, which it borrows from the caller.
///
/// [`auc`](Self::auc), [`ap`](Self::ap), [`pauc`](Self::pauc) and [`sum`](Self::sum) are the functions of the same names for
/// this surrogate and grade, with the same scratch. They save what the tables cost (3 to 18 µs: a third at 1000 rows, a tenth at 10,000), and
/// so take panels from fewer pairs on than those functions do; sums of few rows may therefore differ from theirs in the last
/// digits. Where both take panels they give the same bits.
///
/// ```
/// use undercurve::pairs::{self, Grade, Plan};
/// use undercurve::{Scratch, surrogate::AnySurrogate};
/// let loss = AnySurrogate::by_name("logistic", 1.0)?;
/// let mut tables = [0.0; Plan::need(Grade::Full)];
/// let plan = Plan::new(loss, Grade::Full, &mut tables)?;
///
/// let (scores, labels) = ([0.3f32, 1.2, -0.4], [1, 0, 0]);
/// let need = pairs::need(3, 1);
/// let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
/// let mut grad = [0.0f64; 3];
/// for _step in 0..2 {
///     let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
///     let value = plan.auc(&scores, &labels, scratch, &mut grad)?;
///     assert!((value - 0.82217).abs() < 1e-4);
/// }
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    loss: AnySurrogate<f64>,
    grade: Grade,
    tables: &'a [f64],
}

impl<'a> Plan<'a> {
    /// Elements of memory that a plan borrows: 61 KB for [`Grade::Full`], 39 KB for [`Grade::Fast`].
    #[must_use]
    pub const fn need(grade: Grade) -> usize {
        HEAD + tables_len(BROAD_TERMS) + tables_len(terms(grade))
    }

    /// Whether there are plans of a surrogate.
    pub(crate) const fn is_of(loss: AnySurrogate<f64>) -> bool {
        Shape::of(loss).is_some()
    }

    /// What the memory of a plan begins with; `None` for surrogates that have none.
    fn head(loss: AnySurrogate<f64>, grade: Grade) -> Option<[f64; HEAD]> {
        let (shape, scale) = Shape::of(loss)?;
        let kind = terms(grade) + if shape == Shape::Sigmoid { 0 } else { 100 };
        Some([kind as f64, scale])
    }

    /// Makes the tables of a surrogate in `memory`, which has at least [`need`](Self::need) elements of any contents.
    ///
    /// # Errors
    /// `Unsupported` for a surrogate other than sigmoid and logistic, `Length`, `Param` (a scale below 1e-300 or above
    /// 1e300 or so, which has no tables; its sums are over all pairs). Then nothing is written.
    pub fn new(loss: AnySurrogate<f64>, grade: Grade, memory: &'a mut [f64]) -> Result<Self> {
        let (Some(head), Some((shape, scale))) = (Self::head(loss, grade), Shape::of(loss)) else {
            return Err(Error::Unsupported { what: "a plan of a surrogate that has no tables" });
        };
        if memory.len() < Self::need(grade) {
            return Err(Error::Length { what: "plan", need: Self::need(grade), got: memory.len() });
        }
        let (start, tables) = memory.split_at_mut(HEAD);
        let (of_broad, of_grade) = tables.split_at_mut(tables_len(BROAD_TERMS));
        match grade {
            Grade::Fast if !COMPACT => make::<FAST_TERMS>(shape, scale, of_grade),
            Grade::Fast | Grade::Full => make::<FULL_TERMS>(shape, scale, of_grade),
        }
        .and_then(|()| make::<BROAD_TERMS>(shape, scale, of_broad))
        .ok_or(Error::Param { what: "scale" })?;
        start.copy_from_slice(&head);
        Ok(Self { loss, grade, tables })
    }

    /// The plan that [`new`](Self::new) made in this memory, for one that outlives a borrow. Costs nothing.
    ///
    /// # Errors
    /// `Length`; `Unsupported` when the memory holds no plan, or that of another surrogate or grade.
    pub fn again(loss: AnySurrogate<f64>, grade: Grade, memory: &'a [f64]) -> Result<Self> {
        if memory.len() < Self::need(grade) {
            return Err(Error::Length { what: "plan", need: Self::need(grade), got: memory.len() });
        }
        let (start, tables) = memory.split_at(HEAD);
        match Self::head(loss, grade) {
            Some(head) if start == head => Ok(Self { loss, grade, tables }),
            _ => Err(Error::Unsupported { what: OTHER }),
        }
    }

    /// The surrogate.
    #[must_use]
    pub fn surrogate(&self) -> AnySurrogate<f64> {
        self.loss
    }

    /// The accuracy.
    #[must_use]
    pub fn grade(&self) -> Grade {
        self.grade
    }

    pub(super) fn how(self, way: Way) -> How<'a> {
        How { tables: Some(self.tables), ..How::new(way, self.loss, self.grade) }
    }

    /// [`auc`](super::auc) of this surrogate and grade.
    ///
    /// # Errors
    /// As [`auc`](super::auc).
    pub fn auc<S: Real, G: Real>(
        self,
        scores: &[S],
        labels: &[u8],
        scratch: Scratch<'_, f64>,
        grad: &mut [G],
    ) -> Result<f64> {
        self.auc_by(Way::Chosen, scores, labels, scratch, grad)
    }

    /// [`auc`](Self::auc) in a given way.
    #[doc(hidden)]
    pub fn auc_by<S: Real, G: Real>(
        self,
        way: Way,
        scores: &[S],
        labels: &[u8],
        scratch: Scratch<'_, f64>,
        grad: &mut [G],
    ) -> Result<f64> {
        sum_as(self.how(way), Sum::Auc, scores, labels, scratch, grad)
    }

    /// [`ap`](super::ap) of this surrogate and grade.
    ///
    /// # Errors
    /// As [`ap`](super::ap).
    pub fn ap<S: Real, G: Real>(
        self,
        scores: &[S],
        labels: &[u8],
        scratch: Scratch<'_, f64>,
        grad: &mut [G],
    ) -> Result<f64> {
        self.ap_by(Way::Chosen, scores, labels, scratch, grad)
    }

    /// [`ap`](Self::ap) in a given way.
    #[doc(hidden)]
    pub fn ap_by<S: Real, G: Real>(
        self,
        way: Way,
        scores: &[S],
        labels: &[u8],
        scratch: Scratch<'_, f64>,
        grad: &mut [G],
    ) -> Result<f64> {
        sum_as(self.how(way), Sum::Ap, scores, labels, scratch, grad)
    }

    /// [`pauc`](super::pauc) of this surrogate and grade.
    ///
    /// # Errors
    /// As [`pauc`](super::pauc).
    pub fn pauc<S: Real, G: Real>(
        self,
        scores: &[S],
        labels: &[u8],
        fpr: (f64, f64),
        scratch: Scratch<'_, f64>,
        grad: &mut [G],
    ) -> Result<f64> {
        sum_as(self.how(Way::Chosen), Sum::Pauc { fpr, tpr: 0.0 }, scores, labels, scratch, grad)
    }

    /// [`sum`](fn@super::sum) of this surrogate and grade.
    ///
    /// # Errors
    /// As [`sum`](fn@super::sum).
    pub fn sum<S: Real, G: Real>(
        self,
        sum: Sum,
        scores: &[S],
        truth: Truth<'_>,
        scratch: Scratch<'_, f64>,
        grad: &mut [G],
    ) -> Result<f64> {
        true_sum(self.how(Way::Chosen), sum, scores, truth, scratch, grad)
    }
}
