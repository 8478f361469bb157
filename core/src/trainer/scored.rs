//! A run that joins an estimator with an algorithm by the wall of scores.

use super::config::{TrainerError, refuse_unread};
use super::learner::{Learner, Phase, Steps, Work};
use super::{Common, Device};
use crate::algorithm::{Adam, Answer, AnyAlgorithm, Ask, Draw, Point};
use crate::batch::{Batch, Drawn};
use crate::error::{Error, Result};
use crate::estimator::{AnyEstimator, ClassWeights, CrossEntropy, Estimator, Exact, Grad, Weights};
use crate::pairs::Plan;
use crate::real::Real;
use crate::registry::{Kind, Settings};
use crate::sampler::{AnySampler, Classes, Cursor, Sampler, Stratified, Whole};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// Sums and counts of a dual reset: one for each class.
pub(super) const RESET: [usize; 2] = [2, 2];

/// A report looks at no more pairs one by one; of more rows it takes evenly spaced ones.
const MOST_PAIRS: f64 = (1u32 << 24) as f64;

/// Share of a metric that an exact method may lose on the training rows.
const FALL: f64 = 0.05;

/// A run and its sampler.
#[derive(Clone, Debug)]
pub(super) struct Scored<T: Real> {
    pub learner: Learner<T>,
    sampler: AnySampler,
    /// Of pre-training.
    early_sampler: AnySampler,
    /// Weight of half the squared norm of the parameters in what is minimised.
    #[cfg(feature = "every-method")]
    decay: f64,
    population: [u32; 2],
    /// Row numbers by class, negatives first.
    by_class: Vec<u32>,
    /// What a checkpoint holds.
    pub cursor: Cursor,
    // What it does not.
    order: Vec<u32>,
    pub index: Vec<u32>,
    batch_slots: Vec<u32>,
    /// How the rows of `index` were drawn, once some are.
    last: Option<([u32; 3], Drawn)>,
    scores: Vec<T>,
    /// Scores of the same rows at a second point, for those that ask.
    previous: Vec<T>,
    score_grad: Vec<T>,
    /// The tables of an exact method, made once; empty without any.
    tables: Vec<f64>,
}

/// The tables of an exact objective's surrogate, if it has any. (Inlined, as `planned` is, so that a build without exact
/// methods has none of their sums.)
#[inline(always)]
fn tables(estimator: &AnyEstimator) -> Vec<f64> {
    let Some(exact) = estimator.exact() else { return Vec::new() };
    let mut memory = vec![0.0; Plan::need(Exact::GRADE)];
    match Plan::new(exact.surrogate(), Exact::GRADE, &mut memory) {
        Ok(_) => memory,
        Err(_) => Vec::new(),
    }
}

/// An exact objective with its plan, if its tables are there.
#[inline(always)]
fn planned<'a>(estimator: &AnyEstimator, tables: &'a [f64]) -> Option<(Exact, Plan<'a>)> {
    let exact = *estimator.exact()?;
    Some((exact, Plan::again(exact.surrogate(), Exact::GRADE, tables).ok()?))
}

impl<T: Real> Scored<T> {
    pub fn new(settings: Settings<'_>, common: &Common<T>) -> Result<Self, TrainerError> {
        let config = &common.config;
        let rows = common.train.labels().len();
        let mut by_class = vec![0; rows];
        let population = Classes::new(common.train.labels(), &mut by_class)?.population();
        let sampler = match common.method.kind {
            Kind::Whole => AnySampler::Whole(Whole::new(rows as u32)?),
            _ => AnySampler::from_settings(&settings, population)?,
        };
        // Cross-entropy goes over batches also where the method looks at everything.
        let early_sampler = match sampler {
            AnySampler::Whole(_) => {
                let [negatives, positives] = population;
                AnySampler::Stratified(Stratified::new(config.seed, positives.min(8), negatives.min(56))?)
            }
            batches => batches,
        };
        let batch = sampler.rows();
        let mut settings = settings.with_batch(early_sampler.rows());
        let steps = Steps::new(&mut settings, config.length, rows, batch)?;
        let (estimator, algorithm) = common.method.parts(&settings)?;
        let early = match steps.before {
            0 => None,
            before => {
                let weights = Weights::from_settings(&settings);
                let estimator = AnyEstimator::CrossEntropy(CrossEntropy::new(ClassWeights::Plain, weights));
                Some(Phase { estimator, algorithm: AnyAlgorithm::Adam(Adam::of_pretraining(&settings, before)?) })
            }
        };
        let state = estimator.state_len(population[1] as usize);
        let learner =
            Learner::new(Phase { estimator, algorithm }, early, steps, state, &settings, config, &common.model)?;
        let tables = tables(&learner.method.estimator);
        let mut run = Self {
            learner,
            sampler,
            early_sampler,
            #[cfg(feature = "every-method")]
            decay: settings.decay(),
            population,
            by_class,
            cursor: Cursor::default(),
            order: vec![0; rows],
            index: vec![0; batch],
            batch_slots: vec![0; batch],
            last: None,
            scores: vec![T::ZERO; batch],
            previous: Vec::new(),
            score_grad: vec![T::ZERO; batch],
            tables,
        };
        refuse_unread(&settings, common.method, config)?;
        run.resume()?;
        Ok(run)
    }

