//! Text for a terminal of eighty columns.

use std::path::Path;

/// Characters of a line.
pub const WIDTH: usize = 80;

/// Words in lines of at most [`WIDTH`] characters; those after the first begin with blanks. A longer word has a line of its own.
pub fn wrap(text: &str, indent: usize) -> String {
    let (mut out, mut length, mut fresh) = (String::new(), 0, true);
    for word in text.split(' ') {
        let wide = word.chars().count();
        if !fresh && length + 1 + wide > WIDTH {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            (length, fresh) = (indent, true);
        }
        if !fresh {
            out.push(' ');
            length += 1;
        }
        out.push_str(word);
        length += wide;
        fresh = false;
    }
    out
}

/// A text in so many characters, its end left out where it is longer.
pub fn cut(text: &str, most: usize) -> String {
    let flat = text.replace(['\n', '\r', '\t'], " ");
    if flat.chars().count() <= most { flat } else { flat.chars().take(most.saturating_sub(1)).chain(['…']).collect() }
}

/// A word of a command line, in quotes where a shell wants them.
pub fn shell(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:+=@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_string()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// The name of a file without folders and ending.
pub fn stem(file: &Path) -> String {
    let name = file.file_stem().map_or("data".into(), |name| name.to_string_lossy().into_owned());
    let name = name.strip_suffix(".csv").unwrap_or(&name).to_string();
    if name == "-" { "data".to_string() } else { name }
}

/// The name that may have been meant.
pub fn likely<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    undercurve::registry::nearest(name, names.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::{cut, shell, wrap};

    #[test]
    fn lines_fit() {
        let text = wrap(&"word ".repeat(40), 4);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text.split_whitespace().count(), 40);
        assert_eq!((wrap("a b", 2), wrap("  a  b", 2)), ("a b".into(), "  a  b".into()));
        assert_eq!(wrap(&"x".repeat(100), 2), "x".repeat(100));
        assert_eq!((cut("abcdef", 4), cut("abcd", 4)), ("abc…".into(), "abcd".into()));
        assert_eq!((shell("a-b.csv"), shell("it's")), ("a-b.csv".into(), r"'it'\''s'".into()));
    }
}
