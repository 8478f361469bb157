//! The estimators beside SOAP against their naive twins, differences, a peer's figures and the identities of the papers.

use proptest::prelude::*;
use undercurve::batch::{Batch, Drawn};
use undercurve::estimator::{
    AnyEstimator, AucMargin, AucMarginForm, AucMinMax, AucMulticlass, ClassBalanced, ClassWeights, CrossEntropy,
    Estimator, Exact, FastAp, Focal, Grad, Ldam, Link, MinMaxAp, PairWeighting, Prior, SmoothAp, SoftmaxCrossEntropy,
    Weights,
};
use undercurve::surrogate::AnySurrogate;
use undercurve::{Error, Real, Scratch};
use undercurve_tests::estimators as twin;
use undercurve_tests::soap::surrogate;

#[derive(Debug, PartialEq)]
struct Out<T> {
    value: f64,
    scores: Vec<T>,
    aux: Vec<T>,
}

/// Scores of one batch in segments.
#[derive(Clone, Debug)]
struct Case<T> {
    scores: Vec<T>,
    starts: Vec<u32>,
    population: Vec<u32>,
    drawn: Drawn,
}

impl<T: Real> Case<T> {
    fn binary(low: &[T], high: &[T], more: [u32; 2], drawn: Drawn) -> Self {
        let scores: Vec<T> = low.iter().chain(high).copied().collect();
        let starts = vec![0, low.len() as u32, scores.len() as u32];
        let population = vec![low.len() as u32 + more[0], high.len() as u32 + more[1]];
        Self { scores, starts, population, drawn }
    }
    fn batch(&self) -> Batch<'_, T> {
        let heads = self.scores.len() / (*self.starts.last().unwrap()).max(1) as usize;
        Batch::new(&self.scores, heads, &self.starts, &self.population, self.drawn).unwrap()
    }
    fn labels(&self) -> Vec<u8> {
        (0..self.scores.len() as u32).map(|k| u8::from(k >= self.starts[1])).collect()
    }
    fn share(&self) -> f64 {
        f64::from(self.population[1]) / f64::from(self.population[0] + self.population[1])
    }
    /// Weight of each example in a mean over all data.
    fn weights(&self, weights: Weights) -> Vec<f64> {
        let rows = self.scores.len() as f64;
        let all: f64 = self.population.iter().map(|&n| f64::from(n)).sum();
        let class = |y: u8| match (weights, self.drawn) {
            (Weights::Unbiased, Drawn::Stratified) => {
                let k = usize::from(y);
                f64::from(self.population[k]) / all / f64::from(self.starts[k + 1] - self.starts[k])
            }
            _ => 1.0 / rows,
        };
        self.labels().into_iter().map(class).collect()
    }
    /// What one example of each class stands for in a rank.
    fn rank_weights(&self, weights: Weights) -> [f64; 2] {
        let [low, high] = [self.starts[1], self.starts[2] - self.starts[1]].map(f64::from);
        match weights {
            Weights::AsDrawn => [1.0, 1.0],
            _ => [f64::from(self.population[0]) / low, (f64::from(self.population[1]) - 1.0) / (high - 1.0)],
        }
    }
    fn run(&self, estimator: &impl Estimator<T>, aux: &[T], state: &mut [T]) -> Result<Out<T>, Error> {
        let batch = self.batch();
        let need = estimator.need(batch.shape());
        let (mut real, mut wide) = (vec![T::ONE; need.real], vec![7.0; need.f64]);
        let untouched = T::of(-7.0);
        let (mut scores, mut by_aux) = (vec![untouched; self.scores.len()], vec![untouched; aux.len()]);
        let scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut [], u64: &mut [] };
        let grad = Grad { scores: &mut scores, aux: &mut by_aux };
        match estimator.update(&batch, aux, state, scratch, grad) {
            Ok(value) => Ok(Out { value, scores, aux: by_aux }),
            Err(error) => {
                assert!(scores.iter().chain(&by_aux).all(|&g| g == untouched), "{error:?} after writing a gradient");
                Err(error)
            }
        }
    }
    fn value(&self, estimator: &impl Estimator<T>, aux: &[T]) -> Result<f64, Error> {
        let batch = self.batch();
        let need = estimator.need(batch.shape());
        let (mut real, mut wide) = (vec![T::ONE; need.real], vec![7.0; need.f64]);
        estimator.value(&batch, aux, Scratch { real: &mut real, f64: &mut wide, u32: &mut [], u64: &mut [] })
    }
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

