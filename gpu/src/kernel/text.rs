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

/// Which invocation of a workgroup takes which one's work.
#[cfg(not(target_arch = "wasm32"))]
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Each its own.
    #[default]
    Own,
    /// The last that of the first, of workgroups as well.
    Reversed,
    /// Neighbours far from each other: 37t + 11, which has every remainder by a power of two once.
    Mixed,
}

/// A text whose invocations take each other's work: at the head of every entry point its indices become others. What such a program
/// computes is the same, but where it reads what another invocation may not have written yet.
#[cfg(not(target_arch = "wasm32"))]
#[doc(hidden)]
#[must_use]
pub fn in_order(text: String, order: Order) -> String {
    if order == Order::Own {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 1024);
    let mut size = None;
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("@workgroup_size(") {
            size = rest.split(')').next();
            out.push_str(line);
        } else if let (Some(size), true) = (size, line.starts_with("fn ")) {
            out.push_str(&head(line, size, order));
        } else {
            out.push_str(line);
        }
        if line.starts_with("fn ") {
            size = None;
        }
        out.push('\n');
    }
    out
}

/// The first line of an entry point, and behind it the indices that it is to take for its own.
#[cfg(not(target_arch = "wasm32"))]
fn head(line: &str, size: &str, order: Order) -> String {
    let other = |local: &str| match order {
        Order::Own => local.to_string(),
        Order::Reversed => format!("({size}u - 1u - {local})"),
        Order::Mixed => format!("((37u * {local} + 11u) % {size}u)"),
    };
    let (mut head, mut body, mut counted) = (line.to_string(), String::new(), false);
    let parameters = line.split_once('(').map_or("", |(_, rest)| rest);
    for parameter in parameters.trim_end_matches(") {").split(", @").map(|text| text.trim_start_matches('@')) {
        let Some((builtin, rest)) = parameter.strip_prefix("builtin(").and_then(|rest| rest.split_once(") ")) else {
            continue;
        };
        let Some((name, _)) = rest.split_once(": ") else { continue };
        let given = format!("{name}_given");
        let reversed = order == Order::Reversed;
        let own = if builtin == "local_invocation_index" {
            other(&given)
        } else if builtin == "workgroup_id" && reversed {
            counted = true;
            format!("groups_given - vec3<u32>(1u) - {given}")
        } else if builtin == "global_invocation_id" {
            let (group, local) = (format!("{given}.x / {size}u"), other(&format!("({given}.x % {size}u)")));
            let group = if reversed { format!("(groups_given.x - 1u - {group})") } else { group };
            counted |= reversed;
            format!("vec3<u32>({group} * {size}u + {local}, {given}.y, {given}.z)")
        } else {
            continue;
        };
        head = head.replace(&format!(") {name}: "), &format!(") {given}: "));
        body += &format!("\n    let {name} = {own};");
    }
    if counted {
        head = head.replace(") {", ", @builtin(num_workgroups) groups_given: vec3<u32>) {");
    }
    head + &body
}

#[test]
fn nothing_but_code_is_left() {
    let text = "// of all\n\nfn f(x: f32) -> f32 {    // of one\n    // inside\n    return x / 2.0;\n}\n";
    let mut out = vec![0; text.len()];
    let len = strip(text.as_bytes(), &mut out);
    assert_eq!(std::str::from_utf8(&out[..len]).unwrap(), "fn f(x: f32) -> f32 {\nreturn x / 2.0;\n}\n");
}
