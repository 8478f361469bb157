//! What the cells of a column show of its notation.

use super::clock::Shows;
use super::notation::{DateOrder, Decimal, Holds, Meanings, Notation, Short, Sign, Tally};
use super::reads::{Cell, is_large, is_padded};
use super::{Kind, Reading};
use crate::data::error::Doubt;
use alloc::vec::Vec;

/// Numbers that rise by one count the rows, when there are so many.
const COUNTED: usize = 20;

/// What a pass over a column found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub numbers: Tally,
    pub dates: Tally,
    /// Of the dates, the first whose year of two digits may be first, the first where it is, and those where it is last.
    pub either: Option<u32>,
    pub year_first: Option<u32>,
    pub year_last: usize,
    /// Limits that values are below, and above.
    pub limits: [usize; 2],
    /// Those with zeros before them, and whole ones beyond 2⁵³.
    pub padded: usize,
    pub large: usize,
    /// The first rows with a percent sign, with a currency, with another one, and of other numbers than 0 without a sign.
    pub percent: Option<u32>,
    pub currency: Option<(u8, u32)>,
    pub other_currency: Option<u32>,
    pub unsigned: Option<u32>,
    /// Whether commas may part thousands.
    pub grouped: bool,
    /// Times of the day, lengths of time, and what can be either; the first row of them all, and the first with seconds and without.
    pub clocks: [usize; 3],
    pub first_clock: Option<u32>,
    pub short_clock: Option<u32>,
    pub long_clock: Option<u32>,
    pub text: usize,
    pub first_text: Option<u32>,
    /// Whether the text is numbers, dates and clocks that make no column together.
    pub mixed: bool,
}

impl Seen {
    /// Of so many values of a kind, in memory.
    pub(super) fn of(kind: Kind, count: usize) -> Self {
        let tally = Tally { count, ..Tally::default() };
        let mut seen = Self::default();
        match kind {
            Kind::Date => seen.dates = tally,
            Kind::Time => seen.clocks[0] = count,
            Kind::Duration => seen.clocks[1] = count,
            _ => seen.numbers = tally,
        }
        seen
    }

    pub(super) fn add(&mut self, row: u32, cell: &Cell, text: &str) {
        match cell {
            Cell::Number(meanings, sign, told) => {
                self.add_number(row, *meanings, *sign);
                if *told {
                    self.grouped |= meanings.first != meanings.second && meanings.first.is_some() && text.contains(',');
                    self.padded += usize::from(is_padded(text));
                    self.large += usize::from(meanings.first.is_some_and(|x| is_large(text, x)));
                }
            }
            Cell::Missing | Cell::Word | Cell::NonFinite => {}
            Cell::Clock(_, shows) => {
                let at = match shows {
                    Shows::Time => 0,
                    Shows::Duration => 1,
                    Shows::Either => 2,
                };
                self.clocks[at] += 1;
                self.first_clock.get_or_insert(row);
                match text.bytes().filter(|&b| b == b':').count() {
                    1 => _ = self.short_clock.get_or_insert(row),
                    2 => _ = self.long_clock.get_or_insert(row),
                    _ => {}
                }
            }
            Cell::Limit(meanings, sign, below) => {
                self.add_number(row, *meanings, *sign);
                self.limits[usize::from(!below)] += 1;
            }
            Cell::Date(days, short) => {
                self.dates.add(row, *days);
                match short {
                    Short::No => {}
                    Short::Last => self.year_last += 1,
                    Short::Either => _ = self.either.get_or_insert(row),
                    Short::First => _ = self.year_first.get_or_insert(row),
                }
            }
            Cell::Text => {
                self.text += 1;
                self.first_text.get_or_insert(row);
            }
        }
    }

    #[inline]
    pub(super) fn add_number(&mut self, row: u32, meanings: Meanings, sign: Sign) {
        self.numbers.add(row, meanings);
        match (sign, self.currency) {
            (Sign::Percent, _) => _ = self.percent.get_or_insert(row),
            (Sign::Currency(which), None) => self.currency = Some((which, row)),
            (Sign::Currency(which), Some((first, _))) if which != first => {
                self.other_currency.get_or_insert(row);
            }
            (Sign::None, _) if meanings != Meanings::plain(0.0) => _ = self.unsigned.get_or_insert(row),
            _ => {}
        }
    }