/// Value and gradients (scores, then auxiliaries with the last `ascent` turned) of an estimator against a plain function
/// of the scores and the auxiliaries.
fn matches(
    case: &Case<f64>,
    estimator: &impl Estimator<f64>,
    aux: &[f64],
    state: &mut [f64],
    f: &dyn Fn(&[f64], &[f64]) -> f64,
) -> Result<(), TestCaseError> {
    let out = case.run(estimator, aux, state).unwrap();
    let want = f(&case.scores, aux);
    prop_assert!(close(out.value, want, 1e-12), "value {} is not {want}", out.value);
    let by_score = twin::differences(&case.scores, &|s| f(s, aux));
    for (k, (got, want)) in out.scores.iter().zip(&by_score).enumerate() {
        prop_assert!(close(*got, *want, 1e-7), "score {k}: {got} is not {want}");
    }
    let by_aux = twin::differences(aux, &|aux| f(&case.scores, aux));
    let descent = Estimator::<f64>::aux(estimator).0;
    for (k, (got, want)) in out.aux.iter().zip(&by_aux).enumerate() {
        let want = if k < descent { *want } else { -*want };
        prop_assert!(close(*got, want, 1e-7), "auxiliary {k}: {got} is not {want}");
    }
    Ok(())
}

fn link(link: Link, scores: &[f64]) -> Vec<f64> {
    scores.iter().map(|&s| if link == Link::Sigmoid { twin::sigmoid(s) } else { s }).collect()
}

fn drawn() -> impl Strategy<Value = (Weights, Drawn)> {
    prop_oneof![
        Just((Weights::AsDrawn, Drawn::Stratified)),
        Just((Weights::Unbiased, Drawn::Stratified)),
        Just((Weights::Unbiased, Drawn::Uniform)),
        Just((Weights::Unbiased, Drawn::All)),
    ]
}

fn links() -> impl Strategy<Value = Link> {
    prop_oneof![Just(Link::Sigmoid), Just(Link::Identity)]
}

