//! The search for what pays: models first, then one loss for the metric on the best.
//!
//! Every model is trained on the same folds. From [`PINNED`] rows on what the first split chooses (penalty, class weight, where a network begins)
//! holds for the others; after two splits with enough positives a model that trails by [`TRAILS`] of what the leader gains over chance in both is
//! dropped. The mean of five networks is tried where a network leads, then the loss; each goes on after two splits where it is ahead of what it is
//! made of. Of all, the simplest is taken that is within noise of the best, its paired difference to it less than its standard error, and behind
//! nothing simpler. Rows beyond [`MOST_ROWS`] are not searched on.

use crate::candidate::{Candidate, Encoding, models};
use crate::error::Result;
use crate::folds::Folds;
use crate::job::{Ahead, Job, Row, Trained, mean_sd};
use std::ops::Range;
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
    /// What was tried, the simplest first.
    pub rows: Vec<Row>,
    /// Which of them is taken.
    pub taken: usize,
}

/// A candidate over the folds.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What it is called.
    pub name: String,
    /// The options of `train` that make it.
    pub options: String,
    /// The metric on each split.
    pub values: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub sd: f64,
    /// Seconds of a training.
    pub seconds: f64,
    /// Whether it was not trained on all splits.
    pub dropped: bool,
    /// The mean lead over the simplest, and its interval.
    pub ahead: Option<[f64; 3]>,
}

impl Search {
    /// All candidates.
    #[must_use]
    pub fn tried(&self, job: &Job<'_>) -> Vec<Tried> {
        let of = |(at, row): (usize, &Row)| {
            let values = row.values();
            let ((mean, sd), ahead) = (mean_sd(&values), Ahead::new(&values, &self.rows[0].values(), job.folds.count));
            let [low, high] = ahead.ends();
            Tried {
                name: row.candidate.name.clone(),
                options: row.candidate.options(),
                values,
                mean,
                sd,
                seconds: row.seconds(),
                dropped: row.dropped,
                ahead: (at > 0 && !row.dropped).then_some([ahead.mean, low, high]),
            }
        };
        self.rows.iter().enumerate().map(of).collect()
    }

    /// What was taken, and why; and whether there is a signal beside what scores come to that know nothing.
    #[must_use]
    pub fn verdict(&self, job: &Job<'_>, chance: f64) -> (String, bool) {
        let (taken, folds) = (&self.rows[self.taken], job.folds.count);
        let signal = no_signal(taken, chance, &job.folds).is_none();
        (verdict(&self.rows, self.taken, &job.metric_told(), folds) + if signal { "" } else { NO_SIGNAL }, signal)
    }
}

/// The folds of a search without any said.
#[must_use]
pub fn folds(rows: usize) -> usize {
    if rows < FEWER_FOLDS { 5 } else { 3 }
}

/// The models for a table, each with its columns; `data` as it is prepared without encodings.
fn ladder(job: &Job<'_>, data: &Dataset<f32>) -> Result<Vec<(Candidate, usize)>> {
    let options = job.options;
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

/// The losses for a metric, of a partial AUC over so many negatives of a training; none has been ahead of cross-entropy in AUROC on unseen tables.
fn losses(metric: &str, range: f64) -> &'static [&'static str] {
    match metric {
        "ap" => &["ap-exact"],
        // (A threshold is tracked over a negative or more.)
        "pauc" if range < 1.0 => &["pauc-exact"],
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
    Ok(Search { taken: take(&rows, job.folds.count), rows })
}

/// Searches.
///
/// # Errors
/// As trainings.
pub fn search(job: &Job<'_>, data: &Dataset<f32>) -> Result<Search> {
    let ladder = ladder(job, data)?;
    foretell(job, &ladder)?;
    let all: Vec<Candidate> = ladder.into_iter().map(|(candidate, _)| candidate).collect();
    let negatives = job.folds.split(0)[0].iter().filter(|&&row| data.labels()[row as usize] == 0).count();
    let held = job.folds.split(0)[1].iter().filter(|&&row| data.labels()[row as usize] == 1).count();
    let course = Course {
        folds: job.folds.count,
        splits: job.folds.splits(),
        pins: job.folds.rows().len() >= PINNED,
        drops: held >= ENOUGH,
        chance: job.chance(data),
        losses: losses(job.metric, (job.fpr.1 - job.fpr.0) * negatives as f64),
        measure: &|candidates, splits, made_of| job.measure_splits(candidates, splits, made_of),
    };
    course.run(&all)
}

/// Candidates on some of the splits, as [`Job::measure_splits`].
type Measure<'a> = dyn Fn(&[Candidate], Range<usize>, &[Trained]) -> Result<Vec<Row>> + 'a;

/// The course of a search.
struct Course<'a> {
    folds: usize,
    splits: usize,
    /// Whether what the first split chooses holds for the others, and whether models are dropped after two.
    pins: bool,
    drops: bool,
    chance: f64,
    losses: &'a [&'static str],
    measure: &'a Measure<'a>,
}

