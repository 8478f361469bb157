//! What cells may mean besides what they were read as: numbers that stand for a missing value, spellings of one category, texts with numbers in them,
//! months, dates and names that are written as numbers.

use super::{as_value, listed, shell};
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

/// Whether it is written in nines, as -1, or the largest number of a machine: what forms and devices have for "no answer".
fn is_nines(x: f64) -> bool {
    const LARGEST: [f64; 5] = [32_767.0, 65_535.0, 2_147_483_647.0, -32_768.0, -2_147_483_648.0];
    let digits = || format!("{}", x.abs());
    x == -1.0
        || LARGEST.contains(&x)
        || (x != 0.0 && x.abs() < 1e9 && digits().bytes().all(|b| matches!(b, b'9' | b'.')))
}

/// Numbers far from all others that recur, with how many rows have each: beyond codes any that is ten spacings off, or nines that are two off; beyond
/// other numbers nines, 0 below all, and negative ones where no other is negative, that are ten spacings off.
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
            let span = others[others.len() - 1].0 - others[0].0;
            // (Nobody has a pulse of 0; 1e30 is none either.)
            let nought = !high && beyond == 1 && these[0].0 == 0.0 && 5.0 * gap >= span;
            let huge = gap >= 1e6 * span.max(spacing);
            let far = gap >= 10.0 * spacing && (codes || nines || apart || nought || huge);
            let near = nines && beyond == 1 && (codes && gap >= 2.0 * spacing || apart && others.len() > CODES.0);
            if (far || near) && these.iter().all(|of| of.1 > 1) {
                found.extend(these);
                break;
            }
        }
    }
    found
}

/// Letters with a mark, as one sign, and the letter.
const MARKED: [(&str, char); 12] = [
    ("àáâãäåāąă", 'a'),
    ("çćč", 'c'),
    ("èéêëēęě", 'e'),
    ("ìíîïīı", 'i'),
    ("ñńň", 'n'),
    ("òóôõöøōő", 'o'),
    ("ùúûüūůű", 'u'),
    ("ýÿ", 'y'),
    ("śšş", 's'),
    ("źżž", 'z'),
    ("łľ", 'l'),
    ("ďđ", 'd'),
];

/// A text without its case, blanks, signs that are not seen, marks of letters, hyphens between letters, and points behind them.
fn folded(text: &str) -> String {
    let signs: Vec<char> = text
        .to_lowercase()
        .chars()
        .filter(|&c| !matches!(c, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}'))
        .map(|c| MARKED.iter().find(|(marked, _)| marked.contains(c)).map_or(c, |of| of.1))
        .collect();
    let is_letter = |at: usize| signs.get(at).is_some_and(|c| c.is_alphabetic());
    let between = |at: usize| at > 0 && is_letter(at - 1);
    let joined = signs.iter().enumerate().map(|(at, &c)| match c {
        '-' | '_' | '‐' | '‑' | '–' if between(at) && is_letter(at + 1) => ' ',
        '.' if between(at) && !is_letter(at + 1) => ' ',
        _ => c,
    });
    joined.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Texts that differ by what is hardly seen, those of one category together.
fn spellings(values: &[String]) -> Vec<Vec<&str>> {
    let mut all: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for text in values {
        all.entry(folded(text)).or_default().push(text);
    }
    all.into_values().filter(|same| same.len() > 1).collect()
}

/// Whether a text is a number and more: with a unit, a mark, another number.
fn begins_with_number(text: &str) -> bool {
    text.chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_numeric)
}

/// What stands around the numbers of a text; names of months and days of the week are one.
fn frame(text: &str) -> String {
    const NAMES: &str = "jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun";
    let mut frame = String::new();
    for part in text.to_lowercase().split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        if word.len() >= 3 && word.get(..3).is_some_and(|begin| NAMES.split(' ').any(|name| name == begin)) {
            frame.push('@');
            continue;
        }
        for c in part.chars() {
            match c.is_numeric() {
                true if frame.ends_with('#') => {}
                true => frame.push('#'),
                false => frame.push(c),
            }
        }
    }
    frame
}

/// Different texts from which on numbers in one frame may be told apart by the numbers.
const FRAMED: usize = 10;

