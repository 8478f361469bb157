//! Derivatives of a network's loss along a direction against differences of its gradient, and AI-SARAH with them.

use std::cell::Cell;
use undercurve::Error;
use undercurve::data::{Rows, Selection};
use undercurve::finite_sum::{
    AiSarah, Anchored, Bend, Event, Examples, FiniteSum, GlmLoss, Gradients, HeavyBall, Memory, NetworkSum, Recursion,
};
use undercurve::model::{Activation, Mlp, Model, Path};
use undercurve::rng::Rng;

/// Twelve rows of five columns, about half of them zero, in both layouts.
struct Sample {
    ptr: Vec<usize>,
    col: Vec<u32>,
    val: Vec<f64>,
    dense: Vec<f64>,
    labels: Vec<u8>,
}

const ROWS: usize = 12;

impl Sample {
    fn new() -> Self {
        let mut rng = Rng::new(5);
        let mut sample = Self { ptr: vec![0], col: vec![], val: vec![], dense: vec![], labels: vec![] };
        for k in 0..ROWS {
            for j in 0..5u32 {
                let x = if rng.uniform() < 0.5 { rng.normal() } else { 0.0 };
                sample.dense.push(x);
                if x != 0.0 {
                    sample.col.push(j);
                    sample.val.push(x);
                }
            }
            sample.ptr.push(sample.col.len());
            sample.labels.push(u8::from(k % 3 == 0));
        }
        sample
    }

    fn rows(&self, sparse: bool) -> Rows<'_, f64> {
        if sparse { Rows::csr(&self.ptr, &self.col, &self.val, 5) } else { Rows::dense(&self.dense, 5) }.unwrap()
    }
}

fn labels(sample: &Sample, index: &[u32]) -> Vec<u8> {
    index.iter().map(|&i| sample.labels[i as usize]).collect()
}

