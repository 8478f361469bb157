//! The kernels, through the browser's WebGPU. The module has no trainer: runs cross as arrays ([`lane.rs`](lane) of those that
//! module says what they are).

use crate::exact::{loss, told};
use crate::failure::Failure;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use undercurve::Error;
use undercurve_gpu::{Context, DeviceRuns, ExactMetrics, GpuError};
use wasm_bindgen::prelude::wasm_bindgen;

/// A device of a graphics adapter.
#[wasm_bindgen]
pub struct Gpu(Context);

#[wasm_bindgen]
impl Gpu {
    /// Opens the fastest adapter; one in software only if `software`.
    pub async fn open(software: bool) -> Result<Gpu, Failure> {
        let context = if software { Context::any_async().await } else { Context::new_async().await };
        Ok(Self(context?))
    }
    /// What computes, as far as the browser tells.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.0.name().to_string()
    }
    /// Whether it computes on the CPU.
    #[wasm_bindgen(getter)]
    pub fn software(&self) -> bool {
        self.0.is_software()
    }
}

/// Runs of one shape, side by side. Calls come one after the other.
#[wasm_bindgen]
pub struct GpuLanes(DeviceRuns);

#[wasm_bindgen]
impl GpuLanes {
    /// Of the text of a shape, with all training rows, row-major.
    pub async fn create(gpu: &Gpu, shape: String, rows: Vec<f32>, runs: usize) -> Result<GpuLanes, Failure> {
        let shape = DeviceRuns::read(&shape)?;
        Ok(Self(DeviceRuns::suited_async(&gpu.0, &shape, &rows, runs).await?))
    }
    /// Sets the state and the numbers of a run.
    pub fn load(&mut self, run: usize, state: &[f32], numbers: &[f32]) -> Result<(), Failure> {
        let length = Error::Length { what: "numbers", need: 24, got: numbers.len() };
        Ok(self.0.load(run, state, numbers.try_into().map_err(|_| length)?)?)
    }
    /// So many steps of every run: lists of batches, which of them each run reads, two numbers for each run and step.
    pub async fn advance(
        &mut self,
        steps: usize,
        lists: Vec<u32>,
        table: Vec<u32>,
        pace: Vec<f32>,
    ) -> Result<(), Failure> {
        Ok(self.0.advance_async(steps, &lists, &table, &pace).await?)
    }
    /// The states of all runs, one after the other, then the estimate of each on its last batch.
    pub async fn states(&mut self) -> Result<Vec<f32>, Failure> {
        let mut out = vec![0.0; self.0.runs() * self.0.shape().state as usize];
        self.0.states_async(&mut out).await?;
        out.extend(self.0.values_async().await?);
        Ok(out)
    }
}

/// Metrics and exact sums over pairs of whole data: the calls of `Exact`. They come one after the other.
#[wasm_bindgen]
pub struct GpuExact {
    exact: undercurve_gpu::GpuExact,
    labels: Vec<u8>,
    /// The value of the last sum.
    #[wasm_bindgen(readonly)]
    pub value: f64,
    /// Whether the last error was one of the device, not of what it was asked.
    #[wasm_bindgen(readonly)]
    pub failed: bool,
}

impl GpuExact {
    fn noted<T>(&mut self, result: Result<T, GpuError>) -> Result<T, Failure> {
        self.failed = matches!(result, Err(GpuError::Lost { .. } | GpuError::Device { .. }));
        Ok(result?)
    }
}

#[wasm_bindgen]
impl GpuExact {
    /// For rows with these labels, 0 or 1.
    pub async fn create(gpu: &Gpu, labels: Vec<u8>) -> Result<GpuExact, Failure> {
        let exact = undercurve_gpu::GpuExact::new_async(&gpu.0, labels.len()).await?;
        Ok(Self { exact, labels, value: 0.0, failed: false })
    }
    /// As `Exact.metrics`.
    pub async fn metrics(&mut self, scores: Vec<f32>) -> Result<Vec<f64>, Failure> {
        let found = self.exact.metrics_async(&scores, &self.labels).await;
        let ExactMetrics { counts, ap, roc, pr } = self.noted(found)?;
        // (The curve begins above all scores, where there is no precision.)
        let points = roc.iter().skip(1).zip(&pr).map(|(roc, pr)| [roc.threshold, roc.fpr, roc.tpr, pr.precision]);
        Ok(told([counts.wins, counts.ties, counts.pairs].map(|count| count as f64), ap, points))
    }
    /// As `Exact.sum`.
    pub async fn sum(
        &mut self,
        sum: String,
        name: String,
        param: Option<f64>,
        low: f64,
        high: f64,
        scores: Vec<f32>,
    ) -> Result<Vec<f32>, Failure> {
        let loss = loss(&name, param)?;
        let mut grad = vec![0.0; scores.len()];
        let (exact, labels) = (&mut self.exact, &self.labels[..]);
        let value = match &sum[..] {
            "auc" => exact.auc_async(loss, &scores, labels, &mut grad).await,
            "pauc" => exact.pauc_async(loss, (low, high), &scores, labels, &mut grad).await,
            "ap" => exact.ap_async(loss, &scores, labels, &mut grad).await,
            _ => Err(Error::Param { what: "sum" }.into()),
        };
        self.value = self.noted(value)?;
        Ok(grad)
    }
}
