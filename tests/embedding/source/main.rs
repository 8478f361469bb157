//! Exported models on rows: a hash (FNV-1a) of the bits of all scores, by Rust's source and by C's. `source.py` writes `models.rs`, which calls `one` for each
//! model, and builds this for each machine. With `--cfg size="…"` one row is scored by the first model's source, or by none, so that flash can be compared.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod machine;
#[cfg(not(size))]
mod models;

#[cfg(not(size))]
type Hashes = [u64; 2];

/// Hashes the scores of rows of so many little-endian doubles.
#[cfg(not(size))]
fn one<const N: usize>(rows: &[u8], scores: impl Fn(&[f64; N]) -> [f64; 2], hashes: &mut Hashes) {
    for row in rows.chunks_exact(8 * N) {
        let row = core::array::from_fn(|k| f64::from_bits((0..8).fold(0, |bits, b| bits | (row[8 * k + b] as u64) << (8 * b))));
        for (hash, score) in hashes.iter_mut().zip(scores(&row)) {
            for byte in score.to_le_bytes() {
                *hash = (*hash ^ byte as u64).wrapping_mul(0x100_0000_01b3);
            }
        }
    }
}

#[cfg(not(size))]
fn figures() -> Option<[u64; 2]> {
    let mut hashes = [0xcbf2_9ce4_8422_2325; 2];
    models::all(&mut hashes);
    Some(hashes)
}

#[cfg(size)]
fn figures() -> Option<[u64; 2]> {
    #[cfg(size = "c")]
    unsafe extern "C" {
        fn score0(row: *const f64) -> f64;
    }
    #[cfg(size = "rust")]
    #[path = "m0.rs"]
    mod m0;
    let row = core::hint::black_box([0.5f64; 8]);
    #[cfg(size = "c")]
    let score = unsafe { score0(row.as_ptr()) };
    #[cfg(size = "rust")]
    let score = m0::score(&row);
    #[cfg(size = "none")]
    let score = row[3];
    Some([score.to_bits(), 0])
}

#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
extern "C" fn rust() -> u64 {
    figures().unwrap()[0]
}

#[cfg(not(any(target_os = "none", target_arch = "wasm32")))]
fn main() {
    let [rust, c] = figures().unwrap();
    println!("{rust:016x} {c:016x}");
}
