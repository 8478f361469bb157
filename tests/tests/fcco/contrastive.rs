//! The two-way global contrastive loss against its transcription and differences.

use undercurve::algorithm::{Algorithm, Answer, COUNTERS, Schedule, Sgd, Sonex, State, StepRule};
use undercurve::estimator::{Contrastive, Tracker, Uses, Views};
use undercurve::rng::Rng;
use undercurve::{Error, Real, Result, Scratch};
use undercurve_tests::contrastive::{self as twin, Problem, Rows};

fn normal(rows: usize, width: usize, rng: &mut Rng) -> Rows {
    (0..rows).map(|_| (0..width).map(|_| rng.normal()).collect()).collect()
}

/// The estimate and the gradient by both embeddings.
fn update<T: Real>(loss: &Contrastive, views: &Views<'_, T>, state: &mut [T]) -> Result<(f64, [Vec<T>; 2])> {
    let need = Contrastive::need(views.owners.len(), views.width);
    let (mut real, mut f64s) = (vec![T::of(f64::NAN); need.real], vec![f64::NAN; need.f64]);
    let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut [], u64: &mut [] };
    let mut grad = [vec![T::ONE; views.first.len()], vec![T::ONE; views.first.len()]];
    let [first, second] = &mut grad;
    let value = loss.update(views, state, scratch, [first, second])?;
    Ok((value, grad))
}

fn exact(loss: &Contrastive, first: &[f64], second: &[f64], width: usize) -> Result<f64> {
    let mut f64s = vec![f64::NAN; Contrastive::value_need(first.len() / width).f64];
    loss.value(first, second, width, Scratch { real: &mut [], f64: &mut f64s, u32: &mut [], u64: &mut [] })
}

fn whole(tau: f64) -> Contrastive {
    Contrastive::new(tau, Tracker::new(1.0, 0.0).unwrap(), Uses::New).unwrap()
}