fn some(least: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-3.0..3.0f64, least..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn min_max_auc(low in some(0), high in some(1), more in [0..50u32, 0..50u32], how in drawn(), h in links(), aux: [i8; 3]) {
        let case = Case::binary(&low, &high, more, how.1);
        let (y, p) = (case.labels(), case.share());
        let mut w = case.weights(how.0);
        w.iter_mut().for_each(|w| if !w.is_finite() { *w = 0.0 });
        let aux = aux.map(|x| f64::from(x) / 64.0);
        matches(&case, &AucMinMax::new(h, how.0, Prior::Known), &aux, &mut [], &|s, aux| {
            twin::auc_min_max(&link(h, s), &y, &w, p, p * (1.0 - p), [aux[0], aux[1], aux[2]])
        })?;
    }

    #[test]
    fn auc_margin(low in some(1), high in some(1), more in [0..50u32, 0..50u32], how in drawn(), h in links(), joint: bool, margin in 0.1..2.0f64, aux: [i8; 3]) {
        let case = Case::binary(&low, &high, more, how.1);
        let y = case.labels();
        let p = if how == (Weights::Unbiased, Drawn::Stratified) { case.share() } else { high.len() as f64 / y.len() as f64 };
        let (form, scale) = if joint { (AucMarginForm::Joint, p * (1.0 - p)) } else { (AucMarginForm::PerClass, 1.0) };
        let aux = aux.map(|x| f64::from(x) / 64.0);
        let estimator = AucMargin::new(margin, form, h, how.0).unwrap();
        matches(&case, &estimator, &aux, &mut [], &|s, aux| {
            twin::auc_margin(&link(h, s), &y, margin, scale, [aux[0], aux[1], aux[2]])
        })?;
    }

    #[test]
    fn one_example_at_a_time(low in some(1), high in some(1), more in [0..50u32, 0..50u32], how in drawn(), focus in 0.0..6.0f64, beta in 0.0..0.9999f64, margin in 0.0..2.0f64, scale in 0.3..8.0f64) {
        let case = Case::binary(&low, &high, more, how.1);
        let (y, w) = (case.labels(), case.weights(how.0));
        matches(&case, &CrossEntropy::new(ClassWeights::Plain, how.0), &[], &mut [], &|s, _| twin::cross_entropy(s, &y, &w))?;
        // N/(2 n_class) of the data, so that the classes weigh the same in all of it.
        let halves: Vec<f64> =
            y.iter().zip(&w).map(|(&y, w)| w / (2.0 * if y == 1 { case.share() } else { 1.0 - case.share() })).collect();
        matches(&case, &CrossEntropy::new(ClassWeights::Balanced, how.0), &[], &mut [], &|s, _| {
            twin::cross_entropy(s, &y, &halves)
        })?;
        matches(&case, &Focal::new(focus, how.0).unwrap(), &[], &mut [], &|s, _| twin::focal(s, &y, &w, focus))?;
        let counts = [f64::from(case.population[0]), f64::from(case.population[1])];
        let classes = twin::effective(beta, counts);
        let balanced: Vec<f64> = y.iter().zip(&w).map(|(&y, w)| w * classes[usize::from(y)]).collect();
        matches(&case, &ClassBalanced::new(beta, how.0).unwrap(), &[], &mut [], &|s, _| {
            twin::cross_entropy(s, &y, &balanced)
        })?;
        // C = margin·(least count)^(1/4), then Δ_y = C/n_y^(1/4).
        let c = margin * counts[0].min(counts[1]).powf(0.25);
        let margins = counts.map(|n| c / n.powf(0.25));
        let estimator = Ldam::new(margin, scale, beta, 1, how.0).unwrap();
        let mut state = [0.0; 2];
        matches(&case, &estimator, &[], &mut state, &|s, _| twin::ldam(s, &y, &w, scale, margins))?;
        prop_assert_eq!(state, [0.0, 1.0]);
        matches(&case, &estimator, &[], &mut state, &|s, _| twin::ldam(s, &y, &balanced, scale, margins))?;
    }

    #[test]
    fn smooth_ap(low in some(1), high in some(2), more in [0..50u32, 0..50u32], how in drawn(), h in links(), tau in 0.05..2.0f64) {
        let case = Case::binary(&low, &high, more, how.1);
        let (y, weight) = (case.labels(), case.rank_weights(how.0));
        let estimator = SmoothAp::new(tau, h, how.0).unwrap();
        matches(&case, &estimator, &[], &mut [], &|s, _| twin::smooth_ap(&link(h, s), &y, tau, weight))?;
    }

    #[test]
    fn fast_ap(low in some(1), high in some(2), more in [0..50u32, 0..50u32], how in drawn(), bins in 1..30usize) {
        // The kernel has kinks at the bins; differences are taken away from them.
        let kinked = |s: &f64| {
            let x = twin::sigmoid(*s) * bins as f64;
            (x - x.round()).abs() < 0.02
        };
        prop_assume!(!low.iter().chain(&high).any(kinked));
        let case = Case::binary(&low, &high, more, how.1);
        let (y, weight) = (case.labels(), case.rank_weights(how.0));
        let estimator = FastAp::new(bins as u32, how.0).unwrap();
        matches(&case, &estimator, &[], &mut [], &|s, _| twin::fast_ap(&link(Link::Sigmoid, s), &y, bins, weight))?;
    }

    #[test]
    fn min_max_ap(low in some(1), high in some(1), more in [0..50u32, 0..50u32], how in drawn(), h in links(), anchors in 1..5usize, logistic: bool, aux in prop::collection::vec(-2.0..2.0f64, 8)) {
        let case = Case::binary(&low, &high, more, how.1);
        let (y, share) = (case.labels(), case.share());
        let name = if logistic { "logistic" } else { "squared-hinge" };
        let [n_low, n_high] = [f64::from(case.population[0]), f64::from(case.population[1])];
        let (b_low, b_high) = (low.len() as f64, high.len() as f64);
        let weight = match how.0 {
            Weights::AsDrawn => [(n_low + n_high) / (b_low + b_high) / n_high; 2],
            _ => [n_low / b_low / n_high, 1.0 / b_high],
        };
        let aux: Vec<f64> = aux[..anchors].iter().chain(&aux[4..4 + anchors]).copied().collect();
        prop_assume!(aux[anchors..].iter().all(|m| m.abs() > 0.01)); // λ = |μ| has a kink at 0
        // The squared hinge bends at its margin; differences, which step 2e-4 to either side, are taken away from there.
        let bends = |(h, &y): (&f64, &u8)| {
            aux[..anchors].iter().any(|t| (if y == 1 { h - t } else { t - h } - 0.8).abs() < 3e-4)
        };
        prop_assume!(logistic || !link(h, &case.scores).iter().zip(&y).any(bends));
        let loss = |t: f64| surrogate(name, 0.8, t).0;
        let estimator = MinMaxAp::new(AnySurrogate::by_name(name, 0.8).unwrap(), anchors as u32, h, how.0).unwrap();
        matches(&case, &estimator, &aux, &mut [], &|s, aux| {
            let (thresholds, multipliers) = aux.split_at(anchors);
            twin::min_max_ap(&link(h, s), &y, &loss, share, weight, thresholds, multipliers)
        })?;
    }

    #[test]
    fn multi_class(sizes in [1..5u32, 1..5u32, 1..5u32], more in [0..20u32, 0..20u32, 0..20u32], seed: u64, stratified: bool, hand_till: bool) {
        let mut rng = undercurve::rng::Rng::new(seed);
        let rows: u32 = sizes.iter().sum();
        let starts = vec![0, sizes[0], sizes[0] + sizes[1], rows];
        let population: Vec<u32> = sizes.iter().zip(more).map(|(a, b)| a + b).collect();
        let scores: Vec<f64> = (0..3 * rows).map(|_| rng.normal()).collect();
        let aux: Vec<f64> = (0..18).map(|_| rng.normal()).collect();
        let y: Vec<usize> = (0..3).flat_map(|k| vec![k; sizes[k] as usize]).collect();
        let all: f64 = population.iter().map(|&n| f64::from(n)).sum();
        let share: Vec<f64> = population.iter().map(|&n| f64::from(n) / all).collect();
        let drawn = if stratified { Drawn::Stratified } else { Drawn::Uniform };
        let w: Vec<f64> =
            y.iter().map(|&k| if stratified { share[k] / f64::from(sizes[k]) } else { 1.0 / f64::from(rows) }).collect();
        let case = Case { scores, starts, population, drawn };
        let squash = |s: &[f64]| s.chunks(3).flat_map(twin::softmax).collect::<Vec<f64>>();
        let triples = |aux: &[f64]| (0..6).map(|k| [aux[k], aux[6 + k], aux[12 + k]]).collect::<Vec<_>>();
        let every = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)];
        let weighting = if hand_till { PairWeighting::HandTill } else { PairWeighting::Shares };
        let estimator = AucMulticlass::new(3, weighting, 0, 1, Weights::Unbiased).unwrap();
        matches(&case, &estimator, &aux, &mut [0.0; 2], &|s, aux| {
            twin::auc_multiclass(&squash(s), &y, &w, &share, &triples(aux), &every, hand_till)
        })?;
        // Two sampled pairs: the mean over two of the six, and a fresh two at each update.
        let sampled = AucMulticlass::new(3, weighting, 2, 1, Weights::Unbiased).unwrap();
        let mut state = [0.0; 2];
        let got = case.run(&sampled, &aux, &mut state).unwrap();
        let found = every.iter().flat_map(|a| every.iter().map(move |b| [*a, *b])).any(|pairs| {
            close(got.value, twin::auc_multiclass(&squash(&case.scores), &y, &w, &share, &triples(&aux), &pairs, hand_till), 1e-12)
        });
        prop_assert!(found && state == [0.0, 1.0]);
        matches(&case, &SoftmaxCrossEntropy::new(Weights::Unbiased), &[], &mut [], &|s, _| {
            (0..y.len()).map(|i| -w[i] * twin::softmax(&s[3 * i..][..3])[y[i]].ln()).sum()
        })?;
    }
}

