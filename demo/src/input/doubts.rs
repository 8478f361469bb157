//! What cells may mean besides what they were read as: numbers that stand for a missing value, spellings of one category, numbers with units, months, and
//! dates that are written as numbers.

use super::{listed, shell};
use std::collections::BTreeMap;
use undercurve::data::{ColumnValues, Kind, RawTable};

/// Different values beyond a gap that may stand for missing ones.
const BEYOND: usize = 3;
/// Different whole numbers up to which a column has codes, and the largest of them.
const CODES: (usize, f64) = (12, 20.0);
/// Texts that are shown of a column.
const SHOWN: usize = 5;

/// Values with how many rows have each, ascending.
fn counted(values: &[f64]) -> Vec<(f64, usize)> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect()
}

/// Whether it is written in nines, or as -1: what forms have for "no answer".
fn is_nines(x: f64) -> bool {
    x == -1.0 || (x.fract() == 0.0 && x != 0.0 && x.abs() < 1e9 && format!("{}", x.abs()).bytes().all(|b| b == b'9'))
}

/// Numbers far from all others that recur, with how many rows have each: beyond codes any that is ten spacings off, or nines that are two off; beyond
/// other numbers nines, and negative ones where no other is negative, that are ten spacings off.
pub fn standing(values: &[f64]) -> Vec<(f64, usize)> {
    let all = counted(values);
    let mut found = Vec::new();
    for high in [true, false] {
        let at = |k: usize| if high { all[all.len() - 1 - k] } else { all[k] };
        for beyond in (1..=BEYOND.min(all.len().saturating_sub(3))).rev() {
            let others = if high { &all[..all.len() - beyond] } else { &all[beyond..] };
            let mut gaps: Vec<f64> = others.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
            gaps.sort_by(f64::total_cmp);
            let (spacing, gap) = (gaps[gaps.len() / 2], (at(beyond).0 - at(beyond - 1).0).abs());
            let codes = others.len() <= CODES.0 && others.iter().all(|of| of.0.fract() == 0.0 && of.0.abs() <= CODES.1);
            let these: Vec<(f64, usize)> = (0..beyond).map(at).collect();
            let nines = these.iter().any(|of| is_nines(of.0));
            let apart = these.iter().all(|of| of.0 < 0.0) && others.iter().all(|of| of.0 >= 0.0);
            let far = gap >= 10.0 * spacing && (codes || nines || apart);
            let near = codes && nines && beyond == 1 && gap >= 2.0 * spacing;
            if (far || near) && these.iter().all(|of| of.1 > 1) {
                found.extend(these);
                break;
            }
        }
    }
    found
}

/// Texts that differ by case and blanks alone, those of one category together.
fn spellings(values: &[String]) -> Vec<Vec<&str>> {
    let mut all: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for text in values {
        let folded = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        all.entry(folded).or_default().push(text);
    }
    all.into_values().filter(|same| same.len() > 1).collect()
}

/// Whether a text is a number with a unit or a mark.
fn is_measure(text: &str) -> bool {
    let bare = text.trim_start_matches(['~', '≈', '±', '+', '-', ' ']);
    let end = bare.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(bare.len());
    let unit = bare[end..].trim();
    let marked = bare.len() < text.len() || !unit.is_empty();
    let short = unit.chars().count() <= 8 && !unit.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | ':'));
    end > 0 && marked && short
}

/// Whether a text is a month or a quarter of a year.
pub fn is_month(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['-', '/', ' ', '.']).filter(|part| !part.is_empty()).collect();
    let is_year =
        |part: &str| part.len() == 4 && part.starts_with(['1', '2']) && part.bytes().all(|b| b.is_ascii_digit());
    let is_part = |part: &str| {
        let number = part.trim_start_matches(['Q', 'q']).parse::<u32>().is_ok_and(|x| (1..=12).contains(&x));
        (part.len() <= 2 && number) || part.chars().count() >= 3 && part.chars().all(char::is_alphabetic)
    };
    let [a, b] = parts[..] else { return false };
    (is_year(a) && is_part(b)) || (is_part(a) && is_year(b))
}

/// Whether a number is a day as 20240513.
fn is_day(x: f64) -> bool {
    let (day, month, year) = (x % 100.0, (x / 100.0).floor() % 100.0, (x / 1e4).floor());
    x.fract() == 0.0 && (1900.0..2100.0).contains(&year) && (1.0..=12.0).contains(&month) && (1.0..=31.0).contains(&day)
}

/// Whether most of these are so, of at least so many different ones.
fn mostly(values: &[String], is: impl Fn(&str) -> bool) -> Option<&str> {
    let count = values.iter().filter(|text| is(text)).count();
    let first = values.iter().find(|text| is(text));
    first.filter(|_| values.len() > 2 && 10 * count >= 9 * values.len()).map(String::as_str)
}

