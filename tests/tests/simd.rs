//! Loops that the core compiles twice, for SSE2 and for AVX2: the bits of both are those stored here, which come from a
//! build for SSE2 alone. Only an optimised build has AVX2 in its loops: `tests/run` runs this with `--config
//! tests/vectors.toml --features simd` too.

use undercurve::algorithm::{Adam, AdamForm, AdamSettings, Algorithm, Answer, COUNTERS, Schedule, State};
use undercurve::batch::{Batch, Drawn, Shape};
use undercurve::data::{Rows, Selection};
use undercurve::estimator::{Estimator, First, Grad, Link, SmoothAp, Soap, SoapSettings, Weights};
use undercurve::model::{Activation, Mlp, Model};
use undercurve::pairs::brute;
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, SURROGATES};
use undercurve::{Real, Scratch, with_surrogate};

/// FNV-1a over the bits of results.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
    fn add<T: Real>(&mut self, xs: &[T]) {
        for x in xs.iter().flat_map(|x| x.to_le()) {
            self.0 = (self.0 ^ u64::from(x)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn normals<T: Real>(random: &mut Rng, count: usize, width: f64) -> Vec<T> {
    (0..count).map(|_| T::of(width * random.normal())).collect()
}

/// All pairs of blocks of many lengths; scores so far apart, too, that every pair takes an exponential of its own.
fn pairs<T: Real>(name: &str) -> u64 {
    let (mut random, mut hash) = (Rng::new(1), Hash::new());
    let loss = AnySurrogate::by_name(name, T::of(0.75)).unwrap();
    // (An exponential loss of scores that far apart is too large.)
    let widths: &[f64] = if name == "exponential" { &[1.0] } else { &[1.0, 400.0] };
    for &width in widths {
        for (anchors, others) in [(1, 1), (2, 7), (3, 8), (5, 9), (4, 64), (9, 67), (70, 131)] {
            let a: Vec<T> = normals(&mut random, anchors, width);
            let o: Vec<T> = normals(&mut random, others, width);
            let kappa: Vec<T> = normals(&mut random, anchors, 1.0);
            let (mut values, mut slopes) = (vec![T::ZERO; anchors], vec![T::ZERO; anchors]);
            let mut grad = vec![T::ZERO; others];
            let value = with_surrogate!(loss, l => {
                brute::row_sums(l, &a, &o, &mut values, &mut slopes).unwrap();
                hash.add(&values);
                hash.add(&slopes);
                brute::add_slopes(l, &a, &kappa, &o, &mut grad).unwrap();
                hash.add(&grad);
                brute::auc(l, &a, &o, &mut slopes, &mut grad).unwrap()
            });
            hash.add(&[value]);
            hash.add(&slopes);
            hash.add(&grad);
        }
    }
    hash.0
}

/// Steps of an estimator on batches of several shapes.
fn estimator<T: Real>(estimator: &dyn Estimator<T>) -> u64 {
    let (mut random, mut hash) = (Rng::new(2), Hash::new());
    for (negatives, positives) in [(56, 8), (13, 3), (131, 19)] {
        let rows = negatives + positives;
        let slots: Vec<u32> = (0..positives as u32).collect();
        let need = estimator.need(Shape { rows, heads: 1, segments: 2, slots: positives });
        let mut real = vec![T::ZERO; need.real];
        let mut state = vec![T::ZERO; estimator.state_len(positives)];
        let mut grad = vec![T::ZERO; rows];
        for _ in 0..3 {
            let scores = normals(&mut random, rows, 1.0);
            let starts = [0, negatives as u32, rows as u32];
            let batch = Batch::new(&scores, 1, &starts, &[5_600, 800], Drawn::Stratified).unwrap().with_slots(&slots);
            let scratch = Scratch { real: &mut real, ..Scratch::default() };
            let out = Grad { scores: &mut grad, aux: &mut [] };
            let value = estimator.update(&batch, &[], &mut state, scratch, out).unwrap();
            hash.add(&[value]);
            hash.add(&grad);
            hash.add(&state);
        }
    }
    hash.0
}

/// Scores and gradients of networks of several shapes, of all rows and of some.
fn networks<T: Real>() -> u64 {
    let (mut random, mut hash) = (Rng::new(3), Hash::new());
    for (inputs, hidden, heads, rows) in
        [(32, vec![64, 64], 1, 64), (5, vec![9], 1, 7), (17, vec![24, 10], 3, 70), (3, vec![16, 33], 2, 131)]
    {
        for activation in [Activation::Relu, Activation::Tanh] {
            let network = Mlp::new(inputs, &hidden, heads, activation).unwrap();
            let x = normals::<T>(&mut random, rows * inputs, 1.0);
            let index: Vec<u32> = (0..rows as u32 / 2 + 3).map(|k| (k * 37 + 5) % rows as u32).collect();
            let x = Rows::dense(&x, inputs).unwrap();
            let mut params = vec![T::ZERO; Model::<T>::param_len(&network)];
            network.init(&mut random, &mut params).unwrap();
            let mut grad = vec![T::ZERO; params.len()];
            for x in [Selection::all(x), Selection::of(x, &index).unwrap()] {
                let mut cache = vec![T::ZERO; Model::<T>::cache_len(&network, x.len())];
                let mut scratch = vec![T::ZERO; Model::<T>::scratch_len(&network, x.len())];
                let mut scores = vec![T::ZERO; x.len() * heads];
                network.forward(&params, x, &mut cache, &mut scores).unwrap();
                network.backward(&params, x, &cache, &scores, &mut scratch, &mut grad).unwrap();
                hash.add(&scores);
                hash.add(&grad);
            }
        }
    }
    hash.0
}

fn adam<T: Real>() -> u64 {
    let (mut random, mut hash) = (Rng::new(4), Hash::new());
    for form in [AdamForm::Corrected, AdamForm::Plain, AdamForm::AmsGrad] {
        for len in [1, 13, 1000] {
            let adam =
                Adam::new(AdamSettings { lr: Schedule::constant(0.01), decay: 1e-4, form, ..AdamSettings::default() })
                    .unwrap();
            let mut points: Vec<T> = normals(&mut random, len, 1.0);
            let (mut slots, mut counters) = (vec![T::ZERO; 2 * len], [0; COUNTERS]);
            for _ in 0..5 {
                let grad: Vec<T> = normals(&mut random, len, 1.0);
                let mut state = State { points: &mut points, slots: &mut slots, counters: &mut counters };
                adam.tell(&mut state, Answer::Gradient { value: 0.0, grad: &grad }).unwrap();
            }
            hash.add(&points);
            hash.add(&slots);
        }
    }
    hash.0
}

fn soap<T: Real>(name: &str) -> u64 {
    let loss = AnySurrogate::by_name(name, T::of(0.75)).unwrap();
    estimator::<T>(
        &Soap::new(SoapSettings {
            surrogate: loss.to(),
            link: Link::Identity,
            gamma: 0.5,
            floor: 0.0,
            weights: Weights::Unbiased,
            first: First::Estimate,
        })
        .unwrap(),
    )
}

fn results() -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for &(name, ..) in SURROGATES {
        all.push((format!("pairs {name} f32"), pairs::<f32>(name)));
        all.push((format!("pairs {name} f64"), pairs::<f64>(name)));
        all.push((format!("soap {name} f32"), soap::<f32>(name)));
        all.push((format!("soap {name} f64"), soap::<f64>(name)));
    }
    let smooth_ap = SmoothAp::new(0.1, Link::Sigmoid, Weights::Unbiased).unwrap();
    all.push(("smooth-ap f32".into(), estimator::<f32>(&smooth_ap)));
    all.push(("networks f32".into(), networks::<f32>()));
    all.push(("networks f64".into(), networks::<f64>()));
    all.push(("adam f32".into(), adam::<f32>()));
    all.push(("adam f64".into(), adam::<f64>()));
    all
}

/// From a build without the feature `simd`, for SSE2.
const STORED: &[(&str, u64)] = &[
    ("pairs square f32", 0x5972_ac56_bbb4_ad8a),
    ("pairs square f64", 0x48ae_4b85_5b01_8dd4),
    ("soap square f32", 0xa626_eaf9_94db_7d55),
    ("soap square f64", 0x9012_f8b4_d9b6_45f5),
    ("pairs squared-hinge f32", 0x7376_1719_5083_5eda),
    ("pairs squared-hinge f64", 0x0d0e_d7e8_90dc_e8fe),
    ("soap squared-hinge f32", 0x0a69_e242_9483_e7ba),
    ("soap squared-hinge f64", 0x5ac5_ba06_905d_0207),
    ("pairs hinge f32", 0x99ee_b9a0_484b_a20f),
    ("pairs hinge f64", 0x5096_2168_e7b3_b692),
    ("soap hinge f32", 0x7191_d587_3e1f_5e9e),
    ("soap hinge f64", 0x0c59_3b2a_4495_9907),
    ("pairs logistic f32", 0x20a2_3e63_97f4_a473),
    ("pairs logistic f64", 0xa4df_d40f_00dd_dcbc),
    ("soap logistic f32", 0x36f5_7853_cdf1_a429),
    ("soap logistic f64", 0xe303_2fc3_2a7d_ac0f),
    ("pairs sigmoid f32", 0x504e_04ab_7e48_3d93),
    ("pairs sigmoid f64", 0x0a92_cfd1_1e2d_cd49),
    ("soap sigmoid f32", 0x6516_a682_cf78_eee3),
    ("soap sigmoid f64", 0x81b0_5436_a04b_dedc),
    ("pairs exponential f32", 0x0496_b1e8_d26d_888d),
    ("pairs exponential f64", 0x83ac_ab9a_03af_3b77),
    ("soap exponential f32", 0x2c63_cdb7_3a3b_fc30),
    ("soap exponential f64", 0x38ec_8ba3_8837_6d9f),
    ("pairs smoothed-hinge f32", 0x8754_82c8_7714_80fd),
    ("pairs smoothed-hinge f64", 0x9d50_bee3_563b_9629),
    ("soap smoothed-hinge f32", 0x3e30_54f8_542b_9d89),
    ("soap smoothed-hinge f64", 0xbda1_9ab9_952d_ad42),
    ("pairs ramp f32", 0x75ed_9cce_4864_501c),
    ("pairs ramp f64", 0xbad8_be53_c58a_f0f9),
    ("soap ramp f32", 0x7778_253b_0f9b_8fb2),
    ("soap ramp f64", 0xeb9d_e3b6_0a33_1419),
    ("smooth-ap f32", 0xa246_0772_ee42_7dc6),
    ("networks f32", 0xa0fe_ab44_69df_08e2),
    ("networks f64", 0x7da4_6239_f352_8af6),
    ("adam f32", 0x07a7_b9c8_33eb_bc8e),
    ("adam f64", 0x197b_e1d5_5304_e625),
];

#[test]
fn the_bits_do_not_depend_on_the_vectors() {
    let wrong: Vec<String> = (results().iter().enumerate())
        .filter(|(at, (name, hash))| STORED.get(*at) != Some(&(name, *hash)))
        .map(|(_, (name, hash))| format!("    (\"{name}\", 0x{hash:016x}),"))
        .collect();
    assert!(wrong.is_empty(), "other bits than stored:\n{}", wrong.join("\n"));
    assert_eq!(STORED.len(), results().len());
}

#[cfg(all(target_arch = "x86_64", feature = "simd"))]
#[test]
fn avx2_is_chosen_where_the_cpu_has_it() {
    let has = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2");
    if !has {
        println!("this CPU has no AVX2, so only the loops for SSE2 are tested");
    }
    assert_eq!(undercurve::uses_avx2(), has);
}