/// A text of a column whose texts are numbers with something around them; `left_out`: as an identifier.
pub fn with_numbers(values: &[String], left_out: bool) -> Option<&str> {
    // (Those of a Parquet file that are numbers alone were made text.)
    let other = values.iter().find(|text| text.parse::<f64>().is_err() && begins_with_number(text));
    if mostly(values, begins_with_number).is_some() {
        return other.map(String::as_str);
    }
    let first = mostly(values, |text| text.contains(char::is_numeric)).filter(|_| values.len() >= FRAMED)?;
    let mut frames: Vec<String> = values.iter().map(|text| frame(text)).collect();
    frames.sort_unstable();
    frames.dedup();
    // (C-17 names a row, and is no number.)
    let names = |frame: &String| {
        let rest = frame.trim_start_matches(char::is_alphabetic).trim_start_matches(['-', '_']);
        rest.strip_prefix('#').is_some_and(|rest| rest.chars().all(|c| c.is_alphanumeric() || c == '#'))
    };
    (5 * frames.len() <= values.len() && !(left_out && frames.iter().all(names))).then_some(first)
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

/// Different values from which on numbers that may be dates are no chance.
const DATED: usize = 20;

/// What numbers look like that may be dates or times, with how those are written.
fn dated(values: &[f64]) -> Option<&'static str> {
    /// Days, moments as programs count them: how many in a day, and at the beginning of 1970.
    const COUNTS: [(&str, f64, f64); 9] = [
        ("days of Excel", 1.0, 25_569.0),
        ("Julian days", 1.0, 2_440_587.5),
        ("Unix seconds", 86_400.0, 0.0),
        ("Unix milliseconds", 86_400e3, 0.0),
        ("Unix microseconds", 86_400e6, 0.0),
        ("Unix nanoseconds", 86_400e9, 0.0),
        ("ticks of .NET", 864e9, 719_162.0),
        ("seconds since 1582", 86_400.0, 141_428.0),
        ("seconds since 1904", 86_400.0, 24_107.0),
    ];
    let there: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
    let mut different = there.clone();
    different.sort_by(f64::total_cmp);
    different.dedup();
    let all = |is: &dyn Fn(f64) -> bool| different.iter().all(|&x| is(x));
    let is_month =
        |x: f64| (190_001.0..210_000.0).contains(&x) && x.fract() == 0.0 && (1.0..=12.0).contains(&(x % 100.0));
    let is_stamp = |x: f64| is_day((x / 1e6).floor()) && x % 1e6 < 240_000.0 && x % 1e4 < 6_000.0 && x % 100.0 < 60.0;
    if different.len() < 3 {
        return None;
    }
    if all(&is_day) || all(&is_stamp) {
        return Some("dates");
    }
    if all(&is_month) {
        return Some("months");
    }
    if different.len() < DATED {
        return None;
    }
    // (9.30 and 930 are half past nine.)
    let clock = |of: f64| {
        let is = |x: f64| {
            let x = x * of;
            (0.0..2_400.0).contains(&x) && (x - x.round()).abs() < 1e-6 && x.round() % 100.0 < 60.0
        };
        let fine = |x: &&f64| (**x * of).round() % 10.0 != 0.0;
        all(&is) && different[different.len() - 1] * of >= 1_200.0 && different.iter().filter(fine).count() >= DATED / 2
    };
    if clock(1.0) || clock(100.0) {
        return Some("times of the day");
    }
    // (From 1990 to 2040.)
    let counts = |(_, each, at): &&(&str, f64, f64)| all(&|x| (7_305.0..25_568.0).contains(&(x / each - at)));
    COUNTS.iter().find(counts).map(|of| of.0)
}

/// Whether a number is a day as 20240513.
fn is_day(x: f64) -> bool {
    let (day, month, year) = (x % 100.0, (x / 100.0).floor() % 100.0, (x / 1e4).floor());
    x.fract() == 0.0 && (1900.0..2100.0).contains(&year) && (1.0..=12.0).contains(&month) && (1.0..=31.0).contains(&day)
}

