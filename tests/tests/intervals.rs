//! Intervals and differences of metrics: against plain definitions, at the edges, and how often they hold the truth.

use crate::metric::{Kind, Numbers, example};
use undercurve::Error;
use undercurve::metric::{
    Comparison, Estimate, FprRange, Interval, Intervals, Metrics, State, Top, Truth, influence, interval, rank::Run,
    student,
};
use undercurve_tests::intervals as twin;

/// Groups of equal scores from the highest down, by weight, and which group each row is in.
fn grouped(s: &[f64], y: &[u8], w: &[f64]) -> (Vec<Run<f64>>, Vec<usize>) {
    let mut different = s.to_vec();
    different.sort_by(|a, b| b.total_cmp(a));
    different.dedup();
    let of: Vec<usize> = s.iter().map(|score| different.iter().position(|other| other == score).unwrap()).collect();
    let mut runs = vec![Run::<f64>::default(); different.len()];
    for (row, &at) in of.iter().enumerate() {
        *(if y[row] == 1 { &mut runs[at].positives } else { &mut runs[at].negatives }) += w[row];
    }
    (runs, of)
}

fn weights(rows: usize, random: &mut Numbers) -> Vec<f64> {
    (0..rows).map(|_| [0.5, 1.0, 1.0, 3.0][random.below(4) as usize]).collect()
}

#[test]
fn influences_are_derivatives() {
    let mut random = Numbers(31);
    for kind in [Kind::Spread, Kind::Ties, Kind::Clusters] {
        for rows in [12, 60] {
            let (s, y) = example::<f64>(kind, rows, 0.4, &mut random);
            let w = weights(rows, &mut random);
            let (runs, of) = grouped(&s, &y, &w);
            let check = |estimate: Estimate, metric: &dyn Fn(&[f64]) -> f64| {
                let mut out = vec![[0.0; 2]; runs.len()];
                let value = influence(estimate, &runs, &mut out).unwrap();
                assert!((value - metric(&w)).abs() < 1e-12, "{kind:?} {estimate:?}: {value} {}", metric(&w));
                for (row, expected) in twin::moved(&w, metric).into_iter().enumerate() {
                    let got = w[row] * out[of[row]][usize::from(y[row] == 0)];
                    assert!((got - expected).abs() < 1e-8, "{kind:?} {estimate:?} row {row}: {got} and {expected}");
                }
            };
            check(Estimate::Ap, &|w| twin::ap(&s, &y, w));
            for (low, high) in [(0.0, 1.0), (0.0, 0.237), (0.113, 0.641), (0.37, 1.0)] {
                check(Estimate::Roc(FprRange::new(low, high).unwrap()), &|w| twin::pauc(&s, &y, w, low, high));
            }
            // At a cut within a tie.
            if matches!(kind, Kind::Ties) {
                let all: f64 = w.iter().sum();
                let ends: Vec<f64> = runs
                    .iter()
                    .scan(0.0, |sum, run| {
                        *sum += run.positives + run.negatives;
                        Some(*sum)
                    })
                    .collect();
                let inside = |rows: &u64| ends.iter().all(|end| *end != *rows as f64);
                let top = Top::Rows(((0.4 * all) as u64..).find(inside).unwrap());
                let share = top.of(all).unwrap() / all;
                let part = |w: &[f64]| share * w.iter().sum::<f64>();
                check(Estimate::PrecisionAt(top), &|w| twin::top(&s, &y, w, part(w))[0]);
                check(Estimate::RecallAt(top), &|w| twin::top(&s, &y, w, part(w))[1]);
            }
        }
    }
}

fn run(positives: u64, negatives: u64) -> Run {
    Run { positives, negatives }
}

fn of(estimate: Estimate, runs: &[Run]) -> Interval {
    interval(estimate, runs, &mut vec![[0.0; 2]; runs.len()]).unwrap().unwrap()
}

