//! Cells as a text file has them: of columns that are carried through, and of files that are read as text.

use crate::column::{DAY, Taken, nanos};
use arrow_array::Array;
use arrow_schema::{DataType, Field, TimeUnit};
use undercurve::data::{Kind, Values};

/// The cell of a row as a text file has it; nothing where it is missing, or cannot be read.
#[must_use]
pub fn cell(array: &dyn Array, field: &Field, row: usize) -> String {
    found(array, field, row).unwrap_or_default()
}

fn found(array: &dyn Array, field: &Field, row: usize) -> Option<String> {
    let one = array.slice(row, 1);
    if one.is_null(0) {
        return None;
    }
    let data = one.to_data();
    let (narrow, wide) = (|| i128::from(data.buffer::<i32>(0)[0]), || i128::from(data.buffer::<i64>(0)[0]));
    match one.data_type() {
        DataType::Date32 => return date(narrow()),
        DataType::Date64 => return moment(wide() * nanos(TimeUnit::Millisecond)),
        DataType::Timestamp(unit, _) => return moment(wide() * nanos(*unit)),
        DataType::Time32(unit) => return Some(time(narrow() * nanos(*unit))),
        DataType::Time64(unit) => return Some(time(wide() * nanos(*unit))),
        DataType::Duration(unit) => return Some(duration(wide() * nanos(*unit))),
        _ => {}
    }
    match Taken::of(one.as_ref(), field).values() {
        Values::Texts(texts) => texts.first()?.map(ToString::to_string),
        Values::Owned(texts) => texts.first()?.clone(),
        Values::Whole(_, exact) => Some(exact.first()?.1.clone()),
        Values::Of(Kind::Truth, values) => Some((values.first()? == &1.0).to_string()),
        Values::Of(Kind::Date, values) => moment((values.first()? * DAY as f64) as i128),
        Values::Of(Kind::Time, values) => Some(time((values.first()? * DAY as f64) as i128)),
        Values::Of(Kind::Duration, values) => Some(duration((values.first()? * DAY as f64) as i128)),
        Values::Numbers(values) | Values::Of(_, values) => values.first().filter(|x| !x.is_nan()).map(|x| number(*x)),
        _ => None,
    }
}

/// A number, with an exponent where it would be long.
fn number(x: f64) -> String {
    let plain = x == 0.0 || !x.is_finite() || (1e-5..1e16).contains(&x.abs());
    if plain { x.to_string() } else { format!("{x:e}") }
}

/// A day, counted from the beginning of 1970, of the years that are written with four digits.
fn date(days: i128) -> Option<String> {
    // Days from 1 March of the year 0; years begin in March, so that the leap day is the last, and 400 of them are 146,097 days.
    let days = i64::try_from(days).ok()?.checked_add(719_468)?;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (400 * era + year + i64::from(month > 9), if month > 9 { month - 9 } else { month + 3 });
    (1..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// A clock, with as many digits after the second as it has.
fn time(nanos: i128) -> String {
    let (seconds, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if nanos == 0 { text } else { text + format!(".{nanos:09}").trim_end_matches('0') }
}

fn moment(nanos: i128) -> Option<String> {
    Some(format!("{}T{}", date(nanos.div_euclid(DAY))?, time(nanos.rem_euclid(DAY))))
}

fn duration(nanos: i128) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    format!("{sign}{}", time(nanos.abs()))
}