/// Whether whole numbers may be names: they recur more than numbers of that range do, or all have many digits.
fn named(values: &[f64]) -> bool {
    let all = counted(values);
    let (Some(least), Some(most)) = (all.first(), all.last()) else { return false };
    let rows: usize = all.iter().map(|of| of.1).sum();
    if all.iter().any(|of| of.0.fract() != 0.0 || of.0 < 0.0) || rows < DATED {
        return false;
    }
    let long = least.0 >= 1e6 && least.0.log10().floor() == most.0.log10().floor();
    // (Amounts are round.)
    let unit = all.windows(2).fold(0, |unit: u64, pair| divisor(unit, (pair[1].0 - pair[0].0) as u64)).max(1);
    let span = (most.0 - least.0) / unit as f64;
    let often = all.iter().map(|of| of.1).max().unwrap_or(0);
    let recur = most.0 >= 1000.0
        && all.len() >= CODES.0
        && 2 * rows >= 3 * all.len()
        && span >= 20.0 * all.len() as f64
        && 5 * often <= rows;
    recur || (long && 10 * all.len() >= 9 * rows)
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Days far from all others that recur.
fn far_days(values: &[f64]) -> Option<(f64, usize)> {
    let all = counted(values);
    let of = |last: (f64, usize), others: &[(f64, usize)]| {
        let span = others[others.len() - 1].0 - others[0].0;
        let gap = (last.0 - others[0].0).abs().min((last.0 - others[others.len() - 1].0).abs());
        (last.1 > 1 && gap >= 10.0 * 365.0 && gap >= 2.0 * span).then_some(last)
    };
    let (last, first) = (all.len().checked_sub(1).filter(|&last| last > 2)?, all[0]);
    of(all[last], &all[..last]).or_else(|| of(first, &all[1..]))
}

/// Whether most of these are so, of at least so many different ones.
fn mostly(values: &[String], is: impl Fn(&str) -> bool) -> Option<&str> {
    let count = values.iter().filter(|text| is(text)).count();
    let first = values.iter().find(|text| is(text));
    first.filter(|_| values.len() > 2 && 10 * count >= 9 * values.len()).map(String::as_str)
}

/// Names of columns, with what is shown of each.
type Shown = Vec<(String, String)>;

/// What there is to ask of columns.
#[derive(Default)]
struct Asked<'a> {
    stand: Vec<(String, f64, usize)>,
    spelt: Shown,
    texts: Shown,
    months: Shown,
    /// By what they look like.
    days: BTreeMap<&'a str, Shown>,
    names: Shown,
    far: Shown,
}

impl Asked<'_> {
    fn add_numbers(&mut self, name: &str, values: &[f64]) {
        let standing = standing(values);
        let first = values.iter().find(|x| !x.is_nan()).map_or(String::new(), f64::to_string);
        if let Some(what) = dated(values) {
            self.days.entry(what).or_default().push((name.to_string(), first));
        } else if standing.is_empty() && named(values) {
            self.names.push((name.to_string(), first));
        } else {
            self.stand.extend(standing.into_iter().map(|(x, rows)| (name.to_string(), x, rows)));
        }
    }

    fn add_texts(&mut self, name: &str, values: &[String], left_out: bool) {
        if !left_out {
            self.spelt.extend(spellings(values).into_iter().next().map(|of| (name.to_string(), of.join("\", \""))));
        }
        if let Some(text) = mostly(values, is_month).filter(|_| !left_out) {
            self.months.push((name.to_string(), text.to_string()));
        } else if let Some(text) = with_numbers(values, left_out) {
            self.texts.push((name.to_string(), text.to_string()));
        }
    }

    /// In a line a kind.
    fn told(self) -> Vec<String> {
        let mut notes = Vec::new();
        let more = |count: usize| if count > SHOWN { format!(" and {} more", count - SHOWN) } else { String::new() };
        // The columns, as the value of an option, and what is shown of the first.
        let of = |all: &Shown| {
            let names: Vec<&str> = all.iter().map(|of| of.0.as_str()).collect();
            (listed(&names), as_value(&names), all.first().map_or(String::new(), |of| of.1.clone()))
        };
        if !self.stand.is_empty() {
            let each = self.stand.iter().take(SHOWN).map(|(name, x, rows)| format!("{x} in \"{name}\" ({rows} rows)"));
            let each = each.collect::<Vec<_>>().join(", ") + &more(self.stand.len());
            let na: Vec<String> = self.stand.iter().map(|(name, x, _)| format!("{name}={x}")).collect();
            notes.push(format!("{each}: numbers, or no answer? --na {} takes them for missing", shell(&na.join(","))));
        }
        if !self.spelt.is_empty() {
            let each = self.spelt.iter().take(SHOWN).map(|(name, texts)| format!("\"{texts}\" in \"{name}\""));
            let each = each.collect::<Vec<_>>().join("; ") + &more(self.spelt.len());
            let value = of(&self.spelt).1;
            notes.push(format!("{each} differ by case, blanks or marks alone and are categories each; write them alike, or say --categorical {value}"));
        }
        if !self.texts.is_empty() {
            let (columns, value, text) = of(&self.texts);
            notes.push(format!("texts with numbers, as {text:?}, in {columns} are no numbers here; write the number alone, or say --categorical {value}"));
        }
        if !self.months.is_empty() {
            let (columns, value, text) = of(&self.months);
            notes.push(format!("months, as {text:?}, in {columns} are categories; write a day of each, as 2024-05-01, or say --categorical {value}"));
        }
        for (what, all) in &self.days {
            let (columns, value, text) = of(all);
            notes.push(format!("numbers that look like {what}, as {text}, in {columns} were read as numbers; --categorical {value} and --ignore {value} say otherwise"));
        }
        if !self.names.is_empty() {
            let (columns, value, text) = of(&self.names);
            notes.push(format!("numbers, as {text}, in {columns} look like names and were read as numbers; --categorical {value} and --ignore {value} say otherwise"));
        }
        if !self.far.is_empty() {
            let (columns, value, text) = of(&self.far);
            notes.push(format!("days far from all others recur in {columns}, as {text}: dates, or none? Leave those cells empty, or say --ignore {value}"));
        }
        notes
    }
}