    /// The sampler of a phase.
    fn sampler(&self) -> AnySampler {
        if self.learner.is_pretraining() { self.early_sampler } else { self.sampler }
    }

    /// One step, with the estimator computed by `device` where it does that.
    pub fn step(&mut self, common: &mut Common<T>, device: &mut dyn Device<T>) -> Result<Option<f64>> {
        if self.learner.is_done() {
            return Ok(None);
        }
        let phase = self.learner.phase();
        loop {
            match self.learner.next(&phase) {
                Ask::Gradient { at, previous, draw } => {
                    let value = match self.gradient(common, &phase, at, previous, draw, device) {
                        // A line search may try a point whose value does not fit; that is no decrease, not the end.
                        Err(Error::Overflow { .. }) if draw == Draw::All => {
                            self.learner.grad.fill(T::ZERO);
                            f64::INFINITY
                        }
                        other => other?,
                    };
                    self.learner.follow(&phase, at, value, &common.config, &common.model)?;
                    if self.learner.is_done() {
                        self.keep_the_better(common)?;
                    }
                    return Ok(Some(value));
                }
                Ask::Report { .. } => self.learner.tell(&phase, Answer::Continue)?,
                Ask::ClassMeans { at, draw, batches } => {
                    let Some([negative, positive]) = self.class_means(common, &phase, at, draw, batches)? else {
                        return Ok(Some(self.learner.value));
                    };
                    self.learner.tell(&phase, Answer::ClassMeans { positive, negative })?;
                }
                Ask::Done => return Ok(None),
            }
        }
    }

    /// At the end of an exact method that went on from cross-entropy: the model where its own steps began, if the metric on
    /// the training rows has fallen by more than [`FALL`] of it. A surrogate can fall while what it stands for falls, too:
    /// where most pairs are in the wrong order, by shrinking all scores. (A little it may fall, and held-out rows gain.)
    fn keep_the_better(&mut self, common: &mut Common<T>) -> Result<()> {
        let (Some(exact), Some(start)) = (self.learner.method.estimator.exact().copied(), self.learner.start()) else {
            return Ok(());
        };
        let train = Arc::clone(&common.train);
        let mut scores = vec![T::ZERO; train.labels().len()];
        let mut metric = |params: &[T]| {
            common.passes.forward(&common.model, params, train.rows(), None, &mut scores)?;
            Ok::<_, Error>(exact.metric(&common.summary(&scores, train.labels())?))
        };
        if metric(self.learner.params())? < (1.0 - FALL) * metric(start)? {
            self.learner.return_to_start();
        }
        Ok(())
    }

    /// Draws rows into `self.index` and scores them at a point; at another first, if there is one.
    fn draw(
        &mut self,
        common: &mut Common<T>,
        phase: &Phase,
        at: Point,
        previous: Option<Point>,
        draw: Draw,
    ) -> Result<([u32; 3], Drawn)> {
        let classes = Classes::from_order(&self.by_class, self.population[0])?;
        let (starts, drawn) = match draw {
            Draw::Fresh { sampler: 0 } => {
                let sampler = self.sampler();
                let rows = sampler.rows();
                self.index.resize(rows, 0);
                self.batch_slots.resize(rows, 0);
                let taken = sampler.draw(
                    &classes,
                    &mut self.cursor,
                    &mut self.order,
                    &mut self.index,
                    &mut self.batch_slots,
                )?;
                (taken.starts, taken.drawn)
            }
            Draw::All => {
                let rows = self.by_class.len();
                self.index.resize(rows, 0);
                self.batch_slots.resize(rows, 0);
                let taken = Whole::new(rows as u32)?.draw(
                    &classes,
                    &mut Cursor::default(),
                    &mut self.order,
                    &mut self.index,
                    &mut self.batch_slots,
                )?;
                (taken.starts, taken.drawn)
            }
            Draw::Fresh { .. } => return Err(Error::Unsupported { what: "batches" }),
            Draw::Again => match self.last {
                Some(last) => last,
                None => return Err(Error::Unsupported { what: "batches" }),
            },
        };
        self.last = Some((starts, drawn));
        let rows = self.index.len();
        self.learner.drawn += rows as u64;
        self.scores.resize(rows, T::ZERO);
        if let Some(previous) = previous {
            self.previous.resize(rows, T::ZERO);
            let params = &self.learner.point(previous, phase)[..self.learner.params];
            let rows = common.train.rows();
            common.passes.forward(&common.model, params, rows, Some(&self.index), &mut self.previous)?;
        }
        let params = &self.learner.point(at, phase)[..self.learner.params];
        common.passes.forward(&common.model, params, common.train.rows(), Some(&self.index), &mut self.scores)?;
        Ok((starts, drawn))
    }