    /// Counts a number with so many digits behind its point, which parts no thousands.
    #[inline]
    pub(super) fn add_plain(&mut self, row: u32, x: f64, places: usize) {
        // The first ones tell what all of them do.
        if self.unsigned.is_some() && (places == 0 || self.numbers.first_only.is_some()) {
            self.numbers.count += 1;
        } else {
            self.add_number(row, Meanings { first: Some(x), second: (places == 0).then_some(x) }, Sign::None);
        }
    }

    /// What a pass over the rows behind these found, before which there are so many.
    pub(super) fn append(&mut self, next: &Self, rows: u32) {
        let first = |one: &mut Option<u32>, other: Option<u32>| *one = one.or(other.map(|row| row + rows));
        for (one, other) in [(&mut self.numbers, &next.numbers), (&mut self.dates, &next.dates)] {
            one.count += other.count;
            first(&mut one.first, other.first);
            first(&mut one.first_only, other.first_only);
            first(&mut one.second_only, other.second_only);
            first(&mut one.both, other.both);
        }
        first(&mut self.either, next.either);
        first(&mut self.year_first, next.year_first);
        self.year_last += next.year_last;
        self.limits = [0, 1].map(|at| self.limits[at] + next.limits[at]);
        self.padded += next.padded;
        self.large += next.large;
        first(&mut self.percent, next.percent);
        match (self.currency, next.currency) {
            (Some((one, _)), Some((other, row))) if one != other => first(&mut self.other_currency, Some(row)),
            (one, other) => {
                self.currency = one.or(other.map(|(which, row)| (which, row + rows)));
                first(&mut self.other_currency, next.other_currency);
            }
        }
        first(&mut self.unsigned, next.unsigned);
        self.grouped |= next.grouped;
        self.clocks = [0, 1, 2].map(|at| self.clocks[at] + next.clocks[at]);
        first(&mut self.first_clock, next.first_clock);
        first(&mut self.short_clock, next.short_clock);
        first(&mut self.long_clock, next.long_clock);
        self.text += next.text;
        first(&mut self.first_text, next.first_text);
    }

    fn clock(&self) -> usize {
        self.clocks.iter().sum()
    }

    /// Whether it has dates or clocks.
    pub(super) fn is_of_time(&self) -> bool {
        self.dates.count > 0 || self.clock() > 0
    }

    /// The most cells that are of one kind, and no text.
    pub(super) fn most(&self) -> usize {
        self.numbers.count.max(self.dates.count).max(self.clock())
    }

    /// Numbers, dates and clocks beside one another, of which two make a text.
    fn kinds(&self) -> [usize; 3] {
        [self.numbers.count, self.dates.count, self.clock()]
    }

    /// Whether the column is text, whatever comes.
    pub(super) fn is_text(&self) -> bool {
        self.text > 0 || self.kinds().iter().filter(|&&count| count > 0).count() > 1
    }

    /// Dates beside numbers are text, and so are limits alone where none are known, and times of the day beside lengths of time.
    pub(super) fn settle(&mut self, known: Notation) {
        let before = self.text;
        let limits = self.limits[0] + self.limits[1];
        if limits > 0 && limits == self.numbers.count && known.limits == [false; 2] {
            self.text += limits;
            self.first_text = self.first_text.or(self.numbers.first);
        }
        if self.kinds().iter().filter(|&&count| count > 0).count() > 1 {
            self.text += self.dates.count + self.clock();
            self.first_text = [self.first_text, self.dates.first, self.first_clock].into_iter().flatten().min();
        }
        if self.clocks[0] > 0 && self.clocks[1] > 0 {
            self.text += self.clock();
            self.first_text = [self.first_text, self.first_clock].into_iter().flatten().min();
        }
        self.mixed = before == 0 && self.text > 0;
    }

    /// What the cells of a column of numbers are, of which so much is known.
    pub(super) fn kind(&self, known: Kind) -> Kind {
        match self.kinds() {
            [0, 0, 0] => Kind::Unknown,
            [_, 0, 0] if known == Kind::Level => Kind::Level,
            [_, 0, 0] => Kind::Number,
            [_, _, 0] => Kind::Date,
            _ if self.clocks[1] > 0 || (known == Kind::Duration && self.clocks[0] == 0) => Kind::Duration,
            _ => Kind::Time,
        }
    }