#[test]
fn sampled_class_pairs_average_to_all_of_them() {
    let case = Case {
        scores: (0..27).map(|k| f64::from(k * 7 % 11) / 4.0 - 1.0).collect(),
        starts: vec![0, 2, 5, 9],
        population: vec![20, 30, 40],
        drawn: Drawn::Stratified,
    };
    let aux: Vec<f64> = (0..18).map(|k| f64::from(k % 5) / 3.0 - 0.5).collect();
    let make = |sample| AucMulticlass::new(3, PairWeighting::HandTill, sample, 5, Weights::Unbiased).unwrap();
    let all = case.run(&make(0), &aux, &mut [0.0; 2]).unwrap();
    let mut state = [0.0; 2];
    let (mut values, mut first) = (0.0, 0.0);
    let draws = 20_000;
    for _ in 0..draws {
        let out = case.run(&make(1), &aux, &mut state).unwrap();
        values += out.value / f64::from(draws);
        first += out.scores[0] / f64::from(draws);
    }
    // Six pairs of comparable size over 20 000 draws: five standard errors are below 0.1.
    assert!((values - all.value).abs() < 0.1 && (first - all.scores[0]).abs() < 0.05, "{values} {}", all.value);
}

/// The pairs drawn are those of the seed and the update, not the same ones every time.
#[test]
fn sampled_class_pairs_change_with_the_seed_and_the_update() {
    let case = Case {
        scores: (0..27).map(|k| f64::from(k * 7 % 11) / 4.0 - 1.0).collect(),
        starts: vec![0, 2, 5, 9],
        population: vec![20, 30, 40],
        drawn: Drawn::Stratified,
    };
    let values = |seed| {
        let estimator = AucMulticlass::new(3, PairWeighting::HandTill, 1, seed, Weights::Unbiased).unwrap();
        let mut state = [0.0; 2];
        [(); 30].map(|()| case.run(&estimator, &[0.1; 18], &mut state).unwrap().value)
    };
    let first = values(5);
    assert_eq!(first, values(5));
    assert_ne!(first, values(6));
    let mut distinct = first.to_vec();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    assert_eq!(distinct.len(), 6, "thirty draws meet each of the six pairs: {first:?}");
}

