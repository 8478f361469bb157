//! `cargo experiment reading`: megabytes of CSV text a second, from memory to columns, beside the crate csv on one thread.

use super::minima;
use std::fmt::Write;
use std::hint::black_box;
use std::path::PathBuf;
use undercurve::data::{Format, RawTable};
use undercurve::rng::Rng;
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::{output, threads};

#[derive(clap::Args)]
pub struct Args {
    /// A file instead of drawn ones
    #[arg(long)]
    file: Option<PathBuf>,
    /// Rows of the drawn ones
    #[arg(long, default_value_t = 200_000)]
    rows: usize,
    /// Runs of which the least time counts: many of few rows where other work is on the machine
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Threads that undercurve reads on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = threads::parse)]
    pub threads: usize,
}

/// Six significant digits, as many programs write them.
fn six(x: f64) -> String {
    let digits = (5 - x.abs().log10().floor() as i32).clamp(0, 12) as usize;
    format!("{x:.digits$}")
}

/// Texts of 31 columns: the kind of the first thirty, and a label.
fn drawn(kind: &str, rows: usize) -> String {
    let mut random = Rng::new(1);
    let mut text = String::new();
    (0..30).for_each(|column| write!(text, "x{column},").unwrap_or(()));
    text.push_str("label\n");
    for row in 0..rows {
        for column in 0..30 {
            let x = random.normal();
            let cell = match (kind, column % 6) {
                ("six digits", _) => six(x),
                ("all digits", _) => format!("{x}"),
                ("whole numbers", _) => format!("{}", (1000.0 * x) as i64),
                ("quoted" | "mixed", 0) => format!("\"{}\"", ["Bern", "Thun, old", "Biel"][(x.abs() as usize).min(2)]),
                ("mixed", 1) => format!("2024-{:02}-{:02}", 1 + row % 12, 1 + row % 28),
                ("mixed", 2) => {
                    if x > 1.0 {
                        String::new()
                    } else {
                        six(x)
                    }
                }
                ("mixed", 3) => format!("{}", (1000.0 * x) as i64),
                _ => six(x),
            };
            text.push_str(&cell);
            text.push(',');
        }
        text.push_str(if random.uniform() < 0.1 { "1\n" } else { "0\n" });
    }
    text
}

/// What the crate csv does of it: cells, and numbers of those that are.
fn peer(text: &[u8]) -> usize {
    let mut reader = csv::ReaderBuilder::new().from_reader(text);
    let mut record = csv::ByteRecord::new();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    while reader.read_byte_record(&mut record).unwrap_or(false) {
        columns.resize(record.len(), Vec::new());
        for (cell, column) in record.iter().zip(&mut columns) {
            column.push(std::str::from_utf8(cell).ok().and_then(|cell| cell.parse().ok()).unwrap_or(f64::NAN));
        }
    }
    black_box(columns).len()
}

pub fn run(args: &Args, json: bool) -> Result<()> {
    let texts = match &args.file {
        Some(path) => {
            vec![(path.display().to_string(), std::fs::read(path).map_err(|error| CliError::file(path, &error))?)]
        }
        None => ["six digits", "all digits", "whole numbers", "quoted", "mixed"]
            .map(|kind| (kind.to_string(), drawn(kind, args.rows).into_bytes()))
            .to_vec(),
    };
    if !json {
        output::line(format!("{} threads, least of {} interleaved runs; MB are 10^6 bytes", args.threads, args.runs))?;
        output::line("cells                    MB    undercurve MB/s    csv and str::parse MB/s")?;
    }
    for (kind, text) in texts {
        let table = RawTable::parse(&text, Format::Csv, &kind)?;
        let mb = text.len() as f64 / 1e6;
        let rates = minima(
            args.runs,
            [&mut || _ = black_box(RawTable::parse(&text, Format::Csv, &kind)), &mut || _ = black_box(peer(&text))],
        )
        .map(|seconds| mb / seconds);
        output::line(match json {
            true => serde_json::json!({
                "bench": "reading", "cells": kind, "rows": table.rows(), "bytes": text.len(), "mb_s": rates[0], "csv_mb_s": rates[1],
            })
            .to_string(),
            false => format!("{kind:20} {mb:7.1}  {:12.0}       {:12.0}", rates[0], rates[1]),
        })?;
    }
    Ok(())
}
