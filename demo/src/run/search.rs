//! The search for what pays: models first, then one loss for the metric on the best.
//!
//! Every model is trained on the same folds. From [`PINNED`] rows on what the first split chooses (penalty, class weight, where a network begins)
//! holds for the others; after two splits with enough positives a model that trails by [`TRAILS`] of what the leader gains over chance in both is
//! dropped. The mean of five networks is tried where a network leads, then the loss; each goes on after two splits where it is ahead of what it is
//! made of. Of all, the simplest is taken that is within noise of the best: whose paired difference to it is less than its standard error. Rows
//! beyond [`MOST_ROWS`] are not searched on.

use crate::args::candidates::{Candidate, Encoding, models};
use crate::error::Result;
use crate::output;
use crate::run::folds::{Ahead, Job, Row, Trained};
use std::time::Instant;
use undercurve::data::{Dataset, Encode, Preparation};
use undercurve::trainer::{Config, Init, Length, Trainer};

/// Rows from which on the first split chooses for all.
const PINNED: usize = 1000;
/// Rows of a search at most.
pub const MOST_ROWS: usize = 100_000;
/// Rows from which on there are three folds instead of five.
const FEWER_FOLDS: usize = 20_000;
/// Rows from which on splines have more pieces.
const FINER: usize = 2000;
/// Positives held out of a split, from which on models are dropped, and by how much they trail then.
const ENOUGH: usize = 40;
const TRAILS: f64 = 0.2;
/// Steps of the run that tells how long others take.
const PROBE: u64 = 200;
/// Networks whose mean is tried.
const AVERAGE: u64 = 5;
/// Numbers of a table that is encoded, and columns of a network, of splines and without, at most.
const MOST_NUMBERS: f64 = 1e8;
const MOST_ENCODED: usize = 200;
const MOST_COLUMNS: usize = 800;
/// How many standard errors are noise.
const NOISE: f64 = 1.0;

/// What was tried, and which is taken.
pub struct Search {
    pub rows: Vec<Row>,
    pub taken: usize,
}

/// The folds of a search without any said.
pub fn folds(rows: usize) -> usize {
    if rows < FEWER_FOLDS { 5 } else { 3 }
}

/// The models for a table, each with its columns; `data` as it is prepared without encodings.
pub fn ladder(job: &Job<'_>, data: &Dataset<f32>) -> Result<Vec<(Candidate, usize)>> {
    let options = &job.plan.options;
    let rows = job.folds.rows().len();
    let named = options.encode == Encode::Linear && options.scale.is_none() && options.cross.is_empty();
    let mut all: Vec<(Candidate, usize)> = Vec::new();
    for one in models(job.metric, named && !job.is_libsvm, rows >= FINER) {
        let known = all.iter().find(|(other, _)| other.encoding == one.encoding).map(|(_, cols)| *cols);
        let cols = match (one.encoding == Encoding::default(), known) {
            (true, _) => data.cols(),
            (_, Some(cols)) => cols,
            _ => Preparation::fit_rows(job.table, &one.encoding.options(options), job.folds.rows())?.cols(),
        };
        let fits = match one.is_network() {
            true => cols <= if one.encoding.encode.is_some() { MOST_ENCODED } else { MOST_COLUMNS },
            false => (rows * cols) as f64 <= MOST_NUMBERS,
        };
        if fits || all.is_empty() {
            all.push((one, cols));
        }
    }
    Ok(all)
}

/// The losses for a metric; none has been ahead of cross-entropy in AUROC on unseen tables.
fn losses(metric: &str) -> &'static [&'static str] {
    match metric {
        "ap" => &["ap-exact"],
        "pauc" => &["pauc-threshold", "pauc-exact"],
        _ => &[],
    }
}

/// Measures what was named, and takes of it.
///
/// # Errors
/// As trainings.
pub fn among(job: &Job<'_>, candidates: &[Candidate]) -> Result<Search> {
    let rows = job.measure(candidates)?;
    Ok(Search { taken: take(&rows, job), rows })
}

/// Searches.
///
/// # Errors
/// As trainings.
pub fn search(job: &Job<'_>, data: &Dataset<f32>) -> Result<Search> {
    let ladder = ladder(job, data)?;
    let splits = job.folds.splits();
    foretell(job, &ladder)?;
    let all: Vec<Candidate> = ladder.into_iter().map(|(candidate, _)| candidate).collect();
    let mut found = job.measure_splits(&all, 0..1, &[])?;
    let held = job.folds.split(0)[1].iter().filter(|&&row| data.labels()[row as usize] == 1).count();
    for split in 1..splits {
        let going: Vec<usize> = (0..found.len()).filter(|&at| !found[at].dropped).collect();
        let some: Vec<Candidate> = going.iter().map(|&at| pinned(&found[at], job)).collect();
        for (&at, row) in going.iter().zip(job.measure_splits(&some, split..split + 1, &[])?) {
            found[at].trained.extend(row.trained);
        }
        if split == 1 && splits > 2 && held >= ENOUGH {
            drop_trailing(&mut found, job.chance(data));
        }
    }
    let mut taken = take(&found, job);
    if found[taken].candidate.is_network() {
        let more = |candidate: &Candidate| candidate.averaged(AVERAGE);
        found.push(measured(job, &found[taken], more)?);
        taken = take(&found, job);
    }
    let best = taken;
    for method in losses(job.metric) {
        found.push(measured(job, &found[best], |candidate| candidate.then(method))?);
        taken = take(&found, job);
    }
    Ok(Search { rows: found, taken })
}