/// Mean gradient through the model's own backward pass.
fn gradient(mlp: &Mlp, w: &[f64], x: Selection<'_, f64>, labels: &[u8], loss: GlmLoss) -> Vec<f64> {
    let mut cache = vec![0.0; Model::<f64>::cache_len(mlp, x.len())];
    let mut scratch = vec![0.0; Model::<f64>::scratch_len(mlp, x.len())];
    let mut scores = vec![0.0; x.len()];
    mlp.forward(w, x, &mut cache, &mut scores).unwrap();
    for (s, &label) in scores.iter_mut().zip(labels) {
        *s = loss.slope(if label == 1 { 1.0 } else { -1.0 }, *s) / labels.len() as f64;
    }
    let mut grad = vec![0.0; w.len()];
    mlp.backward(w, x, &cache, &scores, &mut scratch, &mut grad).unwrap();
    grad
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn moved(w: &[f64], v: &[f64], h: f64) -> Vec<f64> {
    w.iter().zip(v).map(|(w, v)| w + h * v).collect()
}

fn draw(len: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    (0..len).map(|_| 0.7 * rng.normal()).collect()
}

#[test]
fn derivatives_match_differences_of_the_gradient() {
    let sample = Sample::new();
    let index = [3, 0, 7, 7, 11, 6];
    let labels = labels(&sample, &index);
    let mut checked = 0;
    for hidden in [&[4][..], &[5, 3], &[3, 6, 2]] {
        for activation in [Activation::Tanh, Activation::Relu] {
            for loss in [GlmLoss::Logistic, GlmLoss::LeastSquares] {
                for sparse in [false, true] {
                    let mlp = Mlp::new(5, hidden, 1, activation).unwrap();
                    let total = Model::<f64>::param_len(&mlp);
                    let (w, v) = (draw(total, 1), draw(total, 2));
                    let x = Selection::of(sample.rows(sparse), &index).unwrap();
                    let mut scratch = vec![f64::NAN; mlp.along_len()];
                    let (mut grad, mut product) = (vec![7.0; total], vec![7.0; total]);
                    let along = {
                        let path = Path { params: &w, direction: &v };
                        mlp.along(path, x, &labels, loss, &mut scratch, [&mut grad, &mut product]).unwrap()
                    };
                    let case = format!("{hidden:?} {activation:?} {loss:?} sparse {sparse}");
                    let at = |h: f64| gradient(&mlp, &moved(&w, &v, h), x, &labels, loss);
                    let (h, here) = (1e-4, at(0.0));
                    let near = |a: f64, b: f64, by: f64| (a - b).abs() <= by * (1.0 + b.abs());
                    for (a, b) in grad.iter().zip(&here) {
                        assert!(near(*a, *b, 1e-13), "{case}: gradient {a} {b}");
                    }
                    assert!(near(along.first, dot(&here, &v), 1e-13), "{case}");
                    // Four points, error of order h⁴.
                    let (p, m, pp, mm) = (at(h), at(-h), at(2.0 * h), at(-2.0 * h));
                    for j in 0..total {
                        let slope = (8.0 * (p[j] - m[j]) - (pp[j] - mm[j])) / (12.0 * h);
                        assert!(near(product[j], slope, 1e-9), "{case}: Hv {} {slope}", product[j]);
                    }
                    assert!(near(along.second, dot(&product, &v), 1e-12), "{case}: {along:?}");
                    let bend = |h: f64| (dot(&at(h), &v) - 2.0 * dot(&here, &v) + dot(&at(-h), &v)) / (h * h);
                    let third = (4.0 * bend(1e-3) - bend(2e-3)) / 3.0;
                    assert!(near(along.third, third, 1e-6), "{case}: third {} {third}", along.third);
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 24);
}

#[test]
fn wrong_lengths_are_named() {
    let sample = Sample::new();
    let mlp = Mlp::new(5, &[3], 1, Activation::Tanh).unwrap();
    let total = Model::<f64>::param_len(&mlp);
    let run = |params: usize, labels: usize, scratch: usize| {
        let x = Selection::all(sample.rows(true));
        let (w, mut grad, mut product) = (vec![0.1; params], vec![0.0; total], vec![0.0; total]);
        let mut scratch = vec![0.0; scratch];
        let v = vec![0.1; total];
        let (path, out) = (Path { params: &w, direction: &v }, [&mut grad[..], &mut product]);
        mlp.along(path, x, &sample.labels[..labels], GlmLoss::Logistic, &mut scratch, out)
    };
    let need = mlp.along_len();
    assert!(run(total, ROWS, need).is_ok());
    assert!(matches!(run(total - 1, ROWS, need), Err(Error::Length { what: "params", .. })));
    assert!(matches!(run(total, ROWS - 1, need), Err(Error::Length { what: "labels", .. })));
    assert!(matches!(run(total, ROWS, need - 1), Err(Error::Length { what: "scratch", .. })));
    let two = Mlp::new(5, &[3], 2, Activation::Tanh).unwrap();
    let total = Model::<f64>::param_len(&two);
    let (w, mut grad, mut product) = (vec![0.1; total], vec![0.0; total], vec![0.0; total]);
    let mut scratch = vec![0.0; two.along_len()];
    let x = Selection::all(sample.rows(true));
    let (path, out) = (Path { params: &w, direction: &w }, [&mut grad[..], &mut product]);
    let got = two.along(path, x, &sample.labels, GlmLoss::Logistic, &mut scratch, out);
    assert!(matches!(got, Err(Error::Unsupported { .. })));
}

/// A network's sum that counts its gradients, with its exact derivatives or with the default, differences.
struct Counted<'a> {
    net: NetworkSum<'a, f64>,
    exact: bool,
    gradients: Cell<u32>,
}

impl Gradients<f64> for Counted<'_> {
    fn len(&self) -> usize {
        self.net.len()
    }

    fn dim(&self) -> usize {
        self.net.dim()
    }

    fn scratch_len(&self) -> usize {
        self.net.dim() + self.net.scratch_len()
    }

    fn add_slopes(
        &self,
        w: &[f64],
        which: Examples<'_>,
        scale: f64,
        out: &mut [f64],
        scratch: &mut [f64],
    ) -> Result<(), Error> {
        self.gradients.set(self.gradients.get() + 1);
        self.net.add_slopes(w, which, scale, out, scratch)
    }

    fn along(
        &self,
        w: &[f64],
        v: &[f64],
        index: &[u32],
        [grad, product]: [&mut [f64]; 2],
        scratch: &mut [f64],
    ) -> Result<Bend, Error> {
        if self.exact {
            return self.net.along(w, v, index, [grad, product], scratch);
        }
        let bend = Differences(self).along(w, v, index, [&mut *grad, &mut *product], scratch)?;
        let mut wanted = [vec![0.0; grad.len()], vec![0.0; grad.len()]];
        let [gradient, hv] = &mut wanted;
        let exact = self.net.along(w, v, index, [&mut *gradient, &mut *hv], scratch)?;
        for (a, b) in [(bend.second, exact.second), (bend.third, exact.third)] {
            assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()) * dot(v, v).max(1.0), "{a} {b}");
        }
        for (a, b) in [(&*grad, &*gradient), (&*product, &*hv)] {
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5), "{a:?} {b:?}");
        }
        Ok(bend)
    }
}

