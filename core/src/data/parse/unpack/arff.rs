//! ARFF as the text of a CSV file: its names on the line of `@data`, and each row on its own line.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A cell as CSV has it.
fn quoted(cell: &str) -> String {
    if cell == "?" {
        String::new()
    } else if cell.contains([',', '"', '\n', ';', '|', '\t']) || cell.trim() != cell {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_string()
    }
}

/// The next word, quoted or up to one of these characters, and what is behind it.
fn word<'t>(text: &'t str, ends: &[char]) -> (String, &'t str) {
    let text = text.trim_start();
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
        let end = text.find(ends).unwrap_or(text.len());
        return (text[..end].trim_end().to_string(), &text[end..]);
    };
    let (mut out, mut escaped) = (String::new(), false);
    for (at, c) in text.char_indices().skip(1) {
        match c {
            c if escaped => (out, escaped) = (out + c.encode_utf8(&mut [0; 4]), false),
            '\\' => escaped = true,
            c if c == quote => return (out, text[at + 1..].trim_start()),
            c => out.push(c),
        }
    }
    (out, "")
}

/// Cells with commas or tabs between them.
fn cells(mut text: &str) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        let (cell, rest) = word(text, &[',', '\t']);
        all.push(quoted(&cell));
        match rest.trim_start_matches(' ').strip_prefix([',', '\t']) {
            Some(rest) => text = rest,
            None => return all,
        }
    }
}

/// What a keyword stands before.
fn behind<'t>(line: &'t str, keyword: &str) -> Option<&'t str> {
    let (first, rest) = line.split_at_checked(keyword.len())?;
    first.eq_ignore_ascii_case(keyword).then_some(rest)
}

/// The text; `None` where that is no ARFF. A value that a sparse row leaves out is 0, or the first one of a nominal attribute.
pub(super) fn csv(text: &str) -> Option<String> {
    let (mut names, mut usual, mut data, mut out) = (Vec::new(), Vec::new(), false, String::new());
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('%') {
        } else if data {
            let row = match line.strip_prefix('{').and_then(|rest| rest.rsplit_once('}')) {
                None => cells(line),
                Some((pairs, _)) => {
                    let mut row: Vec<String> = usual.clone();
                    for pair in cells(pairs).iter().filter(|pair| !pair.is_empty()) {
                        let (at, value) = pair.split_once(char::is_whitespace)?;
                        *row.get_mut(at.parse::<usize>().ok()?)? = quoted(&word(value, &[]).0);
                    }
                    row
                }
            };
            out.push_str(&row.join(","));
        } else if let Some(rest) = behind(line, "@attribute") {
            let (name, of) = word(rest, &[' ', '\t', '{']);
            let first = |set: &str| cells(set.split('}').next().unwrap_or(set)).swap_remove(0);
            usual.push(of.trim_start().strip_prefix('{').map_or_else(|| "0".into(), first));
            names.push(quoted(&name));
        } else if behind(line, "@data").is_some() && !names.is_empty() {
            data = true;
            out.push_str(&names.join(","));
        } else {
            behind(line, "@relation")?;
        }
        out.push('\n');
    }
    data.then_some(out)
}
