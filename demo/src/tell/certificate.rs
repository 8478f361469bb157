//! Which of some models has gaps between groups that stay below a bound, with 95 % confidence, on rows that chose nothing.
//!
//! The models are tested in an order that the rows did not choose, from the fairest on the training rows on, until the first whose gaps
//! may pass the bound: fixed-sequence testing (Angelopoulos, Bates, Candès, Jordan and Lei 2021, "Learn then Test"). A model passes where
//! the upper end at 95 % of every gap is within the bound ([`Gap::upper`]). So a model that breaks the bound is among those that passed in 5 of
//! 100 draws at most, whichever of them is taken: the one with the greatest AUROC.

use crate::error::Result;
use undercurve::Real;
use undercurve::data::Dataset;
use undercurve::metric::{FprRange, Gap, Interval, Metrics, Rate};

/// A model on the rows of the certificate.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What it is called.
    pub name: String,
    /// What it was trained under.
    pub bound: Option<f64>,
    /// Its larger gap on other rows, by which the models are ordered.
    pub order: f64,
    /// The larger of its gaps in false- and true-positive rate, and the larger of their upper ends.
    pub gap: f64,
    /// At 95 %.
    pub upper: f64,
    /// Of all groups together.
    pub auroc: f64,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
}

impl Candidate {
    /// By its scores; `None` where no two groups have rows of both labels.
    pub fn new<T: Real>(
        name: &str,
        bound: Option<f64>,
        order: f64,
        scores: &[T],
        data: &Dataset<T>,
    ) -> Result<Option<Self>> {
        let Some(one) = Self::without_interval(name, bound, order, scores, data)? else { return Ok(None) };
        let interval = Metrics::new().intervals(scores, data.truth(), FprRange::FULL)?.auroc;
        Ok(Some(Self { interval, ..one }))
    }

    /// The same without the interval of its AUROC, which no certificate looks at and which takes most of the time.
    pub fn without_interval<T: Real>(
        name: &str,
        bound: Option<f64>,
        order: f64,
        scores: &[T],
        data: &Dataset<T>,
    ) -> Result<Option<Self>> {
        let (labels, mut memory) = (data.labels(), Metrics::new());
        let mut worst = [0.0_f64; 2];
        for rate in [Rate::Fpr, Rate::Tpr] {
            let gaps = memory.gaps(scores, labels, data.group_of(), data.groups(), rate, None)?;
            let Some(gap) = Gap::worst(&gaps) else { return Ok(None) };
            let upper = gaps.iter().map(|gap| gap.upper).fold(0.0, f64::max);
            worst = [worst[0].max(gap.value), worst[1].max(upper)];
        }
        let auroc = memory.auroc(scores, labels)?;
        Ok(Some(Self { name: name.to_string(), bound, order, gap: worst[0], upper: worst[1], auroc, interval: None }))
    }
}

/// What can be said of a bound.
#[derive(Clone, Copy, Debug)]
pub enum Certified<'a> {
    /// This model keeps it.
    By(&'a Candidate),
    /// Not even the fairest is known to; about so many times the rows would tell, unless its gap is as large as the bound.
    None {
        /// So many times.
        times: Option<f64>,
    },
}

/// Orders models from the fairest on.
pub fn order(all: &mut [Candidate]) {
    all.sort_by(|a, b| a.order.total_cmp(&b.order));
}

/// Of models in their order.
pub fn certify(all: &[Candidate], bound: f64) -> Certified<'_> {
    let passed = all.iter().take_while(|one| one.upper <= bound);
    let best = passed.fold(None, |best: Option<&Candidate>, one| match best {
        Some(best) if best.auroc >= one.auroc => Some(best),
        _ => Some(one),
    });
    best.map_or_else(
        || {
            let fairest = all.first().filter(|one| one.gap < bound);
            let times = |one: &Candidate| {
                let share = (one.upper - one.gap) / (bound - one.gap);
                share * share
            };
            Certified::None { times: fairest.map(times) }
        },
        Certified::By,
    )
}
