//! JSON as text, for what is built small.

use std::format;
use std::string::String;
use std::vec::Vec;

/// `text` as a JSON string.
pub fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A JSON array of JSON texts.
pub fn array(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

/// A JSON object of names and JSON texts.
pub fn object<const N: usize>(fields: [(&str, String); N]) -> String {
    let fields: Vec<String> = fields.into_iter().map(|(name, value)| format!("{}:{value}", string(name))).collect();
    format!("{{{}}}", fields.join(","))
}

/// A JSON number; null of what is none.
pub fn number(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { "null".into() }
}
