//! Training: data from arrays or from a seed, options, the trainer, and figures for its pictures.

use crate::failure::Failure;
use crate::synthetic::SYNTHETICS;
#[cfg(feature = "groups")]
use crate::synthetic::{ARMS, pinwheel, towns};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use undercurve::Error;
use undercurve::data::Dataset;
#[cfg(feature = "groups")]
use undercurve::metric::class_summary;
use undercurve::metric::{FprRange, Metrics, Summary};
use undercurve::registry::{self, Kind};
use undercurve::rng::Rng;
#[cfg(feature = "groups")]
use undercurve::trainer::Watch;
use undercurve::trainer::{self, Config, Init, Length, ModelSpec, TrainerError, Warning};
use wasm_bindgen::prelude::wasm_bindgen;

/// Training rows and held-out rows.
#[wasm_bindgen]
pub struct Data {
    pub(crate) train: Arc<Dataset<f32>>,
    pub(crate) test: Option<Arc<Dataset<f32>>>,
    /// Of every file that a constraint names the rows.
    #[cfg(feature = "groups")]
    pub(crate) files: Vec<(String, Arc<Dataset<f32>>)>,
}

impl Data {
    fn of(train: Dataset<f32>) -> Self {
        Self {
            train: Arc::new(train),
            test: None,
            #[cfg(feature = "groups")]
            files: Vec::new(),
        }
    }
}

#[wasm_bindgen]
impl Data {
    /// Rows from arrays: `x` row-major, rows × `dims`; `y` 1 for positives, 0 for negatives, or empty.
    pub fn dense(x: Vec<f32>, y: Vec<u8>, dims: usize) -> Result<Self, Failure> {
        Ok(Self::of(Dataset::dense(x, y, dims)?))
    }

    /// Sparse rows: row k has the values `val[ptr[k]..ptr[k + 1]]` in the columns `col[…]`, counted from 0, ascending.
    pub fn sparse(ptr: Vec<u32>, col: Vec<u32>, val: Vec<f32>, y: Vec<u8>, dims: usize) -> Result<Self, Failure> {
        let ptr = ptr.into_iter().map(|at| at as usize).collect();
        Ok(Self::of(Dataset::csr(ptr, col, val, y, dims)?))
    }

    /// The same rows with the class of each in place of a label, from 0 and below `classes`.
    #[cfg(feature = "groups")]
    #[wasm_bindgen(js_name = ofClasses)]
    pub fn of_classes(self, y: Vec<u8>, classes: usize) -> Result<Self, Failure> {
        let names = (0..classes).map(|class| class.to_string()).collect();
        let labels = y.into_iter().map(u32::from).collect();
        Ok(Self { train: Arc::new(Arc::unwrap_or_clone(self.train).with_classes(labels, names)?), ..self })
    }

    /// Takes the rows of `held` to measure on.
    #[wasm_bindgen(js_name = holdOut)]
    pub fn hold_out(&mut self, held: Data) {
        self.test = Some(held.train);
    }
}

/// The labels with `round(rows · share)` of them flipped. The seed decides which, and those of a smaller share are
/// among those of a larger one. The last row of a class is never flipped.
#[wasm_bindgen(js_name = flipLabels)]
pub fn flip_labels(mut y: Vec<u8>, share: f64, seed: f64) -> Vec<u8> {
    let rows = y.len();
    let mut order: Vec<u32> = (0..rows as u32).collect();
    Rng::keyed(seed as u64, 0x666c_6970, 0).shuffle(&mut order);
    let mut positives: usize = y.iter().map(|&label| usize::from(label & 1)).sum();
    for &row in order.iter().take(libm::round(rows as f64 * share) as usize) {
        let label = &mut y[row as usize];
        let (ours, after) = if *label == 1 { (positives, positives - 1) } else { (rows - positives, positives + 1) };
        if ours > 1 {
            positives = after;
            *label ^= 1;
        }
    }
    y
}

