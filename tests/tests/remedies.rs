//! Every remedy that a warning names is tried on a run that got the warning, and helps: the warning is gone, or the metric is
//! clearly larger.

use std::sync::Arc;
use undercurve::data::{Dataset, Rows};
use undercurve::registry::method;
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Init, Length, ModelSpec, Report, Trainer, Warning};

type Data = Arc<Dataset<f64>>;

/// Rows of two columns; positives lie `apart` deviations from negatives along both.
fn clouds(rows: usize, positives: usize, apart: f64, seed: u64) -> Data {
    let mut rng = Rng::keyed(seed, 7, 0);
    let y: Vec<u8> = (0..rows).map(|row| u8::from(row < positives)).collect();
    let x = y.iter().flat_map(|&y| [0, 1].map(|_| rng.normal() + apart * f64::from(y))).collect();
    Arc::new(Dataset::dense(x, y, 2).unwrap())
}

/// A disc of positives in the middle of the unit square.
fn disc() -> Data {
    let mut rng = Rng::keyed(1, 9, 0);
    let points: Vec<[f64; 2]> = (0..1000).map(|_| [rng.uniform(), rng.uniform()]).collect();
    let y = points.iter().map(|[a, b]| u8::from((a - 0.5).hypot(b - 0.5) < 0.12)).collect();
    Arc::new(Dataset::dense(points.concat(), y, 2).unwrap())
}

/// A hundred columns of which three say something; a fifth of the rows is positive.
fn wide(rows: usize, seed: u64) -> Data {
    let mut rng = Rng::keyed(seed, 11, 0);
    let y: Vec<u8> = (0..rows).map(|row| u8::from(row % 5 == 0)).collect();
    let (mut x, apart) = (Vec::new(), [0.8, 0.8, 0.8]);
    for &y in &y {
        x.extend((0..100).map(|column| rng.normal() + apart.get(column).unwrap_or(&0.0) * f64::from(y)));
    }
    Arc::new(Dataset::dense(x, y, 100).unwrap())
}

#[derive(Clone)]
struct Run {
    train: Data,
    test: Option<Data>,
    config: Config,
}

impl Run {
    fn new(train: Data, method: &str, model: &str, steps: u64, settings: &[(&str, &str)]) -> Self {
        let mut run = Self { train, test: None, config: Config::default() };
        run.config.method = method.into();
        run.config.model = ModelSpec::parse(model).unwrap();
        // (Runs that get warnings: one that begins at a linear model hardly does.)
        run.config.init = Init::Random;
        run.config.length = Length::Steps(steps);
        settings.iter().for_each(|(name, value)| run.set(name, value));
        run
    }

    fn set(&mut self, name: &str, value: &str) {
        self.config.settings.retain(|(other, _)| other != name);
        self.config.settings.push((name.into(), value.into()));
    }

    /// The first ten columns, the three that say something among them.
    fn narrow(&mut self) {
        for data in [Some(&mut self.train), self.test.as_mut()].into_iter().flatten() {
            let Rows::Dense { data: x, .. } = data.rows() else { unreachable!("dense rows") };
            let rows: Vec<f64> = x.chunks_exact(100).flat_map(|row| row[..10].to_vec()).collect();
            *data = Arc::new(Dataset::dense(rows, data.labels().to_vec(), 10).unwrap());
        }
    }

    fn end(&self) -> (Report, f64) {
        let mut trainer = Trainer::new(&self.config, Arc::clone(&self.train), self.test.clone()).unwrap();
        let report = trainer.run().unwrap();
        let metric = report.test.as_ref().unwrap_or(&report.train).get(trainer.own_metric()).unwrap();
        (report, metric)
    }
}

