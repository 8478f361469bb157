//! Training steps through the pair kernel.

use crate::{Context, GpuError, PairKernel, PairWeight, RowSum};
use std::fmt;
use undercurve::batch::Batch;
use undercurve::estimator::{Link, PairEstimator, PairSums, PairWeights};
use undercurve::surrogate::{AnySurrogate, Surrogate};
use undercurve::trainer::Device;
use undercurve::{Error, Result};

/// Computes the [`PairEstimator`]s of a [`Trainer`](undercurve::trainer::Trainer): the sums over pairs on the GPU, everything by
/// example (link, state, weights) on the CPU. A batch costs two round trips.
///
/// When the GPU fails or is lost, the core computes that step and all that follow; [`failure`](Device::failure) says why.
#[derive(Debug)]
pub struct GpuDevice {
    context: Context,
    /// The kernel of the surrogate that was last asked for.
    kernel: Option<(AnySurrogate<f32>, PairKernel)>,
    failure: Option<GpuError>,
    h: Vec<f32>,
    grad: Vec<f32>,
    sums: Vec<RowSum>,
    weights: Vec<PairWeight>,
    /// Of each positive: Σ ℓ over negatives, over positives, κ for negatives, for positives, its new state.
    values: Vec<f32>,
}

impl GpuDevice {
    /// On a device that was opened or lent.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self {
            context,
            kernel: None,
            failure: None,
            h: Vec::new(),
            grad: Vec::new(),
            sums: Vec::new(),
            weights: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Both classes through the link, and the sums of each positive.
    fn sweep(&mut self, loss: AnySurrogate<f32>, link: Link, batch: &Batch<'_, f32>) -> Result<(), GpuError> {
        let (low, high) = batch.binary()?;
        if low.is_empty() || high.is_empty() {
            return Err(Error::OneClass.into());
        }
        self.h.resize(batch.scores().len(), 0.0);
        link.apply(batch.scores(), &mut self.h);
        self.sums.resize(high.len(), RowSum::default());
        let kernel = match &mut self.kernel {
            Some((of, kernel)) if *of == loss => kernel,
            other => &mut other.insert((loss, PairKernel::new(&self.context, loss)?)).1,
        };
        let (low_h, high_h) = self.h.split_at(low.len());
        kernel.row_sums(low_h, high_h, &mut self.sums)
    }

    /// Sums, weights, slopes.
    fn compute(
        &mut self,
        estimator: &dyn PairEstimator<f32>,
        batch: &Batch<'_, f32>,
        state: &mut [f32],
        scores: &mut [f32],
    ) -> Result<f64, GpuError> {
        let (loss, link, width) = (estimator.loss(), estimator.link(), estimator.width());
        if scores.len() != batch.scores().len() {
            return Err(Error::Length { what: "grad", need: batch.scores().len(), got: scores.len() }.into());
        }
        self.sweep(loss, link, batch)?;
        let count = self.sums.len();
        self.values.resize((4 + width) * count, 0.0);
        let (low, rest) = self.values.split_at_mut(count);
        let (high, rest) = rest.split_at_mut(count);
        let (kappa_low, rest) = rest.split_at_mut(count);
        let (kappa_high, fresh) = rest.split_at_mut(count);
        // (The kernel leaves out the pair of a positive with itself.)
        let own = loss.value(0.0);
        for ((low, high), sum) in low.iter_mut().zip(high.iter_mut()).zip(&self.sums) {
            (*low, *high) = (sum.negative_loss, sum.positive_loss + own);
        }
        let weights = PairWeights { state: &mut *fresh, low: &mut *kappa_low, high: &mut *kappa_high };
        let value = estimator.weigh(batch, PairSums { low, high }, state, weights)?;
        let weights = kappa_low.iter().zip(&*kappa_high);
        self.weights.clear();
        self.weights.extend(weights.map(|(&negative, &positive)| PairWeight { negative, positive }));
        self.grad.resize(self.h.len(), 0.0);
        if let Some((_, kernel)) = &mut self.kernel {
            kernel.gradient(&self.weights, &mut self.grad)?;
        }
        link.chain(&self.h, &mut self.grad);
        scores.copy_from_slice(&self.grad);
        if width > 0 {
            for (&slot, fresh) in batch.slots().iter().zip(fresh.chunks_exact(width)) {
                state[width * slot as usize..][..width].copy_from_slice(fresh);
            }
        }
        Ok(value)
    }
}

impl Device<f32> for GpuDevice {
    fn name(&self) -> &str {
        self.context.name()
    }

    fn update(
        &mut self,
        estimator: &dyn PairEstimator<f32>,
        batch: &Batch<'_, f32>,
        state: &mut [f32],
        grad: &mut [f32],
    ) -> Option<Result<f64>> {
        if self.failure.is_some() {
            return None;
        }
        match self.compute(estimator, batch, state, grad) {
            Ok(value) => Some(Ok(value)),
            Err(GpuError::Core(error)) => Some(Err(error)),
            Err(error) => {
                self.failure = Some(error);
                None
            }
        }
    }

    fn failure(&self) -> Option<&dyn fmt::Display> {
        self.failure.as_ref().map(|error| error as &dyn fmt::Display)
    }
}
