//! The two-way global contrastive loss by SONEX, with running values and without their correction (SogCLR's moving averages),
//! against the mini-batches' own loss (InfoNCE): two heads that are to find the other view of a row among those of other rows.
//!
//! No embeddings of images and texts are at hand; the views are two parts of the columns of real rows. hiv: of a molecule's
//! fingerprint of 2048 hashed substructures, the even bits and the odd ones. adult: the numbers (without fnlwgt) and the
//! categories of a person, of whom many are alike.
//!
//! Both heads end in embeddings of 32 numbers: linear maps, or networks with one hidden layer of 64. All take the same batches and
//! Adam-type steps whose rate falls linearly, with the same tries, three rates, judged on 1,000 pairs that are left out of
//! training; the chosen rate then trains with seeds 1 to N. Told are recall at 1 and at 10 among 1,000 test pairs (the share of rows
//! whose own pair is among so many most similar, mean of both ways, ties counted against it), the loss among them, and the
//! seconds of a run, mean ± standard deviation. SONEX embeds each batch at the point before, too, which the others do without.

use super::fairness::read;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use undercurve::algorithm::{
    Adam, AdamForm, AdamSettings, Algorithm, Answer, Ask, COUNTERS, Point, Schedule, ScheduleShape, Sonex, State,
    StepRule,
};
use undercurve::data::{Dataset, Format, Missing, Options, Preparation, RawTable, Rows, Selection};
use undercurve::estimator::{Contrastive, Tracker, Uses, Views};
use undercurve::model::{Activation, AnyModel, Linear, Mlp, Model};
use undercurve::rng::Rng;
use undercurve::{Error, Scratch};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::output;
use undercurve_demo::paired::mean_sd;

/// Options of `experiment contrastive`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folder of hiv.train.svm.gz, hiv.test.svm.gz, adult.train.csv.gz and adult.test.csv.gz
    #[arg(long, value_name = "FOLDER", default_value = "../shared/data")]
    data: PathBuf,
    /// hiv or adult
    #[arg(long, value_name = "NAME", default_value = "hiv")]
    set: String,
    /// linear, mlp
    #[arg(long, value_name = "HEADS", value_delimiter = ',', default_value = "linear,mlp")]
    heads: Vec<String>,
    /// Rows of a batch
    #[arg(long, value_name = "ROWS", value_delimiter = ',', default_value = "32,128", value_parser = clap::value_parser!(u64).range(2..))]
    batch: Vec<u64>,
    /// τ
    #[arg(long, value_name = "T", default_value_t = 0.05)]
    temperature: f64,
    /// γ, the weight of a batch in the running values; 1 keeps none
    #[arg(long, value_name = "G", default_value_t = 0.8)]
    gamma: f64,
    /// γ', the weight of their correction
    #[arg(long, value_name = "G", default_value_t = 0.1)]
    correction: f64,
    /// Passes of every run
    #[arg(long, value_name = "N", default_value_t = 10)]
    passes: u64,
    /// Seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 5)]
    seeds: u64,
    /// Generated rows, linear heads, one pass, two seeds
    #[arg(long)]
    quick: bool,
}

const WIDTH: usize = 32;
const HIDDEN: usize = 64;
const PAIRS: usize = 1000;
const RATES: [f64; 3] = [3e-3, 1e-2, 3e-2];

/// Two views of the same rows.
type Both = [Dataset<f32>; 2];

struct Parts {
    rows: Both,
    test: Both,
}

/// What is minimised: the loss over everything by running values, or that of each batch.
#[derive(Clone, Copy)]
enum Loss {
    Global(Tracker),
    Batch,
}

/// What heads come to on some pairs.
#[derive(Clone, Copy)]
struct Outcome {
    recall: [f64; 2],
    loss: f64,
    seconds: f64,
}