/// The interval of a perfect order is Newcombe's: of AUROC of all rows, of partial AUC of the negatives that it looks at, of AP of as many as there
/// are positives; and turned around the same.
#[test]
fn perfect_orders_have_newcombes_interval() {
    for (m, n) in [(2, 2), (5, 40), (20, 20), (20, 200), (500, 5000)] {
        let tenth = Estimate::Roc(FprRange::new(0.0, 0.1).unwrap());
        for (estimate, negatives) in
            [(Estimate::AUROC, n as f64), (tenth, 0.1 * n as f64), (Estimate::Ap, m.min(n) as f64)]
        {
            let [low, high] = twin::newcombe(1.0, m as f64, negatives, 1.96 * 1.96);
            let got = of(estimate, &[run(m, 0), run(0, n)]);
            assert!(
                (got.low - low).abs() < 1e-9 && got.high == 1.0 && high == 1.0,
                "{m} {n} {estimate:?}: {got:?} {low}"
            );
        }
        let [low, high] = twin::newcombe(0.0, m as f64, n as f64, 1.96 * 1.96);
        let got = of(Estimate::AUROC, &[run(0, n), run(m, 0)]);
        assert!((got.high - high).abs() < 1e-9 && got.low == 0.0 && low == 0.0, "{m} {n}: {got:?} {high}");
    }
    // Of chance by ties alone the ends are as far away.
    let tied = of(Estimate::AUROC, &[run(4, 4)]);
    assert!(tied.low < 0.3 && (tied.low + tied.high - 1.0).abs() < 1e-9, "{tied:?}");
}

/// Whenever a pair gets in order, or a tie is broken rightly, the lower end does not fall; the upper is never below the value.
#[test]
fn lower_ends_rise_with_every_pair_that_gets_in_order() {
    let mut random = Numbers(77);
    let long = std::env::var_os("UNDERCURVE_LONG").is_some();
    let (mut moves, mut lowest) = (0, 0.0_f64);
    while moves < if long { 200_000 } else { 6_000 } {
        let (m, n) = (2 + random.below(14) as usize, 2 + random.below(40) as usize);
        let apart = [0.0, 1.0, 3.0, 6.0][random.below(4) as usize];
        let heavy = random.below(2) == 0;
        let mut noise = || {
            let u = random.unit().clamp(1e-9, 1.0 - 1e-9);
            if heavy { (2.0 * u - 1.0) / (2.0 * u * (1.0 - u)).sqrt() } else { (u / (1.0 - u)).ln() }
        };
        let mut s: Vec<f64> = (0..m + n).map(|row| noise() + if row < m { apart } else { 0.0 }).collect();
        if random.below(3) == 0 {
            s.iter_mut().for_each(|score| *score = score.round());
        }
        if random.below(5) == 0 {
            s[0] -= 20.0; // one positive below all
        }
        let y: Vec<u8> = (0..m + n).map(|row| u8::from(row < m)).collect();
        let mut last = 0.0;
        // From here on, step by step to a perfect order.
        loop {
            let (runs, of_row) = grouped(&s, &y, &vec![1.0; m + n]);
            let runs: Vec<Run> = runs
                .iter()
                .map(|run| Run { positives: run.positives as u64, negatives: run.negatives as u64 })
                .collect();
            let ends = of(Estimate::AUROC, &runs);
            let value = influence(Estimate::AUROC, &runs, &mut vec![[0.0; 2]; runs.len()]).unwrap();
            assert!(ends.low >= last - 1e-12 && ends.high >= value, "{last} to {ends:?}: {runs:?}");
            last = ends.low;
            lowest = lowest.max(ends.low);
            // A positive that has a negative at its score or above: half a pair up, past one of them.
            let wrong: Vec<usize> = (0..m).filter(|&i| (m..m + n).any(|j| s[j] >= s[i])).collect();
            if wrong.is_empty() || moves % 40 == 39 {
                moves += 1;
                break;
            }
            let i = wrong[random.below(wrong.len() as u64) as usize];
            let at = of_row[i];
            let above = (0..at).rev().find(|&other| runs[other].negatives > 0);
            s[i] = match (runs[at].negatives, above) {
                // Out of a tie, below the next group; or into the next one.
                (1.., _) if at == 0 => s[i] + 1.0,
                (1.., _) => 0.5 * (s[i] + s[of_row.iter().position(|&other| other == at - 1).unwrap()]),
                (_, Some(group)) => s[of_row.iter().position(|&other| other == group).unwrap()],
                (_, None) => break,
            };
            moves += 1;
        }
    }
    assert!(lowest > 0.8, "{lowest}");
}

fn labelled(rows: usize, clusters: u64, random: &mut Numbers) -> (Vec<u8>, Vec<u32>, [Vec<f64>; 2]) {
    let of: Vec<u32> = (0..rows).map(|_| 7 + 3 * random.below(clusters) as u32).collect();
    let labels: Vec<u8> = (0..rows).map(|row| u8::from(row % 4 == 0)).collect();
    let mut common = std::collections::BTreeMap::new();
    let mut draw = |row: usize, random: &mut Numbers| {
        let own = *common.entry(of[row]).or_insert_with(|| random.unit());
        (8.0 * (random.unit() + own + 0.5 * f64::from(labels[row]))).round()
    };
    let a: Vec<f64> = (0..rows).map(|row| draw(row, random)).collect();
    let b = (0..rows).map(|row| 0.5 * a[row] + draw(row, random)).collect();
    (labels, of, [a, b])
}

