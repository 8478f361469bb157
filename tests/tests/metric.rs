//! Exact metrics against their naive twins, against scikit-learn's figures, and on bad input.

use undercurve::metric::group::{self, GroupSummary};
use undercurve::metric::{
    Cells, Confusion, Costs, FprRange, Gap, MAX_GROUPS, Metrics, PrPoint, Rate, RocPoint, TieRule, auroc, cells_need,
    mcclish, multiclass, need, pairs_of_groups, partial_auc, partial_auc_two_way, pr_curve, roc_curve, summary,
};
use undercurve::{Error, Need, Real, Scratch};
use undercurve_tests::metric as twin;

/// SplitMix64, as tests/golden/make_metrics.py has it.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The kinds of scores worth trying.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Spread,
    /// Few distinct values, both zeros among them.
    Ties,
    Constant,
    /// All but one in a narrow band, the last far away.
    Outlier,
    Clusters,
    /// Over the whole range of the type.
    Extreme,
}
const KINDS: [Kind; 6] = [Kind::Spread, Kind::Ties, Kind::Constant, Kind::Outlier, Kind::Clusters, Kind::Extreme];

pub(crate) fn example<T: Real>(kind: Kind, n: usize, share: f64, random: &mut Numbers) -> (Vec<T>, Vec<u8>) {
    let mut labels: Vec<u8> = (0..n).map(|_| u8::from(random.unit() < share)).collect();
    labels[0] = 1;
    labels[n - 1] = 0;
    let scores = (0..n)
        .map(|i| {
            let shift = f64::from(labels[i]) * 0.3;
            let x = random.unit() + shift;
            T::of(match kind {
                Kind::Spread => x * 4.0 - 2.0,
                Kind::Ties => {
                    let level = (x * 6.0) as i32 - 3;
                    if level == 0 && random.below(2) == 0 { -0.0 } else { f64::from(level) }
                }
                Kind::Constant => 1.5,
                Kind::Outlier if i == n / 2 => 1e30,
                Kind::Outlier => 1000.0 + x * 1e-2,
                Kind::Clusters => x * 0.1 + 1e4 * random.below(2) as f64,
                Kind::Extreme => (x - 0.6) * 1.2 * T::MAX.f64(),
            })
        })
        .collect();
    (scores, labels)
}

struct Memory<T>(Vec<T>, Vec<f64>, Vec<u32>, Vec<u64>);
impl<T: Real> Memory<T> {
    fn new(need: Need) -> Self {
        Self(vec![T::ONE; need.real], vec![7.0; need.f64], vec![9; need.u32], vec![11; need.u64])
    }
    fn lend(&mut self) -> Scratch<'_, T> {
        Scratch { real: &mut self.0, f64: &mut self.1, u32: &mut self.2, u64: &mut self.3 }
    }
}

#[track_caller]
fn close(got: f64, want: f64, what: &str) {
    assert!((got - want).abs() <= 1e-12, "{what}: {got} but the definition gives {want}");
}