/// Rows of a file by preparations of other rows, or their own: one for each view.
fn views(train: [&str; 2], test: [&str; 2], format: Format, options: &[Options; 2]) -> Result<Parts> {
    let view = |at: usize| {
        let table = |text: &str| RawTable::parse(text.as_bytes(), format, "view");
        let preparation = Preparation::fit(&table(train[at])?, &options[at])?;
        let prepared = |text: &str| Ok::<_, CliError>(preparation.apply(&table(text)?)?);
        Ok::<_, CliError>([prepared(train[at])?, prepared(test[at])?])
    };
    let ([first, first_test], [second, second_test]) = (view(0)?, view(1)?);
    Ok(Parts { rows: [first, second], test: [first_test, second_test] })
}

fn open(args: &Args) -> Result<Parts> {
    if args.quick {
        let [train, test] = [generated(600, 1), generated(200, 2)];
        let options = Options { label: Some("0".to_string()), ..Options::default() };
        let (train, test) = ([&train[0][..], &train[1]], [&test[0][..], &test[1]]);
        return views(train, test, Format::Libsvm, &[options.clone(), options]);
    }
    match args.set.as_str() {
        "hiv" => {
            let [train, test] = ["hiv.train.svm.gz", "hiv.test.svm.gz"].map(|name| read(&args.data.join(name)));
            let [train, test] = [halves(&train?), halves(&test?)];
            let (train, test) = ([&train[0][..], &train[1]], [&test[0][..], &test[1]]);
            views(train, test, Format::Libsvm, &[Options::default(), Options::default()])
        }
        "adult" => {
            let [train, test] = ["adult.train.csv.gz", "adult.test.csv.gz"].map(|name| read(&args.data.join(name)));
            let (train, test) = (train?, test?);
            let numbers = ["age", "education_num", "capital_gain", "capital_loss", "hours_per_week"];
            let words = [
                "workclass",
                "education",
                "marital_status",
                "occupation",
                "relationship",
                "race",
                "sex",
                "native_country",
            ];
            let options = |ignore: &[&str]| Options {
                label: Some("income".to_string()),
                missing: Missing::Impute,
                ignore: ignore.iter().chain(&["fnlwgt"]).map(ToString::to_string).collect(),
                ..Options::default()
            };
            views([&train; 2], [&test; 2], Format::Csv, &[options(&words), options(&numbers)])
        }
        other => Err(CliError::input(format!("--set {other}: expected hiv or adult"))),
    }
}

/// The even and the odd columns of rows, numbered anew.
fn halves(text: &str) -> [String; 2] {
    let half = |odd: usize| {
        let mut out = String::new();
        for line in text.lines() {
            let mut cells = line.split_ascii_whitespace();
            out += cells.next().unwrap_or("0");
            for cell in cells {
                if let Some((column, value)) = cell.split_once(':')
                    && let Ok(column) = column.parse::<usize>()
                    && column % 2 == odd
                {
                    out += &format!(" {}:{value}", column.div_ceil(2).max(1));
                }
            }
            out.push('\n');
        }
        out
    };
    [half(0), half(1)]
}

/// Two noisy views of the same four numbers.
fn generated(rows: usize, seed: u64) -> [String; 2] {
    let mut rng = Rng::new(seed);
    let mut texts = [String::new(), String::new()];
    for row in 0..rows {
        let own: Vec<f64> = (0..4).map(|_| rng.normal()).collect();
        for (way, text) in texts.iter_mut().enumerate() {
            *text += if row.is_multiple_of(2) { "1" } else { "-1" };
            for k in 0..6 {
                let mixed = own[k % 4] + if way == 0 { own[(k + 1) % 4] } else { -own[(k + 3) % 4] };
                *text += &format!(" {}:{:.4}", k + 1, mixed + 0.1 * rng.normal());
            }
            text.push('\n');
        }
    }
    texts
}

/// Two models, and their parameters one after the other.
struct Heads {
    models: [AnyModel; 2],
    lens: [usize; 2],
    memory: Vec<f32>,
}

impl Heads {
    fn new(spec: &str, rows: [Rows<'_, f32>; 2]) -> Result<Self> {
        let model = |rows: Rows<'_, f32>| match spec {
            "linear" => Ok::<_, Error>(AnyModel::Linear(Linear::new(rows.cols(), WIDTH)?)),
            _ => Ok(AnyModel::Mlp(Mlp::new(rows.cols(), &[HIDDEN], WIDTH, Activation::Relu)?)),
        };
        let models = [model(rows[0])?, model(rows[1])?];
        let lens = [0, 1].map(|at| Model::<f32>::param_len(&models[at]));
        Ok(Self { models, lens, memory: Vec::new() })
    }

