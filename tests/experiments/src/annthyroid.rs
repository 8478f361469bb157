//! SOAP against cross-entropy by the average precision on held-out rows: linear models, defaults only.

use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use undercurve::data::{Options, Split, prepare};
use undercurve::trainer::{Config, Trainer};
use undercurve_demo::error::Result;
use undercurve_demo::input::{self, Layout};
use undercurve_demo::{methods, output};

/// Options of `experiment annthyroid`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The data: CSV with a label column, 1 for the abnormal
    #[arg(value_name = "FILE", default_value = "../shared/data/annthyroid.csv.gz")]
    data: PathBuf,
    /// Seeds 1 to N, each with its own split
    #[arg(long, value_name = "N", default_value_t = 8)]
    seeds: u64,
    /// Share of the rows for training
    #[arg(long, value_name = "SHARE", default_value_t = 0.6)]
    split: f64,
    /// Methods, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "soap,ce")]
    methods: Vec<String>,
}

/// Trains every method on every seed's split and prints test APs.
///
/// # Errors
/// `Input`.
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    for method in &args.methods {
        methods::find(method)?;
    }
    let table = input::table(&args.data, Layout::default(), Some("label"))?;
    let options = Options { label: Some("label".to_string()), positive: Some("1".to_string()), ..Options::default() };
    let mut aps = vec![Vec::new(); args.methods.len()];
    if !as_json {
        let names: String = args.methods.iter().map(|name| format!(" {name:>14}")).collect();
        output::line(format!("test AP {names}"))?;
    }
    for seed in 1..=args.seeds {
        let data = prepare::<f32>(&table, &options, Split::new(args.split, seed))?;
        let (train, test) = (Arc::new(data.train), Arc::new(data.test));
        for (method, aps) in args.methods.iter().zip(&mut aps) {
            let config = Config { method: method.clone(), seed, ..Config::default() };
            let mut trainer = Trainer::new(&config, Arc::clone(&train), Some(Arc::clone(&test)))?;
            while trainer.steps_done() < trainer.total_steps() && trainer.step()?.is_some() {}
            let ap = trainer.report()?.test.map_or(f64::NAN, |test| test.get("ap").unwrap_or(f64::NAN));
            if as_json {
                output::line(json!({"bench": "annthyroid", "method": method, "seed": seed, "test": {"ap": ap}}))?;
            }
            aps.push(ap);
        }
        if !as_json {
            let last: String = aps.iter().map(|aps| format!(" {:>14.4}", aps[aps.len() - 1])).collect();
            output::line(format!("seed {seed:<3}{last}"))?;
        }
    }
    let mut row = String::new();
    for (method, aps) in args.methods.iter().zip(&aps) {
        let count = aps.len() as f64;
        let mean = aps.iter().sum::<f64>() / count;
        let spread = aps.iter().map(|ap| (ap - mean) * (ap - mean)).sum::<f64>() / (count - 1.0).max(1.0);
        if as_json {
            output::line(json!({
                "bench": "annthyroid", "method": method, "seeds": args.seeds, "mean": mean, "sd": spread.sqrt(),
            }))?;
        }
        row += &format!("  {mean:.4} ±{:.4}", spread.sqrt());
    }
    if as_json { Ok(()) } else { output::line(format!("mean ±sd{row}")) }
}
