//! Scores of rows for reports, which training does not wait for.

use super::setup::{bind, check_rows, fits, pipeline, staging, storage};
use super::{DeviceRuns, Engine, ROUNDS, Work};
use crate::GpuError;
use crate::context::Signal;
use std::collections::VecDeque;
use undercurve::Error;
use wgpu::{BindGroup, Buffer, ComputePipeline};

/// Rows that are scored for reports.
#[derive(Debug)]
pub(super) struct Test {
    pub rows: usize,
    pub look: ComputePipeline,
    pub scores: Buffer,
    pub group: BindGroup,
    /// Reports that were begun, by the staging buffer they come through, oldest first.
    begun: VecDeque<(usize, Signal)>,
    ring: [Buffer; 2],
}

impl DeviceRuns {
    /// Loads the rows (row-major) that reports score. Reports that were begun are dropped.
    ///
    /// # Errors
    /// As [`new`](Self::new) of rows; `TooLarge` for their scores, too.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn test(&mut self, rows: &[f32]) -> Result<(), GpuError> {
        pollster::block_on(self.test_async(rows))
    }

    /// As [`test`](Self::test), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn test_async(&mut self, rows: &[f32]) -> Result<(), GpuError> {
        let count = check_rows(rows, self.layout.shape.widths[0] as usize)?;
        let limit = self.context.binding();
        fits("test rows", rows.len(), limit)?;
        fits("scores of test rows", self.runs * count, limit)?;
        let context = self.context.clone();
        let Engine::Narrow(narrow) = &self.engine else {
            return Err(GpuError::NoKernel { what: "reports of wide steps".to_string() });
        };
        let test = context
            .checked(|| {
                let device = context.device();
                let data = storage(device, "test rows", rows.len());
                context.queue().write_buffer(&data, 0, bytemuck::cast_slice(rows));
                let scores = storage(device, "scores", self.runs * count);
                let group = bind(device, &narrow.bindings, &narrow.buffers, &data, &scores);
                let ring = [0, 1].map(|_| staging(device, self.runs * count));
                let look = pipeline(&context, &narrow.module, &narrow.bindings, "look");
                Test { rows: count, look, scores, group, begun: VecDeque::new(), ring }
            })
            .await?;
        self.test = Some(test);
        Ok(())
    }

    /// Begins to score the test rows of all runs as they are now; training may go on. `false` where two reports are on
    /// their way already.
    ///
    /// # Errors
    /// `Core` with `Empty` (no test rows); `Device`, `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn begin_report(&mut self) -> Result<bool, GpuError> {
        pollster::block_on(self.begin_report_async())
    }

    /// As [`begin_report`](Self::begin_report), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn begin_report_async(&mut self) -> Result<bool, GpuError> {
        let (Some(test), Engine::Narrow(narrow)) = (&self.test, &self.engine) else {
            return Err(Error::Empty { what: "test rows" }.into());
        };
        let Some(slot) = [0, 1].into_iter().find(|slot| test.begun.iter().all(|(used, _)| used != slot)) else {
            return Ok(false);
        };
        let floats = self.runs * test.rows;
        let blocks = test.rows.div_ceil(self.layout.shape.rows as usize) as u64;
        let (scores, to) = (test.scores.clone(), test.ring[slot].clone());
        let copy = Some((&scores, &to, 4 * floats as u64));
        let most = ROUNDS / narrow.rounds.block;
        self.submit_all(Work::Blocks, blocks, most, self.layout.shape.rows, 0, copy).await?;
        let mapped = self.context.map(&to, floats);
        if let Some(test) = &mut self.test {
            test.begun.push_back((slot, mapped));
        }
        Ok(true)
    }

    /// The oldest report, if it has arrived: run by run the raw scores of the test rows. Waits for nothing.
    ///
    /// # Errors
    /// `Device`, `Lost`.
    pub fn report(&mut self) -> Result<Option<Vec<f32>>, GpuError> {
        self.context.look_up()?;
        let Some(test) = &mut self.test else { return Ok(None) };
        let Some((slot, mapped)) = test.begun.front().and_then(|(slot, signal)| Some((*slot, signal.get()?))) else {
            return Ok(None);
        };
        test.begun.pop_front();
        self.context.take(&test.ring[slot], self.runs * test.rows, mapped).map(Some)
    }

    /// The oldest report, once it has arrived; `None` where none was begun.
    ///
    /// # Errors
    /// `Device`, `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait_for_report(&mut self) -> Result<Option<Vec<f32>>, GpuError> {
        pollster::block_on(self.wait_for_report_async())
    }

    /// As [`wait_for_report`](Self::wait_for_report), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn wait_for_report_async(&mut self) -> Result<Option<Vec<f32>>, GpuError> {
        while !self.flights.is_empty() {
            self.land().await?;
        }
        #[cfg(target_arch = "wasm32")]
        if let Some((_, signal)) = self.test.as_ref().and_then(|test| test.begun.front()) {
            signal.clone().await;
        }
        #[cfg(not(target_arch = "wasm32"))]
        if self.test.as_ref().is_some_and(|test| !test.begun.is_empty()) {
            // A mapping is answered when what was submitted before it is done.
            self.fetch(1, 0, 1).await?;
        }
        self.report()
    }
}