/// Rows drawn from a seed: two features each, row-major, and labels.
#[wasm_bindgen]
pub struct Drawn {
    x: Vec<f32>,
    y: Vec<u8>,
    #[cfg(feature = "groups")]
    groups: Vec<u32>,
}

impl Drawn {
    fn of((x, y): (Vec<f32>, Vec<u8>)) -> Self {
        Self {
            x,
            y,
            #[cfg(feature = "groups")]
            groups: Vec::new(),
        }
    }
}

#[wasm_bindgen]
impl Drawn {
    /// `kind` is one of the names in `synthetics.js`, `positives` their share, `noise` a standard deviation added to both
    /// features. `part` 0 is for training, 1 for holding out.
    #[wasm_bindgen(constructor)]
    pub fn new(kind: &str, rows: usize, positives: f64, noise: f64, seed: f64, part: u32) -> Result<Self, Failure> {
        let kind = SYNTHETICS.iter().find(|k| k.name == kind).ok_or(Error::Param { what: "kind" })?;
        Ok(Self::of(kind.draw(rows, positives, noise, seed as u64, u64::from(part))))
    }
    /// The features. Can be taken once.
    #[wasm_bindgen(js_name = takeX)]
    pub fn take_x(&mut self) -> Vec<f32> {
        core::mem::take(&mut self.x)
    }
    /// The labels. Can be taken once.
    #[wasm_bindgen(js_name = takeY)]
    pub fn take_y(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.y)
    }
    /// The group of each row, where there are groups. Can be taken once.
    #[cfg(feature = "groups")]
    #[wasm_bindgen(js_name = takeGroups)]
    pub fn take_groups(&mut self) -> Vec<u32> {
        core::mem::take(&mut self.groups)
    }
}

/// Rows of the pinwheel drawn from a seed, with class numbers. `noise` is a standard deviation added to both features; `part`
/// 0 is for training, 1 for holding out.
#[cfg(feature = "groups")]
#[wasm_bindgen(js_name = drawPinwheel)]
pub fn draw_pinwheel(rows: usize, noise: f64, seed: f64, part: u32) -> Drawn {
    Drawn::of(pinwheel(rows, noise, seed as u64, u64::from(part)))
}

/// Rows of two groups drawn from a seed; `positives`, `noise` and `part` as for `Drawn`.
#[cfg(feature = "groups")]
#[wasm_bindgen(js_name = drawTowns)]
pub fn draw_towns(rows: usize, positives: f64, noise: f64, seed: f64, part: u32) -> Drawn {
    let (x, y, groups) = towns(rows, positives, noise, seed as u64, u64::from(part));
    Drawn { x, y, groups }
}

/// The number of its classes.
#[cfg(feature = "groups")]
#[wasm_bindgen(js_name = pinwheelClasses)]
pub fn pinwheel_classes() -> usize {
    ARMS.len()
}

/// The configuration of a run.
#[wasm_bindgen]
pub struct Options {
    pub(crate) config: Config,
    several: bool,
}

