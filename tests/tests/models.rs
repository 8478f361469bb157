//! Models against plain loops and finite differences, on dense and sparse rows.

use proptest::prelude::*;
use undercurve::Error;
use undercurve::data::{Rows, Selection};
use undercurve::model::{Activation, AnyModel, Linear, MAX_HIDDEN, Mlp, Model};
use undercurve::rng::Rng;
use undercurve_tests::model as twin;

fn run(model: &AnyModel, params: &[f64], x: Selection<'_, f64>) -> (Vec<f64>, Vec<f64>) {
    let mut cache = vec![0.0; Model::<f64>::cache_len(model, x.len())];
    let mut scores = vec![0.0; x.len()];
    model.forward(params, x, &mut cache, &mut scores).unwrap();
    (scores, cache)
}

fn gradient(model: &AnyModel, params: &[f64], x: Selection<'_, f64>, c: &[f64], grad: &mut [f64]) {
    let (_, cache) = run(model, params, x);
    let mut scratch = vec![0.0; Model::<f64>::scratch_len(model, x.len())];
    model.backward(params, x, &cache, c, &mut scratch, grad).unwrap();
}

/// The same matrix sparse: a cell that is 0 is not stored.
fn sparse(data: &[f64], cols: usize) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    let (mut ptr, mut col, mut val) = (vec![0], vec![], vec![]);
    for row in data.chunks(cols) {
        for (k, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            col.push(k as u32);
            val.push(x);
        }
        ptr.push(col.len());
    }
    (ptr, col, val)
}

proptest! {
    #[test]
    fn forward_and_backward(
        cols in 1..20usize,
        rows in 1..13usize,
        hidden in prop::collection::vec(1..18usize, 0..4),
        tanh: bool,
        seed: u64,
    ) {
        let mut rng = Rng::new(seed);
        let activation = if tanh { Activation::Tanh } else { Activation::Relu };
        let model = if hidden.is_empty() {
            AnyModel::Linear(Linear::new(cols, 1).unwrap())
        } else {
            AnyModel::Mlp(Mlp::new(cols, &hidden, 1, activation).unwrap())
        };
        let mut params = vec![0.0; Model::<f64>::param_len(&model)];
        model.init(&mut rng, &mut params).unwrap();
        params.iter_mut().for_each(|p| *p += 0.3 * rng.normal());
        let data: Vec<f64> = (0..rows * cols).map(|_| if rng.below(3) == 0 { 0.0 } else { rng.normal() }).collect();
        let c: Vec<f64> = (0..rows).map(|_| rng.normal()).collect();
        let sizes: Vec<usize> = [cols].into_iter().chain(hidden).chain([1]).collect();

        let dense = Selection::all(Rows::dense(&data, cols).unwrap());
        let (scores, _) = run(&model, &params, dense);
        for (row, score) in data.chunks(cols).zip(&scores) {
            let want = twin::score(&sizes, tanh, &params, row);
            prop_assert!((score - want).abs() <= 1e-12 * (1.0 + want.abs()), "{score} is not {want}");
        }
        // Gradient of Σ c·h by central differences; where a kink of max(·, 0) lies between, they cannot agree.
        let mut grad = vec![1.0; params.len()];
        gradient(&model, &params, dense, &c, &mut grad);
        let total = |p: &[f64]| -> f64 {
            data.chunks(cols).zip(&c).map(|(row, c)| c * twin::score(&sizes, tanh, p, row)).sum()
        };
        for k in 0..params.len() {
            let mut p = params.clone();
            let mut at = |h: f64| { p[k] = params[k] + h; total(&p) };
            let (h, middle) = (1e-5, at(0.0));
            let (up, down) = ((at(h) - middle) / h, (middle - at(-h)) / h);
            let kink = !tanh && (up - down).abs() > 1e-7;
            let want = 0.5 * (up + down);
            prop_assert!(kink || (grad[k] - 1.0 - want).abs() < 1e-5 * (1.0 + want.abs()), "{k}: {} {want}", grad[k] - 1.0);
        }
        // Sparse rows, and a selection of rows, give the same.
        let (ptr, col, val) = sparse(&data, cols);
        let csr = Rows::csr(&ptr, &col, &val, cols).unwrap();
        let index: Vec<u32> = (0..rows as u32).rev().collect();
        let reversed: Vec<f64> = c.iter().rev().copied().collect();
        for (x, c) in [
            (Selection::all(csr), &c),
            (Selection::of(csr, &index).unwrap(), &reversed),
            (Selection::of(Rows::dense(&data, cols).unwrap(), &index).unwrap(), &reversed),
        ] {
            let mut other = vec![1.0; params.len()];
            gradient(&model, &params, x, c, &mut other);
            for (a, b) in grad.iter().zip(&other) {
                prop_assert!((a - b).abs() <= 1e-11 * (1.0 + a.abs()));
            }
        }
    }
}

#[test]
fn wrong_sizes_are_errors() {
    assert_eq!(Linear::new(0, 1), Err(Error::Param { what: "inputs" }));
    assert_eq!(Mlp::new(3, &[], 1, Activation::Relu), Err(Error::Param { what: "hidden" }));
    assert_eq!(Mlp::new(3, &[4, 0], 1, Activation::Relu), Err(Error::Param { what: "hidden" }));
    assert_eq!(Mlp::new(3, &[4; MAX_HIDDEN + 1], 1, Activation::Relu), Err(Error::Param { what: "hidden" }));
    assert_eq!(Mlp::new(usize::MAX, &[2], 1, Activation::Relu), Err(Error::Overflow { what: "params" }));
    let model = Linear::new(3, 1).unwrap();
    let data = [0.0f64; 6];
    let x = Selection::all(Rows::dense(&data, 3).unwrap());
    let mut scores = [0.0; 2];
    let bad = model.forward(&[0.0; 3], x, &mut [], &mut scores);
    assert_eq!(bad, Err(Error::Length { what: "params", need: 4, got: 3 }));
    let bad = model.forward(&[0.0; 4], x, &mut [], &mut scores[..1]);
    assert_eq!(bad, Err(Error::Length { what: "scores", need: 2, got: 1 }));
    assert!(Selection::of(Rows::dense(&data, 3).unwrap(), &[0, 2]).is_err());
}

#[test]
fn named_parts_are_where_they_say() {
    let model = Mlp::new(5, &[7, 3], 2, Activation::Tanh).unwrap();
    let len = Model::<f32>::param_len(&model);
    assert_eq!(len, 6 * 7 + 8 * 3 + 4 * 2);
    assert_eq!(Model::<f32>::part(&model, "last"), Some(len - 8..len));
    assert_eq!(Model::<f32>::part(&model, "bias"), Some(len - 2..len));
    assert_eq!(Model::<f32>::part(&model, "first"), None);
}
