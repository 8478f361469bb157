//! Sort, ranks and exact sums on every Vulkan driver of this machine: against their mirrors, the core and naive twins in f64.

mod common;
#[path = "mirror/exact/mod.rs"]
mod mirror;
#[path = "mirror/tree.rs"]
mod tree;

use common::contexts;
use undercurve::metric::{average_precision, need, pair_counts, roc_curve, roc_len};
use undercurve::pairs::{self, Grade};
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, Surrogate};
use undercurve::{Error, Need, Real, Scratch};
use undercurve_gpu::kernel::exact::{Job, Loss, MOST_ROWS, panel::Grid, sort::score};
use undercurve_gpu::{Context, ExactMetrics, GpuError, GpuExact, wgpu};

/// Named tolerances: of AP as a metric, and of values and gradients against f64.
const METRIC: f64 = 1e-6;
const SUM: f64 = 2e-6;

/// What a test sorts.
struct Data {
    name: &'static str,
    scores: Vec<f32>,
    labels: Vec<u8>,
}

/// Scores on a grid of 2⁻²⁰ in [−2, 2), where margins of f32 are exact; every so many a positive, a little higher.
fn grid(name: &'static str, rows: usize, every: usize) -> Data {
    let mut rng = Rng::keyed(7, rows as u64, every as u64);
    let labels: Vec<u8> = (0..rows).map(|k| u8::from(k % every == every - 1)).collect();
    let score = |&y: &u8| rng.below(1 << 22) as f32 / (1 << 20) as f32 - 2.0 + 0.25 * f32::from(y);
    Data { name, scores: labels.iter().map(score).collect(), labels }
}

/// Sizes beside every tile, ties, zeros, denormals, the largest numbers.
fn cases() -> Vec<Data> {
    let mut cases: Vec<_> = [2, 3, 257, 1025, 2048, 2049, 4096, 4097, 9_000]
        .into_iter()
        .map(|rows| grid("grid", rows, if rows < 20 { 2 } else { 20 }))
        .collect();
    cases.push(grid("half", 6000, 2));
    let with = |name, score: &dyn Fn(usize) -> f32| Data {
        name,
        scores: (0..6000).map(score).collect(),
        labels: (0..6000).map(|k| u8::from(k % 7 == 3)).collect(),
    };
    cases.push(with("tied", &|_| 0.75));
    cases.push(with("few values", &|k| [0.5, -0.25, 1.0, 0.0, -0.0][k * k % 5]));
    cases.push(with("zeros", &|k| if k % 2 == 0 { 0.0 } else { -0.0 }));
    cases.push(with("denormals", &|k| f32::from_bits(k as u32 * 911 % 4001) * if k % 3 == 0 { -1.0 } else { 1.0 }));
    cases.push(with("largest", &|k| (k * 37 % 101) as f32 * 3e36 * if k % 2 == 0 { -1.0 } else { 1.0 }));
    cases
}