impl Course<'_> {
    fn run(&self, all: &[Candidate]) -> Result<Search> {
        let mut found = (self.measure)(all, 0..1, &[])?;
        for split in 1..self.splits {
            let going: Vec<usize> = (0..found.len()).filter(|&at| !found[at].dropped).collect();
            let some: Vec<Candidate> = going.iter().map(|&at| self.pinned(&found[at])).collect();
            for (&at, row) in going.iter().zip((self.measure)(&some, split..split + 1, &[])?) {
                found[at].trained.extend(row.trained);
            }
            if split == 1 && self.splits > 2 && self.drops {
                drop_trailing(&mut found, self.chance);
            }
        }
        let mut taken = take(&found, self.folds);
        if found[taken].candidate.is_network() {
            found.push(self.made_of(&found[taken], |candidate| candidate.averaged(AVERAGE))?);
            taken = take(&found, self.folds);
        }
        let best = taken;
        for method in self.losses {
            found.push(self.made_of(&found[best], |candidate| candidate.then(method))?);
            taken = take(&found, self.folds);
        }
        Ok(Search { rows: found, taken })
    }

    /// A candidate for the splits after the first.
    fn pinned(&self, row: &Row) -> Candidate {
        if self.pins { row.pinned() } else { row.candidate.clone() }
    }

    /// What is made of a candidate, on all splits; dropped where it is not ahead of it on the first two.
    fn made_of(&self, row: &Row, make: impl Fn(&Candidate) -> Candidate) -> Result<Row> {
        let made = make(&self.pinned(row));
        let of = |splits| -> Result<Vec<Trained>> {
            Ok((self.measure)(std::slice::from_ref(&made), splits, &row.trained)?.remove(0).trained)
        };
        let mut trained = of(0..self.splits.min(2))?;
        let ahead: f64 = trained.iter().zip(&row.trained).map(|(own, before)| own.value - before.value).sum();
        let dropped = self.splits > 2 && ahead <= 0.0;
        if self.splits > 2 && !dropped {
            trained.extend(of(2..self.splits)?);
        }
        Ok(Row { candidate: make(&row.candidate), trained, dropped })
    }
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
    job.watch.note(format_args!(
        "{} models on {}: about {:.0} s of processor time, and up to {:.0} s for the mean of {AVERAGE} networks",
        ladder.len(),
        job.folds.told(),
        all.max(1.0),
        later.max(1.0)
    ));
    Ok(())
}

/// The simplest that is within noise of the best, and behind nothing simpler.
fn take(found: &[Row], folds: usize) -> usize {
    let whole: Vec<usize> = (0..found.len()).filter(|&at| !found[at].dropped).collect();
    let best = whole.iter().copied().fold(0, |best, at| if found[at].mean() > found[best].mean() { at } else { best });
    let mut simpler = f64::NEG_INFINITY;
    let fits = |at: &usize| {
        let behind = Ahead::new(&found[best].values(), &found[*at].values(), folds);
        let leads = found[*at].mean() > simpler;
        simpler = simpler.max(found[*at].mean());
        leads && (*at == best || behind.mean <= NOISE * behind.error)
    };
    whole.into_iter().find(fits).unwrap_or(best)
}

/// What a verdict ends with where [`no_signal`] says so.
const NO_SIGNAL: &str = " No signal was found: its mean over the folds cannot be told from that of scores at random.";

/// The interval of a mean over folds, where it holds what scores come to that know nothing; of so few rows that such scores may rank them without
/// an error it always does.
#[must_use]
pub fn no_signal(row: &Row, chance: f64, folds: &Folds) -> Option<[f64; 2]> {
    let values = row.values();
    let [low, high] = Ahead::new(&values, &vec![chance; values.len()], folds.count).ends().map(|end| end + chance);
    (low <= chance || !folds.tells).then_some([low.min(chance), high])
}

/// What a search took, and why.
#[must_use]
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

#[cfg(test)]
mod tests {
    use super::{Course, Search, verdict};
    use crate::candidate::{Candidate, models};
    use crate::job::{Row, Trained};
    use std::cell::RefCell;
    use undercurve::trainer::Config;

