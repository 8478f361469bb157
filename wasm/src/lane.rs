//! The steps of a run as plain data, for the module with the kernels; `wasm/js/lanes.js` joins the two.

use crate::failure::Failure;
use crate::train::Trainer;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use undercurve::data::Rows;
use undercurve::device::StepSpec;
use undercurve::trainer::Snapshot;
use wasm_bindgen::prelude::wasm_bindgen;

/// A description of the next steps of a run.
#[wasm_bindgen(js_name = Lane)]
pub struct RunLane(StepSpec);

#[wasm_bindgen(js_class = Lane)]
impl RunLane {
    /// The part that is compiled, as text for the other module. Runs with the same text can run side by side.
    #[wasm_bindgen(getter)]
    pub fn shape(&self) -> String {
        self.0.shape.to_string()
    }
    /// The numbers of this run.
    #[wasm_bindgen(getter)]
    pub fn numbers(&self) -> Vec<f32> {
        self.0.numbers.to_vec()
    }
}

/// A snapshot of a run.
#[wasm_bindgen]
pub struct Memory(Snapshot<f32>, f64);

/// The batches of the next steps.
#[wasm_bindgen]
pub struct Ahead {
    /// How many.
    pub steps: usize,
    lists: Vec<u32>,
    pace: Vec<f32>,
}

#[wasm_bindgen]
impl Ahead {
    /// The list of each batch, one after the other. Can be taken once.
    #[wasm_bindgen(js_name = takeLists)]
    pub fn take_lists(&mut self) -> Vec<u32> {
        core::mem::take(&mut self.lists)
    }
    /// Two numbers of each step. Can be taken once.
    #[wasm_bindgen(js_name = takePace)]
    pub fn take_pace(&mut self) -> Vec<f32> {
        core::mem::take(&mut self.pace)
    }
}

#[wasm_bindgen]
impl Trainer {
    /// The description of its next steps; an error names what no kernel can compute.
    pub fn lane(&self) -> Result<RunLane, Failure> {
        Ok(RunLane(self.inner.step_spec()?))
    }
    /// How many of the next steps a kernel can compute, at most `most`.
    #[wasm_bindgen(js_name = plainSteps)]
    pub fn plain_steps(&self, most: usize) -> Result<usize, Failure> {
        Ok(self.inner.plain_steps(most)?)
    }
    /// All training rows, row-major; none if they are sparse.
    pub fn rows(&self) -> Option<Vec<f32>> {
        match self.inner.train_data().rows() {
            Rows::Dense { data, .. } => Some(data.to_vec()),
            Rows::Csr { .. } => None,
        }
    }
    /// The seed: runs with the same seed draw the same batches.
    #[wasm_bindgen(getter)]
    pub fn seed(&self) -> f64 {
        self.inner.config().seed as f64
    }
    /// The numbers of the run, flat.
    pub fn state(&self) -> Result<Vec<f32>, Failure> {
        Ok(self.inner.state()?.to_vec())
    }
    /// Draws the batches of the next steps; 0 if the next step has to be made by `step`. The run then waits for `setState`.
    pub fn draw(&mut self, most: usize) -> Result<Ahead, Failure> {
        let mut lists = vec![0; most * self.inner.step_spec()?.shape.list_len()];
        let mut pace = vec![[0.0; 2]; most];
        let steps = self.inner.draw(&mut lists, &mut pace)?;
        lists.truncate(lists.len() / most.max(1) * steps);
        Ok(Ahead { steps, lists, pace: pace[..steps].concat() })
    }
    /// Sets the state after those steps, with the objective's estimate of the last one.
    #[wasm_bindgen(js_name = setState)]
    pub fn set_state(&mut self, state: &[f32], value: f64) -> Result<(), Failure> {
        self.inner.set_state(state, value)?;
        self.moved(Some(value));
        Ok(())
    }
    /// A snapshot of everything that changes.
    pub fn snapshot(&self) -> Result<Memory, Failure> {
        Ok(Memory(self.inner.snapshot()?, self.objective()))
    }
    /// Restores a snapshot.
    pub fn restore(&mut self, memory: &Memory) -> Result<(), Failure> {
        self.inner.restore(&memory.0)?;
        self.moved(Some(memory.1));
        Ok(())
    }
}