/// A line of each kind, of columns that are features, or left out as identifiers, and of which nobody has said more.
pub fn notes(table: &RawTable, is_asked: impl Fn(usize, &str) -> bool, left_out: impl Fn(&str) -> bool) -> Vec<String> {
    let mut asked = Asked::default();
    for (at, name) in table.columns().iter().enumerate().filter(|(at, name)| is_asked(*at, name)) {
        match (table.column(at), table.kind(at)) {
            (Some(ColumnValues::Numbers(values)), Kind::Number) if !left_out(name) => asked.add_numbers(name, values),
            (Some(ColumnValues::Numbers(values)), Kind::Date) => {
                let day = far_days(values).map(|(day, rows)| format!("{} ({rows} rows)", iso(day)));
                asked.far.extend(day.map(|day| (name.clone(), day)));
            }
            (Some(ColumnValues::Texts { values, .. }), _) if table.stray(at).is_none() => {
                asked.add_texts(name, values, left_out(name));
            }
            _ => {}
        }
    }
    asked.told()
}

/// What numbers may be that their cells alone show: thousands with points, and versions. `written`: cells of the first rows.
pub fn written(
    table: &RawTable,
    written: &[Vec<String>],
    decimal: bool,
    is_asked: impl Fn(usize, &str) -> bool,
) -> Vec<String> {
    let [mut thousands, mut versions] = [const { Vec::new() }; 2];
    let columns = table.columns();
    for (at, name) in columns.iter().enumerate().filter(|(at, name)| is_asked(*at, name)) {
        if table.kind(at) != Kind::Number || !matches!(table.column(at), Some(ColumnValues::Numbers(_))) {
            continue;
        }
        let cells = || written.iter().filter_map(|row| row.get(at)).map(String::as_str).filter(|cell| !cell.is_empty());
        let places = |cell: &str| cell.split_once('.').map_or(0, |(_, behind)| behind.len());
        let three = |cell: &str| {
            let (whole, behind) = cell.trim_start_matches('-').split_once('.').unwrap_or((cell, "000"));
            matches!(whole.len(), 1..=3) && !whole.starts_with('0') && behind.len() == 3
        };
        let pointed = cells().filter(|cell| places(cell) == 3).count();
        if !decimal && pointed >= DATED && cells().all(three) {
            thousands.extend(cells().find(|cell| places(cell) == 3).map(|cell| (name.as_str(), cell, cell)));
        }
        let short = |cell: &&str| cell.len() < 6 && matches!(places(cell), 1 | 2);
        let (tens, one) =
            (cells().find(|cell| places(cell) == 2 && cell.ends_with('0')), cells().find(|cell| places(cell) == 1));
        if let (Some(tens), Some(one)) = (tens, one)
            && cells().all(|cell| short(&cell))
        {
            versions.push((name.as_str(), tens, one));
        }
    }
    let mut notes = Vec::new();
    let of = |all: &[(&str, &str, &str)]| {
        let names: Vec<&str> = all.iter().map(|of| of.0).collect();
        (listed(&names), as_value(&names), all[0].1.to_string(), all[0].2.to_string())
    };
    if !thousands.is_empty() {
        let (columns, _, text, _) = of(&thousands);
        notes.push(format!(
            "points before three digits, as {text}, in {columns} were read as decimal points; --decimal comma takes them between thousands, --decimal point says so"
        ));
    }
    if !versions.is_empty() {
        let (columns, value, text, other) = of(&versions);
        notes.push(format!(
            "numbers, as {text} and {other}, in {columns} were read as numbers; if they are versions, say --categorical {value}"
        ));
    }
    notes
}

