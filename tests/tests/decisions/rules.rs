//! Thresholds by rules, calibration, the rows at the top, and how good probabilities are, against their naive twins.

use undercurve::decision::{
    Calibrate, Calibration, Kept, MOST_POOLS, Pool, Promise, ThresholdRule, fit_beta, fit_platt,
    pool_adjacent_violators, pooled_probability, rate_interval, rate_intervals_in,
};
use undercurve::judge::Verdict;
use undercurve::metric::{
    Bin, Confusion, Metrics, OfQuery, Rate, Top, Truth, brier, calibration_error, log_loss, need, query_mean,
    reliability,
};
use undercurve::rng::Rng;
use undercurve::{Error, Real, Scratch};
use undercurve_tests::decisions as twin;

/// Scores of both classes, rounded so that many are equal.
fn example(seed: u64, n: usize, share: f64, step: f64) -> (Vec<f64>, Vec<u8>) {
    let mut rng = Rng::new(seed);
    let (scores, mut labels): (Vec<f64>, Vec<u8>) = (0..n)
        .map(|_| {
            let positive = rng.uniform() < share;
            let score = rng.normal() + if positive { 1.0 } else { 0.0 };
            (if step > 0.0 { (score / step).round() * step } else { score }, u8::from(positive))
        })
        .unzip();
    (labels[0], labels[1]) = (1, 0);
    (scores, labels)
}

const SHAPES: [(usize, f64, f64); 5] =
    [(2, 0.5, 0.0), (40, 0.3, 0.5), (60, 0.1, 0.0), (200, 0.5, 0.25), (90, 0.3, 9.0)];

fn rule(text: &str) -> ThresholdRule {
    text.parse().unwrap()
}

/// Each rule is the best of all cuts that keep it, by a scan of all of them; no alert can be dropped without loss of recall, and the threshold
/// is midway between two scores that are no neighbours.
#[test]
fn rules_find_the_best_of_all_thresholds() {
    for (seed, (n, share, step)) in SHAPES.into_iter().enumerate() {
        let (mut scores, labels) = example(seed as u64, n, share, step);
        // (Some scores are those of others but for their last bits.)
        (n / 7..n / 6).for_each(|row| scores[row] = scores[row + n / 2] * (1.0 + 3.0 * f64::EPSILON));
        check_rules(&scores, &labels);
    }
}

fn check_rules<T: Real>(scores: &[T], labels: &[u8]) {
    let wide: Vec<f64> = scores.iter().map(|score| score.f64()).collect();
    let all = twin::cuts(&wide, labels, T::EPSILON.f64());
    let positives = labels.iter().filter(|&&y| y == 1).count() as f64;
    let share = positives / labels.len() as f64;
    let mut memory = Metrics::<T>::new();
    let mut compare = |text: &str, worth: twin::Worth<'_>| {
        let found = memory.decide(scores, labels, rule(text));
        let Some(best) = twin::best(&all, labels, worth) else {
            let what = if text.starts_with("alerts") { "rows at the top" } else { "precision" };
            return assert_eq!(found, Err(Error::Unreachable { what }), "{text}");
        };
        let found = found.unwrap_or_else(|error| panic!("{text}: {error}"));
        let counts = found.counts;
        assert_eq!(found.nearest, [best.above, best.below], "{text}");
        assert_eq!((counts.true_positives, counts.false_positives), (best.tp as u64, best.fp as u64), "{text}");
        assert_eq!(counts, Confusion::at(scores, labels, T::of(found.threshold)).unwrap(), "{text}");
        assert_eq!(T::of(found.threshold).f64(), found.threshold, "{text}: exported in the scores' own type");
        let middle = best.above / 2.0 + best.below / 2.0;
        let near = |score: f64| (score - found.threshold).abs() <= 4.0 * T::EPSILON.f64() * score.abs();
        assert!(middle.is_infinite() || (middle - found.threshold).abs() <= T::EPSILON.f64() * middle.abs(), "{text}");
        assert!(!wide.iter().any(|&score| near(score)), "{text}: {found:?}");
    };
    for bound in [0.0, 0.05, 0.2, 0.5, 0.8, 1.0] {
        compare(&format!("fpr<={bound}"), &|tpr, fpr, _| (fpr <= bound).then_some([tpr, -fpr]));
        compare(&format!("recall>={bound}"), &|tpr, fpr, _| (tpr >= bound).then_some([-fpr, tpr]));
        let keeps = |tpr: f64, precision: f64| tpr > 0.0 && precision >= bound;
        compare(&format!("precision>={bound}"), &|tpr, fpr, p| keeps(tpr, p).then_some([tpr, -fpr]));
    }
    for top in [Top::Rows(1), Top::Rows(labels.len() as u64), Top::Percent(20.0), Top::Percent(100.0)] {
        let most = top.of(labels.len() as f64).unwrap() as usize;
        let fits = all.iter().any(|cut| (1..=most).contains(&(cut.tp + cut.fp)));
        let alerts = |tpr: f64, fpr: f64| tpr * positives + fpr * (labels.len() as f64 - positives);
        compare(&format!("alerts<={top}"), &|tpr, fpr, _| {
            (fits && alerts(tpr, fpr) <= most as f64 + 0.5).then_some([tpr, -fpr])
        });
    }
    compare("youden", &|tpr, fpr, _| Some([(1e12 * (tpr - fpr)).round(), -fpr]));
    compare("f1", &|tpr, fpr, p| {
        Some([(1e12 * if tpr > 0.0 { 2.0 * tpr * p / (tpr + p) } else { 0.0 }).round(), -fpr])
    });
    // The correlation, by its definition over two columns of zeros and ones.
    compare("mcc", &|tpr, fpr, _| {
        let hits = share * tpr + (1.0 - share) * fpr;
        let deviation = (share * (1.0 - share) * hits * (1.0 - hits)).sqrt();
        let mcc = if deviation > 0.0 { (share * tpr - share * hits) / deviation } else { 0.0 };
        Some([(1e12 * mcc).round(), -fpr])
    });
    for (fp, fnn, prevalence) in [(1.0, 1.0, share), (1.0, 20.0, 0.01), (3.0, 1.0, 0.5)] {
        let cost = |tpr: f64, fpr: f64| fnn * prevalence * (1.0 - tpr) + fp * (1.0 - prevalence) * fpr;
        let text =
            if prevalence == share { format!("costs:{fp}:{fnn}") } else { format!("costs:{fp}:{fnn}:{prevalence}") };
        compare(&text, &|tpr, fpr, _| Some([(-1e12 * cost(tpr, fpr)).round(), -fpr]));
    }
    // A score is itself.
    for at in [0.25, 99.0, -99.0] {
        let found = memory.decide(scores, labels, ThresholdRule::Score(at)).unwrap();
        assert_eq!((found.threshold, found.counts), (at, Confusion::at(scores, labels, T::of(at)).unwrap()));
        let low = wide.iter().copied().filter(|&score| score >= at).fold(f64::INFINITY, f64::min);
        let high = wide.iter().copied().filter(|&score| score < at).fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(found.nearest, [low, high]);
    }
}