    /// A search among models with these metrics on four folds, all others .1, and the splits that each was trained on.
    fn search(values: &[(&str, [f64; 4])], losses: &[&'static str]) -> (Search, impl Fn(&str) -> Vec<usize> + use<>) {
        let done = RefCell::new(Vec::new());
        let trained = |one: &Candidate, split: usize| -> Trained {
            // What the first split chooses holds for the others, and for what is made of it, unless its loss is another.
            let pinned = one.settings.iter().any(|(name, _)| name == "decay");
            assert_eq!(pinned, (split > 0 || one.average > 1) && one.from.is_none(), "{one:?}");
            done.borrow_mut().push((one.name.clone(), split));
            let value = values.iter().find(|of| of.0 == one.name).map_or(0.1, |of| of.1[split]);
            let chosen = Some(Config { settings: vec![("decay".into(), "1".into())], ..Config::default() });
            Trained { chosen, ..Trained::known(value, 0.0) }
        };
        let course = Course {
            folds: 4,
            splits: 4,
            pins: true,
            drops: true,
            chance: 0.1,
            losses,
            measure: &|candidates, splits, _| {
                let row = |one: &Candidate| {
                    let trained = splits.clone().map(|split| trained(one, split)).collect();
                    Row { candidate: one.clone(), trained, dropped: false }
                };
                Ok(candidates.iter().map(row).collect())
            },
        };
        let search = course.run(&models("ap", true, false)).unwrap();
        let done = done.into_inner();
        (search, move |name: &str| done.iter().filter(|one| one.0 == name).map(|one| one.1).collect())
    }

    fn taken(Search { rows, taken }: &Search) -> &str {
        &rows[*taken].candidate.name
    }

    #[test]
    fn models_come_first_and_what_trails_is_dropped() {
        let (found, on) = search(
            &[
                ("ridge, ranks", [0.7, 0.8, 0.7, 0.8]),
                ("ridge, splines:6", [0.1, 0.9, 0.9, 0.9]),
                ("mlp:32", [0.9, 0.9, 0.9, 0.9]),
                ("mlp:32, mean of 5", [0.95, 0.85, 0.99, 0.99]),
                ("mlp:32, then ap-exact", [0.9, 0.91, 0.98, 0.99]),
            ],
            &["ap-exact"],
        );
        // The simplest is never dropped, nor what trails in one of the first two alone.
        for (name, splits) in [
            ("ridge", &[0, 1, 2, 3][..]),
            ("ridge, ranks", &[0, 1, 2, 3]),
            ("ridge, splines:6", &[0, 1, 2, 3]),
            ("mlp:32", &[0, 1, 2, 3]),
            ("mlp:32, ranks", &[0, 1]),
            ("mlp:32, splines:6", &[0, 1]),
            // (Level with what it is made of.)
            ("mlp:32, mean of 5", &[0, 1]),
            ("mlp:32, then ap-exact", &[0, 1, 2, 3]),
        ] {
            assert_eq!(on(name), splits, "{name}");
            let row = found.rows.iter().find(|row| row.candidate.name == name).unwrap();
            assert_eq!(row.dropped, splits.len() < 4, "{name}");
        }
        assert_eq!(found.rows.len(), 8);
        assert_eq!(taken(&found), "mlp:32, then ap-exact");
    }

    #[test]
    fn a_loss_is_tried_on_what_leads_alone() {
        let splines = [0.8, 0.9, 0.8, 0.9];
        let (found, on) = search(&[("ridge, splines:6", splines), ("mlp:32", [0.5, 0.9, 0.5, 0.5])], &["soap"]);
        assert_eq!(taken(&found), "ridge, splines:6");
        assert_eq!((on("ridge, splines:6, then soap"), found.rows.len()), (vec![0, 1], 7), "no mean of lines");
        let ahead = splines.map(|x| x + 0.05);
        let (found, on) = search(&[("mlp:32, ranks", splines), ("mlp:32, ranks, mean of 5", ahead)], &["soap"]);
        assert_eq!(taken(&found), "mlp:32, ranks, mean of 5");
        assert_eq!(on("mlp:32, ranks, mean of 5, then soap"), [0, 1]);
        let (found, _) = search(&[("mlp:32", splines)], &[]);
        assert_eq!(found.rows.len(), 7, "of a metric without a loss none is tried");
    }

    #[test]
    fn the_simplest_within_noise_is_behind_nothing_simpler() {
        let near = ("ridge", [0.9, 0.8, 0.9, 0.8]);
        assert_eq!(taken(&search(&[near, ("mlp:32", [0.85, 0.87, 0.91, 0.8])], &[]).0), "ridge");
        assert_eq!(taken(&search(&[near, ("mlp:32", [0.91, 0.81, 0.91, 0.82])], &[]).0), "mlp:32");
        // (Near the best by its own noise, and yet behind ranks, which are surely behind the best.)
        let noisy = ("ridge, splines:6", [0.99, 0.7, 0.99, 0.7]);
        let values = [("ridge, ranks", near.1), noisy, ("mlp:32", [0.92, 0.82, 0.91, 0.82])];
        let (found, _) = search(&values, &[]);
        assert_eq!(taken(&found), "mlp:32");
        let told = verdict(&found.rows, found.taken, "ap", 4);
        assert!(
            told.contains("of what is simpler ridge, ranks is the best, and it is ahead of that by 0.0175"),
            "{told}"
        );
    }
}