    /// Which decimal mark holds and which order of dates, with what is known of the column, and what is usual in the file.
    pub(super) fn holds(&self, known: Notation, usual: Option<Decimal>) -> [Holds; 2] {
        let of = |tally: &Tally, second: Option<bool>, usual: Option<bool>| match (second, tally.holds(), usual) {
            // (What is said of numbers says nothing of dates, nor the reverse.)
            _ if tally.count == 0 => Holds::Either,
            (Some(second), ..) => tally.under(second),
            (None, Holds::Unknown, Some(second)) => tally.under(second),
            (None, holds, _) => holds,
        };
        let comma = |mark: Decimal| mark == Decimal::Comma;
        [
            of(&self.numbers, known.decimal.map(comma), usual.map(comma)),
            of(
                &self.dates,
                known.dates.filter(|&order| order != DateOrder::Year).map(|order| order == DateOrder::Month),
                None,
            ),
        ]
    }

    /// What is open about the column, with the rows that show it.
    pub(super) fn doubt(&self, [numbers, dates]: [Holds; 2], known: Notation) -> Option<(Doubt, u32, u32)> {
        let pair = |tally: &Tally| {
            let one = tally.first_only.or(tally.both).unwrap_or(0);
            (one, tally.second_only.or(tally.both).unwrap_or(one))
        };
        let of = |doubt, (one, other)| Some((doubt, one, other));
        // (One whose year cannot be first tells it for all.)
        let open = self.year_first.or(self.either.filter(|_| self.year_last == 0));
        if let (Some(row), None) = (open, known.dates) {
            return of(Doubt::ShortYear, (row, row));
        }
        if let (Some(short), Some(long)) = (self.short_clock, self.long_clock) {
            return of(Doubt::Clock, (short, long));
        }
        match (numbers, dates) {
            (Holds::Neither, _) if known.decimal.is_some() => {
                let row = self.numbers.first_only.filter(|_| known.decimal == Some(Decimal::Comma));
                let row = row.or(self.numbers.second_only).unwrap_or(0);
                return of(Doubt::OtherMark, (row, row));
            }
            (Holds::Neither, _) => return of(Doubt::TwoMarks, pair(&self.numbers)),
            (Holds::Unknown, _) => return of(Doubt::Decimal, pair(&self.numbers)),
            (_, Holds::Neither) => return of(Doubt::TwoOrders, pair(&self.dates)),
            (_, Holds::Unknown) => return of(Doubt::DateOrder, pair(&self.dates)),
            _ => {}
        }
        match (self.percent, self.currency, self.other_currency, self.unsigned) {
            (Some(one), _, _, Some(other)) | (Some(one), Some((_, other)), ..) => of(Doubt::Percent, (one, other)),
            (_, Some((_, one)), Some(other), _) => of(Doubt::Currencies, (one, other)),
            _ => None,
        }
    }

    /// Of a column of numbers.
    pub(super) fn readings(&self, [numbers, _]: [Holds; 2], known: Kind, values: &[f64]) -> Vec<Reading> {
        let rises = || values.len() >= COUNTED && values.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
        let comma = numbers == Holds::Second && self.numbers.second_only.is_some();
        let other = match () {
            () if self.dates.count > 0
                && (self.year_last > 0 || self.either.is_some() || self.year_first.is_some()) =>
            {
                Some(Reading::ShortYears)
            }
            () if self.dates.count > 0 => Some(Reading::Dates),
            () if self.clock() > 0 => Some(match self.kind(known) {
                Kind::Duration => Reading::Durations,
                _ => Reading::Times,
            }),
            () if self.large > 0 => Some(Reading::Rounded),
            () if self.padded > 0 => Some(Reading::Padded),
            () if rises() => Some(Reading::Counter),
            () => None,
        };
        let found = [
            comma.then_some(Reading::Commas),
            match numbers {
                Holds::Second => self.numbers.both.is_some() && !self.grouped,
                _ => self.grouped,
            }
            .then_some(Reading::Thousands),
            self.percent.map(|_| Reading::Percent),
            self.currency.map(|_| Reading::Currency),
            (self.limits != [0, 0]).then_some(Reading::Limits),
            (other == Some(Reading::ShortYears)).then_some(Reading::Dates),
            other,
        ];
        found.into_iter().flatten().collect()
    }
}