/// Scores of any kind (few values, near ones, tiny, huge, of 32 bits, perfect, constant): on each every rule is what a scan finds.
#[test]
fn thresholds_of_random_files_are_between_scores() {
    let files = if std::env::var_os("UNDERCURVE_LONG").is_some() { 10_000 } else { 2000 };
    for seed in 0..files {
        let mut rng = Rng::keyed(91, seed, 0);
        let n = 2 + rng.below(60) as usize;
        let size = 10f64.powf(rng.uniform() * 12.0 - 6.0) * [1.0, 1.0, 1e-300, 1e290][rng.below(4) as usize];
        let (share, kind) = (0.05 + 0.9 * rng.uniform(), rng.below(5));
        let base = rng.normal();
        let (scores, mut labels): (Vec<f64>, Vec<u8>) = (0..n)
            .map(|_| {
                let label = u8::from(rng.uniform() < share);
                let score = rng.normal() + 1.5 * f64::from(label);
                let score = match kind {
                    0 => score.round(),
                    // Neighbours of one number.
                    1 => base * (1.0 + f64::EPSILON * rng.below(90) as f64),
                    2 => score.exp(),
                    3 => f64::from(label),
                    _ => score,
                };
                (score * size, label)
            })
            .unzip();
        (labels[0], labels[n - 1]) = (1, 0);
        check_rules(&scores, &labels);
        if size.abs() < 1e30 && size.abs() > 1e-30 {
            check_rules(&scores.iter().map(|&score| score as f32).collect::<Vec<_>>(), &labels);
        }
    }
}

/// Rows of 32-bit scores so dense that no gap is wide enough: the widest of a thousand parts them.
#[test]
fn dense_scores_are_parted_where_they_are_farthest_apart() {
    let scores: Vec<f32> =
        (0..5000_u32).map(|row| f32::from_bits(1.0_f32.to_bits() + 2 * row + 5 * (row / 700))).collect();
    let labels: Vec<u8> = (0..5000).map(|row| u8::from(row >= 2500)).collect();
    let found = Metrics::new().decide(&scores, &labels, rule("youden")).unwrap();
    let gap = (found.nearest[0] - found.nearest[1]) / f64::from(f32::EPSILON);
    assert_eq!(gap, 7.0, "{found:?}");
    assert!(found.counts.accuracy().unwrap() > 0.9 && !scores.contains(&(found.threshold as f32)), "{found:?}");
}

#[test]
fn rules_are_read_and_written_alike() {
    for text in [
        "fpr<=0.05",
        "precision>=0.9",
        "recall>=0.8",
        "alerts<=100",
        "alerts<=2%",
        "alerts<=0.35%",
        "alerts<=100%",
        "alerts<=7%",
        "alerts<=29%",
        "youden",
        "f1",
        "mcc",
        "costs:1:20",
        "costs:1:20:0.01",
        "0.25",
        "-3",
        "0",
    ] {
        assert_eq!(rule(text).to_string(), text);
    }
    let mut rng = Rng::new(5);
    for _ in 0..2000 {
        let top = Top::Percent((100.0 * rng.uniform()).or_larger(1e-9));
        assert_eq!(top.to_string().parse::<Top>().unwrap(), top, "{top}");
    }
    assert_eq!(rule(" precision >= 0.9 "), ThresholdRule::Precision(0.9));
    // As files of before have it.
    assert_eq!(rule("top:2%"), rule("alerts <= 2%"));
    for text in [
        "",
        "fpr",
        "fpr>=0.1",
        "fpr<=2",
        "fpr<=-0.1",
        "precision<=0.9",
        "recall>=x",
        "alerts<=",
        "alerts<=0",
        "alerts<=-1",
        "alerts<=0%",
        "alerts<=101%",
        "alerts<=1.5",
        "costs:1",
        "costs:0:1",
        "costs:1:1:1",
        "costs:1:2:.5:4",
        "nan",
        "inf",
        "recall>=nan",
    ] {
        assert_eq!(text.parse::<ThresholdRule>(), Err(Error::Param { what: "threshold rule" }), "{text}");
    }
    let wrong = ThresholdRule::Fpr(f64::NAN);
    assert_eq!(Metrics::new().decide(&[1.0, 2.0], &[0, 1], wrong), Err(Error::Param { what: "threshold rule" }));
    assert_eq!(
        Metrics::new().decide(&[1.0, 2.0], &[0, 1], rule("alerts<=3")),
        Err(Error::Param { what: "rows at the top" })
    );
    assert_eq!(Metrics::new().decide(&[1.0, 2.0], &[1, 1], rule("alerts<=1")), Err(Error::OneClass));
}

fn pools(scores: &[f64], labels: &[u8]) -> Vec<Pool> {
    match Calibration::fit(Calibrate::Isotonic, scores, labels.into()).unwrap() {
        Calibration::Isotonic(pools) => pools,
        Calibration::Platt(_) | Calibration::Beta(_) => unreachable!("isotonic was asked for"),
    }
}

#[test]
fn pooled_violators_are_the_min_max_formula() {
    for (seed, (n, share, step)) in SHAPES.into_iter().enumerate() {
        let (scores, labels) = example(50 + seed as u64, n, share, step);
        let pools = pools(&scores, &labels);
        for (at, expected) in twin::isotonic(&scores, &labels) {
            let got = pooled_probability(&pools, at);
            assert!((got - expected).abs() < 1e-12, "{n} rows, score {at}: {got} and {expected}");
        }
        assert!(pools.windows(2).all(|pair| pair[0].high < pair[1].low && pair[0].value <= pair[1].value));
        let sum = |of: fn(&Pool) -> f64| pools.iter().map(of).sum::<f64>();
        assert_eq!(sum(|pool| pool.rows), n as f64);
        assert_eq!(sum(|pool| pool.positives), labels.iter().map(|&y| f64::from(y)).sum::<f64>());
        // Flat outside, and never falling anywhere.
        let (first, last) = (pools[0], pools[pools.len() - 1]);
        assert_eq!(pooled_probability(&pools, first.low - 1e9), first.value);
        assert_eq!(pooled_probability(&pools, f64::MAX), last.value);
        assert_eq!(pooled_probability(&pools, f64::NEG_INFINITY), first.value);
        let steps: Vec<f64> = (0..4000).map(|k| pooled_probability(&pools, -4.0 + 0.002 * f64::from(k))).collect();
        assert!(steps.windows(2).all(|pair| pair[0] <= pair[1]));
    }
    let mut pools = [Pool::default(); 1];
    let result = pool_adjacent_violators(&[1.0, 2.0], &[0, 1], Scratch::default(), &mut pools);
    assert_eq!(result, Err(Error::Length { what: "out", need: 2, got: 1 }));
}

/// Labels that make more pools than a file keeps: shares that rise by less and less of more and more rows.
#[test]
fn a_file_keeps_so_many_pools_at_most() {
    let (mut scores, mut labels) = (Vec::new(), Vec::new());
    let blocks = MOST_POOLS + 300;
    for block in 0..blocks {
        // Of 1301 equal scores one more is positive than of those before.
        for row in 0..blocks {
            scores.push(block as f64);
            labels.push(u8::from(row < block));
        }
    }
    let pools = pools(&scores, &labels);
    assert_eq!(pools.len(), MOST_POOLS);
    assert!(pools.windows(2).all(|pair| pair[0].high < pair[1].low && pair[0].value <= pair[1].value));
    assert_eq!(pools.iter().map(|pool| pool.rows).sum::<f64>(), (blocks * blocks) as f64);
    let farthest = (0..blocks)
        .map(|block| (pooled_probability(&pools, block as f64) - block as f64 / blocks as f64).abs())
        .fold(0.0, f64::max);
    assert!(farthest < 0.003, "{farthest}");
}