/// Every binary metric of one input against its twin.
fn against_twins<T: Real>(scores: &[T], labels: &[u8], random: &mut Numbers) {
    let wide: Vec<f64> = scores.iter().map(|s| s.f64()).collect();
    let mut metrics = Metrics::new();
    let counts = metrics.pair_counts(scores, labels).unwrap();
    close(counts.auroc(), twin::auroc(&wide, labels, 0.5), "auroc");
    close(counts.strict(), twin::auroc(&wide, labels, 0.0), "strict auroc");
    close(counts.lenient(), twin::auroc(&wide, labels, 1.0), "lenient auroc");
    assert_eq!(metrics.auroc(scores, labels), Ok(counts.auroc()));
    let ap = metrics.average_precision(scores, labels).unwrap();
    close(ap, twin::average_precision(&wide, labels), "ap");

    let full = metrics.partial_auc(scores, labels, FprRange::FULL, TieRule::Trapezoid);
    assert_eq!(full, Ok(counts.auroc()), "pAUC over [0, 1] is AUROC to the last bit");
    let mut ends = [random.unit(), random.unit()];
    ends.sort_by(f64::total_cmp);
    for most in [0.0, ends[0], ends[1], 1.0] {
        // Every score as a threshold, and one above all.
        let rates = |at: f64| {
            let share = |class| {
                let rows: Vec<f64> = wide.iter().zip(labels).filter(|(_, y)| **y == class).map(|(s, _)| *s).collect();
                rows.iter().filter(|&&s| s >= at).count() as f64 / rows.len() as f64
            };
            (share(0), share(1))
        };
        let best = wide.iter().copied().chain([f64::INFINITY]).map(rates).filter(|rates| rates.0 <= most);
        let best = best.fold(0.0, |best: f64, (_, tpr)| best.max(tpr));
        let got = metrics.point_at_fpr(scores, labels, most).unwrap();
        assert_eq!((got.fpr, got.tpr), rates(got.threshold));
        assert!(got.fpr <= most && got.tpr == best, "{got:?} {best}");
    }
    for (low, high) in [(0.0, 0.5), (ends[0], ends[1]), (0.25, 1.0)] {
        if high - low < 1e-3 {
            continue;
        }
        let range = FprRange::new(low, high).unwrap();
        let mut pauc = |rule| metrics.partial_auc(scores, labels, range, rule).unwrap();
        close(pauc(TieRule::Half), twin::pair_area(&wide, labels, 0.0, low, high, 0.5), "pauc half");
        close(pauc(TieRule::Strict), twin::pair_area(&wide, labels, 0.0, low, high, 0.0), "pauc strict");
        let area = pauc(TieRule::Trapezoid);
        close(area, twin::curve_area(&wide, labels, 0.0, low, high), "pauc trapezoid");

        let report = metrics.summary(scores, labels, range).unwrap();
        assert_eq!((report.auroc, report.ap, report.pauc), (counts.auroc(), ap, area));
        let right = (0..wide.len()).filter(|&i| (wide[i] >= 0.0) == (labels[i] == 1)).count();
        close(report.accuracy, right as f64 / wide.len() as f64, "accuracy");

        for (floor, low) in [(low, 0.0), (low, low), (0.0, low), (0.3, low), (0.6, low)] {
            let range = FprRange::new(low, high).unwrap();
            let mut two = |rule| metrics.partial_auc_two_way(scores, labels, floor, range, rule).unwrap();
            close(two(TieRule::Half), twin::pair_area(&wide, labels, floor, low, high, 0.5), "two-way half");
            close(two(TieRule::Strict), twin::pair_area(&wide, labels, floor, low, high, 0.0), "two-way strict");
            close(two(TieRule::Trapezoid), twin::curve_area(&wide, labels, floor, low, high), "two-way trapezoid");
        }
    }

    let roc = metrics.roc_curve(scores, labels, None).unwrap();
    assert_eq!((roc[0].threshold, roc[0].fpr, roc[0].tpr), (f64::INFINITY, 0.0, 0.0));
    let points: Vec<_> = roc[1..].iter().map(|p| (p.threshold, p.fpr, p.tpr)).collect();
    assert_eq!(points, twin::roc(&wide, labels));
    let pr = metrics.pr_curve(scores, labels, None).unwrap();
    let points: Vec<_> = pr.iter().map(|p| (p.threshold, p.recall, p.precision)).collect();
    assert_eq!(points, twin::pr(&wide, labels));

    for most in [4, 9, 64] {
        let thin = metrics.roc_curve(scores, labels, Some(most)).unwrap();
        assert_eq!((thin[0], thin[thin.len() - 1]), (roc[0], roc[roc.len() - 1]));
        assert!(thin.len() <= most && is_part_of(&thin, &roc));
        let top = |curve: &[RocPoint]| curve.iter().map(|p| p.tpr - p.fpr).fold(f64::MIN, f64::max);
        assert_eq!(top(&thin), top(&roc), "the point farthest from chance stays");
        let thin = metrics.pr_curve(scores, labels, Some(most)).unwrap();
        assert_eq!((thin[0], thin[thin.len() - 1]), (pr[0], pr[pr.len() - 1]));
        assert!(thin.len() <= most && is_part_of(&thin, &pr));
        let top = |curve: &[PrPoint]| curve.iter().map(|p| p.precision).fold(f64::MIN, f64::max);
        assert_eq!(top(&thin), top(&pr), "the most precise point stays");
    }

    for bound in [0.0, ends[0], 0.5, ends[1], 1.0] {
        let precision = metrics.precision_at_recall(scores, labels, bound).unwrap();
        assert_eq!(precision, twin::precision_at_recall(&wide, labels, bound));
        let recall = metrics.recall_at_precision(scores, labels, bound).unwrap();
        assert_eq!(recall, twin::recall_at_precision(&wide, labels, bound));
    }
}

/// `some` in the order of `all`, each once.
fn is_part_of<P: PartialEq>(some: &[P], all: &[P]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|point| rest.any(|other| other == point))
}

#[test]
fn small_inputs_match_the_twins() {
    let mut random = Numbers(1);
    for round in 0..150 {
        for kind in KINDS {
            let n = 2 + random.below(if round < 50 { 4 } else { 40 }) as usize;
            let share = random.unit();
            let (scores, labels) = example::<f64>(kind, n, share, &mut random);
            against_twins(&scores, &labels, &mut random);
            let (scores, labels) = example::<f32>(kind, n, share, &mut random);
            against_twins(&scores, &labels, &mut random);
        }
    }
}

#[test]
fn large_inputs_match_the_twins() {
    // Shares and sizes on both sides of every choice between two ways of ordering.
    let mut random = Numbers(2);
    for kind in KINDS {
        for share in [0.002, 0.1, 0.24, 0.5, 0.95] {
            let (scores, labels) = example::<f32>(kind, 700, share, &mut random);
            against_twins(&scores, &labels, &mut random);
            let (scores, labels) = example::<f64>(kind, 600, share, &mut random);
            against_twins(&scores, &labels, &mut random);
        }
    }
}