    /// Draws, scores, estimates and back-propagates; the gradient is left in `self.learner.grad`.
    fn gradient(
        &mut self,
        common: &mut Common<T>,
        phase: &Phase,
        at: Point,
        previous: Option<Point>,
        draw: Draw,
        device: &mut dyn Device<T>,
    ) -> Result<f64> {
        let (starts, drawn) = self.draw(common, phase, at, previous, draw)?;
        self.score_grad.resize(self.index.len(), T::ZERO);
        let estimator = &phase.estimator;
        let batch = Batch::new(&self.scores, 1, &starts, &self.population, drawn)?
            .with_slots(&self.batch_slots[..(starts[2] - starts[1]) as usize]);
        let batch = if previous.is_some() { batch.with_previous(&self.previous)? } else { batch };
        let Work { params, aux, grad, grad_aux, state } = self.learner.work(phase, at, self.population[1] as usize);
        let out = Grad { scores: &mut self.score_grad, aux: &mut *grad_aux };
        let value = match device.update(estimator, &batch, aux, &mut *state, out) {
            Some(value) => value?,
            None => {
                let scratch = common.work.lend(estimator.need(batch.shape()));
                let out = Grad { scores: &mut self.score_grad, aux: grad_aux };
                match planned(estimator, &self.tables) {
                    Some((exact, plan)) => exact.update_with(plan, &batch, scratch, out)?,
                    None => estimator.update(&batch, aux, state, scratch, out)?,
                }
            }
        };
        grad.fill(T::ZERO);
        common.passes.backward(&common.model, params, common.train.rows(), &self.index, &self.score_grad, grad)?;
        Ok(value)
    }

    /// Mean link score of the negatives and of the positives over some draws; `None` for a class that was not drawn, and
    /// for both while draws are left for another call.
    fn class_means(
        &mut self,
        common: &mut Common<T>,
        phase: &Phase,
        at: Point,
        draw: Draw,
        batches: u64,
    ) -> Result<Option<[Option<T>; 2]>> {
        let mut reset = self.learner.take_reset(batches, RESET);
        for _ in 0..reset.piece(self.sampler.rows()) {
            reset.left -= 1;
            let (starts, _) = self.draw(common, phase, at, None, draw)?;
            for class in 0..2 {
                for &s in &self.scores[starts[class] as usize..starts[class + 1] as usize] {
                    let mut h = [T::ZERO];
                    phase.estimator.link().apply(&[s], &mut h);
                    reset.sums[class] += h[0].f64();
                    reset.counts[class] += 1;
                }
            }
        }
        if reset.left > 0 {
            self.learner.reset = Some(reset);
            return Ok(None);
        }
        let mean = |class: usize| T::of(reset.sums[class] / reset.counts[class] as f64);
        Ok(Some([0, 1].map(|class| (reset.counts[class] > 0).then(|| mean(class)))))
    }

    /// The objective over the whole training data, from its scores in row order; in its near-linear form, if it has one.
    pub fn objective(&self, common: &mut Common<T>, scores: &[T]) -> Result<f64> {
        let [negatives, positives] = self.population;
        let mut population = self.population;
        let mut ordered: Vec<T> = self.by_class.iter().map(|&row| scores[row as usize]).collect();
        let pairs = f64::from(positives) * f64::from(negatives + positives);
        if self.learner.method.estimator.values_all_pairs() && pairs > MOST_PAIRS {
            let every = libm::ceil(libm::sqrt(pairs / MOST_PAIRS)) as usize;
            let (low, high) = ordered.split_at(negatives as usize);
            population = [low, high].map(|class| class.len().div_ceil(every) as u32);
            ordered = low.iter().step_by(every).chain(high.iter().step_by(every)).copied().collect();
        }
        let slots: Vec<u32> = (0..population[1]).collect();
        let starts = [0, population[0], ordered.len() as u32];
        let batch = Batch::new(&ordered, 1, &starts, &population, Drawn::All)?.with_slots(&slots);
        let (aux, estimator) = (&self.learner.iterate()[self.learner.params..], &self.learner.method.estimator);
        if let Some(whole) = estimator.whole() {
            return whole.value(&batch, aux, common.work.lend(Estimator::<T>::need(&whole, batch.shape())));
        }
        let scratch = common.work.lend(estimator.need(batch.shape()));
        match planned(estimator, &self.tables) {
            Some((exact, plan)) => exact.value_with(plan, &batch, scratch),
            None => estimator.value(&batch, aux, scratch),
        }
    }