    /// Start values: of linear maps (which otherwise start at 0, where no embedding has a direction) as of a network's layer.
    fn init(&self, seed: u64) -> Result<Vec<f32>> {
        let mut params = vec![0.0; self.lens[0] + self.lens[1]];
        let (first, second) = params.split_at_mut(self.lens[0]);
        let mut rng = Rng::keyed(seed, 0xc017, 0);
        for (model, params) in self.models.iter().zip([first, second]) {
            model.init(&mut rng, params)?;
            if let AnyModel::Linear(linear) = model {
                let inputs = Model::<f32>::inputs(linear);
                let limit = (6.0 / inputs as f64).sqrt();
                params[..inputs * WIDTH].iter_mut().for_each(|w| *w = (limit * (2.0 * rng.uniform() - 1.0)) as f32);
            }
        }
        Ok(params)
    }

    fn params<'p>(&self, params: &'p [f32], at: usize) -> &'p [f32] {
        let (first, second) = params.split_at(self.lens[0]);
        if at == 0 { first } else { second }
    }

    /// Embeddings of a view's rows, and what `backward` wants of them.
    fn forward(&self, params: &[f32], at: usize, x: Selection<'_, f32>) -> Result<(Vec<f32>, Vec<f32>)> {
        let model = &self.models[at];
        let (mut cache, mut out) = (vec![0.0; Model::<f32>::cache_len(model, x.len())], vec![0.0; x.len() * WIDTH]);
        model.forward(self.params(params, at), x, &mut cache, &mut out)?;
        Ok((out, cache))
    }

    /// The gradient by all parameters of those by the embeddings.
    fn backward(&mut self, params: &[f32], x: [Selection<'_, f32>; 2], by: [(&[f32], &[f32]); 2]) -> Result<Vec<f32>> {
        let mut grad = vec![0.0; params.len()];
        let (first, second) = grad.split_at_mut(self.lens[0]);
        for (at, grad) in [first, second].into_iter().enumerate() {
            let model = &self.models[at];
            self.memory.resize(Model::<f32>::scratch_len(model, x[at].len()), 0.0);
            let (cache, slopes) = by[at];
            model.backward(self.params(params, at), x[at], cache, slopes, &mut self.memory, grad)?;
        }
        Ok(grad)
    }
}

/// One run: the heads' parameters.
struct Run<'a> {
    args: &'a Args,
    rows: [Rows<'a, f32>; 2],
    /// The rows that are trained on.
    train: &'a [u32],
    spec: &'a str,
    loss: Loss,
    /// Whether batches are embedded at the point before, too.
    corrected: bool,
    batch: usize,
}

