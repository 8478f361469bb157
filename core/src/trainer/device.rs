//! A trainer whose steps are computed elsewhere: its state out and in, and the batches of its next steps.

use super::batch_run::BatchRun;
use super::{AnyRun, Trainer};
use crate::data::{Dataset, Rows};
use crate::device::{Shape, StepSpec};
use crate::error::{Error, Result, exact_len};
use crate::host::{Ahead, RunState, WholeObjective};
use crate::model::{AnyModel, Model};
use crate::real::Real;
use alloc::vec;
use alloc::vec::Vec;

/// Everything of a run that changes, as it was at one time.
#[derive(Clone, Debug)]
pub struct Snapshot<T> {
    real: Vec<T>,
    f64: Vec<f64>,
    u64: Vec<u64>,
}

const SUM: Error = Error::Unsupported { what: "a finite sum elsewhere" };

impl<T: Real> Trainer<T> {
    /// What its next steps are made of, for a device that computes them; pre-training and the method's own steps are two
    /// things, of which both have to be such that somebody can. Such a driver goes in turns: [`draw`](Self::draw) some steps, make them, [`set_state`](Self::set_state); and
    /// [`step`](Self::step) wherever `draw` has none.
    ///
    /// # Errors
    /// `Unsupported`, with what of the run nobody else can compute: its objective, its step rule, sparse rows.
    pub fn step_spec(&self) -> Result<StepSpec> {
        self.batches()?.step_spec(self.beside.rows(&self.train))
    }

    /// The numbers of the run, in the order of a checkpoint: the points of its rule one after the other, each of parameters and
    /// auxiliaries; slots; the objective's own state ([`Shape`] says where).
    ///
    /// # Errors
    /// `Unsupported` of a finite sum.
    pub fn state(&self) -> Result<&[T]> {
        Ok(&self.batches()?.real)
    }

    /// The objective's estimate on the last batch, NaN before there is one.
    ///
    /// # Errors
    /// `Unsupported` of a finite sum.
    pub fn value(&self) -> Result<f64> {
        Ok(self.batches()?.f64[0])
    }

    /// How many of the next steps, at most so many, are plain ones, which somebody else can make; where it is 0 and the run not
    /// at its end, the next is [`step`](Self::step)'s.
    ///
    /// # Errors
    /// `Unsupported` of a finite sum.
    pub fn plain_steps(&self, most: usize) -> Result<usize> {
        let BatchRun { host, sizes, u64, .. } = self.batches()?;
        Ok(host.plain_steps::<T>(u64[0], sizes.counters(u64), &mut vec![[0.0; 2]; most]))
    }

    /// Draws the batches of the next steps and moves the run's counts past them. `lists` has room for
    /// [`Shape::list_len`] numbers for each step, `pace` for two: what the rule needs of it. Returns how many steps, as many
    /// as `pace` has room for; fewer where other than [plain](Self::plain_steps) ones come first, or a batch that the objective
    /// refuses.
    ///
    /// The run then waits for [`set_state`](Self::set_state): until then its numbers are those of before, its counts are not.
    ///
    /// # Errors
    /// As [`step_spec`](Self::step_spec); `Length`.
    pub fn draw(&mut self, lists: &mut [u32], pace: &mut [[f32; 2]]) -> Result<usize> {
        let rows = self.beside.rows(&self.train);
        let AnyRun::Batches(run) = &mut self.run else { return Err(SUM) };
        run.draw(rows, lists, pace)
    }

    /// The numbers that the steps drawn last lead to, and the objective's estimate on the last of their batches.
    ///
    /// # Errors
    /// `Length`; `Overflow` for numbers that are not finite. Nothing has changed then.
    pub fn set_state(&mut self, state: &[T], value: f64) -> Result<()> {
        let AnyRun::Batches(run) = &mut self.run else { return Err(SUM) };
        exact_len("state", run.real.len(), state.len())?;
        crate::error::all_finite("state", state).map_err(|_| Error::Overflow { what: "params" })?;
        run.real.copy_from_slice(state);
        run.f64[0] = value;
        Ok(())
    }