/// A day since 1970 as it is written.
fn iso(day: f64) -> String {
    let z = day.floor() as i64 + 719_468;
    let (era, of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{:02}", of_year - (153 * march + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::{dated, far_days, folded, is_day, is_month, iso, named, spellings, standing, with_numbers};

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
        let many = |text: &str| (0..30).map(|k| text.replace('7', &(k * 31 + 4).to_string())).collect::<Vec<_>>();
        for text in ["7.3 kg", "~7", "7 ± 0.2", "7/20", "ca. 7", "H 7", "７ m", "Sep 7 2022", "½ 7", "FY7", "(7)"] {
            assert!(with_numbers(&many(text), false).is_some(), "{text}");
        }
        for text in ["C-7", "id7", "7"] {
            assert!(with_numbers(&many(text), true).is_none(), "{text}");
        }
        assert!(with_numbers(&["kg", "Room 4", "Main Street 12"].map(String::from), false).is_none());
        for (one, other) in [
            ("New  York", "new york"),
            ("Zürich", "Zu\u{308}rich"),
            ("full-time", "full time"),
            ("St. Gallen", "St Gallen"),
        ] {
            assert_eq!(folded(one), folded(other));
        }
        for (one, other) in [("A+", "A-"), ("A-", "A"), ("1.5", "15"), ("-1", "1"), ("C#", "C")] {
            assert_ne!(folded(one), folded(other));
        }
        for text in ["2024-05", "Mai 2024", "Q1 2024", "2024 Q3", "05/2024", "2024-Q1"] {
            assert!(is_month(text), "{text}");
        }
        for text in ["2024", "5-10", "a 2024 b", "13-2024", "x 2024"] {
            assert!(!is_month(text), "{text}");
        }
        assert!(is_day(20_240_513.0) && !is_day(20_241_313.0) && !is_day(99_999_999.0));
        let some = |of: fn(f64) -> f64| (0..60).map(|k| of(f64::from(k * k % 61))).collect::<Vec<f64>>();
        for (values, what) in [
            (some(|k| 45_000.0 + 3.0 * k), Some("days of Excel")),
            (some(|k| 1.7e9 + 1234.0 * k), Some("Unix seconds")),
            (some(|k| 1.7e12 + 1e7 * k), Some("Unix milliseconds")),
            (some(|k| 202_401.0 + k % 12.0), Some("months")),
            (some(|k| 5.0 + k / 4.0), None),
            (some(|k| 1000.0 * k), None),
        ] {
            assert_eq!(dated(&values), what, "{values:?}");
        }
        let recur = |of: fn(f64) -> f64| (0..90).map(|k| of(f64::from(k * k % 31))).collect::<Vec<f64>>();
        assert!(named(&recur(|k| 20_000.0 + k * k * 7919.0 % 70_001.0)));
        assert!(!named(&recur(|k| 500.0 * k)) && !named(&recur(|k| 1000.0 + k)));
        let days: Vec<f64> = (0..40).map(|k| if k % 8 == 0 { 2_932_896.0 } else { 19_000.0 + f64::from(k) }).collect();
        assert_eq!(far_days(&days).map(|of| iso(of.0)).as_deref(), Some("9999-12-31"));
        assert_eq!(far_days(&days[1..8]), None);
        assert_eq!(spellings(&["male", "Male", "f", "MALE "].map(String::from)), [["male", "Male", "MALE "]]);
    }
}
