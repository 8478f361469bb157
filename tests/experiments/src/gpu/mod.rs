//! `cargo experiment gpu`: what a graphics adapter can do, and which share of that the engines of `gpu` reach.
//!
//! [`ceilings`] come first, measured in the same run by small shaders: fused multiply-adds and 1/x a second, copied bytes a
//! second, the cost of a dispatch and of the way from a submit to mapped memory. Then [`engines`]: keys, rows of exact
//! sums, evaluations of exact objectives, steps of many runs and steps of wide networks a second, each beside what the ceilings allow and beside this processor with one thread and
//! with all.
//!
//! Times are wall clock around whole calls (WebGPU's own timestamps come in steps of 65 µs), in spans of 20 ms and more: a
//! span is as many calls as that takes, and a row the median and the least of up to 25 spans. Work that would take longer
//! than its part of the time that is left is cut to what fits, by the rate of the size before, and the row says what was
//! measured. Spans are shorter where `--seconds` leaves less than three a row.
//!
//! `--null` measures the same with a layer below that drops dispatches (`gpu/bench/null.sh`): what is left is the time of the host,
//! which bounds any card's rate from above.

mod ceilings;
mod engines;
mod whole;
mod wide;

use ceilings::Ceilings;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::output;
use undercurve_gpu::{Context, GpuError};

/// Seconds of a span, at least, and spans of a row, at most.
const SPAN: f64 = 0.02;
const SPANS: usize = 25;
/// Calls of a span, at most.
const CALLS: usize = 1 << 20;
/// Parts of a row's time for the adapter, one thread and all threads.
const PARTS: [f64; 3] = [0.5, 0.25, 0.25];

/// Options of `experiment gpu`.
#[derive(clap::Args)]
pub struct Args {
    /// Write every row to this file, as JSON
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The adapter with this in its name, in hardware or in software
    #[arg(long, value_name = "NAME", conflicts_with = "software")]
    adapter: Option<String>,
    /// A software adapter: proves that everything runs, says nothing about a GPU
    #[arg(long)]
    software: bool,
    /// What this host alone allows, however fast the adapter: where a layer drops dispatches, as `gpu/bench/null.sh` has it
    #[arg(long)]
    null: bool,
    /// About how long it may take; sizes that do not fit are cut
    #[arg(long, value_name = "S", default_value_t = 360, value_parser = clap::value_parser!(u64).range(1..=400))]
    seconds: u64,
}

/// Seconds of one call over the spans of a row.
#[derive(Clone, Copy)]
struct Times {
    median: f64,
    least: f64,
    count: usize,
}