/// min_{a,b} max_α E F = p(1−p)(P − 1) at a = E[h|+], b = E[h|−], α = b − a.
#[test]
fn the_saddle_point_is_the_pairwise_square_loss() {
    let low: Vec<f64> = (0..37).map(|k| f64::from(k * 13 % 29) / 7.0 - 2.5).collect();
    let high: Vec<f64> = (0..11).map(|k| f64::from(k * 5 % 11) / 4.0 - 0.7).collect();
    for h in [Link::Sigmoid, Link::Identity] {
        let case = Case::binary(&low, &high, [0, 0], Drawn::All);
        let (y, scores) = (case.labels(), link(h, &case.scores));
        let mean = |class: u8| {
            let part: Vec<f64> = (0..y.len()).filter(|&i| y[i] == class).map(|i| scores[i]).collect();
            part.iter().sum::<f64>() / part.len() as f64
        };
        let (a, b) = (mean(1), mean(0));
        let aux = [a, b, b - a];
        let estimator = AucMinMax::new(h, Weights::Unbiased, Prior::Known);
        let p = case.share();
        let want = p * (1.0 - p) * (twin::square_pairs(&scores, &y) - 1.0);
        let out = case.run(&estimator, &aux, &mut []).unwrap();
        assert!(close(out.value, want, 1e-14), "{} is not {want}", out.value);
        assert!(out.aux.iter().all(|g| g.abs() < 1e-14), "not a stationary point: {:?}", out.aux);
        for step in [-0.3, 0.2] {
            assert!(case.value(&estimator, &[a + step, b, b - a]).unwrap() > out.value);
            assert!(case.value(&estimator, &[a, b + step, b - a]).unwrap() > out.value);
            assert!(case.value(&estimator, &[a, b, b - a + step]).unwrap() < out.value);
        }
        // So the score gradient at the saddle point is p(1−p) times that of the pairwise loss.
        let by_score = twin::differences(&case.scores, &|s| p * (1.0 - p) * twin::square_pairs(&link(h, s), &y));
        assert!(out.scores.iter().zip(&by_score).all(|(g, w)| close(*g, *w, 1e-10)));
    }
}

