//! Steps that somebody else makes: the batches drawn ahead are those that the core draws, and a run that is handed over and back
//! is, to the byte, one that was not.

use std::sync::Arc;
use undercurve::Error;
use undercurve::data::Dataset;
use undercurve::device::Shape;
use undercurve::registry::METHODS;
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer, TrainerError};
use undercurve_tests::trains;

fn data(rows: usize, every: usize) -> Arc<Dataset<f32>> {
    let mut rng = Rng::new(5);
    let labels: Vec<u8> = (0..rows).map(|k| u8::from(k % every == 0)).collect();
    let x = labels.iter().flat_map(|&y| [0.0, 1.0].map(|shift| (rng.normal() + shift * f64::from(y)) as f32)).collect();
    Arc::new(Dataset::dense(x, labels, 2).unwrap())
}

fn config(method: &str, model: &str, settings: &[(&str, &str)]) -> Config {
    let mut config = Config { method: method.into(), length: Length::Steps(60), ..Config::default() };
    config.model = ModelSpec::parse(model).unwrap();
    config.settings = settings.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    config
}

/// A shape of a text, by a driver that knows one objective and one rule.
fn read(text: &str, [objective, rule]: [&'static str; 2]) -> Result<Shape, Error> {
    Shape::read(text, |name| (name == objective).then_some(objective), |name| (name == rule).then_some(rule))
}

/// Steps that a driver makes at a time.
const PIECE: usize = 7;

/// Trains by drawing ahead; the numbers that the steps lead to are those of a second trainer. Returns how many steps were drawn.
fn handed_over(mut ahead: Trainer<f32>, data: &Arc<Dataset<f32>>, what: &str) -> Result<usize, Error> {
    let mut core = ahead.clone();
    let mut drawn = 0;
    while !ahead.is_done() {
        let spec = ahead.step_spec()?;
        let (shape, len) = (&spec.shape, spec.shape.list_len());
        assert_eq!(read(&shape.to_string(), [shape.objective, shape.rule]), Ok(shape.clone()), "{what}");
        assert_eq!(shape.state as usize, ahead.state()?.len(), "{what}");
        let (mut lists, mut pace) = (vec![u32::MAX; PIECE * len], [[f32::NAN; 2]; PIECE]);
        let (before, saved) = (ahead.snapshot()?, ahead.save());
        let plain = ahead.plain_steps(PIECE)?;
        let mut made = ahead.draw(&mut lists, &mut pace)?;
        assert!(made == plain || shape.negatives.is_none() && made < plain, "{what}: {made} of {plain}");
        // Taken back and drawn again it is the same.
        ahead.restore(&before)?;
        assert!(ahead.save() == saved, "{what}: not as it was");
        let again = lists.clone();
        made = made.min(ahead.draw(&mut lists, &mut pace)?);
        assert_eq!(again[..made * len], lists[..made * len], "{what}");
        if made == 0 {
            let steps = ahead.steps_done();
            while ahead.steps_done() == steps && ahead.step()?.is_some() {
                core.step()?;
            }
        }
        let mut value = f64::NAN;
        for (list, pace) in lists.chunks_exact(len).zip(pace).take(made) {
            value = core.step()?.unwrap();
            let rows = shape.rows as usize;
            assert_eq!(&list[1..=rows], core.batch_index(), "{what}, step {}", core.steps_done());
            let is_positive = |row: usize| data.labels()[row] == 1;
            let negatives = list[1..=rows].iter().filter(|&&row| !is_positive(row as usize)).count();
            assert_eq!((negatives, shape.negatives.map_or(negatives, |n| n as usize)), (list[0] as usize, negatives));
            // The slot of a positive is its place among the positives of the data.
            let owned = shape.objective != "sorr";
            for (&row, &slot) in list[1 + negatives..=rows].iter().zip(&list[1 + rows..]).filter(|_| owned) {
                assert_eq!(slot as usize, (0..row as usize).filter(|&row| is_positive(row)).count(), "{what}");
            }
            assert!(pace[0] > 0.0 && pace[1] >= 0.0, "{what}: {pace:?}");
        }
        if made > 0 {
            let state = core.state()?.to_vec();
            assert!(matches!(ahead.set_state(&state[1..], value), Err(Error::Length { .. })));
            let mut odd = state.clone();
            odd[0] = f32::NAN;
            assert!(matches!(ahead.set_state(&odd, value), Err(Error::Overflow { .. })));
            ahead.set_state(&state, value)?;
        }
        assert_eq!(ahead.batch_index(), core.batch_index(), "{what}");
        assert!(ahead.save() == core.save(), "{what}: not the same after {} steps", ahead.steps_done());
        drawn += made;
    }
    assert!(core.is_done(), "{what}");
    // It goes on from what was saved.
    let saved = ahead.save();
    assert!(Trainer::<f32>::load(&saved, Arc::clone(data), None).unwrap().save() == saved, "{what}");
    Ok(drawn)
}

/// Methods that have no steps for others to make.
const NONE: &[&str] = &[
    "ap-exact",
    "auc-exact",
    "pauc-exact",
    "agd-sbcd",
    "svm-pauc-tight",
    "ce-exact",
    "pga",
    "oauc",
    "sonex",
    "alexr2",
    "sox",
    "msvr",
    "sonx",
    "lagrange",
    "icppac",
    "ooa",
    "ai-sarah",
    "theoretical-ai-sarah",
    "bounded-ai-sarah",
    "sarah",
    "sarah+",
    "svrg",
    "momentum-sum",
    "adam-sum",
];

#[test]
fn so_it_is_with_every_rule_and_sampling() {
    let data = data(120, 3);
    let uniform = ("sampling", "uniform");
    for settings in [
        &[("optimizer", "sgd")][..],
        &[("optimizer", "momentum"), ("schedule", "linear")],
        &[("optimizer", "adam-plain"), uniform, ("batch", "20")],
        &[("optimizer", "amsgrad"), ("decay", "0.1"), ("decay-to", "start"), ("pretrain", "20")],
        &[("optimizer", "adagrad"), uniform, ("batch", "20")],
    ] {
        let trainer = Trainer::<f32>::new(&config("soap", "mlp:4", settings), Arc::clone(&data), None).unwrap();
        let drawn = handed_over(trainer, &data, &format!("{settings:?}")).unwrap();
        assert!(drawn > 50, "{settings:?}: {drawn}");
    }
    // A batch of one class is left to the core, whose error it is.
    let small = config("soap", "linear", &[uniform, ("batch", "3")]);
    let small = Trainer::<f32>::new(&small, Arc::clone(&data), None).unwrap();
    assert_eq!(handed_over(small, &data, "batches of three"), Err(Error::OneClass));
    for method in ["ppd-sg", "ppd-adagrad", "auc-margin"] {
        for sampling in ["uniform", "stratified"] {
            let settings = [("stage", "9"), ("pretrain", "12"), ("sampling", sampling)];
            let trainer = Trainer::<f32>::new(&config(method, "linear", &settings), Arc::clone(&data), None).unwrap();
            let drawn = handed_over(trainer, &data, &format!("{method} {settings:?}")).unwrap();
            assert!((40..58).contains(&drawn), "{method}: {drawn}");
        }
    }
}

#[test]
fn what_nobody_else_can_compute_is_said() {
    let dense = data(120, 5);
    let large = config("ce", "linear", &[("sampling", "uniform"), ("batch", "4100")]);
    let many = Trainer::<f32>::new(&large, data(4200, 5), None).unwrap();
    assert_eq!(many.step_spec(), Err(Error::Unsupported { what: "batches of more than 4096 rows elsewhere" }));
    let weights = (0..dense.len()).map(|row| 1.0 + (row % 3) as f64).collect();
    let weighted = Arc::new((*dense).clone().with_weights(weights).unwrap());
    let of =
        |method| Trainer::<f32>::new(&config(method, "linear", &[]), Arc::clone(&weighted), None).unwrap().step_spec();
    let what = "weights of rows in an objective with a state, elsewhere";
    assert_eq!(of("soap"), Err(Error::Unsupported { what }));
    assert!(of("auc-pairwise").is_ok());
    let sum = Trainer::<f32>::new(&config("ai-sarah", "linear", &[]), Arc::clone(&dense), None).unwrap();
    assert_eq!(sum.step_spec(), Err(Error::Unsupported { what: "a finite sum elsewhere" }));
    let rule = Trainer::<f32>::new(&config("sonex", "linear", &[]), Arc::clone(&dense), None).unwrap();
    assert!(matches!(rule.step_spec(), Err(Error::Unsupported { .. })));
    let sparse = Arc::new(
        Dataset::csr(vec![0, 1, 2, 3, 4], vec![0, 1, 0, 1], vec![1.0, 2.0, 1.0, 3.0], vec![0, 1, 0, 1], 2).unwrap(),
    );
    let sparse = Trainer::<f32>::new(&config("soap", "linear", &[]), sparse, None).unwrap();
    assert_eq!(sparse.step_spec(), Err(Error::Unsupported { what: "sparse rows elsewhere" }));
}

#[test]
fn a_run_that_is_handed_over_and_back_is_the_run() {
    let data = data(120, 5);
    let mut none = Vec::new();
    for method in METHODS {
        for model in ["linear", "mlp:4", "mlp-tanh:5,3"].into_iter().filter(|model| trains(method.name, model)) {
            let what = format!("{} {model}", method.name);
            // (Some want groups or constraints.)
            let config = config(method.name, model, &[]);
            let trainer = match Trainer::<f32>::new(&config, Arc::clone(&data), None) {
                Ok(trainer) => trainer,
                Err(TrainerError::Config(_)) => continue,
                Err(error) => panic!("{what}: {error}"),
            };
            match handed_over(trainer, &data, &what) {
                Ok(drawn) => assert!(drawn > 30, "{what}: {drawn} steps drawn"),
                Err(Error::Unsupported { .. }) => none.push(method.name),
                Err(error) => panic!("{what}: {error}"),
            }
        }
    }
    none.dedup();
    assert_eq!(none, NONE);
}

#[test]
fn nonsense_is_no_shape() {
    let text = "2,4,1 1 20 - soap sigmoid 0 adam 0 0 17 17 1 17 51 99";
    let read = |text: &str| read(text, ["soap", "adam"]);
    let shape = read(text).unwrap();
    assert_eq!((shape.to_string().as_str(), shape.list_len()), (text, 41));
    let words: Vec<&str> = text.split(' ').collect();
    for at in 0..words.len() {
        for bad in ["", "x", "-1", "4294967296"] {
            let mut words = words.clone();
            words[at] = bad;
            assert_eq!(read(&words.join(" ")), Err(Error::Param { what: "shape" }), "{bad} at {at}");
        }
        assert!(read(&words[..at].join(" ")).is_err());
    }
    assert!(read(&format!("{text} 1")).is_err());
}