/// Times of `work`, which makes so many calls and waits for the last; about `budget` seconds in all.
fn spans(budget: f64, mut work: impl FnMut(usize) -> Result<()>) -> Result<Times> {
    let clock = Instant::now();
    let span = SPAN.min(budget / 3.0);
    // What is built once is not counted.
    work(1)?;
    let (mut calls, mut times) = (1, Vec::new());
    loop {
        let start = Instant::now();
        work(calls)?;
        let took = start.elapsed().as_secs_f64();
        if took < span && calls < CALLS {
            let more = (1.25 * span / took.max(1e-9)).clamp(1.25, 16.0);
            calls = (calls as f64 * more).ceil().min(CALLS as f64) as usize;
            continue;
        }
        times.push(took / calls as f64);
        if times.len() == SPANS || clock.elapsed().as_secs_f64() >= budget {
            break;
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(Times { median: times[times.len() / 2], least: times[0], count: times.len() })
}

/// What a row is measured on.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Adapter,
    OneThread,
    AllThreads,
}

/// One side of a row: units of work a call, what of (a size in words), and its times.
struct Measured {
    units: f64,
    size: String,
    times: Times,
}

impl Measured {
    /// Units a second.
    fn rate(&self) -> f64 {
        self.units / self.times.median
    }

    fn json(&self) -> Value {
        let Times { median, least, count } = self.times;
        json!({"size": self.size, "rate": self.rate(), "median": median, "least": least, "count": count})
    }
}

/// What a row is about.
struct Title<'a> {
    engine: &'static str,
    what: &'a str,
    /// The size that was asked for.
    size: String,
    unit: &'static str,
    /// Units a second that the ceilings allow, and by which.
    ceiling: (f64, &'static str),
}

/// The run: what it measures on, how long it may take, and what it has found.
struct Run {
    context: Context,
    pool: rayon::ThreadPool,
    end: Instant,
    /// Rows to come.
    left: usize,
    /// Whether nothing is computed, and so all rows are bounds.
    null: bool,
    as_json: bool,
    ceilings: Vec<Value>,
    rows: Vec<Value>,
}

impl Run {
    /// Seconds of the next row.
    fn budget(&self) -> f64 {
        let left = self.end.saturating_duration_since(Instant::now()).as_secs_f64();
        (left / self.left.max(1) as f64).max(1e-3)
    }

    /// Measures and tells one ceiling, in units a second.
    fn ceiling(
        &mut self,
        name: &str,
        unit: &str,
        measure: impl FnOnce(&Context, f64) -> Result<(f64, Times)>,
    ) -> Result<f64> {
        let (units, times) = measure(&self.context, self.budget())?;
        let measured = Measured { units, size: String::new(), times };
        self.left = self.left.saturating_sub(1);
        let mut row = measured.json();
        (row["ceiling"], row["unit"]) = (name.into(), unit.into());
        if self.as_json {
            output::line(&row)?;
        } else {
            let (rate, micros) = (measured.rate(), 1e6 * times.median);
            output::line(format!("{name:<34} {rate:>9.3e} {unit:<13} {micros:>11.1} µs a call"))?;
        }
        self.ceilings.push(row);
        Ok(measured.rate())
    }

    /// Measures and tells one row. `costs` are the least seconds a unit of the sizes before; `measure` is given a side, the units that
    /// a call may have, and seconds.
    fn row(
        &mut self,
        title: &Title<'_>,
        most: f64,
        costs: &mut [Option<f64>; 3],
        mut measure: impl FnMut(&Self, Side, f64, f64) -> Result<Measured>,
    ) -> Result<()> {
        let budget = self.budget();
        let mut sides = Vec::with_capacity(3);
        for (at, side) in [Side::Adapter, Side::OneThread, Side::AllThreads].into_iter().enumerate() {
            let seconds = PARTS[at] * budget;
            // (A call to warm up and two to count.)
            let units = costs[at].map_or(most, |cost| most.min(seconds / 3.0 / cost));
            let measured = measure(self, side, units, seconds)?;
            // The least so far: what a call costs however small it is counts too much at small sizes.
            let cost = measured.times.median / measured.units;
            costs[at] = Some(costs[at].map_or(cost, |least| cost.min(least)));
            sides.push(measured);
        }
        self.left = self.left.saturating_sub(1);
        let [gpu, one, all] = [&sides[0], &sides[1], &sides[2]];
        let (ceiling, by) = title.ceiling;
        let (share, beside_one, beside_all) = (gpu.rate() / ceiling, gpu.rate() / one.rate(), gpu.rate() / all.rate());
        let mut row = gpu.json();
        let shares = [("ceiling", json!(ceiling)), ("ceiling_by", json!(by)), ("share", json!(share))];
        for (key, value) in [
            ("engine", json!(title.engine)),
            ("what", json!(title.what)),
            ("asked", json!(title.size)),
            ("unit", json!(title.unit)),
            ("one_thread", one.json()),
            ("all_threads", all.json()),
            ("times_one_thread", json!(beside_one)),
            ("times_all_threads", json!(beside_all)),
        ] {
            row[key] = value;
        }
        // (No work is done, so there is nothing that its ceiling could be shared by.)
        if !self.null {
            shares.into_iter().for_each(|(key, value)| row[key] = value);
        }
        if self.as_json {
            output::line(&row)?;
        } else {
            let cut = if gpu.size == title.size { String::new() } else { format!(", measured on {}", gpu.size) };
            output::line(format!(
                "{:<5} {:<28} {:>12} {:>9.3e} {:<12} {}; {beside_one:.2} × one thread, {beside_all:.2} × all{cut}",
                title.engine,
                title.what,
                title.size,
                gpu.rate(),
                title.unit,
                if self.null { "at most".to_string() } else { format!("{:>5.1} % of {by}", 100.0 * share) },
            ))?;
        }
        self.rows.push(row);
        Ok(())
    }

    /// Everything, ceilings first.
    fn all(&mut self) -> Result<()> {
        let ceilings = Ceilings::measure(self)?;
        engines::sort(self, &ceilings)?;
        engines::exact(self, &ceilings)?;
        whole::few(self, &ceilings)?;
        whole::training(self, &ceilings)?;
        engines::lanes(self, &ceilings)?;
        wide::wide(self, &ceilings)
    }

    /// What was found so far, and on what.
    fn report(&self, seconds: f64, error: Option<&str>) -> Value {
        let limits = self.context.device().limits();
        let info = self.context.info();
        let text = |of: fn(&undercurve_gpu::wgpu::AdapterInfo) -> String| info.map_or(String::new(), of);
        json!({
            "bench": "gpu",
            "commit": option_env!("UNDERCURVE_COMMIT").unwrap_or("unknown"),
            "version": env!("CARGO_PKG_VERSION"),
            "unix_time": SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs()),
            "seconds": seconds,
            "complete": error.is_none(),
            "error": error,
            "adapter": text(|info| info.name.clone()),
            "kind": text(|info| format!("{:?}", info.device_type)),
            "software": self.context.is_software(),
            "null": self.null,
            "backend": text(|info| format!("{:?}", info.backend)),
            "driver": text(|info| format!("{} {}", info.driver, info.driver_info).trim().to_string()),
            "limits": {
                "max_buffer_size": limits.max_buffer_size,
                "max_storage_buffer_binding_size": limits.max_storage_buffer_binding_size,
                "max_storage_buffers_per_shader_stage": limits.max_storage_buffers_per_shader_stage,
                "max_compute_workgroup_storage_size": limits.max_compute_workgroup_storage_size,
                "max_compute_invocations_per_workgroup": limits.max_compute_invocations_per_workgroup,
                "max_compute_workgroups_per_dimension": limits.max_compute_workgroups_per_dimension,
            },
            "cpu": {"threads": self.pool.current_num_threads(), "target": super::target_features()},
            "ceilings": self.ceilings,
            "rows": self.rows,
        })
    }
}

