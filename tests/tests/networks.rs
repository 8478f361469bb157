//! Where networks begin: the linear score in one, what a trial chooses, and what is saved of it.

use std::sync::Arc;
use undercurve::data::{Dataset, Rows, Selection};
use undercurve::model::{Activation, Mlp, Model};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Init, Length, ModelSpec, Trainer};

/// Rows of two classes. Positives lie inside a ring of the others if it is `bent`; else they differ in the small difference of two
/// columns that go together, which takes large weights.
fn rows(n: usize, columns: usize, bent: bool, seed: u64) -> Arc<Dataset<f64>> {
    let mut rng = Rng::new(seed);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for row in 0..n {
        let label = u8::from(row % 10 == 0);
        let mut point: Vec<f64> = (0..columns).map(|_| rng.normal()).collect();
        if bent {
            let angle = std::f64::consts::TAU * rng.uniform();
            let radius = if label == 1 { 0.3 * rng.normal() } else { 1.6 + 0.3 * rng.normal() };
            (point[0], point[1]) = (radius * angle.cos(), radius * angle.sin());
        } else {
            point[1] = point[0] + 0.1 * (point[1] + 2.0 * f64::from(label));
        }
        x.extend(point);
        y.push(label);
    }
    Arc::new(Dataset::dense(x, y, columns).unwrap())
}

fn config(method: &str, model: &str, init: Init, steps: u64) -> Config {
    let model = ModelSpec::parse(model).unwrap();
    Config { method: method.into(), model, init, length: Length::Steps(steps), ..Config::default() }
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + b.abs()))
}

#[test]
fn a_network_holds_a_linear_score() {
    let mut rng = Rng::new(3);
    for hidden in [&[2][..], &[7], &[5, 2], &[4, 4, 3]] {
        let model = Mlp::new(6, hidden, 1, Activation::Relu).unwrap();
        assert!(model.holds_linear());
        let mut params = vec![0.0; Model::<f64>::param_len(&model)];
        model.init(&mut rng, &mut params).unwrap();
        let linear: Vec<f64> = (0..7).map(|_| rng.normal()).collect();
        model.start_linear(&linear, &mut params).unwrap();
        let x: Vec<f64> = (0..60).map(|_| 10.0 * rng.normal()).collect();
        let rows = Selection::all(Rows::dense(&x, 6).unwrap());
        let (mut cache, mut scores) = (vec![0.0; Model::<f64>::cache_len(&model, 10)], vec![0.0; 10]);
        model.forward(&params, rows, &mut cache, &mut scores).unwrap();
        let line = undercurve::model::Linear::new(6, 1).unwrap();
        let mut wanted = vec![0.0; 10];
        line.forward(&linear, rows, &mut [], &mut wanted).unwrap();
        assert!(near(&scores, &wanted), "{hidden:?}");
    }
    for (hidden, heads, activation) in [
        (&[1][..], 1, Activation::Relu),
        (&[4, 1], 1, Activation::Relu),
        (&[4], 3, Activation::Relu),
        (&[4], 1, Activation::Tanh),
    ] {
        let model = Mlp::new(6, hidden, heads, activation).unwrap();
        let mut params = vec![0.0; Model::<f64>::param_len(&model)];
        assert!(!model.holds_linear() && model.start_linear(&[0.0; 7], &mut params).is_err(), "{hidden:?}");
    }
}

#[test]
fn a_run_begins_where_it_says() {
    let data = rows(600, 4, false, 1);
    let line = Trainer::new(&config("ce", "linear", Init::Auto, 200), data.clone(), None).map(|mut trainer| {
        trainer.run().unwrap();
        trainer
    });
    let (mut scores, mut wanted) = (vec![0.0; 600], vec![0.0; 600]);
    line.unwrap().score(data.rows(), &mut wanted).unwrap();
    for method in ["ce", "soap", "ppd-sg", "focal", "pauc-exact"] {
        let mut network = Trainer::new(&config(method, "mlp:8", Init::Linear, 200), data.clone(), None).unwrap();
        network.score(data.rows(), &mut scores).unwrap();
        assert!(near(&scores, &wanted), "{method}");
        // What it is pulled to does not move, and a resumed run needs no other beginning.
        (0..120).for_each(|_| assert!(network.step().unwrap().is_some()));
        let mut resumed = Trainer::load(&network.save(), data.clone(), None).unwrap();
        assert_eq!(resumed.config().init, Init::Linear);
        for trainer in [&mut network, &mut resumed] {
            trainer.run().unwrap();
        }
        assert_eq!(network.params(), resumed.params(), "{method}");
    }
}

/// Rows that a line tells apart leave the network at the line, and a ring does not.
#[test]
fn a_trial_chooses_the_beginning() {
    let init = |data: &Arc<Dataset<f64>>| {
        let config = config("ce", "mlp:16", Init::Auto, 1000);
        Trainer::new(&config, data.clone(), None).unwrap().config().init
    };
    for seed in 1..4 {
        assert_eq!(init(&rows(300, 6, false, seed)), Init::Linear, "{seed}");
        assert_eq!(init(&rows(1000, 2, true, seed)), Init::Random, "{seed}");
    }
    // Models that hold no line.
    let tanh = config("ce", "mlp-tanh:8", Init::Linear, 10);
    assert!(Trainer::new(&tanh, rows(40, 2, true, 1), None).is_err());
}

/// A network of tanh whose biases begin at 0 is odd, and stays so on rows that are alike on both sides of 0: it knew no ring.
#[test]
fn networks_of_tanh_learn_a_ring() {
    for seed in 1..4 {
        let config = Config { seed, ..config("ce", "mlp-tanh:16", Init::Auto, 1000) };
        let mut trainer =
            Trainer::new(&config, rows(600, 2, true, seed), Some(rows(2000, 2, true, 100 + seed))).unwrap();
        let ap = trainer.run().unwrap().test.unwrap().get("ap").unwrap();
        assert!(ap > 0.9, "{seed}: {ap}");
    }
}

/// What a network of few rows learns beyond the line is not the rows by heart.
#[test]
fn few_rows_are_not_learned_by_heart() {
    let (mut linear, mut network, mut free) = (0.0, 0.0, 0.0);
    for seed in 1..6 {
        let (train, test) = (rows(300, 6, false, seed), rows(4000, 6, false, 100 + seed));
        let ap = |model: &str, init: Init| {
            let mut trainer =
                Trainer::new(&config("ce", model, init, 3000), train.clone(), Some(test.clone())).unwrap();
            trainer.run().unwrap().test.unwrap().get("ap").unwrap() / 5.0
        };
        linear += ap("linear", Init::Auto);
        network += ap("mlp:32", Init::Auto);
        free += ap("mlp:32", Init::Random);
    }
    assert!(network > linear - 0.015, "{network} {linear}");
    assert!(free < network, "{free} {network}");
}
