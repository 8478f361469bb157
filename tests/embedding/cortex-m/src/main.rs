//! Trains without an allocator and prints the bits of the average precision and of the scores; on a Cortex-M also the bytes of
//! stack that it took. `cortex_m.py` builds it for both and compares.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[path = "../../src/rows.rs"]
mod rows;
#[path = "../../src/soap.rs"]
mod soap;

/// The bits of the average precision, and a hash (FNV-1a) of those of the scores; none for an error.
#[inline(never)]
fn figures() -> Option<[u64; 2]> {
    let (ap, scores) = soap::train().ok()?;
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in scores.iter().flat_map(|score| score.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    Some([ap.to_bits(), hash])
}

#[cfg(not(target_os = "none"))]
fn main() {
    let [ap, scores] = figures().expect("a trained model");
    println!("{ap:016x} {scores:016x}");
}

#[cfg(target_os = "none")]
mod machine;