#[test]
fn platts_curve_is_the_least_of_its_loss() {
    for (seed, (n, share, step)) in
        [(40, 0.3, 0.5), (60, 0.1, 0.0), (500, 0.02, 0.0), (90, 0.3, 9.0)].into_iter().enumerate()
    {
        let (scores, labels) = example(70 + seed as u64, n, share, step);
        let curve = fit_platt(&scores, labels.as_slice().into()).unwrap();
        let loss = |a: f64, b: f64| twin::platt_loss(&scores, &labels, a, b);
        let h = 1e-5;
        for (a, b) in [(h, 0.0), (0.0, h)] {
            let there = |sign: f64| loss(curve.slope + sign * a, curve.offset + sign * b);
            let slope = (there(1.0) - there(-1.0)) / (2.0 * h);
            assert!(
                slope.abs() < 1e-5 * n as f64 && there(1.0).min(there(-1.0)) >= loss(curve.slope, curve.offset) - 1e-12
            );
        }
        if step < 9.0 {
            assert_eq!((curve.probability(1e9), curve.probability(-1e9)), (curve.most, curve.least));
        }
        // By plain gradient steps from 0 the same curve.
        let (mut a, mut b) = (0.0, 0.0);
        for _ in 0..40_000 {
            let (up, right) =
                ((loss(a, b + h) - loss(a, b - h)) / (2.0 * h), (loss(a + h, b) - loss(a - h, b)) / (2.0 * h));
            (a, b) = (a - 2.0 / n as f64 * right, b - 2.0 / n as f64 * up);
            if right.abs() + up.abs() < 1e-7 * n as f64 {
                break;
            }
        }
        if step < 9.0 {
            assert!((a - curve.slope).abs() < 2e-3 && (b - curve.offset).abs() < 2e-3, "{a} {b} {curve:?}");
        }
        // Other units, the same probabilities; the other class, the others.
        let far: Vec<f64> = scores.iter().map(|s| 1e9 * s - 4e9).collect();
        let turned: Vec<u8> = labels.iter().map(|y| 1 - y).collect();
        let (moved, other) =
            (fit_platt(&far, labels.as_slice().into()).unwrap(), fit_platt(&scores, turned.as_slice().into()).unwrap());
        for (s, f) in scores.iter().zip(&far) {
            let p = curve.probability(*s);
            assert!((moved.probability(*f) - p).abs() < 1e-6 && (other.probability(*s) + p - 1.0).abs() < 1e-6);
        }
        // The mean probability is the mean target (the gradient by the offset).
        let free = |s: f64| 1.0 / (1.0 + (-curve.slope * s - curve.offset).exp());
        let mean = scores.iter().map(|&s| free(s)).sum::<f64>() / n as f64;
        let positives = labels.iter().filter(|&&y| y == 1).count() as f64;
        let negatives = n as f64 - positives;
        let target = (positives * (positives + 1.0) / (positives + 2.0) + negatives / (negatives + 2.0)) / n as f64;
        assert!((mean - target).abs() < 1e-9, "{mean} {target}");
    }
    // Classes apart do not run away, and scores that are all the same have no slope.
    let apart = fit_platt(&[1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1][..].into()).unwrap();
    assert!(apart.probability(4.0) < 0.76 && apart.probability(1.0) > 0.1 && apart.slope > 0.0);
    let same = fit_platt(&[2.5_f32; 8], [1, 0, 0, 0, 0, 0, 0, 0][..].into()).unwrap();
    assert!((same.probability(2.5) - (2.0 / 3.0 + 7.0 / 9.0) / 8.0).abs() < 1e-9);
    assert_eq!(
        fit_platt(&[1e300, -1e300, 0.0], [1, 0, 1][..].into()),
        Err(Error::Overflow { what: "squares of scores" })
    );
    assert_eq!(fit_platt(&[1.0, 2.0], [1, 1][..].into()), Err(Error::OneClass));
}

#[test]
fn rows_at_the_top_are_the_mean_over_orders_of_ties() {
    for (seed, (n, share, step)) in
        [(12, 0.4, 0.5), (16, 0.2, 1.0), (14, 0.5, 0.0), (10, 0.3, 99.0)].into_iter().enumerate()
    {
        let (scores, labels) = example(90 + seed as u64, n, share, step);
        let positives = labels.iter().filter(|&&y| y == 1).count() as f64;
        for k in 1..=n {
            let got = Metrics::new().top(&scores, &labels, Top::Rows(k as u64)).unwrap();
            let expected = twin::found_at(&scores, &labels, k);
            assert!((got.found - expected).abs() < 1e-12, "{k} of {n}: {got:?} and {expected}");
            assert!((got.precision() - expected / k as f64).abs() < 1e-12);
            assert!((got.recall() - expected / positives).abs() < 1e-12);
            assert!((got.lift() - expected / k as f64 / (positives / n as f64)).abs() < 1e-12);
        }
    }
    let mut metrics = Metrics::new();
    assert_eq!(metrics.top(&[1.0, 2.0], &[0, 1], Top::Rows(3)), Err(Error::Param { what: "rows at the top" }));
    // A hundredth of 700 is 7, a third of 30 is 10, and of three rows there is always one.
    let rows = |share: f64, n: u32| Top::Percent(share).of(f64::from(n)).unwrap();
    assert_eq!(
        [rows(1.0, 700), rows(29.0, 100), rows(100.0 / 3.0, 30), rows(1.0, 3), rows(100.0, 3)],
        [7.0, 29.0, 10.0, 1.0, 3.0]
    );
}

#[test]
fn probabilities_are_measured_as_defined() {
    let (scores, labels) = example(7, 400, 0.3, 0.1);
    let sure: Vec<f64> = scores.iter().map(|s| 1.0 / (1.0 + (-s).exp())).collect();
    let (mut loss, mut square) = (0.0, 0.0);
    for (&p, &y) in sure.iter().zip(&labels) {
        loss -= if y == 1 { p.ln() } else { (1.0 - p).ln() };
        square += (p - f64::from(y)).powi(2);
    }
    assert!((log_loss(&sure, labels.as_slice().into()).unwrap() - loss / 400.0).abs() < 1e-12);
    assert!((brier(&sure, labels.as_slice().into()).unwrap() - square / 400.0).abs() < 1e-12);
    assert_eq!(log_loss(&[0.0, 0.0], [0, 1][..].into()), Ok(f64::INFINITY));
    assert_eq!(log_loss(&[0.0, 1.0], [0, 1][..].into()), Ok(0.0));
    assert_eq!(brier(&[0.5, 1.5], [0, 1][..].into()), Err(Error::Param { what: "probabilities" }));

    for count in [1, 3, 10, 400] {
        let bins = Metrics::new().reliability(&sure, &labels, count).unwrap();
        assert!(!bins.is_empty() && bins.len() <= count);
        assert!(bins.windows(2).all(|pair| pair[0].high < pair[1].low), "equal probabilities are never parted");
        let (mut error, mut seen) = (0.0, 0);
        for bin in &bins {
            let inside: Vec<usize> = (0..400).filter(|&i| bin.low <= sure[i] && sure[i] <= bin.high).collect();
            let mean = inside.iter().map(|&i| sure[i]).sum::<f64>() / inside.len() as f64;
            let positives = inside.iter().filter(|&&i| labels[i] == 1).count();
            assert_eq!((bin.rows as usize, bin.positives as usize), (inside.len(), positives));
            assert!((bin.mean - mean).abs() < 1e-12);
            let (low, high) = bin.interval();
            assert!(low <= bin.share() + 1e-12 && bin.share() <= high + 1e-12 && low >= 0.0 && high <= 1.0);
            error += (mean - bin.share()).abs() * inside.len() as f64 / 400.0;
            seen += inside.len();
        }
        assert_eq!(seen, 400);
        assert!((calibration_error(&bins) - error).abs() < 1e-12);
    }
    // Without ties ten bins hold a tenth each; where one probability is most rows, bins are fewer and none is empty.
    let (scores, labels) = example(8, 1000, 0.3, 0.0);
    let sure: Vec<f64> = scores.iter().map(|s| 1.0 / (1.0 + (-s).exp())).collect();
    let bins = Metrics::new().reliability(&sure, &labels, 10).unwrap();
    assert_eq!(bins.iter().map(|bin| bin.rows).collect::<Vec<_>>(), [100.0; 10]);
    let heavy: Vec<f64> = sure.iter().enumerate().map(|(k, &p)| if k < 700 { 0.999 } else { p }).collect();
    let bins = Metrics::new().reliability(&heavy, &labels, 10).unwrap();
    assert!((3..=5).contains(&bins.len()) && bins.iter().all(|bin| bin.rows >= 50.0), "{bins:?}");
    // Wilson's interval, by its textbook figure: 8 of 10.
    let (low, high) = Bin { rows: 10.0, positives: 8.0, ..Bin::default() }.interval();
    assert!((low - 0.4902).abs() < 2e-4 && (high - 0.9433).abs() < 2e-4, "{low} {high}");
    let need = need(2);
    let (mut u32, mut u64) = (vec![0; need.u32], vec![0; need.u64]);
    let scratch = Scratch { u32: &mut u32, u64: &mut u64, ..Scratch::default() };
    assert_eq!(reliability(&[0.1, 0.2], &[0, 1], scratch, &mut []), Err(Error::Empty { what: "out" }));
}