/// Both roads to the runs, and radix sort against the standard library's, where the twins would be too slow.
#[test]
fn counts_of_larger_inputs_match_a_plain_sort() {
    let mut random = Numbers(3);
    for kind in KINDS {
        for share in [0.01, 0.2, 0.26, 0.7] {
            let (scores, labels) = example::<f64>(kind, 20_000, share, &mut random);
            let mut order: Vec<usize> = (0..scores.len()).collect();
            order.sort_by(|&a, &b| scores[b].partial_cmp(&scores[a]).unwrap());
            let (mut above, mut wins, mut ties) = (0u64, 0u64, 0u64);
            for group in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
                let positives = group.iter().filter(|&&i| labels[i] == 1).count() as u64;
                let negatives = group.len() as u64 - positives;
                wins += negatives * above;
                ties += negatives * positives;
                above += positives;
            }
            let counts = Metrics::new().pair_counts(&scores, &labels).unwrap();
            assert_eq!((counts.wins, counts.ties), (wins, ties), "{kind:?} {share}");
        }
    }
}

#[test]
fn tie_rules_differ_where_a_boundary_splits_a_tie() {
    let (scores, labels) = ([1.0f32; 4], [1, 0, 1, 0]);
    let range = FprRange::new(0.0, 0.5).unwrap();
    let mut metrics = Metrics::new();
    let mut pauc = |rule| metrics.partial_auc(&scores, &labels, range, rule).unwrap();
    assert_eq!([pauc(TieRule::Trapezoid), pauc(TieRule::Half), pauc(TieRule::Strict)], [0.25, 0.5, 0.0]);
}

#[test]
fn extreme_orderings() {
    let mut metrics = Metrics::<f32>::new();
    let range = FprRange::new(0.2, 0.7).unwrap();
    let perfect = metrics.summary(&[-1.0, -0.5, 1.0, 2.0], &[0, 0, 1, 1], range).unwrap();
    assert_eq!((perfect.auroc, perfect.ap, perfect.accuracy), (1.0, 1.0, 1.0));
    close(perfect.pauc, 1.0, "pauc of a perfect ordering");
    let worst = metrics.summary(&[2.0, 1.0, -0.5, -1.0], &[0, 0, 1, 1], range).unwrap();
    assert_eq!((worst.auroc, worst.pauc, worst.accuracy), (0.0, 0.0, 0.0));
    close(worst.ap, (1.0 / 3.0 + 0.5) / 2.0, "ap of the worst ordering");
    // −0 and +0 are one score; subnormals are not zero.
    assert_eq!(metrics.auroc(&[-0.0, 0.0], &[0, 1]), Ok(0.5));
    assert_eq!(metrics.auroc(&[0.0, f32::from_bits(1)], &[0, 1]), Ok(1.0));
    assert_eq!(metrics.auroc(&[f32::MIN, f32::MAX], &[0, 1]), Ok(1.0));
}