/// What `work` returns of scratch for so much.
fn lent<T: Real, R>(need: Need, work: impl FnOnce(Scratch<'_, T>) -> undercurve::Result<R>) -> R {
    let (mut real, mut f64) = (vec![T::ZERO; need.real], vec![0.0; need.f64]);
    let (mut u32, mut u64) = (vec![0; need.u32], vec![0; need.u64]);
    work(Scratch { real: &mut real, f64: &mut f64, u32: &mut u32, u64: &mut u64 }).unwrap()
}

fn core_metrics(data: &Data) -> ([u64; 2], f64, f64) {
    let need = need(data.scores.len());
    let counts = lent(need, |scratch| pair_counts(&data.scores, &data.labels[..], scratch));
    let ap = lent(need, |scratch| average_precision(&data.scores, &data.labels[..], scratch));
    ([counts.wins, counts.ties], counts.auroc(), ap)
}

fn check_metrics(context: &Context, data: &Data, got: &ExactMetrics) {
    let what = format!("{}, {} of {}", context.name(), data.name, data.scores.len());
    let (counts, auroc, ap) = core_metrics(data);
    assert_eq!([got.counts.wins, got.counts.ties], counts, "{what}");
    assert_eq!(got.counts.auroc().to_bits(), auroc.to_bits(), "{what}");
    assert!((got.ap - ap).abs() <= METRIC, "{what}: {} is not {ap}", got.ap);
}

#[test]
fn metrics_are_the_core_s() {
    for context in contexts() {
        let mut exact = GpuExact::new(&context, 10_000).unwrap();
        for data in cases() {
            let got = exact.metrics(&data.scores, &data.labels).unwrap();
            check_metrics(&context, &data, &got);
            // The order itself, by what is read of it: the mirror's has the same counts and points.
            let (keys, marks) = mirror::sort::sort(&data.scores, &data.labels);
            let positives = data.labels.iter().filter(|&&y| y == 1).count();
            let negatives = data.labels.len() - positives;
            assert!(marks[..negatives].iter().all(|mark| mark >> 31 == 0));
            let (wins, ties, sum) = mirror::rank::tally(&keys, negatives);
            assert_eq!((got.counts.wins, got.counts.ties), (wins, ties));
            assert!((got.ap - sum / positives as f64).abs() <= 1e-7, "{}: {}", context.name(), data.name);
            let mut points = mirror::rank::sample(&keys, negatives);
            points.sort_unstable_by(|a, b| b.cmp(a));
            points.dedup();
            let of = |[key, found, wrong]: [u32; 3]| {
                let share = |count: u32, of: usize| f64::from(count) / of as f64;
                [f64::from(score(key)), share(wrong, negatives), share(found, positives)]
            };
            let got_points = got.roc[1..].iter().map(|point| [point.threshold, point.fpr, point.tpr]);
            assert!(got_points.eq(points.into_iter().map(of)), "{}: {}", context.name(), data.name);
            // Every point is one of the whole curve.
            let mut whole = vec![Default::default(); roc_len(data.scores.len())];
            let count = lent(need(data.scores.len()), |s| roc_curve(&data.scores, &data.labels[..], s, &mut whole));
            let mut rest = whole[..count].iter();
            assert!(got.roc.iter().all(|point| rest.any(|other| other == point)), "{}", data.name);
            assert_eq!((got.roc.first(), got.roc.last()), (whole.first(), whole[..count].last()));
            assert!(got.roc.len() <= 511 && (got.roc.len() > 250 || count <= 510), "{}", got.roc.len());
            assert_eq!(got.pr.len(), got.roc.len() - 1);
            assert_eq!(got, exact.metrics(&data.scores, &data.labels).unwrap());
        }
    }
}

#[test]
fn bad_input_is_refused_and_writes_nothing() {
    let hinge = AnySurrogate::by_name("hinge", 1.0).unwrap();
    for context in contexts() {
        let mut exact = GpuExact::new(&context, 1).unwrap();
        let core = |error| Err(GpuError::Core(error));
        assert_eq!(exact.metrics(&[], &[]), core(Error::Empty { what: "scores" }));
        assert_eq!(exact.metrics(&[1.0], &[1]), core(Error::OneClass));
        assert_eq!(exact.metrics(&[1.0, 2.0], &[0, 0]), core(Error::OneClass));
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(matches!(exact.metrics(&[1.0, bad], &[0, 1]), Err(GpuError::Core(Error::NonFinite { at: 1, .. }))));
        }
        assert!(matches!(exact.metrics(&[1.0, 2.0], &[0, 2]), Err(GpuError::Core(Error::Label { .. }))));
        assert!(matches!(exact.metrics(&[1.0, 2.0], &[0]), Err(GpuError::Core(Error::Length { .. }))));
        let mut grad = [9.0; 2];
        let mut auc = |loss, scores: &[f32], labels: &[u8]| exact.auc(loss, scores, labels, &mut grad).unwrap_err();
        assert!(matches!(auc(hinge, &[1.0], &[0]), GpuError::Core(Error::Length { what: "grad", .. })));
        assert!(matches!(auc(hinge, &[3e38, -3e38], &[0, 1]), GpuError::Core(Error::Overflow { .. })));
        assert!(matches!(auc(hinge, &[3e38, 3e38], &[0, 0]), GpuError::Core(Error::OneClass)));
        let square = AnySurrogate::by_name("square", 1.0).unwrap();
        assert!(matches!(auc(square, &[0.0, 1.0], &[0, 1]), GpuError::Core(Error::Unsupported { .. })));
        let sigmoid = AnySurrogate::by_name("sigmoid", 1.0).unwrap();
        assert!(matches!(auc(sigmoid, &[0.0, 5000.0], &[0, 1]), GpuError::Core(Error::Unsupported { .. })));
        assert!(matches!(auc(sigmoid, &[1e6, 1e6], &[0, 1]), GpuError::Core(Error::Unsupported { .. })));
        let steep = AnySurrogate::by_name("logistic", 1e30).unwrap();
        assert!(matches!(auc(steep, &[0.0, 1.0], &[0, 1]), GpuError::Core(Error::Param { .. })));
        let tiny = AnySurrogate::by_name("hinge", 1e-13).unwrap();
        assert!(matches!(auc(tiny, &[0.0, 1.0], &[0, 1]), GpuError::Core(Error::Param { .. })));
        for fpr in [(0.5, 0.5), (-0.1, 0.5), (0.5, 1.1), (f64::NAN, 1.0)] {
            let error = exact.pauc(hinge, fpr, &[0.0, 1.0], &[0, 1], &mut grad).unwrap_err();
            assert_eq!(error, GpuError::Core(Error::Param { what: "fpr" }));
        }
        assert_eq!(grad, [9.0; 2]);
        assert!(matches!(GpuExact::new(&context, MOST_ROWS + 1), Err(GpuError::TooLarge { .. })));
        // It still works, with more rows than it had room for.
        assert_eq!(exact.auc(hinge, &[1.0, 1.5], &[0, 1], &mut grad).unwrap(), 0.5);
        assert_eq!(grad, [1.0, -1.0]);
        context.device().destroy();
        assert!(exact.metrics(&[1.0, 2.0], &[0, 1]).is_err());
    }
}