/// A candidate for the splits after the first.
fn pinned(row: &Row, job: &Job<'_>) -> Candidate {
    if job.folds.rows().len() < PINNED { row.candidate.clone() } else { row.pinned() }
}

/// What is made of a candidate, on all splits; dropped where it is not ahead of it on the first two.
fn measured(job: &Job<'_>, row: &Row, make: impl Fn(&Candidate) -> Candidate) -> Result<Row> {
    let (made, splits) = (make(&pinned(row, job)), job.folds.splits());
    let of = |splits| -> Result<Vec<Trained>> {
        Ok(job.measure_splits(std::slice::from_ref(&made), splits, &row.trained)?.remove(0).trained)
    };
    let mut trained = of(0..splits.min(2))?;
    let ahead: f64 = trained.iter().zip(&row.trained).map(|(own, before)| own.value - before.value).sum();
    let dropped = splits > 2 && ahead <= 0.0;
    if splits > 2 && !dropped {
        trained.extend(of(2..splits)?);
    }
    Ok(Row { candidate: make(&row.candidate), trained, dropped })
}

/// Drops what trails in both of the first two splits; the simplest stays, as what others are held against.
fn drop_trailing(found: &mut [Row], chance: f64) {
    let best = (0..found.len()).fold(0, |best, at| if found[at].mean() > found[best].mean() { at } else { best });
    let lead = found[best].values();
    for row in found.iter_mut().skip(1) {
        row.dropped = row.values().iter().zip(&lead).all(|(own, best)| best - own > TRAILS * (best - chance));
    }
}

/// Says how long the search takes, from a short run of a network on the first split.
fn foretell(job: &Job<'_>, ladder: &[(Candidate, usize)]) -> Result<()> {
    let Some((network, cols)) = ladder.iter().find(|(one, _)| one.is_network()) else { return Ok(()) };
    let part = job.part(network.encoding, 0)?;
    let length = Length::Steps(PROBE);
    let config = Config { length, init: Init::Random, ..job.config(network, &part.preparation, &part.train)? };
    let mut trainer = Trainer::new(&config, part.train.clone(), None)?;
    let clock = Instant::now();
    while trainer.step()?.is_some() {}
    // Of a row and a weight of the network, forward and back.
    let each = clock.elapsed().as_secs_f64() / (PROBE as f64 * 64.0 * 32.0 * (*cols as f64 + 8.0));
    let rows = part.train.len() as f64;
    let of = |(one, cols): &(Candidate, usize)| {
        let wide = *cols as f64 + 8.0;
        match one.is_network() {
            true => each * (20.0 * rows).max(6000.0 * 64.0) * 32.0 * wide,
            false => each * rows * 60.0 * wide,
        }
    };
    let all: f64 = ladder.iter().map(of).sum::<f64>() * job.folds.splits() as f64;
    let networks = ladder.iter().filter(|one| one.0.is_network()).map(of).fold(0.0, f64::max);
    let later = networks * ((AVERAGE - 1) * job.folds.splits() as u64 + AVERAGE) as f64;
    output::note(format_args!(
        "{} models on {}: about {:.0} s of processor time, and up to {:.0} s for the mean of {AVERAGE} networks",
        ladder.len(),
        job.folds.told(),
        all.max(1.0),
        later.max(1.0)
    ));
    Ok(())
}

/// The simplest that is within noise of the best.
fn take(found: &[Row], job: &Job<'_>) -> usize {
    let whole: Vec<usize> = (0..found.len()).filter(|&at| !found[at].dropped).collect();
    let best = whole.iter().copied().fold(0, |best, at| if found[at].mean() > found[best].mean() { at } else { best });
    let near = |at: &usize| {
        let behind = Ahead::new(&found[best].values(), &found[*at].values(), job.folds.count);
        *at == best || behind.mean <= NOISE * behind.error
    };
    whole.into_iter().find(near).unwrap_or(best)
}

/// The interval of a mean over folds, where it holds what scores come to that know nothing.
pub fn no_signal(row: &Row, chance: f64, folds: usize) -> Option<[f64; 2]> {
    let values = row.values();
    let ends = Ahead::new(&values, &vec![chance; values.len()], folds).ends().map(|end| end + chance);
    (ends[0] <= chance).then_some(ends)
}

/// What a search took, and why.
pub fn verdict(rows: &[Row], taken: usize, metric: &str, folds: usize) -> String {
    let name = |at: usize| &rows[at].candidate.name;
    let whole = |at: &usize| !rows[*at].dropped;
    let best =
        (0..rows.len()).filter(whole).fold(0, |best, at| if rows[at].mean() > rows[best].mean() { at } else { best });
    let by = |one: usize, other: usize| {
        let ahead = Ahead::new(&rows[one].values(), &rows[other].values(), folds);
        format!("{:.4} in {metric} (95 % interval {:.4} to {:.4})", ahead.mean, ahead.ends()[0], ahead.ends()[1])
    };
    let mut text = format!("{} is taken", name(taken));
    // The best of what is simpler.
    let simpler =
        (0..taken).filter(whole).reduce(|best, at| if rows[at].mean() > rows[best].mean() { at } else { best });
    if let Some(simpler) = simpler {
        text += &format!(
            ": of what is simpler {} is the best, and it is ahead of that by {}",
            name(simpler),
            by(taken, simpler)
        );
    }
    if best != taken {
        text += &format!("; {} is ahead by {}, within noise", name(best), by(best, taken));
    }
    text + "."
}