    /// Squared norm of the gradient of what a method over the whole data minimises; `None` for methods of batches, and
    /// where it does not fit the number type. A forward and a backward pass over all rows.
    #[cfg(feature = "every-method")]
    pub fn grad_norm_sq(&self, common: &mut Common<T>) -> Result<Option<f64>> {
        let estimator = &self.learner.method.estimator;
        let Some(exact) = estimator.exact() else { return Ok(None) };
        let (params, rows) = (self.params(), common.train.rows());
        let (mut scores, mut slopes) = (vec![T::ZERO; rows.len()], vec![T::ZERO; rows.len()]);
        common.passes.forward(&common.model, params, rows, Some(&self.by_class), &mut scores)?;
        let starts = [0, self.population[0], self.by_class.len() as u32];
        let slots: Vec<u32> = (0..self.population[1]).collect();
        let batch = Batch::new(&scores, 1, &starts, &self.population, Drawn::All)?.with_slots(&slots);
        let scratch = common.work.lend(Estimator::<T>::need(exact, batch.shape()));
        let out = Grad { scores: &mut slopes, aux: &mut [] };
        let value = match planned(estimator, &self.tables) {
            Some((exact, plan)) => exact.update_with(plan, &batch, scratch, out),
            None => exact.update(&batch, &[], &mut [], scratch, out),
        };
        match value {
            Err(Error::Overflow { .. }) => return Ok(None),
            value => value?,
        };
        let decay = T::of(self.decay);
        let mut grad: Vec<T> = params.iter().map(|&w| decay * w).collect();
        common.passes.backward(&common.model, params, rows, &self.by_class, &slopes, &mut grad)?;
        self.learner.add_pull(params, &mut grad);
        let norm: f64 = grad.iter().map(|g| g.f64() * g.f64()).sum();
        Ok(norm.is_finite().then_some(norm))
    }

    /// The model's parameters at the algorithm's iterate.
    pub fn params(&self) -> &[T] {
        self.learner.params()
    }

    /// Makes what follows from the restored cursor.
    pub fn resume(&mut self) -> Result<()> {
        let classes = Classes::from_order(&self.by_class, self.population[0])?;
        self.sampler().prepare(&classes, &self.cursor, &mut self.order)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Kind, Trainer, device};
    use crate::algorithm::{Draw, Point};
    use crate::data::Dataset;
    use crate::error::Error;
    use alloc::vec::Vec;

    /// What an algorithm may ask for is answered fully or refused by name, never half.
    #[test]
    fn asks_are_answered_or_refused() {
        let x: Vec<f64> = (0..40).map(|k| f64::from(k * 7 % 40)).collect();
        let data = Dataset::dense(x, (0..40).map(|k| u8::from(k % 4 == 0)).collect(), 1).unwrap();
        let config = Config { method: "auc-pairwise".into(), ..Config::default() };
        let mut trainer = Trainer::new(&config, data.into(), None).unwrap();
        let Kind::Scored(run) = &mut trainer.kind else { panic!("a method of batches") };
        let phase = run.learner.phase();
        let mut ask = |previous, draw| {
            let value = run.gradient(&mut trainer.common, &phase, Point(0), previous, draw, &mut device::Core);
            (value, run.index.clone(), run.previous.clone(), run.scores.clone())
        };
        let refused = |answer: Result<f64, Error>| matches!(answer, Err(Error::Unsupported { .. }));
        assert!(refused(ask(None, Draw::Again).0), "nothing was drawn yet");
        assert!(refused(ask(None, Draw::Fresh { sampler: 1 }).0), "there is one sampler");
        let (value, first, none, _) = ask(None, Draw::Fresh { sampler: 0 });
        assert!(none.is_empty());
        let (again, same, previous, scores) = ask(Some(Point(0)), Draw::Again);
        assert_eq!((again, same, previous), (value, first.clone(), scores));
        assert_ne!(ask(None, Draw::Fresh { sampler: 0 }).1, first);
        assert_eq!(ask(None, Draw::All).1.len(), 40);
        assert_eq!(ask(None, Draw::Again).1.len(), 40);
    }
}
