//! The run of `core/c/examples/train.c` without an allocator: from data to a trained model and an exact gradient, with the bits that
//! C, Node and wasmtime give. The parts are those of the method `soap` by name, with its settings.

use undercurve::algorithm::{Adam, AnyAlgorithm};
use undercurve::data::{Rows, Segments, Selection};
use undercurve::estimator::{AnyEstimator, ClassWeights, CrossEntropy, Weights};
use undercurve::host::{Data, Footprint, Host, Pretraining};
use undercurve::metric::Truth;
use undercurve::model::{Linear, Model};
use undercurve::pairs::{self, Grade, Sum};
use undercurve::registry::{Scope, method};
use undercurve::sampler::AnySampler;
use undercurve::surrogate::{AnySurrogate, SquaredHinge};
use undercurve::{Error, Need, Result, Scratch};

const ROWS: usize = 200;
const COLS: usize = 3;
const POSITIVES: usize = 20;

undercurve::run_memory! {
    struct Memory(f32) = Footprint::linear(ROWS, POSITIVES, COLS).batches(8, 56).soap().adam().with_start().lengths();
}

/// FNV-1a of the bytes of the gradient.
fn gradient() -> Result<u32> {
    let mut random = 1_u32;
    let labels: [u8; ROWS] = core::array::from_fn(|row| u8::from(row % 10 == 0));
    let x: [f32; ROWS * COLS] = core::array::from_fn(|k| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) as f32 / 65536.0 + if labels[k / COLS] == 1 && k % COLS == 0 { 0.5 } else { 0.0 }
    });
    let (mut order, mut starts) = ([0; ROWS], [0; 3]);
    let data = Data { rows: Rows::dense(&x, COLS)?, segments: Segments::new(&labels, &mut order, &mut starts)? };

    let missing = Error::Param { what: "soap" };
    let soap = method("soap").ok_or(missing)?;
    let set = [("lr", "0.02"), ("steps", "300"), ("pretrain", "100")];
    let scope = Scope { population: [180, 20], params: COLS + 1, ..Scope::default() };
    let settings = soap.settings(&set).map_err(|_| missing)?.with_scope(scope).with_steps(300);
    let sampler = AnySampler::from_settings(&settings, ROWS)?;
    let settings = settings.with_batch(64);
    let (estimator, algorithm) = soap.parts(&settings)?;
    let before = Pretraining {
        steps: 100,
        estimator: AnyEstimator::CrossEntropy(CrossEntropy::new(ClassWeights::Plain, Weights::Unbiased)),
        algorithm: AnyAlgorithm::Adam(Adam::of_pretraining(&settings, 100)?),
        sampler,
        restart: settings.restarts(true),
        pull: 0.0,
    };
    let model = Linear::new(COLS, 1)?;
    let own = Host { steps: 400, pull: settings.pull(), ..Host::new(model, estimator, algorithm, sampler) };
    let host = own.after(before);
    let mut memory = Memory::EMPTY;
    let (mut state, mut buffers, mut passes) = memory.lend(host.state(&data)?)?;
    host.start(&data, &mut state, &mut buffers)?;
    while host.step(&data, &mut state, &mut buffers, &mut passes)?.is_some() {}
    let mut scores = [0.0; ROWS];
    model.forward(host.params(&data, &state)?, Selection::all(data.rows), &mut [], &mut scores)?;

    const LOSS: AnySurrogate<f64> = AnySurrogate::SquaredHinge(SquaredHinge::UNIT);
    const NEED: Need = pairs::need_for(Sum::Ap, LOSS, ROWS, POSITIVES);
    let (mut f64s, mut u32s, mut u64s) = ([0.0; NEED.f64], [0; NEED.u32], [0; NEED.u64]);
    let scratch = Scratch { real: &mut [], f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
    let mut grad = [0.0_f32; ROWS];
    pairs::sum(Sum::Ap, &scores, Truth::new(&labels, &[])?, LOSS, Grade::Full, scratch, &mut grad)?;
    let bytes = grad.iter().flat_map(|slope| slope.to_le_bytes());
    Ok(bytes.fold(2_166_136_261, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619)))
}

fn main() -> Result<()> {
    let hash = gradient()?;
    println!("gradient {hash:08x}");
    // What core/c/tests expects of C, Node and wasmtime.
    assert_eq!(hash, 0xb2eb_bff8);
    Ok(())
}