/// A remedy in the words of the sentence, and what it means for a run.
type Remedy = (&'static str, fn(&mut Run));

/// A run that gets a warning, and all remedies that the warning's sentence names.
fn each_helps(run: &Run, is: fn(&Warning) -> bool, remedies: &[Remedy]) {
    let (report, before) = run.end();
    let what = format!("{:?}", run.config);
    let warning = report.warning.unwrap_or_else(|| panic!("no warning: {what}"));
    assert!(is(&warning), "{warning:?}: {what}");
    let sentence = warning.sentence(method(&run.config.method).unwrap());
    let named = sentence.split_once("; try ").unwrap().1.replace(" or ", ", ");
    let named: Vec<&str> = named.split(", ").collect();
    assert_eq!(named, remedies.iter().map(|remedy| remedy.0).collect::<Vec<_>>(), "{what}");
    for (name, apply) in remedies {
        let mut other = run.clone();
        apply(&mut other);
        let (after, metric) = other.end();
        println!("{warning:?}: {name}: {before:.3} to {metric:.3}, {:?}", after.warning);
        assert!(
            after.warning.is_none() || metric > 1.25 * before,
            "{what}: {name}: {before} {metric} {:?}",
            after.warning
        );
    }
}

/// The first run, over seeds and rates, that gets the warning: which one does is chance.
fn provoked(run: &Run, is: fn(&Warning) -> bool) -> Run {
    let tries = (1..6).flat_map(|seed| ["10", "100", "1e3", "1e4", "1e5"].map(|lr| (seed, lr)));
    let with = |(seed, lr)| {
        let mut run = run.clone();
        run.config.seed = seed;
        run.set("lr", lr);
        run
    };
    let gets = |run: &Run| run.end().0.warning.is_some_and(|warning| is(&warning));
    tries.map(with).find(gets).unwrap_or_else(|| panic!("none gets it: {:?}", run.config))
}

const SLOWER: Remedy = ("a smaller --set lr=RATE", |run| run.set("lr", "0.1"));
const CROSS_ENTROPY: Remedy = ("another method", |run| {
    run.config.method = "ce".into();
    run.config.settings = vec![("lr".into(), "0.1".into())];
});
const LONGER: Remedy = ("more steps", |run| run.config.length = Length::Steps(6000));

#[test]
fn flat_links_and_equal_scores() {
    let flat = [("pretrain", "0"), ("lr", "1e4"), ("decay", "0")];
    let run = Run::new(clouds(300, 30, 2.0, 5), "smooth-ap", "linear", 50, &flat);
    let identity: Remedy = ("--set link=identity", |run| run.set("link", "identity"));
    each_helps(&run, |w| matches!(w, Warning::Saturated { .. }), &[identity, SLOWER, CROSS_ENTROPY]);
    let soap: Remedy = ("another method", |run| {
        run.config.method = "soap".into();
        run.config.settings = vec![("lr".into(), "0.5".into())];
    });
    let tied = |w: &Warning| matches!(w, Warning::Tied { .. });
    let run = Run::new(clouds(300, 30, 1.0, 3), "ce", "mlp:8", 100, &[]);
    each_helps(&provoked(&run, tied), tied, &[SLOWER, soap]);
    let constant = |w: &Warning| *w == Warning::Constant;
    let run = Run::new(disc(), "ce", "mlp:16", 300, &[]);
    each_helps(&provoked(&run, constant), constant, &[SLOWER, soap]);
    // Without a start a narrow range has no gradient.
    let none = [("pretrain", "0"), ("surrogate", "squared-hinge"), ("decay", "0")];
    let run = Run::new(clouds(600, 60, 0.3, 20), "pauc-exact", "linear", 500, &none);
    let start: Remedy = ("more steps of cross-entropy before (--set pretrain=STEPS)", |run| run.set("pretrain", "400"));
    let threshold: Remedy = ("another method", |run| {
        run.config.method = "pauc-threshold".into();
        run.config.settings.clear();
    });
    each_helps(&run, |w| *w == Warning::Constant, &[start, threshold]);
}

#[test]
fn networks_that_came_too_short_a_way_or_too_long_a_one() {
    let near = |w: &Warning| matches!(w, Warning::Unfit { moved, .. } if *moved < 1.0);
    let far = |w: &Warning| matches!(w, Warning::Unfit { moved, .. } if *moved > 10.0);
    let faster: Remedy = ("a larger --set lr=RATE", |run| run.set("lr", "0.1"));
    let mut run = Run::new(disc(), "ce", "mlp:16", 300, &[("lr", "0.003")]);
    run.config.seed = 2;
    each_helps(&run, near, &[LONGER, faster]);
    let pretrained: Remedy = ("a larger --set pretrain-lr=RATE", |run| run.set("pretrain-lr", "0.1"));
    for name in ["soap", "smooth-ap"] {
        let mut run = Run::new(disc(), name, "mlp:16", 300, &[("lr", "0.003"), ("pretrain-lr", "0.003")]);
        run.config.seed = 2;
        each_helps(&run, near, &[LONGER, pretrained]);
    }
    let run = Run::new(disc(), "ce", "mlp:16", 300, &[]);
    let soap: Remedy = ("another method", |run| {
        run.config.method = "soap".into();
        run.config.settings = vec![("lr".into(), "0.5".into())];
    });
    each_helps(&provoked(&run, far), far, &[SLOWER, soap]);
    let run = Run::new(clouds(300, 30, 1.0, 3), "soap", "mlp:8", 100, &[("surrogate", "squared-hinge")]);
    each_helps(&provoked(&run, far), far, &[SLOWER, CROSS_ENTROPY]);
}

#[test]
fn linear_models_and_unseen_rows() {
    let run = Run::new(disc(), "ce", "linear", 300, &[("lr", "0.1")]);
    let network: Remedy = ("a network (--model mlp:16)", |run| run.config.model = ModelSpec::parse("mlp:16").unwrap());
    each_helps(&run, |w| matches!(w, Warning::Chance { .. }), &[network]);
    // A rate that decay does not bear.
    let run = Run::new(clouds(300, 30, 1.0, 3), "ce", "linear", 100, &[("lr", "0.1"), ("decay", "1e4")]);
    let slower: Remedy = ("a smaller --set lr=RATE", |run| run.set("lr", "1e-5"));
    let soap: Remedy = ("another method", |run| {
        run.config.method = "soap".into();
        run.config.settings = vec![("lr".into(), "0.1".into())];
    });
    each_helps(&run, |w| matches!(w, Warning::Reversed { .. }), &[slower, soap]);
    for (name, model, rows, unseen) in [
        ("ce", "linear", 120, true),
        ("soap", "linear", 120, true),
        ("ce", "linear", 200, false),
        ("soap", "mlp:8", 200, false),
    ] {
        let mut run = Run::new(wide(rows, 1), name, model, 2000, &[("decay", "0")]);
        run.test = Some(wide(2000, 2));
        let is = |w: &Warning| matches!(w, Warning::Unseen { .. } | Warning::Memorised { .. });
        assert_eq!(matches!(run.end().0.warning, Some(Warning::Unseen { .. })), unseen);
        each_helps(&run, is, &[("more rows", |run| run.train = wide(6000, 1)), ("fewer columns", |run| run.narrow())]);
    }
}

#[test]
fn penalties_that_outweigh_the_objective() {
    let plain = clouds(600, 120, 1.0, 4);
    let Rows::Dense { data: x, .. } = plain.rows() else { unreachable!("dense rows") };
    let groups = (0..600).map(|row| row % 2).collect();
    let data = Dataset::dense(x.to_vec(), plain.labels().to_vec(), 2).unwrap();
    let data = Arc::new(data.with_groups(groups, vec!["a".into(), "b".into()]).unwrap());
    let smaller: Remedy = ("a smaller --set penalty=WEIGHT", |run| run.set("penalty", "4"));
    for name in ["sonx", "sox"] {
        let mut run = Run::new(data.clone(), name, "linear", 500, &[("penalty", "4000")]);
        run.config.constraints = vec!["gap(tpr) <= 0.05".into()];
        each_helps(&run, |w| matches!(w, Warning::Outweighed { penalty: 4000.0 }), &[smaller]);
    }
}

#[test]
fn balls_starts_and_sums() {
    let wider: Remedy = ("a larger --set radius=RADIUS", |run| run.set("radius", "10"));
    let narrow = [("radius", "0.01"), ("link", "identity"), ("lr", "0.5")];
    let edge = |w: &Warning| matches!(w, Warning::Edge { .. });
    each_helps(&Run::new(clouds(300, 30, 1.0, 7), "oauc", "linear", 300, &narrow), edge, &[wider, CROSS_ENTROPY]);
    let fast = [("link", "identity"), ("lr", "1e8")];
    each_helps(&Run::new(clouds(300, 30, 1.0, 7), "oauc", "linear", 300, &fast), edge, &[SLOWER, CROSS_ENTROPY]);

    let steeper: Remedy = ("--set surrogate=sigmoid --set scale=10", |run| {
        run.set("surrogate", "sigmoid");
        run.set("scale", "10");
    });
    let threshold: Remedy = ("another method", |run| {
        run.config.method = "pauc-threshold".into();
        run.config.settings.clear();
    });
    for settings in [&[("surrogate", "squared-hinge")][..], &[("surrogate", "sigmoid"), ("scale", "2")]] {
        let settings = [settings, &[("pretrain", "400"), ("decay-to", "zero"), ("decay", "1e-5")]].concat();
        let run = Run::new(clouds(600, 60, 0.3, 20), "pauc-exact", "linear", 500, &settings);
        each_helps(&run, |w| *w == Warning::Start, &[steeper, threshold]);
    }

    let none =
        Run::new(clouds(300, 30, 2.0, 5), "pauc-exact", "mlp:8", 200, &[("pretrain", "0"), ("surrogate", "sigmoid")]);
    let none = Run { config: Config { seed: 2, ..none.config.clone() }, ..none };
    let start: Remedy = ("more steps of cross-entropy before (--set pretrain=STEPS)", |run| run.set("pretrain", "400"));
    each_helps(&none, |w| *w == Warning::NoDescent, &[start, threshold]);

    for name in ["svrg", "ce-exact"] {
        let run = Run::new(clouds(300, 100, 1.0, 9), name, "linear", if name == "svrg" { 8 } else { 2 }, &[]);
        each_helps(&run, |w| matches!(w, Warning::Unconverged { .. }), &[LONGER]);
    }

    let exact: Remedy = ("--method ce-exact", |run| run.config.method = "ce-exact".into());
    each_helps(&Run::new(wide(300, 3), "ce", "linear", 3000, &[]), |w| *w == Warning::Sparse, &[exact]);

    // (That of its own default: at ten times as much it stays about the minimum, and says that.)
    let smaller: Remedy = ("a smaller --set alpha=STEP", |run| run.config.settings.retain(|(name, _)| name != "alpha"));
    let own: Remedy = ("another method", |run| {
        run.config.method = "ai-sarah".into();
        run.config.settings.clear();
    });
    for name in ["momentum-sum", "sarah"] {
        let run = Run::new(clouds(300, 100, 1.0, 9), name, "linear", 3000, &[("alpha", "40"), ("lambda", "0")]);
        each_helps(&run, |w| matches!(w, Warning::Risen { .. }), &[smaller, own]);
    }
}