#[test]
fn one_number_of_a_confusion() {
    let of = |tp, fp, tn, fn_| Confusion {
        true_positives: tp,
        false_positives: fp,
        true_negatives: tn,
        false_negatives: fn_,
    };
    let counts = of(6_u64, 1, 3, 2);
    // Matthews' coefficient is the correlation of the two columns of zeros and ones.
    let expected = (6.0 * 3.0 - 1.0 * 2.0) / (7.0f64 * 8.0 * 4.0 * 5.0).sqrt();
    assert!((counts.mcc().unwrap() - expected).abs() < 1e-12 && counts.f1() == Some(12.0 / 15.0));
    assert_eq!((of(0, 0, 5, 5).mcc(), of(0, 0, 5, 0).f1(), of(5, 5, 0, 0).mcc()), (Some(0.0), None, Some(0.0)));
    assert_eq!((of(5, 0, 5, 0).mcc(), of(0, 5, 0, 5).mcc(), of(1, 0, 0, 0).mcc()), (Some(1.0), Some(-1.0), None));
}

/// Whole weights say what repeated rows say, and a row of weight 0 is none.
#[test]
fn whole_weights_are_repeated_rows() {
    let (scores, labels) = example(21, 80, 0.4, 0.25);
    let weights: Vec<f64> = (0..80).map(|k| f64::from(k * 7 % 4)).collect();
    let truth = Truth::new(&labels, &weights).unwrap();
    let (mut again, mut known) = (Vec::new(), Vec::new());
    for row in 0..80 {
        for _ in 0..weights[row] as usize {
            again.push(scores[row]);
            known.push(labels[row]);
        }
    }
    let mut memory = Metrics::new();
    for text in [
        "fpr<=0.1",
        "precision>=0.6",
        "recall>=0.7",
        "alerts<=25",
        "alerts<=20%",
        "youden",
        "f1",
        "mcc",
        "costs:1:3",
        "0.4",
    ] {
        let a = memory.decide(&scores, &truth, rule(text)).unwrap();
        let b = memory.decide(&again, &known, rule(text)).unwrap();
        assert_eq!((a.threshold, a.counts.true_positives as u64), (b.threshold, b.counts.true_positives), "{text}");
        assert_eq!(a.counts.false_positives as u64, b.counts.false_positives, "{text}");
    }
    for top in [Top::Rows(30), Top::Percent(10.0)] {
        let (a, b) = (memory.top(&scores, &truth, top).unwrap(), memory.top(&again, &known, top).unwrap());
        assert!((a.found - b.found).abs() < 1e-12 && (a.lift() - b.lift()).abs() < 1e-12);
    }
    for how in [Calibrate::Platt, Calibrate::Isotonic] {
        let a = Calibration::fit(how, &scores, truth).unwrap();
        let b = Calibration::fit(how, &again, known.as_slice().into()).unwrap();
        assert!((0..100).all(|k| {
            let at = -3.0 + 0.07 * f64::from(k);
            (a.probability(at) - b.probability(at)).abs() < 1e-9
        }));
    }
    let sure = |scores: &[f64]| scores.iter().map(|s| 1.0 / (1.0 + (-s).exp())).collect::<Vec<f64>>();
    let (p, q) = (sure(&scores), sure(&again));
    let plain = known.as_slice().into();
    assert!((log_loss(&p, truth).unwrap() - log_loss(&q, plain).unwrap()).abs() < 1e-12);
    assert!((brier(&p, truth).unwrap() - brier(&q, plain).unwrap()).abs() < 1e-12);
    let bins = |p: &[f64], weighed: bool| {
        let mut memory = Metrics::new();
        if weighed { memory.reliability(p, &truth, 5) } else { memory.reliability(p, &known, 5) }.unwrap()
    };
    for (a, b) in bins(&p, true).into_iter().zip(bins(&q, false)) {
        assert!((a.rows, a.positives, a.low) == (b.rows, b.positives, b.low) && (a.mean - b.mean).abs() < 1e-12);
    }
}

#[test]
fn queries_are_measured_one_by_one() {
    let mut rng = Rng::new(33);
    // Seven queries of one to six rows, in any order, with ties; the last has nothing to find.
    let rows: Vec<(u32, f64, f64)> = (0..7u32)
        .flat_map(|query| (0..=query.min(5)).map(move |row| (query, row)))
        .map(|(query, row)| {
            let none = query == 6 || (row > 0 && rng.uniform() < 0.5);
            let gain = if none { 0.0 } else { 1.0 + (3.0 * rng.uniform()).floor() };
            (10 * query, (rng.uniform() * 3.0).floor(), gain)
        })
        .collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&k| (k * 7) % rows.len());
    let of = |f: fn(&(u32, f64, f64)) -> f64| order.iter().map(|&k| f(&rows[k])).collect::<Vec<f64>>();
    let query: Vec<u32> = order.iter().map(|&k| rows[k].0).collect();
    let (scores, gains) = (of(|row| row.1), of(|row| row.2));
    let labels: Vec<u8> = gains.iter().map(|&gain| u8::from(gain > 0.0)).collect();
    let ones: Vec<f64> = labels.iter().map(|&y| f64::from(y)).collect();
    let mut memory = vec![0; scores.len()];
    let mut mean = |what, gains: &[f64]| query_mean(what, &scores, &labels, gains, &query, &mut memory).unwrap();
    for k in [1, 2, 3, 10] {
        let (expected, count) = twin::over_queries(&scores, &gains, &query, |gains| twin::ndcg(gains, k));
        let got = mean(OfQuery::Ndcg(Some(k as u64)), &gains);
        assert!((got.value - expected).abs() < 1e-12, "{k}: {got:?} {expected}");
        assert_eq!((got.queries, got.left_out), (count, 7 - count));
        let (expected, _) = twin::over_queries(&scores, &ones, &query, |gains| twin::ndcg(gains, k));
        assert!((mean(OfQuery::Ndcg(Some(k as u64)), &[]).value - expected).abs() < 1e-12);
    }
    assert_eq!(mean(OfQuery::Ndcg(None), &gains), mean(OfQuery::Ndcg(Some(10)), &gains));
    let first = |gains: &[f64]| 1.0 / (1.0 + gains.iter().position(|&g| g > 0.0).unwrap() as f64);
    let (expected, _) = twin::over_queries(&scores, &ones, &query, first);
    assert!((mean(OfQuery::ReciprocalRank, &[]).value - expected).abs() < 1e-12);
    // Average precision of each query by the library's own, which is tested elsewhere.
    let (mut sum, mut count) = (0.0, 0.0);
    for name in 0..6 {
        let inside: Vec<usize> = (0..scores.len()).filter(|&k| query[k] == 10 * name).collect();
        let (s, y): (Vec<f64>, Vec<u8>) = inside.iter().map(|&k| (scores[k], labels[k])).unzip();
        sum += undercurve_tests::metric::average_precision(&s, &y);
        count += 1.0;
    }
    let got = mean(OfQuery::AveragePrecision, &[]);
    assert!((got.value - sum / count).abs() < 1e-12 && got.left_out == 1);
    let ends = got.interval.unwrap();
    assert!(0.0 < ends.low && ends.low < got.value && got.value < ends.high && ends.high < 1.0);
    let wrong = |gains: &[f64], labels: &[u8]| {
        query_mean(OfQuery::Ndcg(None), &[1.0, 2.0], labels, gains, &[1, 1], &mut [0; 2])
    };
    assert_eq!(wrong(&[-1.0, 0.0], &[0, 1]), Err(Error::Param { what: "gains" }));
    assert_eq!(wrong(&[f64::NAN, 0.0], &[0, 1]), Err(Error::Param { what: "gains" }));
    assert_eq!(wrong(&[], &[0, 0]), Err(Error::OneClass));
    assert_eq!(wrong(&[1.0], &[0, 1]), Err(Error::Length { what: "gains", need: 2, got: 1 }));
}