#[wasm_bindgen]
impl Options {
    /// A method of `methods()` with its defaults, on a linear model.
    #[wasm_bindgen(constructor)]
    pub fn new(method: &str, seed: f64) -> Self {
        let config = Config { method: method.to_string(), seed: seed as u64, ..Config::default() };
        Self { config, several: false }
    }
    /// The configuration of a saved run.
    pub fn saved(bytes: &[u8]) -> Result<Self, Failure> {
        Ok(Self { config: Config::of_saved(bytes)?, several: !Config::classes_of_saved(bytes)?.is_empty() })
    }
    /// Whether the saved run is one of several classes.
    #[wasm_bindgen(getter)]
    pub fn several(&self) -> bool {
        self.several
    }
    /// Whether another module has the method: 1 the one of whole data, 2 that of finite sums, 3 that of groups; 0 for none.
    #[wasm_bindgen(getter)]
    pub fn elsewhere(&self) -> u8 {
        match registry::method(&self.config.method).filter(|method| !method.is_built()).map(|method| method.kind) {
            None => 0,
            Some(Kind::FiniteSum) => 2,
            Some(Kind::Cells) => 3,
            Some(_) => 1,
        }
    }
    /// Takes the settings of the method's paper, of two classes or of several. Settings made afterwards override them.
    #[cfg(feature = "more")]
    pub fn paper(&mut self, several: bool) {
        let method = registry::method(&self.config.method);
        let method = if several { method.and_then(registry::Method::of_classes) } else { method };
        for (name, value) in method.map_or(&[][..], |method| method.paper) {
            self.set(name, value);
        }
    }
    /// Overrides a parameter of the method.
    pub fn set(&mut self, name: &str, value: &str) {
        #[cfg(feature = "groups")]
        self.config.settings.retain(|(other, _)| other != name);
        self.config.settings.push((name.to_string(), value.to_string()));
    }
    /// A multilayer perceptron with these widths instead of the linear model, with tanh or ReLU between its layers.
    pub fn hidden(&mut self, widths: Vec<u32>, tanh: bool) {
        self.config.model = ModelSpec::Mlp { hidden: widths.iter().map(|&w| w as usize).collect(), tanh };
    }
    /// Where a network of ReLUs begins: at random weights, or at a linear model of its rows. By default a trial decides.
    pub fn init(&mut self, random: bool) {
        self.config.init = if random { Init::Random } else { Init::Linear };
    }
    /// Length of the run in steps; the learning rate falls over it.
    pub fn steps(&mut self, steps: u32) {
        self.config.length = Length::Steps(u64::from(steps));
    }
    /// False-positive range of the partial AUC.
    pub fn fpr(&mut self, low: f64, high: f64) {
        self.config.fpr = (low, high);
    }
}

/// Training on the CPU, one step at a time: of two classes or of several, as the data have them.
#[wasm_bindgen]
pub struct Trainer {
    pub(crate) inner: trainer::Trainer<f32>,
    pub(crate) metrics: Metrics<f32>,
    #[cfg(feature = "groups")]
    pub(crate) watch: Watch,
    objective: f64,
    /// Of several classes the log-odds of each, rows × classes, row-major.
    pub(crate) scores: Vec<f32>,
    /// The step that `scores` belong to.
    scored: Option<u64>,
    collapsed: bool,
}

