//! Times of the day and lengths of time: `18:28`, `6:28 PM`, `26:03:04.5`, `1 day 02:03:04`, `PT1H30M`, `90 min`, `1h 30m`.

use super::notation::{SECOND, clock, days_of, nanos, nanos_of_day, small};

/// What a clock of a column can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// A time of the day, and nothing else.
    Time,
    /// Either.
    Either,
    /// A length of time, and nothing else.
    Duration,
}

/// Words for lengths of time, as they begin or whole, with their seconds; the first ones of each are exact.
const UNITS: [(&str, &str, i64); 5] = [
    ("w wk wks", "week woche sem", 604_800),
    ("d", "day tag jour dia d\u{ed}a giorn dag", 86_400),
    ("h hr hrs std ora ore uur", "hour stund heure hora", 3_600),
    ("min mins", "minut", 60),
    ("s sec secs sek", "second sekund seg", 1),
];

/// Milliseconds of one of a unit; `m` counts as minutes beside another unit alone.
fn unit(word: &str, beside: bool) -> Option<i64> {
    if word.eq_ignore_ascii_case("ms") {
        return Some(1);
    }
    // (12 S and 60 W are none: of one letter, that is small.)
    let lower = if word.len() == 1 { word.into() } else { word.to_ascii_lowercase() };
    let found = UNITS.iter().find(|(exact, begin, _)| {
        exact.split(' ').any(|known| known == lower) || begin.split(' ').any(|known| lower.starts_with(known))
    });
    found.map(|unit| unit.2 * 1000).or((beside && word == "m").then_some(60_000))
}

/// Days, and what they can be.
pub(super) fn read(text: &str) -> Option<(f64, Shows)> {
    let bytes = text.as_bytes();
    if !(2..=40).contains(&bytes.len()) || !bytes.iter().any(u8::is_ascii_digit) || !text.is_ascii() && text.len() > 24
    {
        return None;
    }
    let (negative, rest) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    let first = *rest.as_bytes().first()?;
    let found = match first {
        b'P' | b'p' => iso(&rest[1..]).map(|nanos| (nanos, Shows::Duration)),
        b'0'..=b'9' if rest.contains(':') => colons(rest, negative),
        b'0'..=b'9' => words(rest).map(|nanos| (nanos, Shows::Duration)),
        _ => None,
    };
    found.map(|(nanos, shows)| match negative {
        // (Of days and a clock the days alone are negative, as pandas writes it.)
        true if rest.contains(':') && rest.contains(' ') => (days_of(nanos), Shows::Duration),
        true => (days_of(-nanos), Shows::Duration),
        false => (days_of(nanos), shows),
    })
}

/// A clock, days before it or not.
fn colons(text: &str, negative: bool) -> Option<(i64, Shows)> {
    let Some((days, rest)) = text.split_once(' ') else {
        let (hours, rest) = clock(text)?;
        let shows = if hours < 24 { Shows::Either } else { Shows::Duration };
        return Some((i64::from(hours).checked_mul(3600 * SECOND)?.checked_add(rest)?, shows));
    };
    if let Some(nanos) = nanos_of_day(text) {
        return Some((nanos, Shows::Time)); // with am or pm behind a blank
    }
    let (word, rest) = rest.split_once(' ')?;
    let word = word.trim_end_matches(',');
    unit(word, false).filter(|millis| *millis == 86_400_000)?;
    let (hours, behind) = clock(rest.trim_start().trim_start_matches('+'))?;
    let days = i64::from(small(days)?).checked_mul(86_400 * SECOND)?;
    let rest = i64::from(hours).checked_mul(3600 * SECOND)?.checked_add(behind)?;
    Some((if negative { rest.checked_sub(days)? } else { rest.checked_add(days)? }, Shows::Duration))
}

/// Numbers with units, at least one.
fn words(text: &str) -> Option<i64> {
    let (mut rest, mut all, mut count) = (text, 0_i64, 0);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')?;
        let (number, after) = rest.split_at(end);
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        let after = after.trim_start_matches(['.', ',', ' ']);
        all = all.checked_add(scaled(&number.replace(',', "."), unit(word, count > 0 || !after.is_empty())?)?)?;
        (rest, count) = (after, count + 1);
    }
    (count > 0).then_some(all)
}

/// ISO 8601 behind its P; years and months have no length.
fn iso(text: &str) -> Option<i64> {
    let (mut rest, mut all, mut time, mut count) = (text, 0_i64, false, 0);
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(['T', 't']).filter(|_| !time) {
            (rest, time) = (after, true);
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let seconds = match (after.as_bytes()[0].to_ascii_uppercase(), time) {
            (b'W', false) => 604_800,
            (b'D', false) => 86_400,
            (b'H', true) => 3_600,
            (b'M', true) => 60,
            (b'S', true) => 1,
            _ => return None,
        };
        all = all.checked_add(scaled(number, seconds * 1000)?)?;
        (rest, count) = (&after[1..], count + 1);
    }
    (count > 0).then_some(all)
}

/// So many units of so many milliseconds, in nanoseconds.
fn scaled(number: &str, unit: i64) -> Option<i64> {
    // (Whole ones and the rest, so that neither is rounded or too large.)
    let nanos = nanos(number)?;
    let (whole, rest) = (nanos / SECOND, nanos % SECOND);
    whole.checked_mul(unit)?.checked_mul(1_000_000)?.checked_add(rest / 1000 * unit + rest % 1000 * unit / 1000)
}

#[cfg(test)]
mod tests {
    use super::{Shows, read};

    #[test]
    fn clocks_are_days() {
        for (text, seconds, shows) in [
            ("18:28", 66_480.0, Shows::Either),
            ("04:54:30", 17_670.0, Shows::Either),
            ("6:28 PM", 66_480.0, Shows::Time),
            ("26:03:04.5", 93_784.5, Shows::Duration),
            ("1 days 02:03:04", 93_784.0, Shows::Duration),
            ("1 day, 2:03:04", 93_784.0, Shows::Duration),
            ("-1 days +02:00:00", -79_200.0, Shows::Duration),
            ("-0:30", -1_800.0, Shows::Duration),
            ("0 days", 0.0, Shows::Duration),
            ("PT1H30M", 5_400.0, Shows::Duration),
            ("P1DT2H3M4.5S", 93_784.5, Shows::Duration),
            ("90 min", 5_400.0, Shows::Duration),
            ("1h 30m", 5_400.0, Shows::Duration),
            ("2 hours, 5 minutes", 7_500.0, Shows::Duration),
            ("1,5 h", 5_400.0, Shows::Duration),
            ("250ms", 0.25, Shows::Duration),
        ] {
            let (days, found) = read(text).unwrap();
            assert!((days * 86_400.0 - seconds).abs() < 1e-9 && found == shows, "{text}: {days} {found:?}");
        }
        for text in [
            "5 m", "5", "1:99", "12:30 xm", "P1M", "P", "1 2", "h", "24:00 PM", "13:00 PM", "1::2", "90 mint", "12A",
            "60W", "é1",
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