/// A sum over pairs.
#[derive(Clone, Copy, Debug)]
enum Sum {
    Auc,
    Ap,
    Pauc(f64, f64),
}

impl Sum {
    fn on(self, exact: &mut GpuExact, loss: AnySurrogate<f32>, data: &Data) -> (f64, Vec<f32>) {
        let mut grad = vec![0.0; data.scores.len()];
        let value = match self {
            Self::Auc => exact.auc(loss, &data.scores, &data.labels, &mut grad),
            Self::Ap => exact.ap(loss, &data.scores, &data.labels, &mut grad),
            Self::Pauc(low, high) => exact.pauc(loss, (low, high), &data.scores, &data.labels, &mut grad),
        };
        (value.unwrap_or_else(|error| panic!("{self:?}, {}: {error}", data.name)), grad)
    }

    fn of_core(self, name: &str, margin: f64, data: &Data) -> (f64, Vec<f64>) {
        let loss = AnySurrogate::by_name(name, margin).unwrap();
        let positives = data.labels.iter().filter(|&&y| y == 1).count();
        let need = pairs::need(data.scores.len(), positives);
        let mut grad = vec![0.0; data.scores.len()];
        let (s, y, grade) = (&data.scores[..], &data.labels[..], Grade::Full);
        let value = lent(need, |scratch| match self {
            Self::Auc => pairs::auc(s, y, loss, grade, scratch, &mut grad),
            Self::Ap => pairs::ap(s, y, loss, grade, scratch, &mut grad),
            Self::Pauc(low, high) => pairs::pauc(s, y, loss, (low, high), grade, scratch, &mut grad),
        });
        (value, grad)
    }
}

/// Value and gradient against the core's in f64: entries beside the largest of their class, or beside those of a mean loss of
/// 10⁻⁶, since smooth losses beyond e⁻³⁰ count as 0.
fn error(data: &Data, got: &(f64, Vec<f32>), want: &(f64, Vec<f64>)) -> f64 {
    const FLOOR: f64 = 1e-6;
    let largest = |class| {
        let own = || want.1.iter().zip(&data.labels).filter(|(_, y)| **y == class);
        own().fold(FLOOR / own().count() as f64, |most, (g, _)| most.max(g.abs()))
    };
    let most = [largest(0), largest(1)];
    let entries = got.1.iter().zip(&want.1).zip(&data.labels);
    let entries = entries.map(|((&g, w), &y)| (f64::from(g) - w).abs() / most[usize::from(y)]);
    entries.fold((got.0 - want.0).abs() / want.0.abs().max(FLOOR), f64::max)
}

const SUMS: [Sum; 5] = [Sum::Auc, Sum::Ap, Sum::Pauc(0.1003, 0.3337), Sum::Pauc(0.0, 0.05), Sum::Pauc(0.5, 0.50001)];

#[test]
fn exact_sums_are_the_core_s() {
    for context in contexts() {
        let mut exact = GpuExact::new(&context, 10_000).unwrap();
        for (name, margin) in [("hinge", 1.0), ("squared-hinge", 0.5), ("sigmoid", 1.5), ("logistic", 1.0)] {
            let loss = AnySurrogate::by_name(name, margin as f32).unwrap();
            let mut worst = 0.0f64;
            let cases = cases();
            // Series do not depend on the tiles beside them.
            let smooth = matches!(name, "sigmoid" | "logistic");
            let few = |data: &Data| match data.name {
                "grid" => [3, 2049, 9000].contains(&data.scores.len()),
                other => matches!(other, "few values" | "denormals"),
            };
            let left_out = |data: &&Data| data.name == "largest" || (smooth && !few(data));
            for data in cases.iter().filter(|data| !left_out(data)) {
                let ends = matches!(data.name, "half" | "few values");
                for sum in &SUMS[..if ends { 5 } else { 3 }] {
                    let (got, want) = (sum.on(&mut exact, loss, data), sum.of_core(name, margin, data));
                    let error = error(data, &got, &want);
                    worst = worst.max(error);
                    let what = format!("{}: {name}, {sum:?}, {} of {}", context.name(), data.name, data.scores.len());
                    assert!(error <= SUM, "{what}: {error:e}");
                    if ends {
                        assert_eq!(sum.on(&mut exact, loss, data), got, "{what}: other bits");
                    }
                }
            }
            println!("{}: {name}: {worst:.1e}", context.name());
        }
    }
}