#[test]
fn bad_input_is_an_error_and_changes_no_output() {
    let mut metrics = Metrics::<f64>::new();
    for wrong in [-0.1, 1.1, f64::NAN] {
        let error = metrics.point_at_fpr(&[1.0, 2.0], &[0, 1], wrong);
        assert_eq!(error, Err(Error::Param { what: "fpr" }));
    }
    let one = |m: &mut Metrics<f64>, s: &[f64], y: &[u8]| m.summary(s, y, FprRange::FULL).map(|r| r.auroc);
    assert_eq!(one(&mut metrics, &[], &[]), Err(Error::Empty { what: "scores" }));
    assert_eq!(one(&mut metrics, &[1.0], &[1]), Err(Error::OneClass));
    assert_eq!(one(&mut metrics, &[1.0, 2.0], &[0, 0]), Err(Error::OneClass));
    assert_eq!(one(&mut metrics, &[1.0, 2.0], &[0]), Err(Error::Length { what: "labels", need: 2, got: 1 }));
    assert_eq!(one(&mut metrics, &[1.0, 2.0, 3.0], &[0, 1, 2]), Err(Error::Label { at: 2 }));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for at in [0, 1, 16, 40, 599] {
            let mut scores = vec![0.5; 600];
            scores[at] = bad;
            let labels: Vec<u8> = (0..600).map(|i| u8::from(i % 10 == 0)).collect();
            assert_eq!(one(&mut metrics, &scores, &labels), Err(Error::NonFinite { what: "scores", at }));
            assert!(metrics.roc_curve(&scores, &labels, None).is_err());
        }
    }
    for (low, high) in [(0.5, 0.5), (0.6, 0.5), (-0.1, 0.5), (0.5, 1.1), (f64::NAN, 0.5), (0.1, f64::NAN)] {
        assert_eq!(FprRange::new(low, high), Err(Error::Param { what: "fpr" }));
    }
    let (scores, labels) = ([0.1, 0.4, 0.3], [0u8, 1, 0]);
    for bad in [-0.1, 1.1, f64::NAN] {
        assert_eq!(metrics.precision_at_recall(&scores, &labels, bad), Err(Error::Param { what: "recall" }));
        assert_eq!(metrics.recall_at_precision(&scores, &labels, bad), Err(Error::Param { what: "precision" }));
        let two = |m: &mut Metrics<f64>, a| m.partial_auc_two_way(&scores, &labels, a, FprRange::FULL, TieRule::Half);
        assert_eq!(two(&mut metrics, bad), Err(Error::Param { what: "min_tpr" }));
        assert_eq!(two(&mut metrics, 1.0), Err(Error::Param { what: "min_tpr" }));
    }
    assert_eq!(Confusion::at(&scores, &labels, f64::NAN), Err(Error::Param { what: "threshold" }));

    // Scratch or output too short by one: an error, and the output untouched.
    let mark = RocPoint { threshold: 7.0, fpr: 7.0, tpr: 7.0 };
    let mut out = vec![mark; 4];
    let mut memory = Memory::new(need(3));
    let short = roc_curve(&scores, &labels, memory.lend(), &mut out[..3]);
    assert_eq!(short, Err(Error::Length { what: "out", need: 4, got: 3 }));
    let short = roc_curve(&scores, &labels, Scratch { u64: &mut [0; 5], ..Scratch::default() }, &mut out);
    assert_eq!(short, Err(Error::Length { what: "scratch.u64", need: 6, got: 5 }));
    assert_eq!(roc_curve(&scores, &[1, 1, 1], memory.lend(), &mut out), Err(Error::OneClass));
    assert!(out.iter().all(|point| *point == mark));
    let mut out = vec![PrPoint::default(); 2];
    let short = pr_curve(&scores, &labels, memory.lend(), &mut out);
    assert_eq!(short, Err(Error::Length { what: "out", need: 3, got: 2 }));
}

/// Exactly the scratch that `need` names is enough at every size around the switches.
#[test]
fn need_is_enough() {
    let mut random = Numbers(4);
    for n in (2..40).chain(500..530).chain([1023, 1024, 1025, 2047, 2048, 2049, 4097, 65_537]) {
        for share in [0.0, 0.1, 0.25, 0.6] {
            let (scores, labels) = example::<f32>(Kind::Spread, n, share, &mut random);
            let mut memory = Memory::new(need(n));
            let got = auroc(&scores, &labels, memory.lend()).unwrap();
            assert_eq!(Metrics::new().auroc(&scores, &labels), Ok(got));
            assert!(partial_auc(&scores, &labels, FprRange::FULL, TieRule::Half, memory.lend()).is_ok());
            assert!(partial_auc_two_way(&scores, &labels, 0.1, FprRange::FULL, TieRule::Half, memory.lend()).is_ok());
            assert!(summary(&scores, &labels, FprRange::FULL, memory.lend()).is_ok());
        }
    }
}

#[test]
fn multiclass_matches_the_twin() {
    let mut random = Numbers(5);
    for round in 0..60 {
        let classes = 2 + random.below(4) as usize;
        let rows = classes + random.below(40) as usize;
        let labels: Vec<u32> =
            (0..rows).map(|i| if i < classes { i as u32 } else { random.below(classes as u64) as u32 }).collect();
        let levels = [3.0, 1e6, 1.0][round % 3];
        let scores: Vec<f32> = (0..rows * classes).map(|_| (random.unit() * levels) as u32 as f32).collect();
        let wide: Vec<f64> = scores.iter().map(|&s| f64::from(s)).collect();
        let mut memory = Memory::new(multiclass::need(rows, classes));
        for (ties, tied) in [(multiclass::Ties::Half, 0.5), (multiclass::Ties::Lose, 0.0), (multiclass::Ties::Win, 1.0)]
        {
            let got = multiclass::auc(&scores, classes, &labels, ties, memory.lend()).unwrap();
            let want = twin::multiclass(&wide, classes, &labels, tied);
            close(got.hand_till, want.0, "Hand and Till");
            close(got.one_vs_rest, want.1, "one-vs-rest");
        }
    }
    let mut memory = Memory::<f64>::new(multiclass::need(3, 3));
    let mut auc = |s: &[f64], c: usize, y: &[u32]| multiclass::auc(s, c, y, multiclass::Ties::Half, memory.lend());
    assert_eq!(auc(&[0.0; 9], 3, &[0, 1, 1]), Err(Error::OneClass));
    assert_eq!(auc(&[0.0; 9], 3, &[0, 1, 3]), Err(Error::Label { at: 2 }));
    assert_eq!(auc(&[0.0; 8], 3, &[0, 1, 2]), Err(Error::Length { what: "scores", need: 9, got: 8 }));
    assert_eq!(auc(&[0.0; 3], 1, &[0, 0, 0]), Err(Error::Param { what: "classes" }));
    assert_eq!(auc(&[], 3, &[]), Err(Error::Empty { what: "scores" }));
    assert_eq!(auc(&[0.0, f64::NAN, 0.0, 0.0], 2, &[0, 1]), Err(Error::NonFinite { what: "scores", at: 1 }));
}