    /// What an exact method minimises, for a device that evaluates it; `None` of other methods. Such a driver asks where
    /// ([`wanted`](Self::wanted)) and gives value and gradient ([`answer`](Self::answer)), or has [`step`](Self::step) evaluate it, in any
    /// order: state, saved files and what follows are the same.
    ///
    /// ```
    /// use undercurve::data::Dataset;
    /// use undercurve::trainer::{Config, Trainer};
    ///
    /// let x = [0.1f64, 0.9, 0.3, 0.2];
    /// let data = std::sync::Arc::new(Dataset::dense(x.to_vec(), vec![0, 1, 0, 1], 1)?);
    /// let settings = vec![("surrogate".into(), "square".into())];
    /// let config = Config { method: "auc-exact".into(), settings, ..Config::default() };
    /// let mut trainer = Trainer::new(&config, data, None)?;
    /// let whole = trainer.whole()?.unwrap();
    /// let (low, high) = whole.rows.split_at(whole.negatives);
    /// let gaps: Vec<f64> = high.iter().flat_map(|&i| low.iter().map(move |&j| x[i as usize] - x[j as usize])).collect();
    /// while !trainer.is_done() {
    ///     let Some(params) = trainer.wanted()? else {
    ///         trainer.step()?; // something else
    ///         continue;
    ///     };
    ///     // The mean of (1 − w(x₊ − x₋))² over the pairs; a bias changes no order.
    ///     let (mut value, mut grad) = (0.0, [0.0; 2]);
    ///     for gap in &gaps {
    ///         let left = 1.0 - params[0] * gap;
    ///         value += left * left / gaps.len() as f64;
    ///         grad[0] -= 2.0 * left * gap / gaps.len() as f64;
    ///     }
    ///     trainer.answer(value, &grad)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Unsupported` of a finite sum.
    pub fn whole(&self) -> Result<Option<WholeObjective<'_>>> {
        let BatchRun { host, grouped, .. } = self.batches()?;
        Ok(host.whole(&grouped.data(self.beside.rows(&self.train).rows())?))
    }

    /// Where the next step wants value and gradient of the [whole](Self::whole) objective: the model's parameters; `None`
    /// where the step is something else, which [`step`](Self::step) makes, and at the end of the run.
    ///
    /// # Errors
    /// `Unsupported` of a finite sum.
    pub fn wanted(&self) -> Result<Option<&[T]>> {
        let BatchRun { host, sizes, real, u64, .. } = self.batches()?;
        host.wanted_of(sizes, real, u64)
    }

    /// Makes the step that [`wanted`](Self::wanted) tells of with this value and gradient by the parameters, as
    /// [`step`](Self::step) does with the core's own. A value that is not finite is, to a line search, no decrease.
    ///
    /// # Errors
    /// `Unsupported` where nothing is wanted; `Length`; `NonFinite` for the gradient; `Overflow` for the value, to other rules than L-BFGS, or
    /// of the parameters, which are then as before; the batch of everything counts as drawn.
    pub fn answer(&mut self, value: f64, grad: &[T]) -> Result<()> {
        let rows = self.beside.rows(&self.train);
        let AnyRun::Batches(run) = &mut self.run else { return Err(SUM) };
        run.answer(rows, value, grad)
    }

    /// Everything that changes, to come back to.
    ///
    /// # Errors
    /// `Unsupported` of a finite sum.
    pub fn snapshot(&self) -> Result<Snapshot<T>> {
        let BatchRun { real, f64, u64, .. } = self.batches()?;
        Ok(Snapshot { real: real.clone(), f64: f64.clone(), u64: u64.clone() })
    }

    /// Goes back, or on, to a snapshot of this run; the steps after it are the same as they were, to the bit.
    ///
    /// # Errors
    /// `Length` for a snapshot of another run.
    pub fn restore(&mut self, snapshot: &Snapshot<T>) -> Result<()> {
        let rows = self.beside.rows(&self.train);
        let AnyRun::Batches(run) = &mut self.run else { return Err(SUM) };
        let Snapshot { real, f64, u64 } = snapshot;
        exact_len("snapshot", run.real.len(), real.len())?;
        exact_len("snapshot", run.f64.len(), f64.len())?;
        exact_len("snapshot", run.u64.len(), u64.len())?;
        run.real.copy_from_slice(real);
        run.f64.copy_from_slice(f64);
        run.u64.copy_from_slice(u64);
        run.resume(rows)
    }

    fn batches(&self) -> Result<&BatchRun<T>> {
        self.run.batches().ok_or(SUM)
    }
}