/// The adapter that was asked for.
fn open(args: &Args) -> Result<Context> {
    let context = match &args.adapter {
        Some(name) => Context::named(name),
        None if args.software => Context::software(),
        None => Context::new(),
    };
    context.map_err(|error| {
        let hint =
            if matches!(error, GpuError::OnlySoftware { .. }) { "; --software takes one all the same" } else { "" };
        CliError::input(format!("experiment gpu: {error}{hint}"))
    })
}

/// Measures everything, a line a row.
///
/// # Errors
/// [`CliError::Input`] without an adapter or where `--out` cannot be written; `Failed` when the device fails on the way: what was
/// measured until then is written all the same.
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    if let Some(out) = &args.out {
        output::check_target(out)?;
    }
    let context = open(args)?;
    let dropped = ceilings::is_dropped(&context)?;
    if dropped != args.null {
        return Err(CliError::input(match dropped {
            true => {
                "experiment gpu: a layer drops dispatches here, so nothing is computed; --null measures what is left"
            }
            false => {
                "experiment gpu: --null: this driver makes the dispatches that it is given; gpu/bench/null.sh has a layer that drops them"
            }
        }));
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let start = Instant::now();
    let mut run = Run {
        pool: pool.map_err(|error| CliError::Failed(error.into()))?,
        end: start + Duration::from_secs(args.seconds),
        left: (if args.null { ceilings::OF_HOST } else { ceilings::COUNT })
            + engines::count()
            + whole::COUNT
            + wide::COUNT,
        null: args.null,
        as_json,
        ceilings: Vec::new(),
        rows: Vec::new(),
        context,
    };
    if !as_json {
        output::line(format!("{}; {threads} threads of this CPU", run.context.name()))?;
        if run.null {
            output::line(
                "no dispatch is made: these rates are what this host allows with this driver, at most, whatever the adapter",
            )?;
        } else if run.context.is_software() {
            output::line("a software adapter: these figures say that everything runs, and nothing about a GPU")?;
        }
    }
    let result = run.all();
    let seconds = start.elapsed().as_secs_f64();
    if let Some(out) = &args.out {
        let error = result.as_ref().err().map(|error| match error {
            CliError::Failed(error) => format!("{error:#}"),
            CliError::Input(text) => text.clone(),
            _ => "stopped".to_string(),
        });
        let text = format!("{:#}\n", run.report(seconds, error.as_deref()));
        output::write_atomic(out, text.as_bytes())?;
    }
    result?;
    if !as_json {
        output::line(format!("{} rows in {seconds:.0} s", run.ceilings.len() + run.rows.len()))?;
    }
    Ok(())
}