#[test]
fn the_margin_objective_equals_the_figures_of_a_peer() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/golden/auc_margin.json")).unwrap();
    let golden: serde_json::Value = serde_json::from_str(&text).unwrap();
    let reals = |v: &serde_json::Value| v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>();
    let (scores, labels) = (reals(&golden["scores"]), reals(&golden["labels"]));
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by_key(|&k| labels[k] as u8);
    let negatives = labels.iter().filter(|&&y| y == 0.0).count();
    let ordered: Vec<f64> = order.iter().map(|&k| scores[k]).collect();
    let case = Case::binary(&ordered[..negatives], &ordered[negatives..], [100, 3], Drawn::Stratified);
    let mut checked = 0;
    for (key, form) in [("joint", AucMarginForm::Joint), ("per_class", AucMarginForm::PerClass)] {
        for want in golden[key].as_array().unwrap() {
            let number = |name: &str| want[name].as_f64().unwrap();
            let estimator = AucMargin::new(number("margin"), form, Link::Identity, Weights::AsDrawn).unwrap();
            let aux = [number("a"), number("b"), number("alpha")];
            let out = case.run(&estimator, &aux, &mut []).unwrap();
            assert!(close(out.value, number("loss"), 1e-14), "{key}: {} is not {}", out.value, number("loss"));
            let grad = reals(&want["grad_scores"]);
            for (&k, got) in order.iter().zip(&out.scores) {
                assert!(close(*got, grad[k], 1e-14), "{key}: {got} is not {}", grad[k]);
            }
            for (got, want) in out.aux.iter().zip([number("grad_a"), number("grad_b"), -number("grad_alpha")]) {
                assert!(close(*got, want, 1e-14), "{key}: {got} is not {want}");
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 8);
}

#[test]
fn the_running_prior_follows_algorithm_4() {
    let mut rng = undercurve::rng::Rng::new(3);
    for (prior, exact) in [(Prior::Online, false), (Prior::OnlineExact, true)] {
        let estimator = AucMinMax::new(Link::Sigmoid, Weights::Unbiased, prior);
        let mut naive = twin::Prior::new();
        let mut state = [0.0; 6];
        let aux = [0.4, 0.1, -0.2];
        let mut last = 0.0;
        for step in 0..200 {
            // No positive for the first fifty batches.
            let ones = if step < 50 { 0 } else { rng.below(4) as usize };
            let low: Vec<f64> = (0..12 - ones).map(|_| rng.normal()).collect();
            let high: Vec<f64> = (0..ones).map(|_| rng.normal()).collect();
            let case = Case::binary(&low, &high, [9000, 1000], Drawn::Uniform);
            let y = case.labels();
            let p = naive.positives / (naive.positives + naive.negatives);
            let n = naive.positives + naive.negatives;
            let variance = if exact { n / (n - 1.0) * p * (1.0 - p) } else { naive.variance };
            let w = vec![1.0 / 12.0; 12];
            let want = twin::auc_min_max(&link(Link::Sigmoid, &case.scores), &y, &w, p, variance, aux);
            let out = case.run(&estimator, &aux, &mut state).unwrap();
            assert!(close(out.value, want, 1e-12), "step {step}: {} is not {want}", out.value);
            naive.add(&y);
            last = p;
        }
        assert!((0.05..0.15).contains(&last), "p = {last}");
        let before = state;
        let stratified = Case::binary(&[0.0], &[1.0], [5, 5], Drawn::Stratified);
        assert!(matches!(stratified.run(&estimator, &aux, &mut state), Err(Error::Unsupported { .. })));
        assert_eq!(before, state);
    }
}

fn every_estimator() -> Vec<AnyEstimator> {
    let loss = AnySurrogate::by_name("squared-hinge", 1.0).unwrap();
    let mut all = vec![AnyEstimator::FastAp(FastAp::new(10, Weights::Unbiased).unwrap())];
    for h in [Link::Sigmoid, Link::Identity] {
        all.push(AnyEstimator::AucMinMax(AucMinMax::new(h, Weights::Unbiased, Prior::Known)));
        all.push(AnyEstimator::AucMinMax(AucMinMax::new(h, Weights::Unbiased, Prior::Online)));
        for form in [AucMarginForm::Joint, AucMarginForm::PerClass] {
            all.push(AnyEstimator::AucMargin(AucMargin::new(1.0, form, h, Weights::Unbiased).unwrap()));
        }
        all.push(AnyEstimator::SmoothAp(SmoothAp::new(0.01, h, Weights::Unbiased).unwrap()));
        all.push(AnyEstimator::MinMaxAp(MinMaxAp::new(loss, 5, h, Weights::Unbiased).unwrap()));
    }
    for classes in [ClassWeights::Plain, ClassWeights::Balanced] {
        all.push(AnyEstimator::CrossEntropy(CrossEntropy::new(classes, Weights::Unbiased)));
    }
    all.push(AnyEstimator::Focal(Focal::new(2.0, Weights::Unbiased).unwrap()));
    all.push(AnyEstimator::ClassBalanced(ClassBalanced::new(0.9999, Weights::Unbiased).unwrap()));
    all.push(AnyEstimator::Ldam(Ldam::new(0.5, 1.0, 0.999, 2, Weights::Unbiased).unwrap()));
    all
}

/// Whatever the scores, the result is finite or a typed error, and after an error nothing has changed.
fn stays_finite<T: Real>(scores: &[T]) {
    for estimator in every_estimator() {
        for (split, drawn) in
            [(0, Drawn::Uniform), (1, Drawn::Uniform), (scores.len(), Drawn::Uniform), (2, Drawn::Stratified)]
        {
            for aux in [T::ZERO, T::of(-3.0), T::of(1e30)] {
                let case = Case::binary(&scores[..split], &scores[split..], [1_000_000, 7], drawn);
                let (low, high) = estimator.aux();
                let aux = vec![aux; low + high];
                let mut state = vec![T::ZERO; estimator.state_len(7)];
                for _ in 0..4 {
                    let before = state.clone();
                    match case.run(&estimator, &aux, &mut state) {
                        Ok(out) => {
                            assert!(out.value.is_finite());
                            assert!(
                                out.scores.iter().chain(&out.aux).chain(&state).all(|g| g.is_finite()),
                                "{estimator:?}"
                            );
                        }
                        Err(_) => assert_eq!(before, state),
                    }
                }
            }
        }
    }
}

#[test]
fn saturated_scores_give_finite_numbers_or_an_error() {
    stays_finite::<f64>(&[-1e300, 1e300, 0.0, 750.0, -750.0, 1e-300]);
    stays_finite::<f32>(&[-3e38, 3e38, 0.0, 90.0, -90.0, 1e-38]);
    stays_finite::<f32>(&[17.0, 17.0, 17.0, 17.0]);
}

/// A gradient that cannot be written is refused before the state counts the update.
#[test]
fn a_refused_gradient_leaves_the_state() {
    for estimator in every_estimator() {
        let case = Case::binary(&[0.1, -0.2], &[0.3, 0.4], [3, 3], Drawn::Uniform);
        let (batch, (descent, ascent)) = (case.batch(), estimator.aux());
        let need = estimator.need(batch.shape());
        let (mut real, mut wide) = (vec![0.0; need.real], vec![0.0; need.f64]);
        let scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut [], u64: &mut [] };
        let (mut short, mut by_aux) = ([7.0; 3], vec![7.0; descent + ascent]);
        let mut state = vec![0.0; estimator.state_len(5)];
        let grad = Grad { scores: &mut short, aux: &mut by_aux };
        let got = estimator.update(&batch, &vec![0.1; descent + ascent], &mut state, scratch, grad);
        assert_eq!(got, Err(Error::Length { what: "grad.scores", need: 4, got: 3 }), "{estimator:?}");
        assert!(state.iter().all(|&x| x == 0.0) && short == [7.0; 3] && by_aux.iter().all(|&g| g == 7.0));
    }
}