/// Alerts of a promised threshold are those that the definition finds, and the threshold lies between rows.
#[test]
fn promises_are_those_of_the_definition() {
    let (mut given, mut none) = (0, 0);
    for seed in 0..12 {
        let (n, step) = ([60, 400, 900][seed as usize % 3], [0.0, 0.1, 0.6][seed as usize / 4]);
        let (mut scores, labels) = example(seed, n, 0.3, step);
        let apart = (seed % 4) as f64;
        scores.iter_mut().zip(&labels).for_each(|(score, &y)| *score += apart * f64::from(y));
        for (rate, sign) in [("fpr", "<="), ("precision", ">="), ("recall", ">=")] {
            for (bound, percent) in [(0.05, 90.0), (0.6, 95.0), (0.9, 90.0)] {
                let text = format!("{rate}{sign}{bound}@{percent}%");
                assert_eq!(rule(&text).to_string(), text);
                let want = twin::promised_alerts(&scores, &labels, rate, bound, 1.0 - percent / 100.0);
                match (Metrics::new().decide(&scores, &labels, rule(&text)), want) {
                    (Ok(found), Some(want)) => {
                        let alerts = found.counts.true_positives + found.counts.false_positives;
                        assert_eq!(alerts, want as u64, "{text}, seed {seed}");
                        let reached = scores.iter().filter(|&&score| score >= found.threshold).count();
                        assert_eq!(reached, want);
                        // Midway, unless no number is between the rows.
                        let below = scores.iter().copied().filter(|&score| score < found.threshold);
                        let next = below.fold(f64::NEG_INFINITY, f64::max);
                        let between = want == n || want == 0 || !scores.contains(&found.threshold);
                        assert!(between || found.threshold.next_down() <= next, "{text}: {}", found.threshold);
                        given += 1;
                    }
                    (Err(Error::Unpromised { .. }), None) => none += 1,
                    (got, want) => panic!("{text}, seed {seed}: {got:?}, but {want:?}"),
                }
            }
        }
    }
    assert!(given > 30 && none > 5, "{given} given, {none} not");
}

/// So many more would do: with all right, exactly so many.
#[test]
fn what_is_missing_is_told() {
    let decide = |positives: usize, text: &str| {
        let labels: Vec<u8> = (0..positives + 5).map(|row| u8::from(row >= 5)).collect();
        let scores: Vec<f64> = (0..positives + 5).map(|row| row as f64).collect();
        Metrics::new().decide(&scores, &labels, rule(text))
    };
    let missing = |more, what| Err(Error::Unpromised { more: Some(more), what });
    // .9^22 < .1 < .9^21.
    assert_eq!(decide(12, "recall>=0.9@90%"), missing(10, "positives"));
    assert!(decide(22, "recall>=0.9@90%").is_ok());
    // .9^27 < .06 < .9^26: .7 of 35 positives make so many alerts with that precision.
    assert!(decide(35, "precision>=0.9@90%").is_ok());
    let Err(Error::Unpromised { more: Some(more), .. }) = decide(12, "precision>=0.9@90%") else { panic!("promised") };
    assert!((23..100).contains(&more) && decide(12 + more as usize, "precision>=0.9@90%").is_ok(), "{more}");
    // Where no number of alerts has the precision, no number of such rows would do.
    let labels: Vec<u8> = (0..400).map(|row| u8::from(row % 2 == 0)).collect();
    let scores: Vec<f64> = (0..400).map(f64::from).collect();
    let none = Metrics::new().decide(&scores, &labels, rule("precision>=0.8@90%"));
    assert_eq!(none, Err(Error::Unpromised { more: None, what: "positives" }));
    // .99^299 < .05 < .99^298.
    assert_eq!(decide(12, "fpr<=0.01@95%"), missing(294, "negatives"));
    for text in [
        "precision>=0.9@",
        "precision>=0.9@100%",
        "precision>=1@90%",
        "alerts<=5@90%",
        "youden@90%",
        "fpr<=0.1@90%@90%",
        "0.5@90%",
    ] {
        assert_eq!(text.parse::<ThresholdRule>(), Err(Error::Param { what: "threshold rule" }), "{text}");
    }
    let (labels, scores) = ([1, 0, 1], [3.0, 1.0, 2.0]);
    let weighed = Truth::new(&labels, &[1.0, 2.0, 1.0]).unwrap();
    let got = Metrics::new().decide(&scores, &weighed, rule("recall>=0.6@50%"));
    assert_eq!(got, Err(Error::Unsupported { what: "a promise on rows with weights" }));
}