/// A line of each kind, of columns that are features and of which nobody has said more.
pub fn notes(table: &RawTable, is_asked: impl Fn(usize, &str) -> bool) -> Vec<String> {
    let mut notes = Vec::new();
    let (mut stand, mut spelt) = (Vec::new(), Vec::new());
    let [mut measures, mut months, mut days] = [const { Vec::new() }; 3];
    for (at, name) in table.columns().iter().enumerate().filter(|(at, name)| is_asked(*at, name)) {
        match table.column(at) {
            Some(ColumnValues::Numbers(values)) if table.kind(at) == Kind::Number => {
                let is_date = values.len() > 2 && values.iter().all(|x| x.is_nan() || is_day(*x));
                match values.iter().find(|x| !x.is_nan()).filter(|_| is_date) {
                    Some(x) => days.push((name.clone(), x.to_string())),
                    None => stand.extend(standing(values).into_iter().map(|(x, rows)| (name.clone(), x, rows))),
                }
            }
            Some(ColumnValues::Texts { values, .. }) if table.stray(at).is_none() => {
                spelt.extend(spellings(values).into_iter().next().map(|of| (name.clone(), of.join("\", \""))));
                if let Some(text) = mostly(values, is_month) {
                    months.push((name.clone(), text.to_string()));
                } else if let Some(text) = mostly(values, is_measure) {
                    measures.push((name.clone(), text.to_string()));
                }
            }
            _ => {}
        }
    }
    let more = |count: usize| if count > SHOWN { format!(" and {} more", count - SHOWN) } else { String::new() };
    if !stand.is_empty() {
        let each = stand.iter().take(SHOWN).map(|(name, x, rows)| format!("{x} in \"{name}\" ({rows} rows)"));
        let each = each.collect::<Vec<_>>().join(", ") + &more(stand.len());
        let na: Vec<String> = stand.iter().map(|(name, x, _)| format!("{name}={x}")).collect();
        notes.push(format!("{each}: numbers, or no answer? --na {} takes them for missing", shell(&na.join(","))));
    }
    if !spelt.is_empty() {
        let each = spelt.iter().take(SHOWN).map(|(name, texts)| format!("\"{texts}\" in \"{name}\""));
        let each = each.collect::<Vec<_>>().join("; ") + &more(spelt.len());
        notes.push(format!("{each} differ by case or blanks alone and are categories each; write them alike"));
    }
    let of = |all: &[(String, String)]| {
        let names: Vec<&str> = all.iter().map(|of| of.0.as_str()).collect();
        (listed(&names), all[0].1.clone())
    };
    if !measures.is_empty() {
        let (columns, text) = of(&measures);
        notes.push(format!(
            "numbers with units or marks, as {text:?}, in {columns} are categories; write the number alone"
        ));
    }
    if !months.is_empty() {
        let (columns, text) = of(&months);
        notes.push(format!("months, as {text:?}, in {columns} are categories; write a day of each, as 2024-05-01"));
    }
    if !days.is_empty() {
        let (columns, text) = of(&days);
        notes.push(format!(
            "numbers that look like dates, as {text}, in {columns} were read as numbers; write 2024-05-13"
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::{is_day, is_measure, is_month, spellings, standing};

    #[test]
    fn what_stands_for_no_answer_is_far_from_the_answers() {
        let of = |text: &[f64]| -> Vec<f64> {
            let twice: Vec<f64> = text.iter().chain(text).copied().collect();
            standing(&twice).into_iter().map(|of| of.0).collect()
        };
        let codes = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        for (more, want) in [
            (&[99.0][..], &[99.0][..]),
            (&[98.0, 99.0], &[99.0, 98.0]),
            (&[9.0], &[9.0]),
            (&[-9.0], &[-9.0]),
            (&[77.0], &[77.0]),
            (&[7.0], &[]),
            (&[0.0], &[]),
            (&[8.0], &[]),
        ] {
            assert_eq!(of(&[&codes, more].concat()), want.to_vec(), "{more:?}");
        }
        let measured: Vec<f64> = (0..60).map(|k| 20.0 + f64::from(k * k % 61) / 4.0).collect();
        for (x, want) in [(-999.0, true), (9999.0, true), (40.0, false), (-1.0, true), (100.0, false)] {
            assert_eq!(of(&[&measured[..], &[x]].concat()) == [x], want, "{x}");
        }
        // Postcodes are far from each other.
        assert!(of(&[1012.0, 1013.0, 1014.0, 8001.0, 8002.0, 60311.0]).is_empty());
        // Once is no sign, and neither is a tail.
        assert!(standing(&[1.0, 2.0, 3.0, 4.0, 99.0]).is_empty());
        let tail: Vec<f64> = (0..12).map(|k| f64::from(1 << k) + 0.5).collect();
        assert!(of(&tail).is_empty());
    }

    #[test]
    fn texts_are_told_by_their_form() {
        for text in ["5.3 kg", "~4", "121 mg/dl", "12,5 cm", "± 3", "7h"] {
            assert!(is_measure(text), "{text}");
        }
        for text in ["5", "kg", "5-10", "3/7", "Room 4", "12 Main Street", "10:30"] {
            assert!(!is_measure(text), "{text}");
        }
        for text in ["2024-05", "Mai 2024", "Q1 2024", "2024 Q3", "05/2024", "2024-Q1"] {
            assert!(is_month(text), "{text}");
        }
        for text in ["2024", "5-10", "a 2024 b", "13-2024", "x 2024"] {
            assert!(!is_month(text), "{text}");
        }
        assert!(is_day(20_240_513.0) && !is_day(20_241_313.0) && !is_day(99_999_999.0));
        assert_eq!(spellings(&["male", "Male", "f", "MALE "].map(String::from)), [["male", "Male", "MALE "]]);
    }
}