/// The exact objectives weigh nothing: on a part of the data they would be another objective.
#[test]
fn exact_objectives_take_all_rows_or_none() {
    let loss = AnySurrogate::by_name("squared-hinge", 1.0).unwrap();
    let exact = [
        Exact::auc(loss, Link::Identity),
        Exact::ap(loss, Link::Identity),
        Exact::pauc(loss, Link::Identity, (0.0, 0.5)).unwrap(),
    ];
    for estimator in exact {
        for drawn in [Drawn::All, Drawn::Uniform, Drawn::Stratified] {
            let case = Case::binary(&[0.1, -0.2], &[0.3], [0, 0], drawn);
            let batch = case.batch();
            let need = Estimator::<f64>::need(&estimator, batch.shape());
            let (mut real, mut wide) = (vec![0.0; need.real], vec![0.0; need.f64]);
            let (mut counts, mut keys) = (vec![0; need.u32], vec![0; need.u64]);
            let scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut counts, u64: &mut keys };
            let got = estimator.value(&batch, &[], scratch);
            match drawn {
                Drawn::All => assert!(got.is_ok(), "{got:?}"),
                _ => assert!(matches!(got, Err(Error::Unsupported { .. })), "{got:?}"),
            }
        }
    }
}

/// The loss of such a pair fits in `f64` and its slope, about -1e39, in no `f32`; nothing of it is written.
#[test]
fn a_gradient_beyond_the_number_type_is_not_written() {
    let estimator = Exact::auc(AnySurrogate::by_name("square", 1.0).unwrap(), Link::Identity);
    let case = Case::<f32>::binary(&[3e38], &[-3e38], [0, 0], Drawn::All);
    let batch = case.batch();
    let need = Estimator::<f32>::need(&estimator, batch.shape());
    let (mut real, mut wide) = (vec![0.0; need.real], vec![0.0; need.f64]);
    let (mut counts, mut keys) = (vec![0; need.u32], vec![0; need.u64]);
    let scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut counts, u64: &mut keys };
    let mut scores = [7.0f32; 2];
    let got = estimator.update(&batch, &[], &mut [], scratch, Grad { scores: &mut scores, aux: &mut [] });
    assert_eq!((got, scores), (Err(Error::Overflow { what: "score gradient" }), [7.0; 2]));
}

