//! Cells of the CSV files that are written.

/// A CSV cell, in quotes where it needs them.
pub fn cell(text: &str) -> String {
    if text.contains(['"', ',', ';', '\t', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}