/// P(|N| ≥ z) by a series: Abramowitz and Stegun 26.2.10.
fn beyond(z: f64) -> f64 {
    let (mut term, mut sum) = (z, z);
    for k in 1..200 {
        term *= -z * z / (2.0 * f64::from(k));
        sum += term / (2.0 * f64::from(k) + 1.0);
    }
    1.0 - (2.0 / std::f64::consts::PI).sqrt() * sum
}

#[test]
fn differences_are_those_of_delong_and_obuchowski() {
    let mut random = Numbers(5);
    for rows in [40, 150] {
        let (y, clusters, [a, b]) = labelled(rows, 12, &mut random);
        let alone: Vec<u32> = (0..rows as u32).collect();
        for of in [&alone, &clusters] {
            let (values, variance) = twin::obuchowski(&[&a, &b], &y, of);
            let truth = Truth::new(&y, &[]).unwrap().clustered(of).unwrap();
            let got = Metrics::compare([&a, &b], truth, Estimate::AUROC).unwrap();
            assert!((got.values[0] - values[0]).abs() < 1e-14 && (got.values[1] - values[1]).abs() < 1e-14);
            assert_eq!(got.difference, got.values[0] - got.values[1]);
            // (Clusters of different sizes count as fewer: by the factor m/(m − 1) alone.)
            let near = if of.len() == rows && std::ptr::eq(of, &alone) { 1e-10 } else { 0.06 };
            let z = (values[0] - values[1]) / variance.sqrt();
            assert!((got.z.unwrap() / z - 1.0).abs() < near, "{rows}: {:?} and {z}", got.z);
        }
        // Without clusters the p-value is the normal one; the second less the first says the same.
        let truth = Truth::new(&y, &[]).unwrap();
        let got = Metrics::compare([&a, &b], truth, Estimate::AUROC).unwrap();
        assert!((got.p.unwrap() - beyond(got.z.unwrap().abs())).abs() < 1e-10, "{got:?}");
        let turned = Metrics::compare([&b, &a], truth, Estimate::AUROC).unwrap();
        assert_eq!((turned.p, turned.z.map(|z| -z)), (got.p, got.z));
    }
}

/// Rows, and what pROC says of them: tests/golden/make_delong.R.
#[test]
fn differences_are_those_of_proc() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("../golden/delong.json")).unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let numbers =
            |key: &str| -> Vec<f64> { case[key].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
        let y: Vec<u8> = numbers("labels").iter().map(|&y| y as u8).collect();
        let found = Metrics::compare([&numbers("a"), &numbers("b")], y[..].into(), Estimate::AUROC).unwrap();
        let near = |got: f64, want: &serde_json::Value, most: f64| {
            let want = want.as_f64().unwrap();
            assert!((got / want - 1.0).abs() < most, "{got} {want}");
        };
        near(found.values[0], &case["aurocs"][0], 1e-12);
        near(found.values[1], &case["aurocs"][1], 1e-12);
        near(found.z.unwrap(), &case["z"], 1e-10);
        near(found.p.unwrap(), &case["p"], 1e-8);
    }
}

/// The interval of a difference leaves 0 out exactly where its p-value is below .05, with and without weights and clusters, of any metric.
#[test]
fn differences_and_p_values_agree() {
    let mut random = Numbers(19);
    let mut told = [0; 2];
    for draw in 0..400 {
        let rows = 24 + random.below(200) as usize;
        let (y, clusters, [a, mut b]) = labelled(rows, rows as u64 / 3, &mut random);
        // Of some the second is better by little, or both are nearly perfect.
        let better = [0.0, 1.0, 3.0, 40.0][draw % 4];
        b.iter_mut().zip(&y).for_each(|(b, &y)| *b += better * f64::from(y));
        let w = weights(rows, &mut random);
        for (weights, clusters) in [(&[][..], &[][..]), (&w, &[]), (&[], &clusters), (&w, &clusters)] {
            let truth = Truth::new(&y, weights).unwrap().clustered(clusters).unwrap();
            let range = FprRange::new(0.0, 0.2).unwrap();
            for of in [Estimate::AUROC, Estimate::Ap, Estimate::Roc(range), Estimate::PrecisionAt(Top::Percent(10.0))] {
                let found = Metrics::compare([&a, &b], truth, of).unwrap();
                let Some((p, Interval { low, high })) = found.p.zip(found.interval) else { continue };
                assert_eq!(p < 0.05, low > 0.0 || high < 0.0, "{found:?}");
                assert!(low <= found.difference && found.difference <= high, "{found:?}");
                told[usize::from(p < 0.05)] += 1;
            }
        }
    }
    assert!(told.iter().all(|&some| some > 500), "{told:?}");
}