/// Its gradients alone, so that what is asked of it is the default.
struct Differences<'s, 'a>(&'s Counted<'a>);

impl Gradients<f64> for Differences<'_, '_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn add_slopes(
        &self,
        w: &[f64],
        which: Examples<'_>,
        scale: f64,
        out: &mut [f64],
        scratch: &mut [f64],
    ) -> Result<(), Error> {
        self.0.add_slopes(w, which, scale, out, scratch)
    }
}

impl Recursion<f64> for Counted<'_> {}
impl Anchored<f64> for Counted<'_> {}
impl HeavyBall<f64> for Counted<'_> {}

/// The same run twice: with exact derivatives, and with differences.
#[test]
fn exact_derivatives_and_differences_take_the_same_steps() {
    let sample = Sample::new();
    let mlp = Mlp::new(5, &[4], 1, Activation::Tanh).unwrap();
    let w0 = draw(Model::<f64>::param_len(&mlp), 3);
    let run = |exact: bool| {
        let net = NetworkSum::new(mlp, sample.rows(true), &sample.labels, GlmLoss::Logistic, 0.0).unwrap();
        let sum = Counted { net, exact, gradients: Cell::new(0) };
        let algorithm = AiSarah::new(4, 1.0 / 32.0, 0.999).unwrap();
        let need = algorithm.need(&sum).unwrap();
        let (mut real, mut u32) = (vec![0.0; need.real], vec![0; need.u32]);
        let mut scratch = vec![0.0; sum.scratch_len()];
        let memory = &mut Memory { real: &mut real, u32: &mut u32, scratch: &mut scratch };
        let mut run = algorithm.start(&sum, &w0, 9, memory).unwrap();
        let (mut alphas, mut norms) = (Vec::new(), Vec::new());
        while alphas.len() < 40 {
            match algorithm.step(&sum, &mut run, memory).unwrap() {
                Event::Step { alpha } => alphas.push(alpha),
                Event::FullGradient { norm_sq } => norms.push(norm_sq),
                _ => {}
            }
        }
        (alphas, sum.gradients.get(), norms[0], *norms.last().unwrap())
    };
    let (exact, few, first, last) = run(true);
    let (differences, many, ..) = run(false);
    for (k, (a, b)) in exact.iter().zip(&differences).take(20).enumerate() {
        assert!((a / b - 1.0).abs() < 1e-3, "step {k}: {a} {b}");
    }
    assert!(few < many && last < first, "{few} {many} {first:e} {last:e}");
}
