//! Sixty files as offices of twelve countries write them: five kinds for each. Every one is made beside the same rows in plain
//! spelling, which is what it means.

/// How a country writes.
pub struct Country {
    pub name: &'static str,
    /// Between cells.
    pub delimiter: char,
    pub decimal: char,
    /// Between thousands.
    pub thousands: &'static str,
    /// Groups of two digits above the thousands.
    pub lakhs: bool,
    /// Before and behind an amount.
    pub money: [&'static str; 2],
    /// Before the sign of percent.
    pub percent: &'static str,
    /// Parts of a date in their order, with what is between them, as `d.m.y`.
    pub date: &'static str,
    /// The same with the name of the month.
    pub named: &'static str,
    pub months: [&'static str; 12],
    /// What stands for a missing value, and whether the tool knows it.
    pub missing: (&'static str, bool),
    pub yes: [&'static str; 2],
    pub zone: i32,
    /// Negative amounts of ledgers.
    pub negative: [&'static str; 2],
    pub words: [&'static str; 3],
}

const fn country(name: &'static str, delimiter: char, decimal: char, thousands: &'static str) -> Country {
    Country {
        name,
        delimiter,
        decimal,
        thousands,
        lakhs: false,
        money: ["", ""],
        percent: "",
        date: "d.m.Y",
        named: "d M Y",
        months: ENGLISH,
        missing: ("", true),
        yes: ["no", "yes"],
        zone: 1,
        negative: ["-", ""],
        words: ["web", "shop", "phone"],
    }
}

const ENGLISH: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

pub fn countries() -> [Country; 12] {
    [
        Country {
            money: ["$", ""],
            date: "m/d/Y",
            named: "M d, Y",
            missing: ("N/A", true),
            zone: -5,
            negative: ["(", ")"],
            ..country("United States", ',', '.', ",")
        },
        Country {
            money: ["£", ""],
            date: "d/m/Y",
            named: "d-M-y",
            missing: ("not known", false),
            zone: 0,
            negative: ["(", ")"],
            ..country("United Kingdom", '|', '.', ",")
        },
        Country {
            lakhs: true,
            money: ["₹", ""],
            date: "d-m-Y",
            named: "d-M-Y",
            missing: ("NA", true),
            zone: 5,
            negative: ["", "-"],
            ..country("India", ',', '.', ",")
        },
        Country {
            money: ["", " €"],
            percent: " ",
            named: "d. M Y",
            months: [
                "Januar",
                "Februar",
                "März",
                "April",
                "Mai",
                "Juni",
                "Juli",
                "August",
                "September",
                "Oktober",
                "November",
                "Dezember",
            ],
            missing: ("k. A.", false),
            yes: ["nein", "ja"],
            negative: ["", "-"],
            words: ["Büro", "Straße", "Online"],
            ..country("Germany", ';', ',', ".")
        },
        Country {
            money: ["CHF ", ""],
            named: "d. M Y",
            months: ["Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."],
            missing: ("-", true),
            yes: ["nein", "ja"],
            words: ["Zürich", "Genève", "Chur"],
            ..country("Switzerland", ';', '.', "'")
        },
        Country {
            money: ["", " €"],
            percent: " ",
            date: "d/m/Y",
            named: "d M Y",
            months: ["janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."],
            missing: ("non renseigné", false),
            yes: ["non", "oui"],
            words: ["été", "hiver", "été tardif"],
            ..country("France", ';', ',', "\u{202f}")
        },
        Country {
            money: ["€ ", ""],
            date: "d/m/Y",
            named: "d M Y",
            months: [
                "gennaio",
                "febbraio",
                "marzo",
                "aprile",
                "maggio",
                "giugno",
                "luglio",
                "agosto",
                "settembre",
                "ottobre",
                "novembre",
                "dicembre",
            ],
            missing: ("n.d.", false),
            yes: ["no", "sì"],
            words: ["città", "paese", "via"],
            ..country("Italy", ';', ',', ".")
        },
        Country {
            money: ["", " EUR"],
            date: "d/m/Y",
            named: "d de M de Y",
            months: [
                "enero",
                "febrero",
                "marzo",
                "abril",
                "mayo",
                "junio",
                "julio",
                "agosto",
                "septiembre",
                "octubre",
                "noviembre",
                "diciembre",
            ],
            missing: ("s/d", false),
            yes: ["no", "sí"],
            words: ["niño", "niña", "adulto"],
            ..country("Spain", ';', ',', ".")
        },
        Country {
            money: ["R$ ", ""],
            date: "d/m/Y",
            named: "d/M/Y",
            months: ["jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"],
            missing: ("null", true),
            yes: ["não", "sim"],
            zone: -3,
            words: ["São Paulo", "Bahia", "Ceará"],
            ..country("Brazil", ';', ',', ".")
        },
        Country {
            money: ["", " zł"],
            named: "d M Y",
            months: [
                "stycznia",
                "lutego",
                "marca",
                "kwietnia",
                "maja",
                "czerwca",
                "lipca",
                "sierpnia",
                "września",
                "października",
                "listopada",
                "grudnia",
            ],
            missing: ("brak", false),
            yes: ["nie", "tak"],
            words: ["Łódź", "Kraków", "Gdańsk"],
            ..country("Poland", '\t', ',', "\u{a0}")
        },
        Country {
            money: ["", " kr"],
            percent: "\u{a0}",
            date: "Y-m-d",
            named: "d M Y",
            months: ["jan.", "feb.", "mars", "apr.", "maj", "juni", "juli", "aug.", "sep.", "okt.", "nov.", "dec."],
            missing: ("?", true),
            yes: ["nej", "ja"],
            negative: ["\u{2212}", ""],
            words: ["Malmö", "Umeå", "Lund"],
            ..country("Sweden", ';', ',', " ")
        },
        Country {
            money: ["¥", ""],
            date: "Y/m/d",
            named: "Y年n月j日",
            missing: ("#N/A", true),
            zone: 9,
            negative: ["▲", ""],
            words: ["東京", "大阪", "京都"],
            ..country("Japan", ',', '.', ",")
        },
    ]
}

/// A column: its cells as the office writes them, and as they are meant.
pub struct Column {
    name: &'static str,
    cells: Vec<String>,
    meant: Vec<String>,
    /// What is behind it where it becomes two.
    beside: Option<(String, Vec<String>)>,
}

pub struct File {
    pub country: &'static str,
    pub what: &'static str,
    pub name: String,
    pub bytes: Vec<u8>,
    /// The same rows in plain spelling.
    pub plain: String,
    /// Options that say what is meant and no spelling can.
    pub intent: &'static [&'static str],
    /// What its owner knows, where the tool asks or tells.
    pub knows: Vec<[&'static str; 2]>,
}

pub const ROWS: usize = 120;

/// Numbers that look drawn.
fn draw(row: usize, of: u64) -> u64 {
    let mut x = (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ of.wrapping_mul(0xd1b5_4a32_d192_ed03);
    for _ in 0..3 {
        x ^= x >> 29;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    x >> 33
}

/// Digits with marks between groups.
fn grouped(digits: &str, mark: &str, lakhs: bool) -> String {
    let mut text = String::new();
    for (at, c) in digits.chars().enumerate() {
        let left = digits.len() - at;
        let is_mark = if lakhs && left > 3 { (left - 3).is_multiple_of(2) } else { left.is_multiple_of(3) };
        if at > 0 && is_mark && left > 2 {
            text.push_str(mark);
        }
        text.push(c);
    }
    text
}

/// Days from 1970 to this day, counted.
fn days(year: usize, month: usize, day: usize) -> usize {
    let leap = |year: usize| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let long = |year, month| match month {
        2 => 28 + usize::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let years: usize = (1970..year).map(|year| 365 + usize::from(leap(year))).sum();
    years + (1..month).map(|month| long(year, month)).sum::<usize>() + day - 1
}

impl Country {
    /// A number of cents.
    fn number(&self, cents: u64, places: usize) -> [String; 2] {
        let text = format!("{cents:0width$}", width = places + 1);
        let (whole, fraction) = text.split_at(text.len() - places);
        let plain = if places > 0 { format!("{whole}.{fraction}") } else { whole.to_string() };
        let whole = grouped(whole, self.thousands, self.lakhs);
        [if places > 0 { format!("{whole}{}{fraction}", self.decimal) } else { whole }, plain]
    }

    fn column(name: &'static str, cell: impl Fn(usize) -> [String; 2]) -> Column {
        let (cells, meant) = (0..ROWS).map(cell).map(|[cell, meant]| (cell, meant)).unzip();
        Column { name, cells, meant, beside: None }
    }

    fn amounts(&self) -> Column {
        Self::column("amount", |row| {
            let [text, plain] = self.number(draw(row, 1) % 10_u64.pow(3 + row as u32 % 6), 2);
            [format!("{}{text}{}", self.money[0], self.money[1]), plain]
        })
    }

    fn ledger(&self) -> Column {
        Self::column("balance", |row| {
            let [text, plain] = self.number(draw(row, 2) % 4_000_000, 2);
            match row % 3 {
                0 => [format!("{}{text}{}", self.negative[0], self.negative[1]), format!("-{plain}")],
                _ => [text, plain],
            }
        })
    }

    fn shares(&self) -> Column {
        Self::column("discount", |row| {
            let [text, plain] = self.number(draw(row, 3) % 1000, 1);
            [format!("{text}{}%", self.percent), plain]
        })
    }

    fn codes() -> Column {
        Self::column("zip", |row| {
            let code = format!("{:05}", [1234, 12340, 7, 99, 501, 60311, 700, 1067][draw(row, 4) as usize % 8]);
            [code.clone(), code]
        })
    }

    fn accounts() -> Column {
        Self::column("account", |row| {
            let account = (90_071_992_547_409_930 + draw(row, 5) % 6).to_string();
            [account.clone(), account]
        })
    }

    fn kinds(&self) -> Column {
        Self::column("kind", |row| {
            let word = self.words[draw(row, 6) as usize % 3];
            [word.to_string(), word.to_string()]
        })
    }

    /// A date as this order of parts says, a year of two digits as `y`.
    fn day(&self, row: usize, order: &str, small: bool) -> [String; 2] {
        let (year, month) = (2019 + draw(row, 7) as usize % 6, 1 + draw(row, 8) as usize % 12);
        let day = 1 + draw(row, 9) as usize % if small { 12 } else { 28 };
        let mut text = String::new();
        for c in order.chars() {
            match c {
                'd' => text.push_str(&format!("{day:02}")),
                'j' => text.push_str(&day.to_string()),
                'm' => text.push_str(&format!("{month:02}")),
                'n' => text.push_str(&month.to_string()),
                'M' => text.push_str(self.months[month - 1]),
                'Y' => text.push_str(&year.to_string()),
                'y' => text.push_str(&format!("{:02}", year % 100)),
                // (Spanish: "de".)
                other => text.push(other),
            }
        }
        [text, days(year, month, day).to_string()]
    }

    fn dates(&self, order: &str, small: bool) -> Column {
        // ("de" is a word and no order.)
        let order = order.replace("de", "\u{1}");
        Self::column("day", |row| self.day(row, &order, small).map(|text| text.replace('\u{1}', "de")))
    }

    /// A time of this country's clock, with its zone.
    fn times(&self) -> Column {
        Self::column("at", |row| {
            let day = days(2024, 1 + draw(row, 10) as usize % 12, 1 + draw(row, 11) as usize % 28);
            let (hour, minute) = (draw(row, 12) as i32 % 24, draw(row, 13) as i32 % 60);
            let date = self.day_of(day);
            let zone = match (self.zone, row % 2) {
                (0, 0) => "Z".to_string(),
                (0, _) => " UTC".to_string(),
                (zone, _) => format!("{}{:02}:00", if zone < 0 { '-' } else { '+' }, zone.abs()),
            };
            let seconds = f64::from(3600 * (hour - self.zone) + 60 * minute);
            let days = day as f64 + seconds / 86_400.0;
            [format!("{date}T{hour:02}:{minute:02}:00{zone}"), format!("{days}")]
        })
    }

    /// Year, month and day of a day.
    fn day_of(&self, day: usize) -> String {
        let (mut month, mut first) = (1, days(2024, 1, 1));
        while month < 12 && days(2024, month + 1, 1) <= day {
            month += 1;
            first = days(2024, month, 1);
        }
        format!("2024-{month:02}-{:02}", 1 + day - first)
    }

    /// A measurement below which nothing is seen.
    fn limits(&self) -> Column {
        let low = |row: usize| draw(row, 14).is_multiple_of(7);
        let mut column = Self::column("ferritin", |row| {
            let [text, plain] = if low(row) { self.number(50, 2) } else { self.number(50 + draw(row, 15) % 90_000, 2) };
            [if low(row) { format!("<{}{text}", [" ", ""][row % 2]) } else { text }, plain]
        });
        let flags = (0..ROWS).map(|row| usize::from(low(row)).to_string());
        column.beside = Some(("ferritin=(below)".to_string(), flags.collect()));
        column
    }

    /// Numbers some of which are not there.
    fn gaps(&self) -> Column {
        Self::column("weight", |row| match draw(row, 16) % 9 {
            0 => [self.missing.0.to_string(), String::new()],
            _ => self.number(400 + draw(row, 17) % 1200, 1),
        })
    }

    /// Numbers with three digits behind every mark there is.
    fn doubtful(&self) -> Column {
        Self::column("count", |row| self.number(draw(row, 18) % 30_000 + 100, 0))
    }

    fn label(&self, of: usize) -> Column {
        Self::column("outcome", |row| match draw(row, 19) % 15 {
            0 if of == 4 => [String::new(), String::new()],
            k => {
                let word = self.yes[usize::from(k + draw(row, 3) % 20 > 18)];
                [word.to_string(), word.to_string()]
            }
        })
    }

    /// Each kind of file.
    pub fn files(&self, at: usize) -> Vec<File> {
        let short = self.date.replace('Y', "y");
        let year_first = short.starts_with('y');
        let order = if year_first { "year" } else { if self.date.starts_with('m') { "month" } else { "day" } };
        let comma = if self.decimal == ',' { "comma" } else { "point" };
        let na = self.missing.0;
        let of = |which: usize, what, columns: Vec<Column>| {
            let columns = columns.into_iter().chain([self.label(which)]).collect::<Vec<_>>();
            let (bytes, knows) = self.write(&columns, at, which);
            let mut knows: Vec<[&'static str; 2]> = knows;
            knows.extend([["--na", na], ["--decimal", comma], ["--dates", order]]);
            knows.extend([["--categorical", "zip"], ["--categorical", "account"]]);
            File {
                country: self.name,
                what,
                name: format!("{}-{which}.csv", self.name.to_lowercase().replace(' ', "-")),
                bytes,
                plain: plain(&columns),
                intent: match which {
                    0 => &["--categorical", "zip"],
                    2 => &["--categorical", "account"],
                    _ => &[],
                },
                knows,
            }
        };
        vec![
            of(
                0,
                "sales: dates, codes with zeros, money, percent",
                vec![self.dates(self.date, false), Self::codes(), self.amounts(), self.shares(), self.kinds()],
            ),
            of(
                1,
                "laboratory: years of two digits, limits of measuring, gaps",
                vec![self.dates(&short, false), self.limits(), self.gaps()],
            ),
            of(
                2,
                "ledger: accounts beyond 2^53, names of months, negative amounts",
                vec![Self::accounts(), self.dates(self.named, false), self.ledger()],
            ),
            of(3, "log: times with zones, thousands", vec![self.times(), self.amounts(), self.doubtful()]),
            of(
                4,
                "doubtful: days up to the 12th, thousands alone, rows without a label",
                vec![self.dates(self.date, true), self.doubtful(), self.kinds()],
            ),
        ]
    }

    /// The file as the office writes it, and what has to be said of its bytes.
    fn write(&self, columns: &[Column], at: usize, which: usize) -> (Vec<u8>, Vec<[&'static str; 2]>) {
        let d = self.delimiter;
        let quote = |cell: &str| {
            if cell.contains(d) || cell.contains('"') {
                format!("\"{}\"", cell.replace('"', "\"\""))
            } else {
                cell.into()
            }
        };
        let line = |cells: Vec<&str>| cells.iter().map(|cell| quote(cell)).collect::<Vec<_>>().join(&d.to_string());
        let mut text = line(columns.iter().map(|column| column.name).collect());
        for row in 0..ROWS {
            text.push_str("\r\n");
            text.push_str(&line(columns.iter().map(|column| column.cells[row].as_str()).collect()));
        }
        text.push_str("\r\n");
        // (What Windows-1252 has.)
        let western = |c: char| match c {
            '€' => Some(0x80),
            '’' => Some(0x92),
            '\u{202f}' => Some(0xa0),
            c => u8::try_from(u32::from(c)).ok().filter(|byte| !(0x80..0xa0).contains(byte)),
        };
        let wide = |big: bool| {
            let units = format!("\u{feff}{text}");
            let bytes = units.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() });
            bytes.collect::<Vec<u8>>()
        };
        match (at + 2 * which) % 6 {
            0 => (format!("\u{feff}{text}").into_bytes(), vec![]),
            1 => (wide(false), vec![]),
            2 if d == ';' => (format!("sep={d}\r\n{text}").into_bytes(), vec![]),
            3 => match text.chars().map(western).collect::<Option<Vec<u8>>>() {
                Some(bytes) => (bytes, vec![["--encoding", "latin1"]]),
                None => (text.into_bytes(), vec![]),
            },
            4 => (wide(true), vec![]),
            _ => (text.into_bytes(), vec![]),
        }
    }
}

/// What is meant, as a program would write it.
fn plain(columns: &[Column]) -> String {
    let quote = |cell: &String| if cell.contains(',') { format!("\"{cell}\"") } else { cell.clone() };
    // (What says which numbers are limits is behind all others.)
    let beside = columns.iter().filter_map(|column| column.beside.as_ref());
    let all: Vec<(&str, &Vec<String>)> = columns
        .iter()
        .map(|column| (column.name, &column.meant))
        .chain(beside.map(|(name, cells)| (name.as_str(), cells)))
        .collect();
    let each = || all.iter();
    let mut text = each().map(|column| column.0).collect::<Vec<_>>().join(",");
    for row in 0..ROWS {
        text.push('\n');
        text.push_str(&each().map(|column| quote(&column.1[row])).collect::<Vec<_>>().join(","));
    }
    text + "\n"
}
