//! The steps of a run as plain data, for a kernel elsewhere: on a GPU that trains hundreds of runs at once.
//!
//! ```text
//! shape      what is compiled in: widths of the model, rows of a batch, names of objective, surrogate and rule      [Shape]
//! numbers    what differs from run to run: rates of averages, margins, weights                                      [StepSpec]
//! state      points | slots | the objective's own, as a checkpoint has it           Trainer::state, Trainer::set_state
//! batches    row numbers and slots of the next steps, and what the rule needs of each                  Trainer::draw
//! ```
//!
//! A device makes the steps that the core would make: the same batches, from the same cursor, at the same rates. Either can continue
//! where the other stops. Steps of another kind (the first of a stage, a dual reset, the end of pre-training) belong to the core;
//! `Trainer::draw` stops there.
//!
//! An [`Estimator`](crate::estimator::Estimator) and an [`Algorithm`](crate::algorithm::Algorithm) that a kernel can compute have
//! a [`Recipe`].

use crate::surrogate::AnySurrogate;

/// What a kernel has to know of an objective or of a step rule: its name, and its numbers in the order that the part's
/// `recipe` documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// By which kernels are found.
    pub name: &'static str,
    /// ℓ, where there is one.
    pub surrogate: Option<AnySurrogate<f64>>,
    /// Numbers, 0 where there are fewer.
    pub numbers: [f64; 12],
}

impl Recipe {
    /// Of a name and some numbers, 12 at most.
    #[must_use]
    pub fn new(name: &'static str, numbers: &[f64]) -> Self {
        let mut all = [0.0; 12];
        all.iter_mut().zip(numbers).for_each(|(to, &x)| *to = x);
        Self { name, surrogate: None, numbers: all }
    }

    /// With a surrogate.
    #[must_use]
    pub fn with_surrogate(self, surrogate: AnySurrogate<f64>) -> Self {
        Self { surrogate: Some(surrogate), ..self }
    }
}

#[cfg(all(feature = "alloc", feature = "more-methods"))]
pub use owned::{Shape, StepSpec};

#[cfg(all(feature = "alloc", feature = "more-methods"))]
mod owned {
    use super::Recipe;
    use crate::error::Error;
    use crate::surrogate::{AnySurrogate, SURROGATE_NAMES};
    use alloc::vec::Vec;
    use core::fmt;