/// The same with weights and in clusters; the other two rates at a threshold that passes, beside one that does not.
#[test]
fn promises_in_clusters_are_those_of_the_definition() {
    let (mut given, mut none, mut passed) = (0, 0, 0);
    for seed in 0..6 {
        let (mut scores, labels) = example(seed + 70, 240, 0.4, [0.0, 0.1][seed as usize % 2]);
        scores.iter_mut().zip(&labels).for_each(|(score, &y)| *score += (seed / 2) as f64 * f64::from(y));
        let mut rng = Rng::new(seed);
        let clusters: Vec<u32> = (0..240).map(|_| (60.0 * rng.uniform() * rng.uniform()) as u32).collect();
        let weights: Vec<f64> =
            (0..240).map(|_| if seed % 4 < 2 { 1.0 } else { (4.0 * rng.uniform()).ceil() }).collect();
        let truth = Truth::new(&labels, &weights).unwrap();
        for (kept, bound) in [(Kept::Precision, 0.5), (Kept::Precision, 0.8), (Kept::Recall, 0.7), (Kept::Fpr, 0.3)] {
            let promise = Promise { kept, bound, percent: 90.0 };
            let found = promise.decide_in(&scores, truth, Some(&clusters));
            let reached = |at: f64| (0..240).filter(|&i| scores[i] >= at).collect::<Vec<_>>();
            let alerts = found.as_ref().ok().map(|found| reached(found.threshold).len());
            if kept == Kept::Precision {
                let want = twin::promised_alerts_in(&scores, &labels, &weights, &clusters, bound, 1.0 - 0.9);
                assert_eq!(alerts, want, "{bound}, seed {seed}");
                *(if want.is_some() { &mut given } else { &mut none }) += 1;
                continue;
            }
            let Ok(found) = found else { continue };
            let tail = |at: f64| {
                let mut sums = vec![(0.0, 0.0); 60];
                let of = u8::from(kept == Kept::Recall);
                for i in (0..240).filter(|&i| labels[i] == of) {
                    let (hits, all) = &mut sums[clusters[i] as usize];
                    *hits += weights[i] * f64::from(u8::from((scores[i] >= at) == (of == 1)));
                    *all += weights[i];
                }
                let rows = labels.iter().filter(|&&label| label == of).count() as f64;
                let least = if of == 1 { bound } else { 1.0 - bound };
                twin::tail_of_clusters(&sums, rows, least, 1.0 - 0.9)
            };
            // The next threshold that has more of the other class right.
            let of = u8::from(kept == Kept::Fpr);
            let next = |score: &f64| if of == 0 { *score >= found.threshold } else { *score < found.threshold };
            let beyond = (0..240).filter(|&i| labels[i] == of).map(|i| scores[i]).filter(next);
            let worse = if of == 0 {
                beyond.fold(f64::INFINITY, f64::min).next_up()
            } else {
                beyond.fold(f64::NEG_INFINITY, f64::max)
            };
            let (here, there) = (tail(found.threshold), tail(worse));
            assert!(here <= 0.1 + 1e-6 && there > 0.1 - 1e-6, "{kept:?}, seed {seed}: {here} and {there}");
            passed += 1;
        }
    }
    assert!(given > 4 && none > 2 && passed > 6, "{given}, {none}, {passed}");
}

/// Rows that are repeated in their cluster tell no more than once, and clusters of one row about as much as rows.
#[test]
fn clusters_count_as_one() {
    let (mut scores, labels) = example(3, 3000, 0.2, 0.0);
    scores.iter_mut().zip(&labels).for_each(|(score, &y)| *score += 2.0 * f64::from(y));
    let own: Vec<u32> = (0..3000).collect();
    for (kept, bound) in [(Kept::Precision, 0.9), (Kept::Recall, 0.8), (Kept::Fpr, 0.05)] {
        let promise = Promise { kept, bound, percent: 90.0 };
        let alone = promise.decide_in(&scores, labels.as_slice().into(), Some(&own)).unwrap();
        let rows = Metrics::new().decide(&scores, &labels, ThresholdRule::Promised(promise)).unwrap();
        let twice = |x: &[f64]| x.iter().chain(x).copied().collect::<Vec<f64>>();
        let two: Vec<u8> = labels.iter().chain(&labels).copied().collect();
        let again: Vec<u32> = own.iter().chain(&own).copied().collect();
        let both = promise.decide_in(&twice(&scores), two.as_slice().into(), Some(&again)).unwrap();
        if kept != Kept::Precision {
            assert_eq!(both.threshold, alone.threshold);
        }
        let (few, many) = (alone.counts, rows.counts.numbers());
        let alerts = |counts: Confusion<f64>| counts.true_positives + counts.false_positives;
        assert!((alerts(few) / alerts(many) - 1.0).abs() < 0.05, "{kept:?}: {few:?} and {many:?}");
        // Equal weights change nothing but their sums, and a row of weight 0 is none.
        let weights = vec![3.0; 3000];
        let weighed = Truth::new(&labels, &weights).unwrap();
        let thrice = Metrics::new().decide_in(&scores, weighed, None, ThresholdRule::Promised(promise)).unwrap();
        assert_eq!((thrice.threshold, thrice.counts.total()), (alone.threshold, 9000.0));
        let some: Vec<f64> = (0..6000).map(|row| f64::from(u8::from(row < 3000))).collect();
        let half = Truth::new(&two, &some).unwrap();
        assert_eq!(promise.decide_in(&twice(&scores), half, None).unwrap().threshold, alone.threshold);
    }
    let promise = Promise { kept: Kept::Precision, bound: 0.9, percent: 90.0 };
    let one = vec![0; 3000];
    assert!(matches!(promise.decide_in(&scores, labels.as_slice().into(), Some(&one)), Err(Error::Unpromised { .. })));
}

/// The slopes are where the gradients of the loss are 0, Platt's curve is one of the family, and nothing is certain.
#[test]
fn beta_is_the_least_of_its_loss() {
    let mut better = 0;
    for (seed, (n, share)) in [(60, 0.5), (400, 0.2), (3000, 0.1)].into_iter().enumerate() {
        let (mut scores, labels) = example(seed as u64 + 60, n, share, 0.0);
        scores.iter_mut().for_each(|score| *score = if *score > 0.5 { 4.0 * *score } else { *score });
        let beta = fit_beta(&scores, labels.as_slice().into()).unwrap();
        let positives = labels.iter().filter(|&&y| y == 1).count() as f64;
        let targets = [1.0 / (n as f64 - positives + 2.0), (positives + 1.0) / (positives + 2.0)];
        let loss = |low: f64, high: f64, offset: f64| -> f64 {
            let one = |(&s, &y): (&f64, &u8)| {
                let p = 1.0 / (1.0 + (-(beta.curve.slope * s + beta.curve.offset)).exp());
                let odds = low * p.ln() - high * (1.0 - p).ln() + offset;
                (1.0 + odds.exp()).ln() - targets[usize::from(y)] * odds
            };
            scores.iter().zip(&labels).map(one).sum()
        };
        let here = loss(beta.low, beta.high, beta.offset);
        for step in [-1e-3, 1e-3] {
            for (low, high, offset) in [(step, 0.0, 0.0), (0.0, step, 0.0), (0.0, 0.0, step)] {
                let there = (beta.low + low, beta.high + high, beta.offset + offset);
                if there.0 >= 0.0 && there.1 >= 0.0 {
                    assert!(loss(there.0, there.1, there.2) >= here - 1e-9, "{beta:?} {step}");
                }
            }
        }
        assert!(here <= loss(1.0, 1.0, 0.0) + 1e-9);
        better += u64::from(here < loss(1.0, 1.0, 0.0) - 0.5);
        for score in [f64::MIN, -1e9, 0.0, 1e9, f64::MAX] {
            assert!((targets[0]..=targets[1]).contains(&beta.probability(score)), "{score}");
        }
    }
    assert!(better > 0);
}