#[test]
fn group_metrics_match_the_twins() {
    let mut random = Numbers(6);
    for kind in KINDS {
        for n in [8, 30, 900] {
            let (scores, labels) = example::<f32>(kind, n, 0.4, &mut random);
            let groups: Vec<u32> = (0..n).map(|_| random.below(2) as u32).collect();
            let threshold = scores[n / 3];
            let mut cells = [Confusion::default(); 3];
            group::rates(&scores, &labels, &groups, threshold, &mut cells).unwrap();
            for (g, cell) in cells.iter().enumerate() {
                let count = |label: u8, hit: bool| {
                    let is =
                        |i: usize| groups[i] as usize == g && labels[i] == label && (scores[i] >= threshold) == hit;
                    (0..n).filter(|&i| is(i)).count() as u64
                };
                let want = Confusion {
                    true_positives: count(1, true),
                    false_positives: count(0, true),
                    true_negatives: count(0, false),
                    false_negatives: count(1, false),
                };
                assert_eq!(*cell, want);
            }
            assert_eq!(
                (cells[2].accuracy(), cells[2].tpr(), cells[2].fpr(), cells[2].precision()),
                (None, None, None, None)
            );
            let far = group::rates(&scores, &labels, &vec![3; n], threshold, &mut cells);
            assert_eq!(far, Err(Error::Index { what: "groups", at: 0, len: 3 }));
        }
    }
}

