//! Four hundred ways in which cells are written (`styles/list.rs`): each is read as what it is, or a line names the column and an option. What is read
//! otherwise, without a word, fails the test; `cargo test -p undercurve-demo --test styles -- --nocapture` prints how many are read, and how many told.

#[path = "styles/list.rs"]
mod list;

use list::{Right, Style, styles};
use std::fmt::Write as _;
use std::path::Path;
use undercurve::data::{ColumnValues, Format, Kind, Options, RawTable, ReadOptions, first_rows};
use undercurve_demo::input::{reading_notes, written_notes};

#[derive(Debug, PartialEq)]
enum Came {
    Read,
    Told(String),
    Silent(String),
}

/// As a file of the style beside a number and a label.
fn file(style: &Style) -> String {
    let d = style.delimiter;
    let mut text = format!("quantity{d}other{d}y\n");
    for (row, (cell, _)) in style.cells.iter().enumerate() {
        let quoted = cell.contains(['"', d]);
        let cell = if quoted { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() };
        let _ = writeln!(text, "{cell}{d}{}{d}{}", row * 37 % 101, row % 2);
    }
    text
}

/// Whether these are an increasing linear function of the truth, and missing where that is.
fn are(values: &[f64], style: &Style, least: f64) -> bool {
    let pairs = || values.iter().zip(&style.cells).map(|(&x, cell)| (x, cell.1)).filter(|pair| !pair.1.is_nan());
    if values.iter().zip(&style.cells).any(|(x, cell)| x.is_nan() != cell.1.is_nan()) {
        return false;
    }
    let n = pairs().count() as f64;
    let (x, y) = pairs().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0 / n, sum.1 + pair.1 / n));
    let of = |f: &dyn Fn(f64, f64) -> f64| pairs().map(|(a, b)| f(a - x, b - y)).sum::<f64>();
    of(&|a, b| a * b) / (of(&|a, _| a * a) * of(&|_, b| b * b)).sqrt() > least
}

fn came(style: &Style) -> Came {
    let options = Options { label: Some("y".into()), ..Options::default() };
    let table = match RawTable::parse(file(style).as_bytes(), Format::Auto, "t.csv") {
        Ok(table) => table,
        Err(error) => return Came::Told(error.to_string()),
    };
    let read = match table.column(0) {
        Some(ColumnValues::Numbers(values)) => match style.right {
            Right::Number => are(values, style, 0.999_999),
            Right::Time | Right::Duration => are(values, style, 0.999_999),
            // (Months have several lengths.)
            Right::Date => are(values, style, 0.999) && table.kind(0) == Kind::Date,
            Right::Categories | Right::Codes | Right::Told => false,
        },
        Some(ColumnValues::Texts { .. }) => matches!(style.right, Right::Categories | Right::Codes),
        _ => false,
    };
    let doubt = table.doubt(0).map(|error| error.to_string());
    let stray = table.stray(0).map(|(_, text)| format!("{text:?} among numbers"));
    let written = first_rows(file(style).as_bytes(), &ReadOptions::default(), "t.csv", 1000);
    let path = Path::new("t.csv");
    let mut notes = reading_notes(&table, Some(&options), path);
    notes.extend(written_notes(&table, &written, false, &options, path));
    let note = || notes.iter().find(|note| note.contains("\"quantity\"") && note.contains(" --")).cloned();
    match doubt.or(stray) {
        Some(text) => Came::Told(text),
        None if read => Came::Read,
        None => note().map_or_else(|| Came::Silent(format!("{:?} {notes:?}", table.kind(0))), Came::Told),
    }
}

#[allow(clippy::disallowed_macros)] // (what people ask it for)
#[test]
fn no_way_to_write_a_cell_is_misread_in_silence() {
    let all = styles();
    let came: Vec<Came> = all.iter().map(came).collect();
    let count = |is: fn(&Came) -> bool| came.iter().filter(|came| is(came)).count();
    let silent = count(|came| matches!(came, Came::Silent(_)));
    println!(
        "{} styles: {} read, {} told, {silent} silent",
        all.len(),
        count(|came| *came == Came::Read),
        count(|came| matches!(came, Came::Told(_)))
    );
    let mut wrong = String::new();
    for (style, came) in all.iter().zip(&came) {
        if let Came::Silent(text) = came {
            let _ = writeln!(wrong, "{} ({}): {:?}: {text}", style.name, style.cells[3].0, style.right);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(all.len() >= 400, "{}", all.len());
}
