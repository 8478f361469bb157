//! Pair sums and metrics of inputs made of random bytes, against their twins: the body of the fuzz target, on any
//! toolchain.

use undercurve_tests::fuzz::check;

/// Bytes of a seed (SplitMix64).
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    // Mostly short: many small inputs find more than few large ones.
    let count = 8 + next() % [16, 64, 256][(next() % 3) as usize];
    (0..count).map(|_| next() as u8).collect()
}

/// Seeds that found something once: windows of widely spread scores summed otherwise for f32 gradients than for f64;
/// panels of scores as far apart as f64 goes; slopes of a ramp whose sum does not fit; a ramp's edge that was rounded onto
/// another row's.
const FOUND: [u64; 4] = [25_104, 30_884, 49_040, 794];

/// `UNDERCURVE_LONG=1` runs for about five minutes. A failing seed is named by the message before the panic's.
#[test]
fn random_bytes_give_the_twins_answers() {
    let rounds = if std::env::var_os("UNDERCURVE_LONG").is_some() { 50_000 } else { 500 };
    for seed in (0..rounds).chain(FOUND) {
        let input = bytes(seed);
        if let Err(panic) = std::panic::catch_unwind(|| check(&input)) {
            eprintln!("seed {seed}: {input:?}");
            std::panic::resume_unwind(panic);
        }
    }
}