#[test]
fn gaps_between_groups_match_the_twins() {
    let mut random = Numbers(16);
    let (mut compared, mut empty) = (0, 0);
    for kind in KINDS {
        for (n, count) in [(8, 2), (30, 5), (60, 3), (400, 4)] {
            let (scores, labels) = example::<f32>(kind, n, 0.4, &mut random);
            // The last group is rare, and now and then empty.
            let groups: Vec<u32> = (0..n).map(|_| (random.below(8 * count) / 8) as u32).collect();
            let groups: Vec<u32> =
                groups.iter().map(|&g| if g + 1 == count as u32 && random.below(3) > 0 { 0 } else { g }).collect();
            let wide: Vec<f64> = scores.iter().map(|&s| f64::from(s)).collect();
            let mut memory = Memory::new(cells_need(n, count as usize));
            let mut cells = Cells::new(&scores, &labels, &groups, count as usize, memory.lend()).unwrap();
            let pairs: Vec<[u32; 2]> =
                (0..count as u32).flat_map(|a| (a + 1..count as u32).map(move |b| [a, b])).collect();
            assert_eq!(pairs.len(), pairs_of_groups(count as usize));
            for (rate, class) in [(Rate::Tpr, 1), (Rate::Fpr, 0)] {
                let rows = |group: u32| (0..n).filter(|&i| labels[i] == class && groups[i] == group).count() as f64;
                for level in [None, Some(0.0), Some(0.1), Some(0.5), Some(1.0)] {
                    let mut gaps = vec![Gap::default(); pairs.len()];
                    match level {
                        None => cells.gaps(rate, &mut gaps).unwrap(),
                        Some(level) => cells.gaps_at(rate, level, &mut gaps).unwrap(),
                    }
                    for (gap, &pair) in gaps.iter().zip(&pairs) {
                        let sizes = pair.map(rows);
                        assert_eq!((gap.groups, gap.rows.map(|n| n as f64)), (pair, sizes));
                        if sizes.contains(&0.0) {
                            empty += 1;
                            assert_eq!(
                                (gap.value, gap.noise, gap.upper, gap.threshold),
                                (0.0, f64::INFINITY, 1.0, f64::INFINITY)
                            );
                            continue;
                        }
                        compared += 1;
                        let want = match level {
                            None => twin::gap(&wide, &labels, &groups, class, pair),
                            Some(level) => twin::gap_at(&wide, &labels, &groups, class, pair, level),
                        };
                        close(gap.value, want, "gap");
                        let both = |t: f64| {
                            let of = |i: &usize| labels[*i] == class && pair.contains(&groups[*i]);
                            (0..n).filter(of).filter(|&i| wide[i] >= t).count() as f64 / (sizes[0] + sizes[1])
                        };
                        let p = (both(gap.threshold) * (sizes[0] + sizes[1]) + 2.0) / (sizes[0] + sizes[1] + 4.0);
                        let scale = (1.0 / sizes[0] + 1.0 / sizes[1]).sqrt();
                        let noise = if level.is_none() { 1.36 * scale } else { 1.96 * (p * (1.0 - p)).sqrt() * scale };
                        close(gap.noise, noise, "noise");
                        // By every threshold, or the one.
                        let end = |t: f64| {
                            let above = pair.map(|g| {
                                let of = |i: &usize| labels[*i] == class && groups[*i] == g && wide[*i] >= t;
                                ((0..n).filter(of).count() as f64 + 1.0) / (rows(g) + 2.0)
                            });
                            let of = |g: usize| above[g] * (1.0 - above[g]) / (sizes[g] + 2.0);
                            (above[0] - above[1]).abs() + 1.645 * (of(0) + of(1)).sqrt()
                        };
                        let all = wide.iter().map(|&t| end(t)).fold(0.0, f64::max);
                        let upper = if level.is_none() { all } else { end(gap.threshold) };
                        close(gap.upper, upper.clamp(gap.value, 1.0), "upper end");
                        // Where the gap is said to be it is.
                        let there = pair.map(|g| {
                            let of = |i: &usize| labels[*i] == class && groups[*i] == g && wide[*i] >= gap.threshold;
                            (0..n).filter(of).count() as f64 / rows(g)
                        });
                        close((there[0] - there[1]).abs(), gap.value, "gap at its threshold");
                    }
                    let there = gaps.iter().filter(|gap| !gap.rows.contains(&0)).map(|gap| gap.value);
                    let worst = there.fold(None, |a: Option<f64>, b| Some(a.map_or(b, |a| a.max(b))));
                    assert_eq!(Gap::worst(&gaps).map(|gap| gap.value), worst);
                }
            }
            let mut summaries = vec![GroupSummary::default(); count as usize];
            let threshold = scores[n / 3];
            group::summaries(&scores, &labels, &groups, threshold, memory.lend(), &mut summaries).unwrap();
            let mut counts = vec![Confusion::default(); count as usize];
            group::rates(&scores, &labels, &groups, threshold, &mut counts).unwrap();
            for (g, summary) in summaries.iter().enumerate() {
                let of: Vec<usize> = (0..n).filter(|&i| groups[i] as usize == g).collect();
                let s: Vec<f64> = of.iter().map(|&i| wide[i]).collect();
                let y: Vec<u8> = of.iter().map(|&i| labels[i]).collect();
                assert_eq!(summary.counts, counts[g]);
                match summary.auroc {
                    Some(auroc) => close(auroc, twin::auroc(&s, &y, 0.5), "AUROC of a group"),
                    None => assert!(!(y.contains(&0) && y.contains(&1))),
                }
                match summary.loss {
                    // (e^1000 has no logarithm in the twin.)
                    Some(loss) if s.iter().all(|s| s.abs() < 500.0) => close(loss, twin::logistic_loss(&s, &y), "loss"),
                    Some(loss) => assert!(loss >= 0.0),
                    None => assert!(s.is_empty()),
                }
            }
            let worst = group::least(summaries.iter().map(|summary| summary.counts.accuracy())).unwrap();
            assert!(summaries.iter().all(|summary| summary.counts.accuracy().is_none_or(|a| a >= worst.1)));
            assert_eq!(summaries[worst.0].counts.accuracy(), Some(worst.1));
            let worst = group::largest(summaries.iter().map(|summary| summary.loss)).unwrap();
            assert!(summaries.iter().all(|summary| summary.loss.is_none_or(|a| a <= worst.1)));
        }
    }
    assert!(compared > 300 && empty > 10, "{compared} gaps compared, {empty} empty");
    assert_eq!(group::largest([None, None]), None);
    assert_eq!(group::least([None, Some(2.0), Some(1.0), Some(1.0)]), Some((2, 1.0)));
}

#[test]
fn cells_refuse_what_they_cannot_take() {
    let mut memory = Memory::<f64>::new(cells_need(4, 2));
    let mut cells = |s: &[f64], y: &[u8], g: &[u32], count: usize| {
        Cells::new(s, y, g, count, memory.lend()).map(|_| ()).unwrap_err()
    };
    let (s, y, g) = ([0.0, 1.0, 2.0, 3.0], [0, 1, 0, 1], [0, 0, 1, 1]);
    assert_eq!(cells(&s, &y, &g, 0), Error::Param { what: "groups" });
    assert_eq!(cells(&s, &y, &g, MAX_GROUPS + 1), Error::Param { what: "groups" });
    assert_eq!(cells(&[], &[], &[], 2), Error::Empty { what: "scores" });
    assert_eq!(cells(&s, &y, &[0, 1, 0], 2), Error::Length { what: "groups", need: 4, got: 3 });
    assert_eq!(cells(&s, &y, &[0, 1, 2, 0], 2), Error::Index { what: "groups", at: 2, len: 2 });
    assert_eq!(cells(&s, &[0, 1, 2, 0], &g, 2), Error::Label { at: 2 });
    assert_eq!(cells(&[0.0, f64::NAN, 0.0, 0.0], &y, &g, 2), Error::NonFinite { what: "scores", at: 1 });
    assert!(matches!(cells(&s, &y, &g, 30), Error::Length { .. }));
    // One label is accepted, of which every gap can be told; the other has none.
    let mut cells = Cells::new(&s, &[1; 4], &g, 2, memory.lend()).unwrap();
    let mut out = [Gap::default()];
    assert_eq!(cells.gaps(Rate::Tpr, &mut []), Err(Error::Length { what: "out", need: 1, got: 0 }));
    cells.gaps(Rate::Tpr, &mut out).unwrap();
    assert_eq!((out[0].value, out[0].threshold, Gap::worst(&out)), (1.0, 2.0, Some(out[0])));
    cells.gaps(Rate::Fpr, &mut out).unwrap();
    assert_eq!((out[0].value, out[0].noise, Gap::worst(&out)), (0.0, f64::INFINITY, None));
    assert_eq!(cells.gaps_at(Rate::Tpr, 0.1, &mut out), Err(Error::Empty { what: "negatives" }));
    assert_eq!(cells.gaps_at(Rate::Tpr, 1.1, &mut out), Err(Error::Param { what: "fpr" }));
    assert_eq!(
        group::summaries(&[1e308f64, 1e308], &[0, 0], &[0, 0], 0.0, memory.lend(), &mut [GroupSummary::default()]),
        Err(Error::Overflow { what: "losses" })
    );
}