    /// What a step of a run is made of.
    ///
    /// ```
    /// use undercurve::data::Dataset;
    /// use undercurve::trainer::{Config, Length, Trainer};
    ///
    /// let x = [0.1f32, 0.9, 0.3, 0.2, 0.8, 0.4];
    /// let data = std::sync::Arc::new(Dataset::dense(x.to_vec(), vec![0, 1, 0, 0, 1, 0], 1)?);
    /// let settings = [("optimizer", "sgd"), ("lr", "0.5")].map(|(name, value)| (name.into(), value.into())).to_vec();
    /// let config = Config { method: "ce".into(), length: Length::Steps(100), settings, ..Config::default() };
    /// let mut trainer = Trainer::new(&config, data.clone(), None)?;
    /// while !trainer.is_done() {
    ///     let spec = trainer.step_spec()?;
    ///     let (len, rows) = (spec.shape.list_len(), spec.shape.rows as usize);
    ///     let (mut lists, mut pace) = (vec![0; 32 * len], [[0.0; 2]; 32]);
    ///     let made = trainer.draw(&mut lists, &mut pace)?;
    ///     if made == 0 {
    ///         trainer.step()?; // not one of ours
    ///         continue;
    ///     }
    ///     // Cross-entropy of a linear model with one column by gradient descent: state is [weight, bias].
    ///     let mut state = trainer.state()?.to_vec();
    ///     let mut value = 0.0;
    ///     for (list, [lr, _]) in lists.chunks_exact(len).zip(pace).take(made) {
    ///         let (mut grad, before) = ([0.0; 2], [state[0], state[1]]);
    ///         value = 0.0;
    ///         for (at, &row) in list[1..=rows].iter().enumerate() {
    ///             let (sign, weight) = if at < list[0] as usize { (1.0, spec.numbers[8]) } else { (-1.0, spec.numbers[9]) };
    ///             let x = [x[row as usize], 1.0];
    ///             let z = sign * (before[0] * x[0] + before[1]);
    ///             value += f64::from(weight * z.exp().ln_1p());
    ///             let c = sign * weight / (1.0 + (-z).exp());
    ///             (grad[0], grad[1]) = (grad[0] + c * x[0], grad[1] + c * x[1]);
    ///         }
    ///         let decay = spec.numbers[0];
    ///         (0..2).for_each(|k| state[k] -= lr * (grad[k] + decay * before[k]));
    ///     }
    ///     trainer.set_state(&state, value)?;
    /// }
    /// let mut core = Trainer::new(&config, data, None)?;
    /// core.run()?;
    /// let core = core.params();
    /// assert!(trainer.params().iter().zip(core).all(|(own, core)| (own - core).abs() < 1e-5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    pub struct StepSpec {
        /// What is compiled in.
        pub shape: Shape,
        /// The numbers of this run: 8 of the rule (the last one the weight of the pull), 12 of the objective, margin or scale
        /// and smoothing of the surrogate, and two that are 0.
        pub numbers: [f32; 24],
    }

    /// What the steps of all runs of a dispatch have in common.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct Shape {
        /// Columns, widths of the hidden layers, 1; two of them: linear. Parameters layer by layer, weights input-major
        /// (in × out), then biases (out).
        pub widths: Vec<u32>,
        /// tanh between layers in place of ReLU.
        pub tanh: bool,
        /// Rows of a batch, negatives before positives.
        pub rows: u32,
        /// Of them negatives; `None` where that differs from batch to batch.
        pub negatives: Option<u32>,
        /// The objective's recipe.
        pub objective: &'static str,
        /// The surrogate's name; empty where there is none.
        pub surrogate: &'static str,
        /// Whether scores go through a sigmoid before the objective.
        pub sigmoid: bool,
        /// The rule's recipe.
        pub rule: &'static str,
        /// Of the auxiliaries, the last ones are maximised over: their gradient comes with its sign flipped.
        pub ascent: u32,
        /// Where the start lies in a state to which there is a pull; `None` where there is none. (The state that the shape of other
        /// steps of this run has may come after it: pre-training has none of its own.)
        pub pull: Option<u32>,
        /// Parameters of the model.
        pub params: u32,
        /// The same with the objective's auxiliaries: the length of a point.
        pub length: u32,
        /// Points of the rule, at the head of a state.
        pub points: u32,
        /// Where the slots of the rule begin in a state.
        pub slots: u32,
        /// Where the objective's own state begins, by positives of the data; the state's end where it has none.
        pub bank: u32,
        /// Length of a state.
        pub state: u32,
    }

    impl Shape {
        /// Numbers in the list of a batch: how many negatives, the rows, and where there is a [`bank`](Self::bank) the slots
        /// of the positives, room for all rows where negatives differ.
        #[must_use]
        pub fn list_len(&self) -> usize {
            let slots = if self.bank == self.state { 0 } else { self.rows - self.negatives.unwrap_or(0) };
            (1 + self.rows + slots) as usize
        }

        /// Reads what a shape is written as. Names of objectives and of rules are found by whoever has kernels for them.
        ///
        /// # Errors
        /// `Param` for anything else, and for names that are not found.
        pub fn read(
            text: &str,
            objective: impl Fn(&str) -> Option<&'static str>,
            rule: impl Fn(&str) -> Option<&'static str>,
        ) -> Result<Self, Error> {
            let mut words = text.split(' ');
            let mut shape = || {
                let widths = words.next()?.split(',').map(|width| width.parse().ok()).collect::<Option<_>>()?;
                let mut word = || words.next();
                let number = |word: Option<&str>| word?.parse::<u32>().ok();
                let flag = |word: Option<&str>| Some(number(word)? == 1);
                let tanh = flag(word())?;
                let rows = number(word())?;
                let negatives = match word()? {
                    "-" => None,
                    some => Some(number(Some(some))?),
                };
                let objective = objective(word()?)?;
                let surrogate = match word()? {
                    "-" => "",
                    some => SURROGATE_NAMES.iter().copied().find(|&name| name == some)?,
                };
                let sigmoid = flag(word())?;
                let rule = rule(word()?)?;
                let ascent = number(word())?;
                let pull = match word()? {
                    "-" => None,
                    some => Some(number(Some(some))?),
                };
                let (params, length, points) = (number(word())?, number(word())?, number(word())?);
                let (slots, bank, state) = (number(word())?, number(word())?, number(word())?);
                let shape = Self {
                    widths,
                    tanh,
                    rows,
                    negatives,
                    objective,
                    surrogate,
                    sigmoid,
                    rule,
                    ascent,
                    pull,
                    params,
                    length,
                    points,
                    slots,
                    bank,
                    state,
                };
                word().is_none().then_some(shape)
            };
            shape().ok_or(Error::Param { what: "shape" })
        }
    }

    /// As one line of words, which [`Shape::read`] reads: in the order of the fields, `-` for nothing.
    impl fmt::Display for Shape {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            for (at, width) in self.widths.iter().enumerate() {
                write!(f, "{}{width}", if at > 0 { "," } else { "" })?;
            }
            write!(f, " {} {} ", u8::from(self.tanh), self.rows)?;
            match self.negatives {
                Some(negatives) => write!(f, "{negatives}")?,
                None => f.write_str("-")?,
            }
            let surrogate = if self.surrogate.is_empty() { "-" } else { self.surrogate };
            write!(f, " {} {surrogate} {} {}", self.objective, u8::from(self.sigmoid), self.rule)?;
            match self.pull {
                Some(start) => write!(f, " {} {start}", self.ascent)?,
                None => write!(f, " {} -", self.ascent)?,
            }
            let Self { params, length, points, slots, bank, state, .. } = self;
            write!(f, " {params} {length} {points} {slots} {bank} {state}")
        }
    }

    impl StepSpec {
        /// Of a shape whose names the recipes give.
        pub(crate) fn new(shape: Shape, objective: &Recipe, rule: &Recipe, pull: f64) -> Self {
            let mut numbers = [0.0; 24];
            numbers[..7].iter_mut().zip(rule.numbers).for_each(|(to, x)| *to = x as f32);
            numbers[7] = pull as f32;
            numbers[8..20].iter_mut().zip(objective.numbers).for_each(|(to, x)| *to = x as f32);
            let loss = objective.surrogate.map(|loss| loss.to::<f32>());
            let name = loss.map_or("", AnySurrogate::name);
            numbers[20..22].copy_from_slice(&loss.map_or([0.0; 2], AnySurrogate::numbers));
            Self { shape: Shape { objective: objective.name, surrogate: name, rule: rule.name, ..shape }, numbers }
        }
    }
}