#[wasm_bindgen]
impl Trainer {
    /// At step 0.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &Options, data: &Data) -> Result<Self, Failure> {
        #[cfg(feature = "groups")]
        let inner = trainer::Trainer::of(&options.config, data.given(None))?;
        #[cfg(not(feature = "groups"))]
        let inner = trainer::Trainer::new(&options.config, data.train.clone(), data.test.clone())?;
        Ok(Self::of(inner))
    }

    /// Resumes a saved run on the same data; `None` if another module has its method.
    pub fn load(bytes: &[u8], data: &Data) -> Result<Option<Self>, Failure> {
        #[cfg(feature = "groups")]
        let loaded = trainer::Trainer::load_with(bytes, data.given(None));
        #[cfg(not(feature = "groups"))]
        let loaded = trainer::Trainer::load(bytes, data.train.clone(), data.test.clone());
        match loaded {
            Err(TrainerError::NotBuilt { .. }) => Ok(None),
            loaded => Ok(Some(Self::of(loaded?))),
        }
    }

    /// At step 0, at these parameters of a model of the same kind; methods that begin with cross-entropy do not then, unless their
    /// `pretrain` is set. In constraints such a model is `old`.
    #[cfg(feature = "more")]
    #[wasm_bindgen(js_name = startingAt)]
    pub fn starting_at(options: &Options, data: &Data, params: Vec<f32>) -> Result<Self, Failure> {
        #[cfg(feature = "groups")]
        if !options.config.constraints.is_empty() {
            let plain = Config { method: "ce".into(), model: options.config.model.clone(), ..Config::default() };
            let start = trainer::Trainer::new_at(&plain, data.train.clone(), None, &params)?.predictor();
            return Ok(Self::of(trainer::Trainer::of(&options.config, data.given(Some(start)))?));
        }
        Ok(Self::of(trainer::Trainer::new_at(&options.config, data.train.clone(), data.test.clone(), &params)?))
    }

    fn of(inner: trainer::Trainer<f32>) -> Self {
        Self {
            #[cfg(feature = "groups")]
            watch: Watch::new(&inner),
            inner,
            metrics: Metrics::new(),
            objective: f64::NAN,
            scores: Vec::new(),
            scored: None,
            collapsed: false,
        }
    }

    /// The bytes of the run, to resume it.
    pub fn save(&self) -> Vec<u8> {
        self.inner.save()
    }

    /// One step, or a part of a full gradient; false at the end of the run. Errors leave the
    /// parameters as they were.
    pub fn step(&mut self) -> Result<bool, Failure> {
        let value = self.inner.step()?;
        self.moved(value);
        Ok(value.is_some())
    }

    /// Records a step with this estimate of the objective.
    pub(crate) fn moved(&mut self, value: Option<f64>) {
        #[cfg(feature = "groups")]
        self.watch.look(&self.inner);
        self.scored = None;
        self.objective = value.unwrap_or(self.objective);
    }
    /// Whether the run has ended.
    #[wasm_bindgen(getter)]
    pub fn done(&self) -> bool {
        self.inner.is_done()
    }

    /// For a finite sum: objective, squared norm of its gradient, last step size, its bound, largest curvature. Otherwise empty.
    #[cfg(feature = "sums")]
    pub fn sum(&mut self) -> Result<Option<Vec<f64>>, Failure> {
        let Some(sum) = self.inner.sum()? else { return Ok(None) };
        let curvature = self.inner.curvature()?.unwrap_or(f64::NAN);
        Ok(Some(vec![sum.objective, sum.grad_norm_sq, sum.alpha, sum.alpha_max, curvature]))
    }

    /// Objective estimate of the last step, NaN before the first and for finite sums.
    #[wasm_bindgen(getter)]
    pub fn objective(&self) -> f64 {
        self.objective
    }
    /// Steps done.
    #[wasm_bindgen(getter, js_name = stepsDone)]
    pub fn steps_done(&self) -> f64 {
        self.inner.steps_done() as f64
    }
    /// The number of steps of cross-entropy before those of the method.
    #[wasm_bindgen(getter)]
    pub fn pretraining(&self) -> f64 {
        self.inner.pretraining_steps() as f64
    }
    /// Passes: rows drawn divided by the number of rows.
    #[wasm_bindgen(getter)]
    pub fn pass(&self) -> f64 {
        self.inner.pass()
    }
    /// Rows of the last batch, class by class, negatives first.
    pub fn batch(&self) -> Vec<u32> {
        self.inner.batch_index().to_vec()
    }
    /// Model parameters.
    pub fn params(&mut self) -> Vec<f32> {
        self.inner.params().to_vec()
    }

    /// Held-out AUROC, average precision, partial AUC (the mean true-positive rate over its range), accuracy at score 0. Of
    /// several classes Hand–Till AUC, mean AUROC and mean average precision of a class against all others, accuracy; then
    /// rows, AUROC and average precision of each class.
    pub fn metrics(&mut self) -> Result<Vec<f64>, Failure> {
        #[cfg(feature = "groups")]
        if self.heads() > 1 {
            let data = self.refresh()?;
            let summary = class_summary(&self.scores, self.heads(), data.class_labels(), data.weights())?;
            let mut out = vec![summary.hand_till, summary.auroc, summary.ap, summary.accuracy];
            out.extend(summary.classes.iter().flat_map(|class| [class.rows as f64, class.auroc, class.ap]));
            return Ok(out);
        }
        let Summary { auroc, ap, pauc, accuracy, .. } = self.summary()?;
        Ok(vec![auroc, ap, pauc, accuracy])
    }

    /// A warning about the model, if there is one; `collapsed` then says whether training failed.
    pub fn warning(&mut self) -> Result<Option<String>, Failure> {
        let test = match self.inner.test_data() {
            Some(_) if self.heads() == 1 => Some(self.summary()?),
            _ => None,
        };
        let warning = self.inner.warning(test.as_ref())?;
        self.collapsed = warning.is_some_and(Warning::collapsed);
        Ok(warning.zip(self.inner.method()).map(|(warning, method)| warning.sentence(method)))
    }
    /// Whether the last `warning` said that training failed.
    #[wasm_bindgen(getter)]
    pub fn collapsed(&self) -> bool {
        self.collapsed
    }

    /// Scores of the held-out rows (of the training rows where nothing is held out); of several classes the log-odds of each,
    /// row-major.
    pub fn scores(&mut self) -> Result<Vec<f32>, Failure> {
        self.refresh()?;
        Ok(self.scores.clone())
    }

    /// Scores of any rows with as many columns as the training data; labels are ignored.
    pub fn score(&mut self, data: &Data) -> Result<Vec<f32>, Failure> {
        let mut scores = vec![0.0; data.train.len() * self.heads()];
        self.inner.score(data.train.rows(), &mut scores)?;
        Ok(scores)
    }

    /// Scores of a row.
    fn heads(&self) -> usize {
        if cfg!(feature = "groups") { self.inner.train_data().classes().len().max(1) } else { 1 }
    }

    fn summary(&mut self) -> Result<Summary, Failure> {
        let (low, high) = self.inner.config().fpr;
        let range = FprRange::new(low, high)?;
        let data = self.refresh()?;
        Ok(self.metrics.summary(&self.scores, data.labels(), range)?)
    }

    /// Scores the held-out rows (the training rows where there are none) once per step.
    pub(crate) fn refresh(&mut self) -> Result<Arc<Dataset<f32>>, Failure> {
        let data = self.inner.test_data().unwrap_or_else(|| self.inner.train_data()).clone();
        if self.scored != Some(self.inner.steps_done()) {
            self.scores.resize(data.len() * self.heads(), 0.0);
            self.inner.score(data.rows(), &mut self.scores)?;
            self.scored = Some(self.inner.steps_done());
        }
        Ok(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_flipped_by_a_share_and_a_seed_and_no_class_dies_out() {
        let y: Vec<u8> = (0..500).map(|row| u8::from(row % 25 == 0)).collect();
        let turned = |share: f64, seed: f64| -> Vec<usize> {
            let out = flip_labels(y.clone(), share, seed);
            assert!(out.iter().all(|&label| label <= 1));
            (0..500).filter(|&row| out[row] != y[row]).collect()
        };
        assert!(turned(0.0, 1.0).is_empty());
        let (few, many) = (turned(0.05, 1.0), turned(0.2, 1.0));
        assert_eq!((few.len(), many.len()), (25, 100));
        assert!(few.iter().all(|row| many.contains(row)), "a larger share turns more rows, not others");
        assert_eq!(turned(0.05, 1.0), few);
        assert_ne!(turned(0.05, 2.0), few);
        // About as many of each class as their share: 4 of 100 rows are positive here.
        let positives = many.iter().filter(|&&row| y[row] == 1).count();
        assert!(positives <= 12, "{positives} of 20 positives");
        for lone in [0, 1] {
            for seed in 0..50 {
                let mut y = vec![1 - lone; 6];
                y[3] = lone;
                let out = flip_labels(y, 1.0, f64::from(seed));
                assert!(out.contains(&0) && out.contains(&1), "{out:?}");
            }
        }
        assert!(flip_labels(Vec::new(), 0.2, 1.0).is_empty());
    }
}
