//! Training of several classes at once, in the full module.

use crate::synthetic::{ARMS, pinwheel};
use crate::train::{Data, Drawn, Options};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use undercurve::data::{ClassDataset, Dataset};
use undercurve::metric::class_summary;
use undercurve::trainer::{self, Warning};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

/// Training rows and held-out rows with class numbers.
#[wasm_bindgen]
pub struct ClassData {
    train: Arc<ClassDataset<f32>>,
    test: Option<Arc<ClassDataset<f32>>>,
}

#[wasm_bindgen]
impl ClassData {
    /// Rows from arrays: `x` row-major, rows × `dims`; `y` the class of each row, from 0 and below `classes`.
    pub fn dense(x: Vec<f32>, y: Vec<u8>, dims: usize, classes: usize) -> Result<Self, JsError> {
        Self::of(Dataset::dense(x, Vec::new(), dims)?, y, classes)
    }

    /// Sparse rows: row k has the values `val[ptr[k]..ptr[k + 1]]` in the columns `col[…]`, counted from 0, ascending.
    pub fn sparse(
        ptr: Vec<u32>,
        col: Vec<u32>,
        val: Vec<f32>,
        y: Vec<u8>,
        dims: usize,
        classes: usize,
    ) -> Result<Self, JsError> {
        let ptr = ptr.into_iter().map(|at| at as usize).collect();
        Self::of(Dataset::csr(ptr, col, val, Vec::new(), dims)?, y, classes)
    }

    fn of(features: Dataset<f32>, y: Vec<u8>, classes: usize) -> Result<Self, JsError> {
        let names = (0..classes).map(|class| class.to_string()).collect();
        let labels = y.into_iter().map(u32::from).collect();
        Ok(Self { train: Arc::new(ClassDataset::new(features, labels, names)?), test: None })
    }

    /// Takes the rows of `held` to measure on.
    #[wasm_bindgen(js_name = holdOut)]
    pub fn hold_out(&mut self, held: ClassData) {
        self.test = Some(held.train);
    }
}

/// Rows of the pinwheel drawn from a seed, with class numbers. `noise` is a standard deviation added to both features; `part`
/// 0 is for training, 1 for holding out.
#[wasm_bindgen(js_name = drawPinwheel)]
pub fn draw_pinwheel(rows: usize, noise: f64, seed: f64, part: u32) -> Result<Drawn, JsError> {
    if !(noise >= 0.0 && noise.is_finite()) {
        return Err(JsError::new("noise must not be negative"));
    }
    let (x, y) = pinwheel(rows, noise, seed as u64, u64::from(part));
    Ok(Drawn { x, y })
}

/// How many classes it has.
#[wasm_bindgen(js_name = pinwheelClasses)]
pub fn pinwheel_classes() -> usize {
    ARMS.len()
}

/// Training of several classes, one step at a time. Calls are those of `Trainer` where not said otherwise.
#[wasm_bindgen]
pub struct ClassTrainer {
    inner: trainer::ClassTrainer<f32>,
    objective: f64,
    /// Log-odds of each class, rows × classes, row-major.
    scores: Vec<f32>,
    /// The step that `scores` belong to.
    scored: Option<u64>,
    collapsed: bool,
}