/// Drivers may contract a product and a sum, and divide less exactly; the software ones do neither.
#[test]
fn exact_sums_have_the_bits_of_their_mirror() {
    for context in contexts() {
        let mut exact = GpuExact::new(&context, 10_000).unwrap();
        for name in ["hinge", "squared-hinge", "sigmoid", "logistic"] {
            let smooth = matches!(name, "sigmoid" | "logistic");
            let param = if smooth { 12.0 } else { 0.3 };
            let loss = AnySurrogate::by_name(name, param).unwrap();
            for data in [grid("grid", 5000, 9), grid("half", 9_000, 2)].into_iter().take(if smooth { 1 } else { 2 }) {
                let (keys, marks) = mirror::sort::sort(&data.scores, &data.labels);
                let positives = data.labels.iter().filter(|&&y| y == 1).count();
                let negatives = data.labels.len() - positives;
                let (square, unit) = if name == "squared-hinge" { (true, 2.0) } else { (false, 1.0) };
                let ends = data.scores.iter().fold((9.0f32, -9.0f32), |(a, b), &s| (a.min(s), b.max(s)));
                let grid = match Loss::of(loss).unwrap() {
                    Loss::Smooth { scale, linear } => Some(Grid::of(scale, linear, [ends.0, ends.1]).unwrap()),
                    Loss::Hinge { .. } => None,
                };
                let job = |mean: f64| Job {
                    negatives,
                    positives,
                    range: [0, negatives - 1],
                    ends: [1.0; 2],
                    margin: param,
                    scale: (unit * mean) as f32,
                    square,
                    grid,
                };
                let pairs = job(1.0 / (positives * negatives) as f64);
                let share = job(1.0 / positives as f64);
                let (auc, ap) = match grid {
                    None => (mirror::hinge::auc(&pairs, &keys, &marks), mirror::hinge::ap(&share, &keys, &marks)),
                    Some(grid) => (
                        mirror::panel::auc(&pairs, grid, &keys, &marks),
                        mirror::panel::ap(&share, grid, &keys, &marks),
                    ),
                };
                let means = [1.0 / (positives * negatives) as f64, -1.0 / positives as f64];
                for (sum, mean, (value, grad)) in [(Sum::Auc, means[0], auc), (Sum::Ap, means[1], ap)] {
                    let got = sum.on(&mut exact, loss, &data);
                    let want = (value * mean, grad);
                    let what = format!("{}: {name}, {sum:?} of {}", context.name(), data.scores.len());
                    let wide = want.1.iter().map(|&g| f64::from(g)).collect();
                    let error = error(&data, &got, &(want.0, wide));
                    println!("{what}: {error:.1e} from the mirror");
                    assert!(error <= SUM, "{what}: {error:e}");
                    // (Dot products of series are added in an order of the driver's.)
                    assert!(got == want || smooth || !context.is_software(), "{what}: other bits");
                }
            }
        }
    }
}

/// Far from 0 a threshold s − m would be rounded by more than what is summed, and so would a multiple of a score. Against all
/// pairs in f64: each entry beside its own absolute terms. Few rows, then more, with an outlier.
#[test]
fn scores_far_from_zero_lose_nothing() {
    for context in contexts() {
        let mut exact = GpuExact::new(&context, 10).unwrap();
        for (rows, outlier) in [(30, 0.0f32), (600, 90.0)] {
            let mut data = grid("far", rows, 5);
            data.scores.iter_mut().for_each(|s| *s += 4000.0);
            data.scores[7] += outlier;
            data.scores[9] -= outlier;
            let losses = [("squared-hinge", 0.01), ("sigmoid", 3.0), ("logistic", 0.7)];
            for (name, param, loss) in
                losses.map(|(name, param)| (name, param, AnySurrogate::by_name(name, f64::from(param)).unwrap()))
            {
                let (_, got) = Sum::Auc.on(&mut exact, AnySurrogate::by_name(name, param).unwrap(), &data);
                let pairs = (rows / 5 * (rows - rows / 5)) as f64;
                for (at, (&own, &class)) in data.scores.iter().zip(&data.labels).enumerate() {
                    let (mut want, mut terms) = (0.0, 1e-12);
                    for (&other, _) in data.scores.iter().zip(&data.labels).filter(|(_, y)| **y != class) {
                        let margin = f64::from(if class == 1 { own - other } else { other - own });
                        let slope = loss.slope(margin) * if class == 1 { 1.0 } else { -1.0 };
                        want += slope;
                        let hinge = name == "squared-hinge" && slope != 0.0;
                        terms += if hinge { 2.0 * (margin.abs() + f64::from(param)) } else { slope.abs() };
                    }
                    let error = (f64::from(got[at]) * pairs - want).abs() / terms;
                    assert!(error <= SUM, "{}: {name}, row {at} of {rows}: {error:e}", context.name());
                }
            }
        }
    }
}