/// What is chosen is no worse than Platt's curve on other rows beyond noise, and better where that curve does not fit; nothing is certain.
#[test]
fn the_chosen_calibration_is_no_worse_than_platts() {
    // How the scores of normal positives and negatives are bent.
    type Bend = fn(f64) -> f64;
    let bends: [(&str, Bend); 4] = [
        ("not", |s| s),
        ("cube", |s| s * s * s),
        ("kink", |s| if s > 0.0 { 6.0 * s } else { s }),
        ("steps", |s| (s.clamp(-1.0, 1.0) * 2.0).round()),
    ];
    let mut kinds = Vec::new();
    for (name, bend) in bends {
        for n in [60, 400, 4000] {
            let (mut losses, mut errors) = (Vec::new(), [0.0; 2]);
            for seed in 0..12 {
                let draw = |seed: u64, n: usize| {
                    let (scores, labels) = example(seed, n, 0.3, 0.0);
                    (scores.into_iter().map(|s| bend(2.0 * s - 1.0)).collect::<Vec<f64>>(), labels)
                };
                let ((scores, labels), (new, truth)) = (draw(900 + seed, n), draw(5000 + seed, 4000));
                let fit = |how| Calibration::fit(how, &scores, labels.as_slice().into()).unwrap();
                let both = [fit(Calibrate::Platt), fit(Calibrate::Auto)];
                let of = both.each_ref().map(|one| {
                    let p: Vec<f64> = new.iter().map(|&score| one.probability(score)).collect();
                    assert!(p.iter().all(|&p| p > 0.0 && p < 1.0));
                    let loss = log_loss(&p, truth.as_slice().into()).unwrap();
                    let bins = Metrics::new().reliability(&p, &truth[..], 10).unwrap();
                    (loss, calibration_error(&bins))
                });
                losses.push(of[1].0 - of[0].0);
                (errors[0], errors[1]) = (errors[0] + of[0].1, errors[1] + of[1].1);
                kinds.push((name, n, both[1].how()));
            }
            let mean = losses.iter().sum::<f64>() / 12.0;
            let noise = (losses.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 11.0 / 12.0).sqrt();
            assert!(mean <= 2.0 * noise + 1e-9, "{name}, {n}: {mean} ± {noise}");
            assert!(errors[1] <= errors[0] + 12.0 * 0.005, "{name}, {n}: ECE {errors:?}");
            if (name, n) == ("cube", 4000) || (name, n) == ("kink", 4000) {
                assert!(mean < -3.0 * noise, "{name}: {mean} ± {noise}");
            }
        }
    }
    for how in [Calibrate::Platt, Calibrate::Isotonic, Calibrate::Beta] {
        assert!(kinds.iter().any(|kind| kind.2 == how), "{how}");
    }
    assert!(kinds.iter().filter(|kind| kind.1 == 60).all(|kind| kind.2 == Calibrate::Platt), "18 positives are few");
}

/// Both ends are where the tails are 2.5 %.
#[test]
fn intervals_of_rates_end_where_the_tails_say() {
    for (hits, rows) in [(0, 7), (3, 9), (40, 300), (299, 300), (5, 5)] {
        let interval = rate_interval(hits as u64, rows as u64);
        if hits > 0 {
            assert!((twin::binomial_tail(rows, interval.low, hits) - 0.025).abs() < 1e-9);
        }
        if hits < rows {
            assert!((1.0 - twin::binomial_tail(rows, interval.high, hits + 1) - 0.025).abs() < 1e-9);
        }
    }
}

/// Verdicts are those of the tails, with the confidence of the rule, and of so many more rows they would be others.
#[test]
fn rules_are_checked_again_by_the_tails() {
    let mut kinds = [0; 3];
    for (text, least, bound, risk) in [
        ("precision>=0.9@90%", true, 0.9, 0.1),
        ("precision>=0.9", true, 0.9, 0.05),
        ("recall>=0.6@99%", true, 0.6, 0.01),
        ("fpr<=0.1@95%", false, 0.1, 0.05),
        ("alerts<=20%", false, 0.2, 0.05),
        ("alerts<=20", false, 0.2, 0.05),
    ] {
        for (hits, rows) in [(0, 3), (3, 3), (19, 20), (70, 100), (95, 100), (30, 300), (12, 300), (299, 300), (0, 60)]
        {
            let (hits, rest) = (hits as u64, (rows - hits) as u64);
            let counts = match text.get(..3) {
                Some("pre") => Confusion { true_positives: hits, false_positives: rest, ..Confusion::default() },
                Some("rec") => Confusion { true_positives: hits, false_negatives: rest, ..Confusion::default() },
                Some("fpr") => Confusion { false_positives: hits, true_negatives: rest, ..Confusion::default() },
                _ => Confusion { false_positives: hits, true_negatives: rest, ..Confusion::default() },
            };
            let check = rule(text).recheck(&counts, 100).unwrap();
            let above = twin::binomial_tail(rows, bound, hits as usize);
            let below = 1.0 - twin::binomial_tail(rows, bound, hits as usize + 1);
            let (met, broken) = if least { (above, below) } else { (below, above) };
            let want = if met <= risk {
                Verdict::Met
            } else if broken <= risk {
                Verdict::NotMet
            } else {
                Verdict::CannotTell
            };
            assert_eq!(check.verdict, want, "{text}, {hits} of {rows}: {met} {broken}");
            assert_eq!((check.hits, check.rows), (hits, rows as u64));
            kinds[want as usize] += 1;
            if let Some(more) = check.more.filter(|&more| more < 2000) {
                let all = rows as u64 + more;
                let hits = (check.value.unwrap() * all as f64).round() as u64;
                let told =
                    |sign: f64| twin::binomial_tail(all as usize, bound, (hits as f64 + 0.5 * (1.0 + sign)) as usize);
                let (above, below) = (told(-1.0), 1.0 - told(1.0));
                assert!(above.min(below) <= risk, "{text}, {hits} of {all}: {above} {below}");
            }
        }
    }
    assert!(kinds.iter().all(|&count| count > 5), "{kinds:?}");
    assert_eq!(rule("0.5").recheck(&Confusion::default(), 1), None);
    assert_eq!(rule("precision>=0.9").recheck(&Confusion::default(), 1).unwrap().verdict, Verdict::CannotTell);
}

/// On rows in clusters a verdict is wrong no more often than it says, where the rate lies at the bound and either is wrong; taken
/// for independent the same rows are.
#[test]
fn clusters_are_checked_again_as_such() {
    let draws = 400;
    let mut wrong = [[0; 2]; 2];
    let mut told = 0;
    for seed in 0..draws {
        let mut rng = Rng::keyed(77, seed, 0);
        // Clusters of 16 alerts, each right or wrong as a whole: 80 % right.
        let (mut labels, mut clusters) = (Vec::new(), Vec::new());
        for cluster in 0..150 {
            let right = u8::from(rng.uniform() < 0.8);
            labels.extend([right; 16]);
            clusters.extend([cluster; 16]);
        }
        let scores = vec![1.0; labels.len()];
        let promise = Promise { kept: Kept::Precision, bound: 0.8, percent: 95.0 };
        let counts = Confusion::at(&scores, &labels[..], 0.5).unwrap();
        let checks = [
            promise.recheck_in(0.5, &scores, labels.as_slice().into(), Some(&clusters)).unwrap(),
            ThresholdRule::Promised(promise).recheck(&counts, 1).unwrap(),
        ];
        for (wrong, check) in wrong.iter_mut().zip(checks) {
            wrong[0] += u64::from(check.verdict == Verdict::Met);
            wrong[1] += u64::from(check.verdict == Verdict::NotMet);
        }
        let easy = Promise { bound: 0.5, ..promise };
        let easy = easy.recheck_in(0.5, &scores, labels.as_slice().into(), Some(&clusters)).unwrap();
        told += u64::from(easy.verdict == Verdict::Met);
    }
    assert!(wrong[0].iter().all(|&count| count as f64 <= 0.05 * draws as f64), "{wrong:?}");
    assert!(wrong[1].iter().all(|&count| count as f64 > 0.2 * draws as f64), "{wrong:?}");
    assert!(told > draws * 9 / 10, "{told}");
}