#[wasm_bindgen]
impl ClassTrainer {
    /// At step 0.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &Options, data: &ClassData) -> Result<Self, JsError> {
        Ok(Self::of(trainer::ClassTrainer::new(&options.config, data.train.clone(), data.test.clone())?))
    }

    /// Where `save` left off, on the same data.
    pub fn load(bytes: &[u8], data: &ClassData) -> Result<Self, JsError> {
        Ok(Self::of(trainer::ClassTrainer::load(bytes, data.train.clone(), data.test.clone())?))
    }

    fn of(inner: trainer::ClassTrainer<f32>) -> Self {
        Self { inner, objective: f64::NAN, scores: Vec::new(), scored: None, collapsed: false }
    }

    /// Everything of the run, to go on later.
    pub fn save(&self) -> Vec<u8> {
        self.inner.save()
    }

    /// One step, or a piece of a walk over many batches; false at the end of the run.
    pub fn step(&mut self) -> Result<bool, JsError> {
        let value = self.inner.step()?;
        self.scored = None;
        self.objective = value.unwrap_or(self.objective);
        Ok(value.is_some())
    }
    /// Whether the run is over: `step` has nothing more to do.
    #[wasm_bindgen(getter)]
    pub fn done(&self) -> bool {
        self.inner.is_done()
    }

    /// Objective estimate of the last step, NaN before the first.
    #[wasm_bindgen(getter)]
    pub fn objective(&self) -> f64 {
        self.objective
    }
    /// Steps done.
    #[wasm_bindgen(getter, js_name = stepsDone)]
    pub fn steps_done(&self) -> f64 {
        self.inner.steps_done() as f64
    }
    /// Of the run's steps, the first ones that are of cross-entropy.
    #[wasm_bindgen(getter)]
    pub fn pretraining(&self) -> f64 {
        self.inner.pretraining_steps() as f64
    }
    /// Rows drawn / rows there are.
    #[wasm_bindgen(getter)]
    pub fn pass(&self) -> f64 {
        self.inner.pass()
    }
    /// Rows of the last batch, class by class.
    pub fn batch(&self) -> Vec<u32> {
        self.inner.batch_index().to_vec()
    }
    /// Model parameters.
    pub fn params(&mut self) -> Vec<f32> {
        self.inner.params().to_vec()
    }

    /// Held-out Hand–Till AUC, mean AUROC and mean average precision of a class against all others, accuracy; then rows,
    /// AUROC and average precision of each class.
    pub fn metrics(&mut self) -> Result<Vec<f64>, JsError> {
        let data = self.refresh()?;
        let summary = class_summary(&self.scores, data.classes().len(), data.labels())?;
        let mut out = vec![summary.hand_till, summary.auroc, summary.ap, summary.accuracy];
        out.extend(summary.classes.iter().flat_map(|class| [class.rows as f64, class.auroc, class.ap]));
        Ok(out)
    }

    /// What is to be said against the model, if anything; `collapsed` then tells how grave it is.
    pub fn warning(&mut self) -> Result<Option<String>, JsError> {
        let warning = self.inner.warning()?;
        self.collapsed = warning.is_some_and(Warning::collapsed);
        Ok(warning.map(|warning| warning.sentence(self.inner.method())))
    }
    /// Whether the last `warning` said that the model is no result.
    #[wasm_bindgen(getter)]
    pub fn collapsed(&self) -> bool {
        self.collapsed
    }

    /// Log-odds of each class for the held-out rows (for the training rows where nothing is held out), row-major.
    pub fn scores(&mut self) -> Result<Vec<f32>, JsError> {
        self.refresh()?;
        Ok(self.scores.clone())
    }

    /// The same for any rows, with as many columns as the training data.
    pub fn score(&mut self, data: &Data) -> Result<Vec<f32>, JsError> {
        let mut scores = vec![0.0; data.train.len() * self.inner.train_data().classes().len()];
        self.inner.score(data.train.rows(), &mut scores)?;
        Ok(scores)
    }

    /// Scores the held-out rows (the training rows where there are none) once per step.
    fn refresh(&mut self) -> Result<Arc<ClassDataset<f32>>, JsError> {
        let data = self.inner.test_data().unwrap_or_else(|| self.inner.train_data()).clone();
        if self.scored != Some(self.inner.steps_done()) {
            self.scores.resize(data.len() * data.classes().len(), 0.0);
            self.inner.score(data.features().rows(), &mut self.scores)?;
            self.scored = Some(self.inner.steps_done());
        }
        Ok(data)
    }
}