/// A million rows, or as many as UNDERCURVE_ROWS says; llvmpipe takes seconds for them. SwiftShader would take minutes, and has
/// a tenth.
#[test]
fn a_million_rows() {
    if std::env::var_os("UNDERCURVE_LONG").is_none() {
        return;
    }
    let all = std::env::var("UNDERCURVE_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(1_000_000);
    for context in contexts() {
        let rows = if context.name().contains("SwiftShader") { all / 10 } else { all };
        let mut exact = GpuExact::new(&context, rows).unwrap();
        let data = grid("long", rows, 20);
        let got = exact.metrics(&data.scores, &data.labels).unwrap();
        check_metrics(&context, &data, &got);
        for (name, margin) in [("hinge", 1.0), ("squared-hinge", 0.5), ("sigmoid", 1.0), ("logistic", 1.0)] {
            let loss = AnySurrogate::by_name(name, margin as f32).unwrap();
            for sum in &SUMS[..3] {
                let (got, want) = (sum.on(&mut exact, loss, &data), sum.of_core(name, margin, &data));
                let error = error(&data, &got, &want);
                println!("{}: {name}, {sum:?} of {rows}: {error:.1e}", context.name());
                assert!(error <= SUM, "{}: {name}, {sum:?}: {error:e}", context.name());
            }
        }
    }
}

/// Any device of WebGPU will do; one with less is refused by the name of the limit.
#[test]
fn the_default_limits_are_enough_and_less_is_refused() {
    let adapters = pollster::block_on(wgpu::Instance::default().enumerate_adapters(wgpu::Backends::all()));
    for adapter in adapters {
        let lent = |limits: wgpu::Limits| {
            let descriptor = wgpu::DeviceDescriptor { required_limits: limits, ..Default::default() };
            let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).ok()?;
            Some(Context::lent(device, queue))
        };
        let defaults = wgpu::Limits::default();
        let Some(context) = lent(defaults.clone()) else { continue };
        let context = context.unwrap();
        let mut exact = GpuExact::new(&context, 4).unwrap();
        let (scores, labels, mut grad) = ([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], [0.0; 4]);
        assert_eq!(exact.metrics(&scores, &labels).unwrap().counts.auroc(), 0.75);
        for name in ["hinge", "logistic"] {
            exact.ap(AnySurrogate::by_name(name, 1.0).unwrap(), &scores, &labels, &mut grad).unwrap();
        }
        let fewer = wgpu::Limits { max_storage_buffers_per_shader_stage: 7, ..defaults };
        let error = lent(fewer).unwrap().unwrap_err();
        let what = "max_storage_buffers_per_shader_stage";
        assert_eq!(error, GpuError::Limits { what, need: 8, got: 7 });
    }
}

/// Sorting again is of the rows of the last call, changes nothing, and needs such a call.
#[test]
fn a_sort_can_be_made_again() {
    for context in contexts() {
        let mut exact = GpuExact::new(&context, 10).unwrap();
        assert_eq!(exact.sort_again(1), Err(GpuError::Core(Error::Empty { what: "scores" })));
        let (few, many) = (grid("few", 9, 2), grid("many", 9_000, 20));
        for data in [&few, &many, &few] {
            let metrics = exact.metrics(&data.scores, &data.labels).unwrap();
            exact.sort_again(3).unwrap();
            assert_eq!(exact.metrics(&data.scores, &data.labels).unwrap(), metrics);
        }
        context.idle(0).unwrap();
        // (There is a software adapter where this one is.)
        assert!(!context.is_software() || Context::software().is_ok_and(|software| software.is_software()));
        assert_eq!(context.info().map(|info| context.name().starts_with(&info.name)), Some(true));
    }
}
