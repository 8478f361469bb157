//! Cells of the CSV files that are written.

/// A CSV cell, in quotes where it needs them.
pub fn cell(text: &str) -> String {
    if text.contains(['"', ',', ';', '\t', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

/// The same of the name of a column, which a spreadsheet must not take for a formula: an apostrophe in front says that it is text.
pub fn name(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if formula { cell(&format!("'{text}")) } else { cell(text) }
}