#[test]
fn contrastive_losses_are_their_transcriptions_and_gradients_differences() {
    let mut rng = Rng::new(3);
    for (rows, all, tau) in [(7, 7, 0.3), (5, 23, 0.3), (6, 9, 0.05), (1, 1, 0.1)] {
        let (a, b) = (normal(rows, 4, &mut rng), normal(rows, 4, &mut rng));
        let (first, second) = (a.concat(), b.concat());
        let owners: Vec<u32> = (0..rows as u32).map(|k| (all - 1) as u32 - k).collect();
        let loss = whole(tau);
        let value = |first: &[f64], second: &[f64]| {
            let views = Views { first, second, width: 4, owners: &owners, all, previous: None };
            let mut state = vec![0.0; Contrastive::state_len(all)];
            (update(&loss, &views, &mut state).unwrap(), state)
        };
        let ((got, grad), state) = value(&first, &second);
        if all == rows {
            let want = twin::loss(&a, &b, tau);
            assert!((got - want).abs() < 1e-12 * (1.0 + want), "{got} {want}");
            assert!((exact(&loss, &first, &second, 4).unwrap() - want).abs() < 1e-12 * (1.0 + want));
        }
        if rows > 1 {
            let u = twin::sums(&a, &b, all, tau);
            let want: f64 = u.iter().flatten().map(|u| tau * u.ln()).sum::<f64>() / rows as f64;
            assert!((got - want).abs() < 1e-12 * (1.0 + want.abs()));
            for (k, u) in u.iter().enumerate() {
                let held = &state[2 * owners[k] as usize..][..2];
                assert!((0..2).all(|way| (held[way] - 1.0 - u[way].ln()).abs() < 1e-12));
            }
            assert_eq!(state.iter().filter(|held| **held != 0.0).count(), 2 * rows);
        }
        for (which, grad) in grad.iter().enumerate() {
            for (k, &g) in grad.iter().enumerate() {
                let at = |by: f64| {
                    let mut views = [first.clone(), second.clone()];
                    views[which][k] += by;
                    value(&views[0], &views[1]).0.0
                };
                let slope = (8.0 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4;
                assert!((g - slope).abs() < 1e-8, "{rows} of {all}, {which} {k}: {g} {slope}");
            }
        }
    }
}

/// SONEX's steps with linear heads: running values of rows as they are drawn, with the correction by the point before.
#[test]
fn sonex_on_the_contrastive_loss_is_its_transcription() {
    let mut rng = Rng::new(4);
    let (n, width) = (20, 3);
    let x = normal(n, 4, &mut rng);
    // The second view follows from the first.
    let y: Rows = x.iter().map(|x| vec![x[0] - x[1] + 0.3 * rng.normal(), x[2] + 0.3 * rng.normal()]).collect();
    let start: Vec<f64> = (0..6 * width).map(|_| 0.5 * rng.normal()).collect();
    let draws: Vec<Vec<usize>> = (0..40)
        .map(|_| {
            let mut rows: Vec<u32> = (0..n as u32).collect();
            rng.shuffle(&mut rows);
            rows[..6].iter().map(|&row| row as usize).collect()
        })
        .collect();
    for uses in [Uses::Old, Uses::New] {
        let (tau, gamma, correction, lr) = (0.2, 0.6, 0.3, 0.3);
        let p = Problem { x: &x, y: &y, width, tau, gamma, correction, new: uses == Uses::New };
        let want = twin::sonex(&p, &start, &draws, lr);
        let loss = Contrastive::new(tau, Tracker::new(gamma, correction).unwrap(), uses).unwrap();
        let sonex = Sonex::new(StepRule::Sgd(Sgd::new(Schedule::constant(lr), 0.0).unwrap()));
        let (mut points, mut slots) = ([start.clone(), start.clone()].concat(), vec![0.0; start.len()]);
        let (mut counters, mut bank) = ([0; COUNTERS], vec![0.0; Contrastive::state_len(n)]);
        let cut = 4 * width;
        for (draw, want) in draws.iter().zip(&want) {
            let pick = |rows: &Rows| -> Rows { draw.iter().map(|&row| rows[row].clone()).collect() };
            let (x, y) = (pick(&x), pick(&y));
            let at = |point: &[f64]| {
                [twin::embed(&point[..cut], &x, width).concat(), twin::embed(&point[cut..], &y, width).concat()]
            };
            let ([first, second], then) = (at(&points[..start.len()]), at(&points[start.len()..]));
            let owners: Vec<u32> = draw.iter().map(|&row| row as u32).collect();
            let previous = Some([&then[0][..], &then[1]]);
            let views = Views { first: &first, second: &second, width, owners: &owners, all: n, previous };
            let (value, grad) = update(&loss, &views, &mut bank).unwrap();
            let rows = |flat: &[f64]| -> Rows { flat.chunks(width).map(<[f64]>::to_vec).collect() };
            let grad = [twin::chain(&x, &rows(&grad[0])), twin::chain(&y, &rows(&grad[1]))].concat();
            let mut state = State { points: &mut points, slots: &mut slots, counters: &mut counters };
            sonex.tell(&mut state, Answer::Gradient { value, grad: &grad }).unwrap();
            super::same(&[points[..start.len()].to_vec()], std::slice::from_ref(want), 1e-9, "SONEX");
        }
        // It is trained for what it is for, and the correction matters.
        let cost = |w: &[f64]| twin::loss(&twin::embed(&w[..cut], &x, width), &twin::embed(&w[cut..], &y, width), tau);
        assert!(cost(&points[..start.len()]) < 0.85 * cost(&start), "{} {}", cost(&points), cost(&start));
        let other = twin::sonex(&Problem { correction: 0.0, ..p }, &start, &draws, lr);
        assert!(other.last().unwrap().iter().zip(&points).any(|(a, b)| (a - b).abs() > 1e-6));
    }
}

#[test]
fn hard_embeddings_are_taken_or_refused() {
    let loss = whole(0.005);
    // All alike, opposite, or 0, in both precisions, at the lowest temperature.
    for [a, b] in [[1.0, 1.0], [1.0, -1.0], [0.0, 1.0], [0.0, 0.0]] {
        let (first, second, owners) = (vec![a; 12], vec![b; 12], [0, 1, 2, 3]);
        let views = Views { first: &first, second: &second, width: 3, owners: &owners, all: 1000, previous: None };
        let (value, grad) = update(&loss, &views, &mut vec![0.0; 2000]).unwrap();
        assert!((value - 0.01 * 1000f64.ln()).abs() < 1e-9, "{value}");
        assert!(grad.concat().iter().all(|g| g.is_finite()));
        let (first, second) = (vec![a as f32; 12], vec![b as f32; 12]);
        let views = Views { first: &first, second: &second, width: 3, owners: &owners, all: 1000, previous: None };
        let (single, _) = update(&loss, &views, &mut vec![0.0; 2000]).unwrap();
        assert!((single - value).abs() < 1e-9);
    }
    let (first, owners) = (vec![0.5, 1.0, -1.0, 2.0], [0, 1]);
    let views = Views { first: &first, second: &first, width: 2, owners: &owners, all: 3, previous: None };
    let refused = |views: &Views<'_, f64>, state: usize| {
        let mut state = vec![0.0; state];
        let error = update(&loss, views, &mut state).err();
        assert!(error.is_none() || state.iter().all(|held| *held == 0.0));
        error
    };
    assert_eq!(refused(&views, 6), None);
    assert_eq!(refused(&Views { all: 1, ..views }, 2), Some(Error::Param { what: "rows" }));
    assert_eq!(refused(&Views { width: 0, ..views }, 6), Some(Error::Param { what: "width" }));
    assert!(matches!(refused(&Views { width: 4, ..views }, 6), Some(Error::Length { what: "embeddings", .. })));
    assert!(matches!(refused(&Views { owners: &[0, 3], ..views }, 6), Some(Error::Index { what: "owners", .. })));
    assert!(matches!(refused(&views, 5), Some(Error::Length { what: "state", .. })));
    assert!(matches!(refused(&Views { second: &first[..2], ..views }, 6), Some(Error::Length { what: "second", .. })));
    let nan = [0.5, f64::NAN, -1.0, 2.0];
    assert!(matches!(refused(&Views { second: &nan, ..views }, 6), Some(Error::NonFinite { .. })));
    assert!(matches!(refused(&Views { previous: Some([&first, &nan]), ..views }, 6), Some(Error::NonFinite { .. })));
    let one = Views { first: &first[..2], second: &first[..2], owners: &[0], ..views };
    assert_eq!(refused(&one, 6), Some(Error::Param { what: "rows" }));
    assert_eq!(exact(&loss, &[], &[], 2), Err(Error::Empty { what: "rows" }));
    for tau in [0.0, 0.004, f64::NAN, f64::INFINITY] {
        assert_eq!(Contrastive::new(tau, Tracker::USUAL, Uses::New).err(), Some(Error::Param { what: "temperature" }));
    }
}