#[test]
fn one_class_is_an_error_only_where_pairs_are_needed() {
    for estimator in every_estimator() {
        let pairs = matches!(
            estimator,
            AnyEstimator::AucMargin(_)
                | AnyEstimator::SmoothAp(_)
                | AnyEstimator::MinMaxAp(_)
                | AnyEstimator::FastAp(_)
        );
        for (low, high) in [(&[0.1, 0.2][..], &[][..]), (&[][..], &[0.3, -0.2][..])] {
            let case = Case::binary(low, high, [3, 3], Drawn::Uniform);
            let (descent, ascent) = estimator.aux();
            let mut state = vec![0.0; estimator.state_len(6)];
            let got = case.run(&estimator, &vec![0.1; descent + ascent], &mut state);
            assert_eq!(got.is_err(), pairs, "{estimator:?}: {got:?}");
            if pairs {
                assert_eq!(got.unwrap_err(), Error::OneClass);
            }
        }
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    let param = |what| Some(Error::Param { what });
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        assert_eq!(Focal::new(bad, Weights::AsDrawn).err(), param("focus"));
        assert_eq!(ClassBalanced::new(bad, Weights::AsDrawn).err(), param("beta"));
        assert_eq!(AucMargin::new(bad, AucMarginForm::Joint, Link::Identity, Weights::AsDrawn).err(), param("margin"));
        assert_eq!(Ldam::new(0.5, bad, 0.0, 0, Weights::AsDrawn).err(), param("scale"));
        assert_eq!(SmoothAp::new(bad, Link::Sigmoid, Weights::AsDrawn).err(), param("temperature"));
    }
    assert_eq!(FastAp::new(0, Weights::AsDrawn).err(), param("bins"));
    assert!(AucMulticlass::new(1, PairWeighting::Shares, 0, 0, Weights::AsDrawn).is_err());
}