#[test]
fn equal_and_perfect_scores_are_compared() {
    let y: Vec<u8> = (0..40).map(|row| u8::from(row >= 30)).collect();
    let truth = Truth::new(&y, &[]).unwrap();
    let perfect: Vec<f64> = (0..40).map(f64::from).collect();
    let other: Vec<f64> = perfect.iter().map(|x| x * x).collect();
    for estimate in [Estimate::AUROC, Estimate::Ap, Estimate::Roc(FprRange::new(0.0, 0.2).unwrap())] {
        let Comparison { difference, interval, z, p, .. } =
            Metrics::compare([&perfect, &other], truth, estimate).unwrap();
        let Interval { low, high } = interval.unwrap();
        assert_eq!((difference, z, p), (0.0, Some(0.0), Some(1.0)));
        assert!(low < -0.05 && (low + high).abs() < 1e-12, "{low} {high}");
        // And against the worst: no deviation is seen, so there is no p-value; the interval still says it.
        let worst: Vec<f64> = perfect.iter().map(|x| -x).collect();
        let apart = Metrics::compare([&perfect, &worst], truth, estimate).unwrap();
        assert!(apart.interval.unwrap().low > 0.2, "{apart:?}");
        if estimate == Estimate::AUROC {
            assert_eq!((apart.p, apart.difference), (None, 1.0));
        }
    }
    assert_eq!(
        Metrics::compare([&perfect, &other[1..]], truth, Estimate::Ap).unwrap_err(),
        Error::Length { what: "scores of the second", need: 40, got: 39 }
    );
}

/// Equal weights and clusters of one row change nothing, nor does the order of the rows or the unit of the weights; a row of weight 0 is none; and
/// states, merged from any parts, say the same, to the last bit.
#[test]
fn weights_clusters_orders_and_states() {
    let mut random = Numbers(41);
    let range = FprRange::new(0.02, 0.3).unwrap();
    let all = |s: &[f64], truth: Truth<'_>| Metrics::new().intervals(s, truth, range).unwrap();
    let near = |a: Intervals, b: Intervals| {
        for (a, b) in [(a.auroc, b.auroc), (a.ap, b.ap), (a.pauc, b.pauc)] {
            let (a, b) = (a.unwrap(), b.unwrap());
            assert!((a.low - b.low).abs() < 1e-9 && (a.high - b.high).abs() < 1e-9, "{a:?} {b:?}");
        }
    };
    for kind in [Kind::Spread, Kind::Ties] {
        let (s, y) = example::<f64>(kind, 300, 0.3, &mut random);
        let plain = all(&s, y[..].into());
        near(all(&s, Truth::new(&y, &[2.5; 300]).unwrap()), plain);
        let own: Vec<u32> = (0..300).rev().collect();
        near(all(&s, Truth::from(&y[..]).clustered(&own).unwrap()), plain);
        let mut w = weights(300, &mut random);
        w[7] = 0.0;
        let weighed = all(&s, Truth::new(&y, &w).unwrap());
        assert!(
            weighed.auroc.unwrap().high - weighed.auroc.unwrap().low
                > plain.auroc.unwrap().high - plain.auroc.unwrap().low
        );
        let thrice: Vec<f64> = w.iter().map(|w| 3.0 * w).collect();
        near(all(&s, Truth::new(&y, &thrice).unwrap()), weighed);
        let without = |row: usize| row != 7;
        let keep = |of: &[f64]| (0..300).filter(|&row| without(row)).map(|row| of[row]).collect::<Vec<f64>>();
        let labels: Vec<u8> = (0..300).filter(|&row| without(row)).map(|row| y[row]).collect();
        assert_eq!(all(&keep(&s), Truth::new(&labels, &keep(&w)).unwrap()), weighed);
        // In another order.
        let turned = |of: &[f64]| of.iter().rev().copied().collect::<Vec<f64>>();
        let labels: Vec<u8> = y.iter().rev().copied().collect();
        assert_eq!(all(&turned(&s), Truth::new(&labels, &turned(&w)).unwrap()), weighed);
        assert_eq!(all(&turned(&s), labels[..].into()), plain);
        for (w, expected) in [(&w[..], weighed), (&[][..], plain)] {
            let (mut one, mut two) = (State::new(), State::new());
            for row in 0..300 {
                let state = if random.below(2) == 0 { &mut one } else { &mut two };
                state.update(&s[row..=row], &y[row..=row], w.get(row..=row).unwrap_or(&[])).unwrap();
            }
            one.merge(&two).unwrap();
            assert_eq!(one.intervals(range).unwrap(), expected);
        }
        // Rows that come ten times over tell no more than once.
        let (ten_s, ten_y): (Vec<f64>, Vec<u8>) = (0..3000).map(|k| (s[k / 10], y[k / 10])).unzip();
        let ten: Vec<u32> = (0..3000).map(|k| k / 10).collect();
        near(all(&ten_s, Truth::from(&ten_y[..]).clustered(&ten).unwrap()), plain);
        let [narrow, wide] =
            [all(&ten_s, ten_y[..].into()), plain].map(|of| of.auroc.unwrap()).map(|ends| ends.high - ends.low);
        assert!(narrow < 0.4 * wide, "{narrow} {wide}");
    }
}

