//! `--average K`: networks from further seeds on the same rows, and the one whose scores are the mean of all.

use crate::args::decide::DecisionPlan;
use crate::error::{CliError, Result};
use crate::run::decisions;
use crate::run::stop::{listen, stopped};
use anyhow::anyhow;
use serde_json::{Value, json};
use undercurve::Real;
use undercurve::trainer::{Best, Config, Predictor, Trainer};

/// The networks besides that of the run itself.
pub struct Others<T: Real> {
    models: Vec<Predictor<T>>,
    told: Vec<Told>,
}

/// What a report says of one network.
struct Told {
    seed: u64,
    /// The step that is kept.
    step: u64,
    /// The metric on the validation rows, and its value there.
    valid: Option<(String, f64)>,
}

impl Told {
    fn of<T: Real>(trainer: &Trainer<T>, best: Option<&Best<T>>) -> Self {
        Self {
            seed: trainer.config().seed,
            step: best.filter(|best| best.keeps_a_step()).map_or(trainer.steps_done(), Best::step),
            valid: best.map(|best| (best.metric().to_string(), best.value())),
        }
    }

    fn json(&self) -> Value {
        let mut told = json!({"seed": self.seed, "step": self.step});
        if let Some((metric, value)) = &self.valid {
            (told["metric"], told["valid"]) = (metric.as_str().into(), (*value).into());
        }
        told
    }
}

impl<T: Real> Others<T> {
    /// Trains all but the first of `count` networks, each on the rows of the first and kept by its own best step.
    pub fn train(run: &Trainer<T>, best: Option<&Best<T>>, decision: &DecisionPlan, count: u64) -> Result<Self> {
        listen();
        let mut others = Self { models: Vec::new(), told: Vec::new() };
        let first = run.config();
        let last = first.seed.checked_add(count - 1);
        let last = last.ok_or_else(|| {
            CliError::input(format!("--average {count}: there are not so many seeds after {}", first.seed))
        })?;
        for seed in first.seed + 1..=last {
            let config = Config { seed, ..first.clone() };
            let mut trainer = Trainer::new(&config, run.train_data().clone(), None)?;
            let valid = best.map(|best| best.valid_data().clone());
            let mut best = valid.map(|valid| decisions::best(decision, &trainer, valid)).transpose()?;
            walk(&mut trainer, best.as_mut())?;
            let mut model = trainer.predictor();
            others.told.push(Told::of(&trainer, best.as_ref()));
            if let Some(best) = best.filter(Best::keeps_a_step) {
                model = model.with_params(best.params().to_vec())?;
            }
            others.models.push(model);
        }
        Ok(others)
    }

    /// The mean of these and of the run's own network.
    pub fn with(&self, own: Predictor<T>) -> Result<Predictor<T>> {
        let all: Vec<Predictor<T>> = std::iter::once(own).chain(self.models.iter().cloned()).collect();
        Ok(Predictor::average(&all)?)
    }

    /// Adds what the report says of every network, and gives it in a line.
    pub fn tell(&self, run: &Trainer<T>, best: Option<&Best<T>>, totals: &mut Value) -> String {
        let own = Told::of(run, best);
        let all: Vec<&Told> = std::iter::once(&own).chain(&self.told).collect();
        totals["average"] = all.len().into();
        totals["runs"] = all.iter().map(|told| told.json()).collect();
        let values: Vec<String> =
            all.iter().filter_map(|told| Some(format!("{:.4}", told.valid.as_ref()?.1))).collect();
        let valid = match &own.valid {
            Some((metric, _)) => format!("; {metric} of each on the validation rows: {}", values.join(", ")),
            None => String::new(),
        };
        format!("The model is the mean of {} networks, seeds {} on{valid}", all.len(), own.seed)
    }
}

/// All steps of one network.
fn walk<T: Real>(trainer: &mut Trainer<T>, mut best: Option<&mut Best<T>>) -> Result<()> {
    let seed = trainer.config().seed;
    let failed =
        |error| CliError::from(anyhow!("the network of seed {seed} broke down: {error}; --seed begins at another"));
    while !trainer.is_done() && !best.as_ref().is_some_and(|best| best.is_out_of_patience()) {
        if let Some(code) = stopped() {
            return Err(CliError::Interrupted(code));
        }
        trainer.step().map_err(failed)?;
        if let Some(best) = &mut best {
            best.look(trainer).map_err(failed)?;
        }
    }
    Ok(())
}