#[test]
fn confusion_counts() {
    let all = Confusion::at(&[0.5f32, -0.5, 0.5, -0.5, 0.0], &[1, 1, 0, 0, 1], 0.0).unwrap();
    assert_eq!((all.true_positives, all.false_positives, all.true_negatives, all.false_negatives), (2, 1, 1, 1));
    assert_eq!(
        (all.accuracy(), all.tpr(), all.fpr(), all.precision()),
        (Some(0.6), Some(2.0 / 3.0), Some(0.5), Some(2.0 / 3.0))
    );
    let single = Confusion::at(&[0.5f64], &[1], f64::INFINITY).unwrap();
    assert_eq!((single.accuracy(), single.tpr(), single.fpr()), (Some(0.0), Some(0.0), None));
}

#[test]
fn cvar_is_the_mean_of_the_worst() {
    let mut random = Numbers(7);
    for n in [1, 2, 7, 30] {
        let losses: Vec<f64> = (0..n).map(|_| random.unit() * 10.0 - 5.0).collect();
        let mut memory = Memory::<f64>::new(group::cvar_need(n));
        for level in [1e-9, 0.1, 0.33, 0.5, 1.0] {
            let got = group::cvar(&losses, level, memory.lend()).unwrap();
            close(got, twin::cvar(&losses, level), "cvar");
        }
        for level in [0.0, -0.5, 1.5, f64::NAN] {
            assert_eq!(group::cvar(&losses, level, memory.lend()), Err(Error::Param { what: "level" }));
        }
    }
    let mut memory = Memory::<f64>::new(group::cvar_need(2));
    assert_eq!(group::cvar(&[], 0.5, memory.lend()), Err(Error::Empty { what: "losses" }));
    let bad = group::cvar(&[1.0, f64::NAN], 0.5, memory.lend());
    assert_eq!(bad, Err(Error::NonFinite { what: "losses", at: 1 }));
}

/// Perfection, and chance: the diagonal, which all scores tied give.
#[test]
fn mcclish_ends() {
    let tied = ([1.0; 30], [1, 0, 0].repeat(10));
    for (low, high) in [(0.0, 0.3), (0.0, 1.0), (0.2, 0.25), (0.7, 1.0)] {
        let range = FprRange::new(low, high).unwrap();
        close(mcclish(1.0, range), 1.0, "perfection");
        let chance = Metrics::new().partial_auc(&tied.0, &tied.1, range, TieRule::Trapezoid).unwrap();
        close(chance, twin::curve_area(&tied.0, &tied.1, 0.0, low, high), "the diagonal");
        close(mcclish(chance, range), 0.5, "chance");
    }
    // McClish's own form, of areas.
    let (area, low, high): (f64, f64, f64) = (0.17, 0.1, 0.4);
    let chance = 0.5 * (high * high - low * low);
    let want = 0.5 * (1.0 + (area - chance) / (high - low - chance));
    close(mcclish(area / (high - low), FprRange::new(low, high).unwrap()), want, "a range");
}

/// The input of one case of tests/golden/metrics.json, made as make_metrics.py makes it.
fn golden_example(seed: u64, n: usize, share: f64, levels: Option<u64>) -> (Vec<f64>, Vec<u8>) {
    let mut random = Numbers(seed);
    let bar = (share * f64::from(1 << 20)) as u64;
    let labels: Vec<u8> = (0..n).map(|_| u8::from(random.next() >> 44 < bar)).collect();
    let score = |(at, &label): (usize, &u8)| {
        let bits = random.next();
        let score = (bits >> 44) + u64::from(label) * (bits >> 20 & 0xf_ffff);
        match levels {
            None => (score * (1 << 20) + at as u64) as f64,
            Some(levels) => (score * levels / (1 << 21)) as f64,
        }
    };
    let scores = labels.iter().enumerate().map(score).collect();
    (scores, labels)
}