impl Run<'_> {
    fn train(&self, rate: f64, seed: u64) -> Result<(Heads, Vec<f32>)> {
        let mut heads = Heads::new(self.spec, self.rows)?;
        let start = heads.init(seed)?;
        let (n, batch) = (self.train.len(), self.batch.min(self.train.len()));
        let steps = (self.args.passes * (n / batch) as u64).max(1);
        let lr = Schedule::new(rate, ScheduleShape::Linear, steps);
        let adam = AdamSettings { lr, form: AdamForm::Corrected, ..AdamSettings::default() };
        let sonex = Sonex::new(StepRule::Adam(Adam::new(adam)?));
        // (To the batch's own loss the batch is everything there is, and forgotten after it.)
        let (tracker, all) = match self.loss {
            Loss::Global(tracker) => (tracker, n),
            Loss::Batch => (Tracker::new(1.0, 0.0)?, batch),
        };
        let loss = Contrastive::new(self.args.temperature, tracker, Uses::New)?;
        let mut bank = vec![0.0f32; Contrastive::state_len(all)];
        let len = start.len();
        let (mut points, mut slots) =
            ([&start[..], &start].concat(), vec![0.0; Algorithm::<f32>::slots_len(&sonex, len)]);
        let mut counters = [0; COUNTERS];
        let need = Contrastive::need(batch, WIDTH);
        let (mut real, mut f64s) = (vec![0.0; need.real], vec![0.0; need.f64]);
        let places: Vec<u32> = (0..batch as u32).collect();
        let mut order: Vec<u32> = (0..n as u32).collect();
        let mut rng = Rng::keyed(seed, 0xc017, 1);
        let mut at = n;
        for _ in 0..steps {
            if at + batch > n {
                rng.shuffle(&mut order);
                at = 0;
            }
            let drawn = &order[at..at + batch];
            at += batch;
            let index: Vec<u32> = drawn.iter().map(|&k| self.train[k as usize]).collect();
            let x = [Selection::of(self.rows[0], &index)?, Selection::of(self.rows[1], &index)?];
            let mut state = State { points: &mut points, slots: &mut slots, counters: &mut counters };
            let Ask::Evaluate { at: Point(now), previous, .. } = sonex.next(&state) else { break };
            let point = |Point(at): Point| usize::from(at) * len..(usize::from(at) + 1) * len;
            let params = state.points[point(Point(now))].to_vec();
            let [first, second] = [heads.forward(&params, 0, x[0])?, heads.forward(&params, 1, x[1])?];
            let before = match previous.filter(|_| self.corrected) {
                Some(at) => {
                    let params = &state.points[point(at)];
                    Some([heads.forward(params, 0, x[0])?.0, heads.forward(params, 1, x[1])?.0])
                }
                None => None,
            };
            let owners = match self.loss {
                Loss::Global(_) => drawn,
                Loss::Batch => {
                    bank.fill(0.0);
                    &places
                }
            };
            let previous = before.as_ref().map(|[first, second]| [&first[..], &second[..]]);
            let views = Views { first: &first.0, second: &second.0, width: WIDTH, owners, all, previous };
            let mut slopes = [vec![0.0; batch * WIDTH], vec![0.0; batch * WIDTH]];
            let [by_first, by_second] = &mut slopes;
            let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut [], u64: &mut [] };
            let value = loss.update(&views, &mut bank, scratch, [by_first, by_second])?;
            let grad = heads.backward(&params, x, [(&first.1, &slopes[0]), (&second.1, &slopes[1])])?;
            sonex.tell(&mut state, Answer::Gradient { value, grad: &grad })?;
        }
        points.truncate(len);
        Ok((heads, points))
    }

    /// What heads come to on some rows of two views.
    fn judge(&self, heads: &Heads, params: &[f32], rows: [Rows<'_, f32>; 2], index: &[u32]) -> Result<Outcome> {
        let n = index.len();
        let [first, second] = [0, 1].map(|at| heads.forward(params, at, Selection::of(rows[at], index)?));
        let (first, second) = (first?.0, second?.0);
        let mut f64s = vec![0.0; Contrastive::value_need(n).f64];
        let scratch = Scratch { real: &mut [], f64: &mut f64s, u32: &mut [], u64: &mut [] };
        let contrastive = Contrastive::new(self.args.temperature, Tracker::USUAL, Uses::New)?;
        let loss = contrastive.value(&first, &second, WIDTH, scratch)?;
        let units = [&first, &second].map(|x| {
            let unit = |x: &[f32]| {
                let length = x.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
                x.iter().map(|x| x / length).collect::<Vec<f32>>()
            };
            x.chunks(WIDTH).map(unit).collect::<Vec<_>>()
        });
        let similarity = |i: usize, j: usize| units[0][i].iter().zip(&units[1][j]).map(|(a, b)| a * b).sum::<f32>();
        let mut ranks = vec![[0usize; 2]; n];
        let own: Vec<f32> = (0..n).map(|i| similarity(i, i)).collect();
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                let s = similarity(i, j);
                ranks[i][0] += usize::from(s >= own[i]);
                ranks[j][1] += usize::from(s >= own[j]);
            }
        }
        let recall = [1, 10].map(|k| ranks.iter().flatten().filter(|&&rank| rank < k).count() as f64 / (2 * n) as f64);
        Ok(Outcome { recall, loss, seconds: 0.0 })
    }
}