#[test]
fn one_row_or_cluster_of_a_class_has_no_interval() {
    let mut metrics = Metrics::<f64>::new();
    let mut of = |s: &[f64], y: &[u8], clusters: &[u32]| {
        metrics.intervals(s, Truth::from(y).clustered(clusters).unwrap(), FprRange::FULL)
    };
    assert_eq!(of(&[1.0, 2.0, 3.0, 4.0], &[0, 1, 0, 0], &[]), Ok(Intervals::default()));
    assert_eq!(of(&[1.0, 2.0], &[1, 1], &[]), Err(Error::OneClass));
    let (s, y) = ([1.0, 2.0, 3.0, 2.5, 0.0, 1.0], [1, 1, 1, 0, 0, 0]);
    assert_eq!(of(&s, &y, &[4; 6]), Ok(Intervals::default()));
    assert_eq!(of(&s, &y, &[4, 4, 4, 5, 6, 7]), Ok(Intervals::default()));
    assert!(of(&s, &y, &[4, 5, 4, 5, 6, 7]).unwrap().auroc.is_some());
    assert!(matches!(Truth::from(&y[..]).clustered(&[1]), Err(Error::Length { what: "clusters", .. })));
    assert_eq!(interval(Estimate::AUROC, &[run(2, 3)], &mut []), Err(Error::Length { what: "out", need: 1, got: 0 }));
    assert_eq!(interval(Estimate::AUROC, &[run(0, 3)], &mut [[0.0; 2]]), Err(Error::OneClass));
}

/// Abramowitz and Stegun, table 26.10.
#[test]
fn quantiles_are_those_of_the_tables() {
    for (freedom, expected) in [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (4, 2.776),
        (5, 2.571),
        (8, 2.306),
        (9, 2.262),
        (10, 2.228),
        (30, 2.042),
        (1 << 40, 1.962),
    ] {
        assert!((student(freedom) - expected).abs() < 5.1e-4, "{freedom}: {}", student(freedom));
    }
}

/// Of so many draws of `n` rows, positives with this share and normal scores a deviation of 1 and `apart` higher: how often
/// the intervals of AUROC, AP and pAUC hold the values of a million rows.
fn coverage(draws: u64, n: usize, share: f64, apart: f64, range: FprRange) -> [f64; 3] {
    let normal = |random: &mut Numbers| {
        (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
    };
    let draw = |n: usize, random: &mut Numbers| -> (Vec<f64>, Vec<u8>) {
        (0..n)
            .map(|_| {
                let positive = random.unit() < share;
                (normal(random) + if positive { apart } else { 0.0 }, u8::from(positive))
            })
            .unzip()
    };
    let (scores, labels) = draw(1_000_000, &mut Numbers(1 << 40));
    let truth = Metrics::new().summary(&scores, &labels, range).unwrap();
    let mut held = [0.0; 3];
    for seed in 0..draws {
        let (scores, labels) = draw(n, &mut Numbers(seed << 20));
        let got = Metrics::new().intervals(&scores, labels[..].into(), range).unwrap();
        for (k, (interval, truth)) in
            [(got.auroc, truth.auroc), (got.ap, truth.ap), (got.pauc, truth.pauc)].into_iter().enumerate()
        {
            let holds = interval.is_some_and(|interval| interval.low <= truth && truth <= interval.high);
            held[k] += f64::from(u8::from(holds)) / draws as f64;
        }
    }
    held
}

#[test]
fn intervals_hold_the_truth_about_as_often_as_they_say() {
    let held = coverage(200, 500, 0.2, 1.5, FprRange::new(0.0, 0.1).unwrap());
    // Three standard errors of 200 draws.
    assert!(held.iter().all(|&share| (share - 0.95).abs() < 0.047), "{held:?}");
}