/// Intervals of rates hold where clusters are as one row, and those of independent rows then do not.
#[test]
fn intervals_of_clusters_hold_the_truth() {
    let (draws, mut held) = (400, [0, 0]);
    for seed in 0..draws {
        let mut rng = Rng::keyed(78, seed, 0);
        let (mut scores, mut clusters) = (Vec::new(), Vec::new());
        for cluster in 0..60 {
            let (size, score) = (1 + (rng.uniform() * 8.0) as usize, f64::from(u8::from(rng.uniform() < 0.3)));
            scores.extend(vec![score; size]);
            clusters.extend(vec![cluster; size]);
        }
        let labels = vec![1; scores.len()];
        let [_, recall, _] = rate_intervals_in(0.5, &scores, labels.as_slice().into(), Some(&clusters)).unwrap();
        let hits = scores.iter().filter(|&&score| score > 0.5).count() as u64;
        let alone = rate_interval(hits, scores.len() as u64);
        for (held, interval) in held.iter_mut().zip([recall, alone]) {
            *held += u64::from(interval.low <= 0.3 && 0.3 <= interval.high);
        }
    }
    assert!((370..=396).contains(&held[0]) && held[1] < 300, "{held:?} of {draws}");
}

/// The upper end of a gap is below a gap that is there in at most 5 of 100 draws, at every size; Smirnov's noise is far wider.
#[test]
fn upper_ends_of_gaps_hold() {
    let draws = 400;
    for (sizes, seed) in [([150, 100], 1), ([400, 400], 2), ([2000, 300], 3)] {
        let (mut below, mut sum, mut smirnov) = (0, 0.0, 0.0);
        for draw in 0..draws {
            let mut rng = Rng::keyed(79, seed, draw);
            // Uniform scores, those of group 1 shifted by .2: a gap of .2 at many thresholds.
            let groups: Vec<u32> = (0..sizes[0] + sizes[1]).map(|row| u32::from(row >= sizes[0])).collect();
            let scores: Vec<f64> = groups.iter().map(|&group| rng.uniform() + 0.2 * f64::from(group)).collect();
            let labels = vec![1; scores.len()];
            let gap = Metrics::new().gaps(&scores, &labels, &groups, 2, Rate::Tpr, None).unwrap()[0];
            below += u64::from(gap.upper < 0.2);
            sum += gap.upper;
            smirnov += gap.value + gap.noise;
        }
        assert!(below as f64 <= 0.05 * draws as f64 && sum < 0.9 * smirnov, "{sizes:?}: {below}, {sum} and {smirnov}");
    }
}

/// Positives and negatives whose rates at every threshold are known.
struct Population {
    heavy: bool,
    clustered: bool,
}

const SHARE: f64 = 0.05;
const APART: f64 = 7.0;

impl Population {
    /// Logistic noise, or Student's with two degrees of freedom.
    fn noise(&self, u: f64) -> f64 {
        let u = u.clamp(1e-12, 1.0 - 1e-12);
        if self.heavy { (2.0 * u - 1.0) / (2.0 * u * (1.0 - u)).sqrt() } else { (u / (1.0 - u)).ln() }
    }

    fn above(&self, t: f64) -> f64 {
        if t == f64::INFINITY {
            0.0
        } else if self.heavy {
            0.5 - 0.5 * t / (2.0 + t * t).sqrt()
        } else {
            1.0 / (1.0 + t.exp())
        }
    }

    /// Precision, recall and false-positive rate.
    fn truth(&self, t: f64) -> [f64; 3] {
        let (tpr, fpr) = (self.above(t - APART), self.above(t));
        let right = SHARE * tpr;
        [if tpr > 0.0 { right / (right + (1.0 - SHARE) * fpr) } else { 1.0 }, tpr, fpr]
    }

    /// Scores, labels and clusters of up to eight rows, half of whose labels and noise are those of the cluster. Each population,
    /// size and seed has random numbers of its own.
    fn draw(&self, seed: u64, n: usize) -> (Vec<f64>, Vec<u8>, Vec<u32>) {
        let own = 2 * u64::from(self.heavy) + u64::from(self.clustered);
        let mut rng = Rng::keyed(own, n as u64, seed);
        let (mut scores, mut labels, mut clusters) = (Vec::new(), Vec::new(), Vec::new());
        let (mut left, mut cluster, mut shared) = (0, 0, (0.0, 0.0));
        for _ in 0..n {
            if left == 0 {
                (left, cluster) = (1 + (rng.uniform() * 8.0) as usize, cluster + 1);
                shared = (rng.uniform(), rng.uniform());
            }
            left -= 1;
            let mut own = |shared: f64| {
                let (coin, u) = (rng.uniform(), rng.uniform());
                if self.clustered && coin < 0.5 { shared } else { u }
            };
            let positive = own(shared.0) < SHARE;
            scores.push(self.noise(own(shared.1)) + if positive { APART } else { 0.0 });
            labels.push(u8::from(positive));
            clusters.push(cluster);
        }
        (scores, labels, clusters)
    }
}

/// Promises are broken no more often than they say, on rows drawn from populations whose rates are known. The long tier
/// prints the table of the results: UNDERCURVE_LONG=1, with --nocapture.
#[test]
fn promises_are_kept() {
    let long = std::env::var_os("UNDERCURVE_LONG").is_some();
    let (draws, sizes): (u64, &[usize]) = if long { (400, &[1000, 10_000]) } else { (60, &[1000, 5000]) };
    let kinds = [("independent", false, false), ("heavy tails", true, false), ("clustered", false, true)];
    let mut given_at_all = 0;
    for ((kind, heavy, clustered), &n) in kinds.into_iter().flat_map(|kind| sizes.iter().map(move |n| (kind, n))) {
        let population = Population { heavy, clustered };
        for (kept, bound, percent) in [(Kept::Precision, 0.9, 90.0), (Kept::Recall, 0.8, 90.0), (Kept::Fpr, 0.01, 95.0)]
        {
            let promise = Promise { kept, bound, percent };
            let plain = match kept {
                Kept::Precision => ThresholdRule::Precision(bound),
                Kept::Recall => ThresholdRule::Recall(bound),
                Kept::Fpr => ThresholdRule::Fpr(bound),
            };
            // Promised, and plain: given, broken and recall.
            let mut told = [(0, 0, Vec::new()), (0, 0, Vec::new())];
            for seed in 0..draws {
                let (scores, labels, clusters) = population.draw(seed, n);
                let mut memory = Metrics::new();
                let of = Some(&clusters[..]).filter(|_| clustered);
                let mut decide = |rule| memory.decide_in(&scores, labels.as_slice().into(), of, rule);
                let (promised, plain) = (decide(ThresholdRule::Promised(promise)), decide(plain));
                for ((given, broken, recalls), found) in told.iter_mut().zip([promised, plain]) {
                    let Ok(found) = found else { continue };
                    let [precision, recall, fpr] = population.truth(found.threshold);
                    *given += 1;
                    *broken += u64::from(match kept {
                        Kept::Precision => precision < bound,
                        Kept::Recall => recall < bound,
                        Kept::Fpr => fpr > bound,
                    });
                    recalls.push(recall);
                }
            }
            let median = |recalls: &mut Vec<f64>| {
                recalls.sort_by(f64::total_cmp);
                recalls.get(recalls.len() / 2).copied().map_or("–".to_string(), |recall| format!("{recall:.2}"))
            };
            let [mut promised, mut plain] = told;
            let (one, two) = (median(&mut promised.2), median(&mut plain.2));
            println!(
                "| {kind} | {n} | {} | {} | {} | {one} | {} | {} | {two} |",
                ThresholdRule::Promised(promise),
                promised.0,
                promised.1,
                plain.0,
                plain.1
            );
            let risk = 1.0 - percent / 100.0;
            let most = draws as f64 * risk + 3.0 * (draws as f64 * risk * (1.0 - risk)).sqrt();
            assert!((promised.1 as f64) <= most, "{kind}, {n} rows, {kept:?}: broken {} of {draws}", promised.1);
            given_at_all += promised.0;
        }
    }
    assert!(given_at_all > 4 * draws, "{given_at_all} given");
}
