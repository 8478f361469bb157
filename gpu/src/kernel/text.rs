//! Shader texts as they are shipped: on the web, where everybody downloads them, without comments and indentation.

/// The text of a file.
#[cfg(not(target_arch = "wasm32"))]
macro_rules! wgsl {
    ($file:literal) => {
        include_str!($file)
    };
}

/// The text of a file, without what no compiler reads.
#[cfg(target_arch = "wasm32")]
macro_rules! wgsl {
    ($file:literal) => {{
        const FULL: &str = include_str!($file);
        const LEN: usize = $crate::kernel::text::strip(FULL.as_bytes(), &mut [0; FULL.len()]);
        const STRIPPED: [u8; LEN] = {
            let (mut full, mut stripped) = ([0; FULL.len()], [0; LEN]);
            $crate::kernel::text::strip(FULL.as_bytes(), &mut full);
            stripped.copy_from_slice(full.split_at(LEN).0);
            stripped
        };
        // (A constant, so that the full text is not in the file.)
        const TEXT: &str = match core::str::from_utf8(&STRIPPED) {
            Ok(text) => text,
            Err(_) => panic!("cut within a character"),
        };
        TEXT
    }};
}

/// Writes a text without comments, indentation and empty lines to `out`, which is as long; how long that is.
#[cfg(any(test, target_arch = "wasm32"))]
pub(crate) const fn strip(text: &[u8], out: &mut [u8]) -> usize {
    let (mut at, mut to, mut begins) = (0, 0, true);
    while at < text.len() {
        if text[at] == b'/' && at + 1 < text.len() && text[at + 1] == b'/' {
            while at < text.len() && text[at] != b'\n' {
                at += 1;
            }
            while to > 0 && out[to - 1] == b' ' {
                to -= 1;
            }
            continue;
        }
        if !(begins && (text[at] == b' ' || text[at] == b'\n')) {
            out[to] = text[at];
            to += 1;
            begins = text[at] == b'\n';
        }
        at += 1;
    }
    to
}

#[test]
fn nothing_but_code_is_left() {
    let text = "// of all\n\nfn f(x: f32) -> f32 {    // of one\n    // inside\n    return x / 2.0;\n}\n";
    let mut out = vec![0; text.len()];
    let len = strip(text.as_bytes(), &mut out);
    assert_eq!(std::str::from_utf8(&out[..len]).unwrap(), "fn f(x: f32) -> f32 {\nreturn x / 2.0;\n}\n");
}