impl<T: Real> BatchRun<T> {
    fn step_spec(&self, train: &Dataset<T>) -> Result<StepSpec> {
        if !matches!(train.rows(), Rows::Dense { .. }) {
            return Err(Error::Unsupported { what: "sparse rows elsewhere" });
        }
        let (host, sizes) = (&self.host, &self.sizes);
        let steps = self.u64[0];
        let data = self.grouped.data(train.rows())?;
        let parts = host.parts_ahead(&data, sizes, steps)?;
        // (Of no use where only what comes before the method's own steps can be made.)
        host.parts_ahead(&data, sizes, steps.max(host.pretraining.map_or(0, |first| first.steps)))?;
        let (widths, tanh) = match &host.model {
            AnyModel::Linear(model) => (vec![Model::<T>::inputs(model), 1], false),
            AnyModel::Mlp(model) => (model.widths().to_vec(), model.is_tanh()),
        };
        let entry = |at: usize| u32::try_from(at).map_err(|_| Error::Overflow { what: "state" });
        let (bank, state) = (sizes.points + sizes.slots, self.real.len());
        let pull = host.pull_after(steps);
        let shape = Shape {
            widths: widths.into_iter().map(entry).collect::<Result<_>>()?,
            tanh,
            rows: entry(parts.rows)?,
            negatives: parts.negatives.map(entry).transpose()?,
            objective: "",
            surrogate: "",
            sigmoid: parts.sigmoid,
            rule: "",
            ascent: entry(parts.ascent)?,
            pull: (pull > 0.0).then(|| entry(bank - sizes.params)).transpose()?,
            params: entry(sizes.params)?,
            length: entry(parts.length)?,
            points: entry(parts.points)?,
            slots: entry(sizes.points)?,
            bank: entry(if parts.bank { bank } else { state })?,
            state: entry(state)?,
        };
        Ok(StepSpec::new(shape, &parts.objective, &parts.rule, pull))
    }

    fn draw(&mut self, train: &Dataset<T>, lists: &mut [u32], pace: &mut [[f32; 2]]) -> Result<usize> {
        let Self { host, grouped, real, f64, u64, buffers, .. } = self;
        let data = grouped.data(train.rows())?;
        let mut numbers = vec![[0.0; 2]; pace.len()];
        let mut state = RunState { real, f64, u64 };
        let to = Ahead { lists, pace: &mut numbers };
        let made = buffers.lend(|buffers| host.draw(&data, &mut state, buffers, to))?;
        pace.iter_mut().zip(&numbers[..made]).for_each(|(to, of)| *to = of.map(|x| x as f32));
        Ok(made)
    }

    fn answer(&mut self, train: &Dataset<T>, value: f64, grad: &[T]) -> Result<()> {
        let Self { host, grouped, real, f64, u64, buffers, .. } = self;
        let data = grouped.data(train.rows())?;
        let mut state = RunState { real, f64, u64 };
        buffers.lend(|buffers| host.answer(&data, &mut state, buffers, value, grad))?;
        self.ended(train)
    }

    /// Makes what the buffers hold of the state.
    fn resume(&mut self, train: &Dataset<T>) -> Result<()> {
        let Self { host, grouped, real, f64, u64, buffers, .. } = self;
        let data = grouped.data(train.rows())?;
        let mut state = RunState { real, f64, u64 };
        buffers.lend(|buffers| host.resume(&data, &mut state, buffers))
    }
}
