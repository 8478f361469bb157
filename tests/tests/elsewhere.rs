//! Whole objectives that somebody else evaluates: answered with the core's own value and gradient, a run is, to the byte, the one that
//! steps alone.

use std::sync::Arc;
use undercurve::batch::{Batch, Drawn};
use undercurve::data::Dataset;
use undercurve::estimator::{Estimator, Grad};
use undercurve::host::{Chunks, Passes, WholeObjective};
use undercurve::model::AnyModel;
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};
use undercurve::{Error, Real, Scratch};

const ROWS: usize = 70;

fn data<T: Real>(weighted: bool) -> Arc<Dataset<T>> {
    let mut rng = Rng::new(5);
    let labels: Vec<u8> = (0..ROWS).map(|k| u8::from(k % 6 == 0)).collect();
    let x = labels.iter().flat_map(|&y| [0.0, 1.0].map(|shift| T::of(rng.normal() + shift * f64::from(y)))).collect();
    let data = Dataset::dense(x, labels, 2).unwrap();
    Arc::new(if weighted { data.with_weights((0..ROWS).map(|k| (k % 4) as f64).collect()).unwrap() } else { data })
}

/// Value and gradient at some parameters, by the parts that a trainer is made of.
fn evaluated<T: Real>(
    whole: &WholeObjective<'_>,
    params: &[T],
    model: &AnyModel,
    data: &Dataset<T>,
) -> Result<(f64, Vec<T>), Error> {
    let WholeObjective { objective, rows, negatives, weights } = *whole;
    let mut memory = vec![T::ZERO; Chunks::need(model, data.rows(), rows.len())];
    let mut passes = Chunks::new(&mut memory);
    let (mut scores, mut slopes) = (vec![T::ZERO; rows.len()], vec![T::ZERO; rows.len()]);
    passes.forward(model, params, data.rows(), rows, &mut scores)?;
    let mut tables = vec![0.0; Estimator::<T>::tables_len(&objective)];
    let (starts, population) =
        ([0, negatives as u32, rows.len() as u32], [negatives as u32, (rows.len() - negatives) as u32]);
    let tables = Estimator::<T>::prepare(&objective, &mut tables);
    let batch = Batch::new(&scores, 1, &starts, &population, Drawn::All)?.with_tables(tables).with_weights(weights)?;
    let need = Estimator::<T>::need(&objective, batch.shape());
    let (mut real, mut f64s) = (vec![T::ZERO; need.real], vec![0.0; need.f64]);
    let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
    let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
    let value = objective.gradient(&batch, &[], &[], scratch, Grad { scores: &mut slopes, aux: &mut [] })?;
    let mut grad = vec![T::ZERO; params.len()];
    passes.backward(model, params, data.rows(), rows, &slopes, &mut grad)?;
    Ok((value, grad))
}

/// Trains by answers, by steps and from saved files in turn, beside a run that steps; returns how many answers it gave.
fn answered<T: Real>(config: &Config, weighted: bool) -> usize {
    let data = data::<T>(weighted);
    let what = format!("{}, {} {:?}", config.method, config.model, config.settings);
    let mut core = Trainer::<T>::new(config, Arc::clone(&data), None).unwrap();
    let mut other = core.clone();
    let (mut turn, mut answers) = (0, 0);
    while !other.is_done() {
        turn += 1;
        let whole = other.whole().unwrap().unwrap();
        let answer = match other.wanted().unwrap() {
            Some(params) if turn % 5 != 0 => Some(match evaluated(&whole, params, other.model(), &data) {
                Err(Error::Overflow { .. }) => (f64::NAN, vec![T::ZERO; params.len()]),
                answer => answer.unwrap(),
            }),
            _ => None,
        };
        match answer {
            Some((value, grad)) => {
                other.answer(value, &grad).unwrap();
                answers += 1;
            }
            None => drop(other.step().unwrap()),
        }
        core.step().unwrap();
        assert!(core.save() == other.save(), "{what}: step {}", core.steps_done());
        if turn % 7 == 0 {
            other = Trainer::load(&other.save(), Arc::clone(&data), None).unwrap();
        }
    }
    assert!(core.is_done() && core.step() == Ok(None), "{what}");
    assert!(matches!(other.wanted(), Ok(None)));
    assert!(matches!(other.answer(0.0, &[]), Err(Error::Unsupported { .. })));
    answers
}

fn config(method: &str, model: &str, settings: &[(&str, &str)]) -> Config {
    let mut config = Config { method: method.into(), length: Length::Steps(40), ..Config::default() };
    config.model = ModelSpec::parse(model).unwrap();
    config.settings = settings.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    config
}

/// Steps of cross-entropy first.
const FIRST: (&str, &str) = ("pretrain", "8");

#[test]
fn an_answered_run_is_one_that_steps() {
    for method in ["ap-exact", "auc-exact", "pauc-exact"] {
        let mut answers = 0;
        for rule in ["lbfgs", "sgd", "momentum", "adam"] {
            for model in ["linear", "mlp:3"] {
                for (surrogate, more) in [("squared-hinge", ("link", "identity")), ("sigmoid", ("link", "sigmoid"))] {
                    let config = config(method, model, &[("optimizer", rule), ("surrogate", surrogate), more, FIRST]);
                    answers += answered::<f64>(&config, false);
                }
                let own = config(method, model, &[("optimizer", rule), FIRST]);
                answers += answered::<f32>(&own, true);
            }
        }
        // (Of a search some end soon.)
        assert!(answers > 300, "{method}: {answers}");
    }
}

#[test]
fn what_does_not_fit_is_no_decrease_to_a_search_and_an_error_to_others() {
    let data = data::<f32>(false);
    let at_own_steps = |rule| {
        let config = config("auc-exact", "linear", &[("optimizer", rule), ("pretrain", "0")]);
        let mut trainer = Trainer::<f32>::new(&config, Arc::clone(&data), None).unwrap();
        trainer.step().unwrap();
        trainer
    };
    for rule in ["lbfgs", "sgd", "momentum", "adam"] {
        let mut trainer = at_own_steps(rule);
        let (before, params) = (trainer.save(), trainer.params().to_vec());
        assert!(matches!(trainer.answer(1.0, &[0.0]), Err(Error::Length { .. })));
        assert!(matches!(trainer.answer(1.0, &[f32::NAN; 3]), Err(Error::NonFinite { .. })));
        let answer = trainer.answer(f64::NAN, &[0.0; 3]);
        if rule == "lbfgs" {
            assert_eq!((answer, trainer.steps_done()), (Ok(()), 2));
            assert_eq!(trainer.params(), params);
            trainer.step().unwrap();
        } else {
            assert!(matches!(answer, Err(Error::Overflow { .. })), "{rule}");
            assert!(trainer.save() == before, "{rule}: something has changed");
        }
    }
    // Batches, finite sums and several classes want nothing of the kind.
    let of = |method| Trainer::<f32>::new(&config(method, "linear", &[]), Arc::clone(&data), None).unwrap();
    assert!(matches!(of("soap").whole(), Ok(None)) && matches!(of("soap").wanted(), Ok(None)));
    assert!(matches!(of("ai-sarah").whole(), Err(Error::Unsupported { .. })));
    assert!(matches!(of("ai-sarah").wanted(), Err(Error::Unsupported { .. })));
}
