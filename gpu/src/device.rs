//! Training steps through the pair kernel.

use crate::{Context, GpuError, PairKernel, PairWeight, RowSum};
use std::fmt;
use undercurve::batch::Batch;
use undercurve::estimator::{AnyEstimator, AucPairwise, Estimator, Grad, Link, Soap};
use undercurve::surrogate::{AnySurrogate, Surrogate};
use undercurve::trainer::Device;
use undercurve::{Error, Result};

/// Computes SOAP's estimator and the mean pairwise surrogate for a [`Trainer`](undercurve::trainer::Trainer): the sums
/// over pairs on the GPU, everything by example (link, u, weights) on the CPU. A batch costs two round trips.
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
    /// SOAP's values of each positive: Σ ℓ over negatives, over positives, u (two), κ for negatives, for positives.
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

    /// The gradient by raw scores, from the pairs' weights.
    fn finish(&mut self, link: Link, scores: &mut [f32]) -> Result<(), GpuError> {
        if scores.len() != self.h.len() {
            return Err(Error::Length { what: "grad.scores", need: self.h.len(), got: scores.len() }.into());
        }
        self.grad.resize(self.h.len(), 0.0);
        if let Some((_, kernel)) = &mut self.kernel {
            kernel.gradient(&self.weights, &mut self.grad)?;
        }
        link.chain(&self.h, &mut self.grad);
        scores.copy_from_slice(&self.grad);
        Ok(())
    }

    fn soap(
        &mut self,
        soap: &Soap,
        batch: &Batch<'_, f32>,
        state: &mut [f32],
        scores: &mut [f32],
    ) -> Result<f64, GpuError> {
        self.sweep(soap.surrogate(), Estimator::<f32>::link(soap), batch)?;
        let count = self.sums.len();
        self.values.resize(6 * count, 0.0);
        let (low, rest) = self.values.split_at_mut(count);
        let (high, rest) = rest.split_at_mut(count);
        let (u, rest) = rest.split_at_mut(2 * count);
        let (kappa_low, kappa_high) = rest.split_at_mut(count);
        let own = soap.surrogate().value(0.0);
        for ((low, high), sum) in low.iter_mut().zip(high.iter_mut()).zip(&self.sums) {
            (*low, *high) = (sum.negative_loss, sum.positive_loss + own);
        }
        let value = soap.weigh(batch, low, high, state, u, kappa_low, kappa_high)?;
        self.weights.clear();
        self.weights
            .extend(kappa_low.iter().zip(&*kappa_high).map(|(&negative, &positive)| PairWeight { negative, positive }));
        self.finish(Estimator::<f32>::link(soap), scores)?;
        let u = &self.values[2 * count..4 * count];
        for (&slot, u) in batch.slots().iter().zip(u.chunks_exact(2)) {
            state[2 * slot as usize..][..2].copy_from_slice(u);
        }
        Ok(value)
    }

    fn auc_pairwise(&mut self, auc: &AucPairwise, batch: &Batch<'_, f32>, scores: &mut [f32]) -> Result<f64, GpuError> {
        self.sweep(auc.surrogate(), Estimator::<f32>::link(auc), batch)?;
        let count = self.sums.len();
        let pairs = count as f64 * (batch.scores().len() - count) as f64;
        self.weights.clear();
        self.weights.resize(count, PairWeight { negative: (1.0 / pairs) as f32, positive: 0.0 });
        self.finish(Estimator::<f32>::link(auc), scores)?;
        Ok(self.sums.iter().map(|sum| f64::from(sum.negative_loss)).sum::<f64>() / pairs)
    }
}

impl Device<f32> for GpuDevice {
    fn name(&self) -> &str {
        self.context.name()
    }

    fn takes(&self, estimator: &AnyEstimator) -> bool {
        matches!(estimator, AnyEstimator::Soap(_) | AnyEstimator::AucPairwise(_))
    }

    fn update(
        &mut self,
        estimator: &AnyEstimator,
        batch: &Batch<'_, f32>,
        _: &[f32],
        state: &mut [f32],
        grad: Grad<'_, f32>,
    ) -> Option<Result<f64>> {
        if self.failure.is_some() {
            return None;
        }
        let result = match estimator {
            AnyEstimator::Soap(soap) => self.soap(soap, batch, state, grad.scores),
            AnyEstimator::AucPairwise(auc) => self.auc_pairwise(auc, batch, grad.scores),
            _ => return None,
        };
        match result {
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