/// Runs the bench.
///
/// # Errors
/// Data that are not there, runs that break down.
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    if let Some(heads) = args.heads.iter().find(|heads| !matches!(heads.as_str(), "linear" | "mlp")) {
        return Err(CliError::input(format!("--heads {heads}: expected linear or mlp")));
    }
    let parts = open(args)?;
    let rows = [parts.rows[0].rows(), parts.rows[1].rows()];
    let tests = [parts.test[0].rows(), parts.test[1].rows()];
    let mut rng = Rng::new(1);
    let mut order: Vec<u32> = (0..rows[0].len() as u32).collect();
    rng.shuffle(&mut order);
    let (valid, train) = order.split_at(PAIRS.min(rows[0].len() / 4));
    let mut test: Vec<u32> = (0..tests[0].len() as u32).collect();
    rng.shuffle(&mut test);
    test.truncate(PAIRS);
    let seeds = if args.quick { 2 } else { args.seeds.max(1) };
    if !as_json {
        output::line(
            "| set | heads | batch | loss | rate | recall at 1 | recall at 10 | loss of test pairs | seconds |",
        )?;
        output::line("|---|---|---|---|---|---|---|---|---|")?;
    }
    let losses = [
        ("SONEX", Loss::Global(Tracker::new(args.gamma, args.correction)?)),
        ("moving averages", Loss::Global(Tracker::new(args.gamma, 0.0)?)),
        ("InfoNCE", Loss::Batch),
    ];
    let chosen: &[String] = if args.quick { &args.heads[..1] } else { &args.heads };
    for spec in chosen {
        for &batch in if args.quick { &args.batch[..1] } else { &args.batch[..] } {
            for (name, loss) in losses {
                let run = Run { args, rows, train, spec, loss, corrected: name == "SONEX", batch: batch as usize };
                let mut best: Option<(f64, f64)> = None;
                for rate in RATES {
                    let (heads, params) = run.train(rate, 1)?;
                    let recall = run.judge(&heads, &params, rows, valid)?.recall[0];
                    if best.is_none_or(|(_, least)| recall > least) {
                        best = Some((rate, recall));
                    }
                }
                let rate = best.map_or(RATES[1], |best| best.0);
                let judged = (1..=seeds).map(|seed| {
                    let start = Instant::now();
                    let (heads, params) = run.train(rate, seed)?;
                    let seconds = start.elapsed().as_secs_f64();
                    Ok(Outcome { seconds, ..run.judge(&heads, &params, tests, &test)? })
                });
                let judged = judged.collect::<Result<Vec<Outcome>>>()?;
                let figure = |get: fn(&Outcome) -> f64| mean_sd(&judged.iter().map(get).collect::<Vec<_>>());
                let all = [figure(|o| o.recall[0]), figure(|o| o.recall[1]), figure(|o| o.loss)];
                let seconds = figure(|o| o.seconds).0;
                let set = if args.quick { "generated" } else { &args.set };
                if as_json {
                    let told = |(mean, sd): (f64, f64)| json!({"mean": mean, "sd": sd});
                    output::line(json!({
                        "set": set, "heads": spec, "batch": batch, "loss": name, "rate": rate, "seeds": seeds,
                        "recall_1": told(all[0]), "recall_10": told(all[1]), "test_loss": told(all[2]), "seconds": seconds,
                    }))?;
                } else {
                    let cells = all.map(|(mean, sd)| format!("{mean:.4} ± {sd:.4}")).join(" | ");
                    output::line(format!("| {set} | {spec} | {batch} | {name} | {rate} | {cells} | {seconds:.1} |"))?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::halves;

    #[test]
    fn columns_are_parted_and_numbered_anew() {
        let [even, odd] = halves("1 1:1 2:3 5:1\n-1 4:1\n");
        assert_eq!((&even[..], &odd[..]), ("1 1:3\n-1 2:1\n", "1 1:1 3:1\n-1\n"));
    }
}