#[test]
fn a_million_scores_match_scikit_learn() {
    let golden: serde_json::Value = serde_json::from_str(include_str!("../golden/metrics.json")).unwrap();
    let n = golden["n"].as_u64().unwrap() as usize;
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let number = |name: &str| case[name].as_f64().unwrap();
        let levels = case["levels"].as_u64();
        let (scores, labels) = golden_example(case["seed"].as_u64().unwrap(), n, number("share"), levels);
        let mut metrics = Metrics::new();
        let mut summary = |high| metrics.summary(&scores, &labels, FprRange::new(0.0, high).unwrap()).unwrap();
        let narrow = summary(0.05);
        assert_eq!(Some(narrow.positives), case["positives"].as_u64());
        close(narrow.auroc, number("auroc"), "auroc");
        close(narrow.ap, number("ap"), "ap");
        let up_to = |high| FprRange::new(0.0, high).unwrap();
        close(mcclish(narrow.pauc, up_to(0.05)), number("mcclish_05"), "McClish up to 0.05");
        close(mcclish(summary(0.3).pauc, up_to(0.3)), number("mcclish_30"), "McClish up to 0.3");
        let range = FprRange::new(0.05, 0.5).unwrap();
        let area = metrics.partial_auc(&scores, &labels, range, TieRule::Trapezoid).unwrap();
        close(area, number("area_05_50"), "area between 0.05 and 0.5");
        if levels.is_some() {
            // The scores are small integers, so f32 holds them too.
            let single: Vec<f32> = scores.iter().map(|&s| s as f32).collect();
            let same = Metrics::new().summary(&single, &labels, FprRange::new(0.0, 0.05).unwrap()).unwrap();
            assert_eq!(same, narrow);
        }
    }
}

#[test]
fn costs_lead_to_the_cheapest_threshold_and_to_a_range_around_it() {
    let mut random = Numbers(34);
    let mut metrics = Metrics::<f64>::new();
    for kind in [Kind::Spread, Kind::Ties, Kind::Constant] {
        for (false_positive, false_negative, prevalence) in [(1.0, 1.0, 0.5), (1.0, 20.0, 0.01), (3.0, 1.0, 0.2)] {
            let (scores, labels) = example::<f64>(kind, 400, 0.3, &mut random);
            let costs = Costs::new(false_positive, false_negative, prevalence).unwrap();
            let point = metrics.point_at_slope(&scores, &labels, costs.slope()).unwrap();
            let expected = twin::cheapest(&scores, &labels, false_positive, false_negative, prevalence);
            close(costs.of(point.fpr, point.tpr), expected.2, "cost");
            close(point.fpr, expected.0, "false-positive rate");
            let range = metrics.range_of_costs(&scores, &labels, costs).unwrap();
            assert!(range.low() <= point.fpr && point.fpr <= range.high(), "{point:?} {range:?}");
            let negatives = labels.iter().filter(|&&y| y == 0).count() as f64;
            assert!((range.high() - range.low()) * negatives >= 10.0 - 1e-6);
            // The ends are where costs twice as high and half as high lead, but for widening and rounding.
            let ends =
                [2.0, 0.5].map(|f| twin::cheapest(&scores, &labels, f * false_positive, false_negative, prevalence).0);
            if (ends[1] - ends[0]) * negatives >= 10.0 {
                assert!(
                    (range.low() - ends[0]).abs() < 1e-4 && (range.high() - ends[1]).abs() < 1e-4,
                    "{ends:?} {range:?}"
                );
            }
        }
    }
    let (scores, labels) = ([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 0]);
    // So dear that nothing is worth it, and so cheap that everything is.
    let mut at = |slope| metrics.point_at_slope(&scores, &labels, slope).map(|point| (point.fpr, point.tpr));
    assert_eq!(at(f64::INFINITY), Ok((0.0, 0.5)));
    assert_eq!(at(1.5), Ok((0.0, 0.5)));
    assert_eq!(at(0.9), Ok((0.5, 1.0)));
    for wrong in [0.0, -1.0, f64::NAN] {
        assert_eq!(at(wrong), Err(Error::Param { what: "slope" }));
    }
    // Of two negatives every range is all of them.
    let costs = Costs::new(1.0, 1.0, 0.5).unwrap();
    assert_eq!(metrics.range_of_costs(&scores, &labels, costs), Ok(FprRange::FULL));
    for (fp, fneg, share, what) in [
        (0.0, 1.0, 0.5, "cost of a false positive"),
        (1.0, f64::INFINITY, 0.5, "cost of a false negative"),
        (1.0, 1.0, 1.0, "prevalence"),
        (1.0, 1.0, f64::NAN, "prevalence"),
    ] {
        assert_eq!(Costs::new(fp, fneg, share), Err(Error::Param { what }));
    }
}
