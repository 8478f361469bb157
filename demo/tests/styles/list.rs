//! How cells are written: in offices, banks, laboratories, logs, statistics offices, by SAP, SPSS, R and Excel. Each style is a column of 60 cells, and
//! what is right to make of it. The list was written without a look at what reads it.

use Right::{Categories, Codes, Date, Duration, Number, Time};

/// What a column is. `Told` (a line that names the column and what to add) is right for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// A number: an increasing linear function of the truth.
    Number,
    /// A point in time.
    Date,
    /// A time of the day.
    Time,
    Duration,
    /// Texts, or two values: nothing that is ordered like a number.
    Categories,
    /// Digits that are names: a number is wrong, texts are right.
    Codes,
    /// Nobody can know: only a word is right.
    Told,
}

pub struct Style {
    pub name: &'static str,
    pub right: Right,
    /// Each cell with what it means (NaN: missing, or no number).
    pub cells: Vec<(String, f64)>,
    pub delimiter: char,
}

pub const ROWS: usize = 60;
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const LONG: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const MONATE: [&str; 12] = [
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
];
const MOIS: [&str; 12] = [
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
];
const MESES: [&str; 12] = [
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
];
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]; // 1970-01-01 was a Thursday

/// A number below `n` that looks drawn.
fn draw(row: usize, salt: u64, n: u64) -> u64 {
    let mut x = (row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ salt.wrapping_mul(0xD134_2543_DE82_EF95);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ (x >> 31)) % n
}

/// `value` with `digits` decimals, `point` before them and `group` between thousands.
fn grouped(value: f64, digits: usize, group: &str, point: &str) -> String {
    let text = format!("{:.digits$}", value.abs());
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = String::from(if value < 0.0 { "-" } else { "" });
    for (k, c) in whole.chars().enumerate() {
        if k > 0 && (whole.len() - k).is_multiple_of(3) {
            out += group;
        }
        out.push(c);
    }
    if digits > 0 { out + point + rest } else { out }
}

/// One row: what the closures below write cells of.
pub struct Row(usize);

impl Row {
    fn of(&self, salt: u64, n: u64) -> u64 {
        draw(self.0, salt, n)
    }
    /// Money: 3 to 98,765 with two decimals, over several sizes.
    fn money(&self) -> f64 {
        let size = [50.0, 900.0, 9000.0, 98_765.0][self.of(1, 4) as usize];
        ((3.0 + (self.of(2, 100_000) as f64 / 100_000.0) * size) * 100.0).round() / 100.0
    }
    fn signed(&self) -> f64 {
        if self.of(3, 3) == 0 { -self.money() } else { self.money() }
    }
    /// A measure: 0.1 to 99.9 with one decimal.
    fn measure(&self) -> f64 {
        (1 + self.of(4, 999)) as f64 / 10.0
    }
    fn whole(&self) -> u64 {
        1 + self.of(5, 180)
    }
    fn pick<'a>(&self, of: &[&'a str]) -> &'a str {
        of[self.of(6, of.len() as u64) as usize]
    }
    /// (year, month, day, days since 1970) over three years.
    fn day(&self) -> (i64, usize, i64, i64) {
        civil(19_000 + self.of(7, 1100) as i64)
    }
    fn clock(&self) -> (u64, u64, u64) {
        (self.of(8, 24), self.of(9, 60), self.of(10, 60))
    }
    fn moment(&self) -> f64 {
        let (h, m, s) = self.clock();
        self.day().3 as f64 + (h * 3600 + m * 60 + s) as f64 / 86_400.0
    }
    fn rare(&self, salt: u64) -> bool {
        self.of(salt, 6) == 0
    }
}

fn civil(days: i64) -> (i64, usize, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(month <= 2), month as usize, doy - (153 * mp + 2) / 5 + 1, days)
}

struct List(Vec<Style>);

impl List {
    fn add(&mut self, name: &'static str, right: Right, cell: impl Fn(&Row) -> (String, f64)) {
        self.0.push(Style { name, right, cells: (0..ROWS).map(|row| cell(&Row(row))).collect(), delimiter: ',' });
    }
    fn semicolon(&mut self) {
        self.0.last_mut().expect("a style").delimiter = ';';
    }
    fn money(&mut self, name: &'static str, cell: impl Fn(f64) -> String) {
        self.add(name, Number, |r| (cell(r.money()), r.money()));
    }
    fn signed(&mut self, name: &'static str, cell: impl Fn(f64) -> String) {
        self.add(name, Number, |r| (cell(r.signed()), r.signed()));
    }
    fn measure(&mut self, name: &'static str, cell: impl Fn(f64) -> String) {
        self.add(name, Number, |r| (cell(r.measure()), r.measure()));
    }
    fn whole(&mut self, name: &'static str, cell: impl Fn(u64) -> String) {
        self.add(name, Number, |r| (cell(r.whole()), r.whole() as f64));
    }
    /// Numbers beside a word that says that there is none.
    fn beside(&mut self, name: &'static str, word: &'static str) {
        self.add(name, Number, |r| {
            if r.rare(20) { (word.into(), f64::NAN) } else { (format!("{:.1}", r.measure()), r.measure()) }
        });
    }
    fn texts(&mut self, name: &'static str, cell: impl Fn(&Row) -> String) {
        self.add(name, Categories, |r| (cell(r), f64::NAN));
    }
    fn codes(&mut self, name: &'static str, cell: impl Fn(&Row) -> String) {
        self.add(name, Codes, |r| (cell(r), f64::NAN));
    }
    fn told(&mut self, name: &'static str, cell: impl Fn(&Row) -> String) {
        self.add(name, Right::Told, |r| (cell(r), f64::NAN));
    }
    fn date(&mut self, name: &'static str, cell: impl Fn(i64, usize, i64) -> String) {
        self.add(name, Date, |r| {
            let (y, m, d, days) = r.day();
            (cell(y, m, d), days as f64)
        });
    }
    fn month(&mut self, name: &'static str, cell: impl Fn(i64, usize) -> String) {
        self.add(name, Date, |r| {
            let (y, m, _, _) = r.day();
            (cell(y, m), y as f64 * 12.0 + m as f64)
        });
    }
    fn moment(&mut self, name: &'static str, cell: impl Fn((i64, usize, i64, i64), (u64, u64, u64)) -> String) {
        self.add(name, Date, |r| (cell(r.day(), r.clock()), r.moment()));
    }
    fn time(&mut self, name: &'static str, cell: impl Fn(u64, u64, u64) -> String) {
        self.add(name, Time, |r| {
            let (h, m, s) = r.clock();
            (cell(h, m, s), (h * 3600 + m * 60 + s) as f64)
        });
    }
    fn lasts(&mut self, name: &'static str, cell: impl Fn(u64, u64, u64) -> String) {
        self.add(name, Duration, |r| {
            let (h, m, s) = (r.of(11, 60), r.of(9, 60), r.of(10, 60));
            (cell(h, m, s), (h * 3600 + m * 60 + s) as f64)
        });
    }
}

fn half(h: u64) -> (u64, &'static str) {
    (if h.is_multiple_of(12) { 12 } else { h % 12 }, if h < 12 { "AM" } else { "PM" })
}

fn digits(text: &str, zero: char) -> String {
    text.chars().map(|c| c.to_digit(10).map_or(c, |d| char::from_u32(zero as u32 + d).expect("a digit"))).collect()
}

#[expect(clippy::too_many_lines, reason = "a list")]
#[must_use]
pub fn styles() -> Vec<Style> {
    let mut l = List(Vec::new());
    // Numbers, as programs and offices write them.
    l.whole("whole numbers", |v| v.to_string());
    l.money("two decimals", |v| format!("{v:.2}"));
    l.money("decimal comma", |v| grouped(v, 2, "", ","));
    l.money("decimal comma, semicolons", |v| grouped(v, 2, "", ","));
    l.semicolon();
    l.money("comma between thousands", |v| grouped(v, 2, ",", "."));
    l.add("comma between thousands, whole", Number, |r| (grouped(r.money().round(), 0, ",", "."), r.money().round()));
    l.money("point between thousands", |v| grouped(v, 2, ".", ","));
    l.money("point between thousands, semicolons", |v| grouped(v, 2, ".", ","));
    l.semicolon();
    l.add("point between thousands, millions", Number, |r| {
        let v = (r.money() * 970.0).round();
        (grouped(v, 0, ".", ","), v)
    });
    l.told("point before three digits", |r| grouped((r.money() * 7.0).round() + 1000.0, 0, ".", ","));
    l.told("comma before three digits, semicolons", |r| grouped((r.money() * 7.0).round() + 1000.0, 0, ",", "."));
    l.semicolon();
    l.money("space between thousands", |v| grouped(v, 2, " ", ","));
    l.money("no-break space between thousands", |v| grouped(v, 2, "\u{a0}", ","));
    l.money("narrow space between thousands", |v| grouped(v, 2, "\u{202f}", ","));
    l.money("thin space between thousands", |v| grouped(v, 1, "\u{2009}", ".") + "0");
    l.money("apostrophe between thousands", |v| grouped(v, 2, "'", "."));
    l.money("typographic apostrophe", |v| grouped(v, 2, "’", "."));
    l.money("underscore between thousands", |v| grouped(v, 2, "_", "."));
    l.add("lakh and crore", Number, |r| {
        let v = (r.money() * 97.0).round() + 100_000.0;
        let text = format!("{v}");
        let (head, tail) = text.split_at(text.len() - 3);
        let mut out = String::new();
        for (k, c) in head.chars().enumerate() {
            if k > 0 && (head.len() - k).is_multiple_of(2) {
                out.push(',');
            }
            out.push(c);
        }
        (format!("{out},{tail}"), v)
    });
    l.signed("plus and minus", |v| format!("{v:+.2}"));
    l.signed("minus behind (SAP)", |v| if v < 0.0 { format!("{:.2}-", -v) } else { format!("{v:.2}") });
    l.signed("minus behind, comma (SAP)", |v| {
        if v < 0.0 { grouped(-v, 2, ".", ",") + "-" } else { grouped(v, 2, ".", ",") }
    });
    l.signed(
        "minus behind, blank in place of plus",
        |v| if v < 0.0 { format!("{:.2}-", -v) } else { format!("{v:.2} ") },
    );
    l.signed(
        "parentheses",
        |v| if v < 0.0 { format!("({})", grouped(-v, 2, ",", ".")) } else { grouped(v, 2, ",", ".") },
    );
    l.signed("minus sign", |v| format!("{v:.2}").replace('-', "−"));
    l.signed("en dash as minus", |v| format!("{v:.2}").replace('-', "–"));
    l.signed("minus and a blank", |v| format!("{v:.2}").replace('-', "- "));
    l.signed("debit and credit letters", |v| grouped(v.abs(), 2, ",", ".") + if v < 0.0 { " DR" } else { " CR" });
    l.signed("Soll und Haben", |v| grouped(v.abs(), 2, ".", ",") + if v < 0.0 { " S" } else { " H" });
    l.signed("arrows as signs", |v| format!("{}{:.2}", if v < 0.0 { "▼" } else { "▲" }, v.abs()));
    l.measure("percent", |v| format!("{v:.1}%"));
    l.measure("percent after a blank, comma", |v| format!("{v:.1} %").replace('.', ","));
    l.signed("percent with plus", |v| format!("{v:+.2}%"));
    l.measure("pct", |v| format!("{v:.1} pct"));
    l.measure("Prozent", |v| format!("{v:.1} Prozent"));
    l.measure("per mille", |v| format!("{v:.1}‰"));
    l.measure("parts per million", |v| format!("{v:.1} ppm"));
    l.whole("basis points", |v| format!("{v} bp"));
    l.add("percent beside shares", Right::Told, |r| {
        if r.of(30, 2) == 0 {
            (format!("{}%", r.whole()), 0.0)
        } else {
            (format!("{:.2}", r.whole() as f64 / 100.0), 0.0)
        }
    });
    l.money("dollars", |v| format!("${}", grouped(v, 2, ",", ".")));
    l.signed("dollars, minus before", |v| {
        format!("{}${}", if v < 0.0 { "-" } else { "" }, grouped(v.abs(), 2, ",", "."))
    });
    l.signed("dollars, minus after", |v| format!("${v:.2}"));
    l.signed("dollars in parentheses", |v| if v < 0.0 { format!("(${:.2})", -v) } else { format!("${v:.2}") });
    l.signed("parentheses after the dollar", |v| if v < 0.0 { format!("$({:.2})", -v) } else { format!("${v:.2}") });
    l.money("US dollars", |v| format!("US$ {}", grouped(v, 2, ",", ".")));
    l.money("euros behind", |v| format!("{} €", grouped(v, 2, ".", ",")));
    l.money("euros behind, no-break", |v| format!("{}\u{a0}€", grouped(v, 2, ".", ",")));
    l.money("euros before", |v| format!("€{v:.2}"));
    l.money("EUR before", |v| format!("EUR {v:.2}"));
    l.money("USD behind", |v| format!("{v:.2} USD"));
    l.money("pounds", |v| format!("£{}", grouped(v, 2, ",", ".")));
    l.whole("yen", |v| format!("¥{v}"));
    l.money("Swiss francs", |v| format!("CHF {}", grouped(v, 2, "'", ".")));
    l.money("Fr.", |v| format!("Fr. {v:.2}"));
    l.whole("francs and a dash", |v| format!("{v}.–"));
    l.money("złoty", |v| format!("{} zł", grouped(v, 2, " ", ",")));
    l.money("kronor", |v| format!("{} kr", grouped(v, 2, " ", ",")));
    l.money("reais", |v| format!("R$ {}", grouped(v, 2, ".", ",")));
    l.money("rupees", |v| format!("₹{v:.2}"));
    l.money("roubles", |v| format!("{} руб.", grouped(v, 2, " ", ",")));
    l.told("several currencies", |r| format!("{}{:.2}", r.pick(&["$", "€", "£"]), r.money()));
    l.told("several currencies behind", |r| format!("{:.2} {}", r.money(), r.pick(&["USD", "EUR", "JPY"])));
    l.add("thousands and millions as letters", Number, |r| match r.of(30, 3) {
        0 => (format!("{}K", r.whole()), r.whole() as f64 * 1e3),
        1 => (format!("{:.1}M", r.measure()), r.measure() * 1e6),
        _ => (format!("{}", r.whole()), r.whole() as f64),
    });
    l.measure("thousands as a letter", |v| format!("{v:.1}k"));
    l.add("millions in words", Number, |r| match r.of(30, 2) {
        0 => (format!("{:.1} million", r.measure()), r.measure() * 1e6),
        _ => (format!("{:.1} billion", r.measure()), r.measure() * 1e9),
    });
    l.add("Mio. und Tsd.", Number, |r| match r.of(30, 2) {
        0 => (format!("{:.1} Tsd.", r.measure()).replace('.', ",").replace("Tsd,", "Tsd."), r.measure() * 1e3),
        _ => (format!("{:.1} Mio.", r.measure()).replace('.', ",").replace("Mio,", "Mio."), r.measure() * 1e6),
    });
    l.measure("dollars and bn", |v| format!("${v:.1}bn"));
    l.signed("exponents", |v| format!("{v:.4E}"));
    l.signed("exponents with signs and zeros (C)", |v| {
        let text = format!("{v:.4e}");
        let (head, tail) = text.split_once('e').expect("an exponent");
        let tail: i32 = tail.parse().expect("a number");
        format!("{head}E{tail:+03}")
    });
    l.signed("exponents, decimal comma", |v| format!("{v:.4E}").replace('.', ","));
    l.signed("Fortran's D", |v| format!("{v:.6e}").replace('e', "D"));
    l.measure("times ten to the", |v| format!("{:.2}×10^3", v));
    l.measure("times ten to the, mixed", |v| {
        if v < 30.0 { format!("{v:.1} x 10³") } else { format!("{:.3} x 10⁴", v / 10.0) }
    });
    l.measure("no zero before the point", |v| format!("{:.3}", v / 100.0).trim_start_matches('0').to_owned());
    l.whole("point behind", |v| format!("{v}."));
    l.measure("leading zeros, decimals", |v| format!("{v:06.1}"));
    l.measure("blanks around", |v| format!("  {v:.1}  "));
    l.measure("no-break space behind", |v| format!("{v:.1}\u{a0}"));
    l.whole("wide digits", |v| digits(&v.to_string(), '０'));
    l.whole("Arabic digits", |v| digits(&v.to_string(), '٠'));
    l.whole("Devanagari digits", |v| digits(&v.to_string(), '०'));
    l.whole("hexadecimal", |v| format!("0x{v:02X}"));
    l.whole("Excel's apostrophe", |v| format!("'{v}"));
    l.whole("Excel's formula", |v| format!("=\"{v}\""));
    l.told("both decimal signs", |r| {
        if r.of(30, 2) == 0 { format!("{:.1}", r.measure()) } else { format!("{:.1}", r.measure()).replace('.', ",") }
    });
    l.told("both kinds of thousands", |r| {
        if r.of(30, 2) == 0 {
            grouped(r.money() + 1000.0, 2, ",", ".")
        } else {
            grouped(r.money() + 1000.0, 2, ".", ",")
        }
    });
    // Numbers with units.
    for (name, unit) in [
        ("minutes", " min"),
        ("kilograms", " kg"),
        ("kilograms, no blank", "kg"),
        ("centimetres", " cm"),
        ("Celsius", " °C"),
        ("Celsius, no blank", "°C"),
        ("degrees", "°"),
        ("Fahrenheit letter", "F"),
        ("milligrams per decilitre", " mg/dL"),
        ("blood pressure unit", " mmHg"),
        ("kilometres per hour", " km/h"),
        ("square metres", " m²"),
        ("decibels", " dB"),
        ("volts", "V"),
        ("kilowatt hours", " kWh"),
        ("years", " years"),
        ("yrs", " yrs"),
        ("Jahre", " Jahre"),
        ("pieces", " Stk."),
        ("milliseconds", "ms"),
        ("megabytes", " MB"),
        ("times", "x"),
        ("points", " pts"),
        ("persons", " persons"),
        ("units per litre", " IU/L"),
        ("cells", " 10^9/L"),
        ("micrograms", " µg/L"),
        ("inches", "\""),
        ("miles", " mi"),
        ("per hour", "/h"),
    ] {
        l.measure(name, |v| format!("{v:.1}{unit}"));
    }
    l.add("grams and kilograms", Number, |r| {
        if r.of(30, 2) == 0 {
            (format!("{} g", r.whole()), r.whole() as f64)
        } else {
            (format!("{:.1} kg", r.measure()), r.measure() * 1000.0)
        }
    });
    l.add("bytes in several units", Number, |r| {
        let (unit, size) = [("KB", 1024.0), ("MB", 1_048_576.0), ("GB", 1_073_741_824.0)][r.of(30, 3) as usize];
        (format!("{:.1} {unit}", r.measure()), r.measure() * size)
    });
    l.add("binary suffixes (Kubernetes)", Number, |r| {
        if r.of(30, 2) == 0 {
            (format!("{}Mi", r.whole()), r.whole() as f64)
        } else {
            (format!("{}Gi", r.whole()), r.whole() as f64 * 1024.0)
        }
    });
    l.add("millicores", Number, |r| {
        if r.of(30, 2) == 0 {
            (format!("{}m", r.whole()), r.whole() as f64)
        } else {
            (r.whole().to_string(), r.whole() as f64 * 1000.0)
        }
    });
    l.add("seconds and milliseconds", Number, |r| {
        if r.of(30, 2) == 0 {
            (format!("{}ms", r.whole()), r.whole() as f64)
        } else {
            (format!("{:.1}s", r.measure()), r.measure() * 1000.0)
        }
    });
    l.add("Celsius and Fahrenheit", Right::Told, |r| (format!("{:.1} {}", r.measure(), r.pick(&["°C", "°F"])), 0.0));
    l.add("feet and inches", Number, |r| {
        let (f, i) = (4 + r.of(30, 3), r.of(31, 12));
        (format!("{f}'{i}\""), (f * 12 + i) as f64)
    });
    l.add("feet and inches in letters", Number, |r| {
        let (f, i) = (4 + r.of(30, 3), r.of(31, 12));
        (format!("{f} ft {i} in"), (f * 12 + i) as f64)
    });
    l.add("pounds and ounces", Number, |r| {
        let (f, i) = (4 + r.of(30, 6), r.of(31, 16));
        (format!("{f} lb {i} oz"), (f * 16 + i) as f64)
    });
    l.measure("unit before", |v| format!("kg {v:.1}"));
    l.measure("wind", |v| format!("NW {v:.1}"));
    l.texts("sizes, width by height", |r| {
        format!("{}x{}", r.pick(&["1920", "1280", "800"]), r.pick(&["1080", "720", "600"]))
    });
    // Not exact.
    l.whole("tilde", |v| format!("~{v}"));
    l.measure("approximately", |v| format!("≈ {v:.1}"));
    l.whole("ca.", |v| format!("ca. {v}"));
    l.whole("about", |v| format!("about {v}"));
    l.add("limit of detection", Number, |r| {
        if r.rare(20) { ("<0.1".into(), 0.1) } else { (format!("{:.1}", r.measure()), r.measure()) }
    });
    l.add("limit of detection, comma and blank", Number, |r| {
        if r.rare(20) { ("< 0,1".into(), 0.1) } else { (format!("{:.1}", r.measure()).replace('.', ","), r.measure()) }
    });
    l.add("above the range", Number, |r| {
        if r.rare(20) { (">100".into(), 100.0) } else { (format!("{:.1}", r.measure()), r.measure()) }
    });
    l.add("at least", Number, |r| {
        if r.rare(20) { ("≥100".into(), 100.0) } else { (format!("{:.1}", r.measure()), r.measure()) }
    });
    l.add("top code with plus", Number, |r| {
        if r.rare(20) { ("90+".into(), 90.0) } else { (r.of(30, 90).to_string(), r.of(30, 90) as f64) }
    });
    l.add("top code in words", Number, |r| {
        if r.rare(20) { ("90 and over".into(), 90.0) } else { (r.of(30, 90).to_string(), r.of(30, 90) as f64) }
    });
    l.measure("plus or minus", |v| format!("{v:.1} ± 0.2"));
    l.measure("error in parentheses", |v| format!("{v:.1} ({:.2})", v / 17.0));
    l.measure("interval behind", |v| format!("{v:.1} [{:.1}; {:.1}]", v - 0.5, v + 0.5));
    l.whole("question mark behind", |v| format!("{v}?"));
    l.add("some with question marks", Number, |r| {
        (format!("{}{}", r.whole(), if r.rare(20) { "?" } else { "" }), r.whole() as f64)
    });
    // Marks of statistics offices and laboratories.
    l.add("stars of significance", Number, |r| {
        (format!("{:.1}{}", r.measure(), r.pick(&["", "*", "**", "***"])), r.measure())
    });
    l.add("letters of footnotes", Number, |r| {
        (format!("{:.1}{}", r.measure(), r.pick(&["", "", "a", "b"])), r.measure())
    });
    l.add("raised footnotes", Number, |r| (format!("{:.1}{}", r.measure(), r.pick(&["", "", "¹", "²"])), r.measure()));
    l.add("footnotes in brackets", Number, |r| {
        (format!("{}{}", r.whole(), r.pick(&["", "", "[1]", "[2]"])), r.whole() as f64)
    });
    l.add("footnotes in parentheses", Number, |r| {
        (format!("{:.1}{}", r.measure(), r.pick(&["", "", " (1)", " (2)"])), r.measure())
    });
    l.add("flags of Eurostat", Number, |r| {
        if r.rare(20) {
            (":".into(), f64::NAN)
        } else {
            (format!("{:.1}{}", r.measure(), r.pick(&["", "", " p", " e", " b"])), r.measure())
        }
    });
    l.add("high and low", Number, |r| (format!("{:.1}{}", r.measure(), r.pick(&["", "", " H", " L"])), r.measure()));
    l.add("high and low before", Number, |r| {
        (format!("{}{:.1}", r.pick(&["", "", "H ", "L "]), r.measure()), r.measure())
    });
    l.add("(estimated)", Number, |r| (format!("{}{}", r.whole(), r.pick(&["", "", " (estimated)"])), r.whole() as f64));
    // Words where there is no number.
    for (name, word) in [
        ("beside NA", "NA"),
        ("beside n/a", "n/a"),
        ("beside n.a.", "n.a."),
        ("beside k.A.", "k. A."),
        ("beside N.D.", "N.D."),
        ("beside <NA>", "<NA>"),
        ("beside a dash", "-"),
        ("beside an em dash", "—"),
        ("beside two dashes", "--"),
        ("beside ..", ".."),
        ("beside ...", "..."),
        ("beside a point (SAS)", "."),
        ("beside .a (Stata)", ".a"),
        ("beside x", "x"),
        ("beside a slash", "/"),
        ("beside (D) (census)", "(D)"),
        ("beside #NULL!", "#NULL!"),
        ("beside #DIV/0!", "#DIV/0!"),
        ("beside #NV", "#NV"),
        ("beside #VALUE!", "#VALUE!"),
        ("beside \\N", "\\N"),
        ("beside (null)", "(null)"),
        ("beside nil", "nil"),
        ("beside missing", "missing"),
        ("beside unknown", "unknown"),
        ("beside keine Angabe", "keine Angabe"),
        ("beside NaN", "NaN"),
        ("beside 1.#QNAN", "1.#QNAN"),
        ("beside ****", "****"),
        ("beside OL", "OL"),
        ("beside not detected", "not detected"),
        ("beside <LOD", "<LOD"),
        ("beside see note", "see note"),
        ("beside ERR", "ERR"),
        ("beside an empty quote", "\"\""),
    ] {
        l.beside(name, word);
    }
    l.told("beside infinity", |r| if r.rare(20) { "Inf".into() } else { format!("{:.1}", r.measure()) });
    l.told("beside several words", |r| {
        if r.rare(20) { r.pick(&["none", "refused", "don't know"]).into() } else { r.whole().to_string() }
    });
    // Numbers that stand for "missing".
    for (name, code) in [
        ("−999 in measures", "-999"),
        ("9999 in measures", "9999"),
        ("−1 in counts", "-1"),
        ("999.9 in measures", "999.9"),
        ("1e30", "1e30"),
        ("32767", "32767"),
    ] {
        l.told(name, |r| if r.rare(20) { code.into() } else { format!("{:.1}", 10.0 + r.measure()) });
    }
    l.told("99 among answers", |r| if r.rare(20) { "99".into() } else { (1 + r.of(30, 6)).to_string() });
    l.told("9 among answers", |r| if r.rare(20) { "9".into() } else { (1 + r.of(30, 5)).to_string() });
    l.told("98 and 99 among answers", |r| {
        if r.rare(20) { r.pick(&["98", "99"]).into() } else { (1 + r.of(30, 7)).to_string() }
    });
    l.told("0 far below the others", |r| if r.rare(20) { "0".into() } else { (60 + r.of(30, 60)).to_string() });
    // Ranges, ratios, results.
    l.texts("ages with hyphens", |r| r.pick(&["0-4", "5-9", "10-14", "15-19", "20-24", "25-34"]).into());
    l.texts("ages with dashes and an end", |r| r.pick(&["18–24", "25–34", "35–49", "50–64", "65+"]).into());
    l.texts("few to few", |r| r.pick(&["1-2", "3-5", "6-9", "10-12"]).into());
    l.texts("incomes", |r| r.pick(&["$10,000 - $19,999", "$20,000 - $29,999", "under $10,000"]).into());
    l.texts("intervals (R's cut)", |r| r.pick(&["(0,10]", "(10,20]", "(20,30]", "(30,40]"]).into());
    l.texts("intervals (pandas)", |r| r.pick(&["[0.0, 10.0)", "[10.0, 20.0)", "[20.0, 30.0)"]).into());
    l.texts("ranges in words", |r| r.pick(&["less than 10", "10 to 49", "50 to 249", "250 or more"]).into());
    l.texts("ranges of hours", |r| r.pick(&["08:00-10:00", "10:00-12:00", "12:00-14:00"]).into());
    l.add("halves and quarters", Number, |r| {
        let (text, v) = [("1/2", 0.5), ("1/4", 0.25), ("3/4", 0.75), ("1/8", 0.125)][r.of(30, 4) as usize];
        (text.into(), v)
    });
    l.add("mixed fractions", Number, |r| {
        let (text, v) = [("1/2", 0.5), ("1/4", 0.25), ("3/4", 0.75)][r.of(30, 3) as usize];
        (format!("{} {text}", r.whole()), r.whole() as f64 + v)
    });
    l.add("one sign for a half", Number, |r| {
        (
            format!("{}{}", r.whole(), r.pick(&["½", "¼", "¾"])),
            r.whole() as f64 + [0.5, 0.25, 0.75][r.of(6, 3) as usize],
        )
    });
    l.told("blood pressure", |r| format!("{}/{}", 100 + r.of(30, 60), 60 + r.of(31, 35)));
    l.told("points of all", |r| format!("{}/20", 1 + r.of(30, 20)));
    l.told("ratings of ten", |r| format!("{:.1}/10", (10 + r.of(30, 90)) as f64 / 10.0));
    l.told("ratings in words", |r| format!("{} out of 5", 1 + r.of(30, 5)));
    l.texts("football results", |r| format!("{}:{}", r.of(30, 5), r.of(31, 4)));
    l.texts("results with hyphens", |r| format!("{}-{}", r.of(30, 5), r.of(31, 4)));
    l.texts("chess results", |r| r.pick(&["1-0", "0-1", "½-½"]).into());
    l.texts("titres", |r| r.pick(&["1:10", "1:20", "1:40", "1:80", "1:160", "1:320"]).into());
    l.texts("scales of maps", |r| r.pick(&["1:500", "1:1000", "1:5000"]).into());
    l.texts("odds", |r| r.pick(&["7/2", "5/1", "11/4", "2/1"]).into());
    l.texts("school grades with signs", |r| r.pick(&["1", "1-", "2+", "2", "2-", "3+", "3", "3-"]).into());
    l.texts("plusses of strips", |r| r.pick(&["neg", "1+", "2+", "3+"]).into());
    l.texts("letter grades", |r| r.pick(&["A+", "A", "A-", "B+", "B"]).into());
    l.texts("blood groups", |r| r.pick(&["A+", "A-", "B+", "AB+", "0+", "0-"]).into());
    l.texts("stars", |r| r.pick(&["★★★★★", "★★★★☆", "★★★☆☆"]).into());
    l.texts("answers with their code", |r| {
        r.pick(&["1 - strongly disagree", "2 - disagree", "3 - neutral", "4 - agree"]).into()
    });
    l.texts("codes before labels (SPSS)", |r| r.pick(&["(1) Male", "(2) Female"]).into());
    l.texts("answers with ends", |r| r.pick(&["1 (very bad)", "2", "3", "4", "5 (very good)"]).into());
    l.texts("several answers", |r| r.pick(&["1,2", "1,2,5", "3", "2,4", "1,3,4,5"]).into());
    l.texts("several answers, semicolons", |r| r.pick(&["1;2", "1;2;5", "3", "2;4"]).into());
    l.texts("lists", |r| r.pick(&["[1, 2]", "[1, 2, 5]", "[3]", "[]"]).into());
    l.texts("ordinals", |r| r.pick(&["1st", "2nd", "3rd", "4th"]).into());
    l.texts("Roman numbers", |r| r.pick(&["I", "II", "III", "IV", "V"]).into());
    l.texts("number words", |r| r.pick(&["one", "two", "three", "four"]).into());
    l.texts("stages", |r| r.pick(&["Grade 1", "Grade 2", "Grade 3"]).into());
    // Two values.
    for (name, words) in [
        ("yes and no", ["yes", "no"]),
        ("Y and N", ["Y", "N"]),
        ("ja und nein", ["ja", "nein"]),
        ("oui et non", ["oui", "non"]),
        ("sí y no", ["sí", "no"]),
        ("да и нет", ["да", "нет"]),
        ("T and F", ["T", "F"]),
        ("TRUE and FALSE", ["TRUE", "FALSE"]),
        ("WAHR und FALSCH", ["WAHR", "FALSCH"]),
        ("VRAI et FAUX", ["VRAI", "FAUX"]),
        ("on and off", ["on", "off"]),
        ("ticks", ["✓", "✗"]),
        ("present and absent", ["present", "absent"]),
        ("POS and NEG", ["POS", "NEG"]),
        ("plus and minus as words", ["+", "-"]),
        ("a cross or nothing", ["x", ""]),
    ] {
        l.texts(name, |r| r.pick(&words).into());
    }
    l.add("1 and 0", Number, |r| (r.of(30, 2).to_string(), r.of(30, 2) as f64));
    l.add("−1 and 0 (Access)", Number, |r| (format!("{}", -(r.of(30, 2) as i64)), -(r.of(30, 2) as f64)));
    // Names that are made of digits.
    l.codes("postal codes with zeros", |r| format!("{:05}", 1000 + r.of(30, 30) * 997));
    l.codes("article numbers with zeros", |r| format!("{:08}", r.of(30, 9000)));
    l.codes("FIPS", |r| format!("{:05}", 1001 + r.of(30, 40) * 1234));
    l.told("American postal codes", |r| (10_001 + draw(r.of(30, 20) as usize, 40, 89_000)).to_string());
    l.codes("postal codes and four", |r| {
        format!("{}-{:04}", 10_001 + draw(r.of(30, 20) as usize, 40, 89_000), r.of(31, 9999))
    });
    l.texts("British postal codes", |r| {
        format!("{}{} {}AA", r.pick(&["SW", "N", "EC"]), 1 + r.of(30, 9), 1 + r.of(31, 9))
    });
    l.told("numbers of customers, each once", |r| (100_001 + r.0).to_string());
    l.told("numbers of customers, drawn", |r| (1_000_000 + r.of(30, 8_999_999)).to_string());
    l.told("numbers of customers that recur", |r| (200_000 + draw(r.of(30, 20) as usize, 41, 700_000)).to_string());
    l.told("18 digits", |r| format!("{}", 900_000_000_000_000_000 + r.of(30, 99_999_999_999_999_999)));
    l.codes("article numbers (EAN)", |r| format!("40{:011}", r.of(30, 99_999_999_999)));
    l.codes("bank accounts (IBAN)", |r| {
        format!("DE{:02} 3704 0044 {:04} {:04} {:02}", r.of(30, 90), r.of(31, 9999), r.of(32, 9999), r.of(33, 99))
    });
    l.codes("cards", |r| format!("4111 {:04} {:04} {:04}", r.of(31, 9999), r.of(32, 9999), r.of(33, 9999)));
    l.codes("social security", |r| {
        format!("{:03}-{:02}-{:04}", 100 + r.of(31, 800), 10 + r.of(32, 80), 1000 + r.of(33, 8999))
    });
    l.codes("telephone, plus", |r| format!("+49 30 {:07}", r.of(31, 9_999_999)));
    l.codes("telephone, parentheses", |r| format!("({}) 555-{:04}", 200 + r.of(31, 700), r.of(32, 9999)));
    l.codes("telephone, hyphens", |r| format!("{}-555-{:04}", 200 + r.of(31, 700), r.of(32, 9999)));
    l.codes("telephone, slash", |r| format!("0171/{:07}", r.of(31, 9_999_999)));
    l.codes("addresses of machines", |r| format!("192.168.{}.{}", r.of(31, 4), r.of(32, 250)));
    l.codes("addresses with ports", |r| format!("10.0.0.{}:80{:02}", r.of(31, 250), r.of(32, 99)));
    l.codes("books (ISBN)", |r| format!("978-3-16-{:06}-{}", r.of(31, 999_999), r.of(32, 9)));
    l.codes("versions of three parts", |r| format!("{}.{}.{}", 1 + r.of(31, 3), r.of(32, 12), r.of(33, 20)));
    l.told("versions of two parts", |r| format!("{}.{}", 1 + r.of(31, 3), 1 + r.of(32, 12)));
    l.codes("diagnoses (ICD-10)", |r| r.pick(&["E11.9", "I10", "J45.0", "E10", "C50.9"]).into());
    l.told("diagnoses (ICD-9)", |r| r.pick(&["250.00", "401.9", "428.0", "250.02", "V58.6", "410"]).into());
    l.codes("diagnoses that look like exponents", |r| r.pick(&["1E10", "2E5", "3E02", "4E1"]).into());
    l.codes("dotted customs codes", |r| r.pick(&["8471.30.01", "8528.72.00", "9018.90.10"]).into());
    l.codes("hexadecimal names", |r| format!("{:08x}", draw(r.0, 77, 0xffff_ffff)));
    l.codes("colours", |r| format!("#{:06x}", draw(r.0, 77, 0xff_ffff)));
    l.codes("binary codes", |r| format!("{:06b}", r.of(31, 64)));
    l.codes("rooms", |r| format!("{}.{:02}", r.pick(&["A", "B"]), r.of(31, 30)));
    l.texts("genes", |r| r.pick(&["SEPT2", "MARCH1", "DEC1", "OCT4"]).into());
    l.texts("house numbers", |r| format!("{}{}", r.whole(), r.pick(&["", "a", "b"])));
    l.texts("countries", |r| r.pick(&["DE", "NO", "NA", "FR"]).into());
    l.texts("chemical sums", |r| r.pick(&["H2O", "CO2", "C6H12O6"]).into());
    l.texts("answers of servers", |r| r.pick(&["200 OK", "404 Not Found", "500 Internal Server Error"]).into());
    l.told("places as pairs", |r| {
        format!("{:.4}, {:.4}", 48.0 + r.measure() / 100.0, 11.0 + r.whole() as f64 / 1000.0)
    });
    l.add("degrees, minutes, seconds", Number, |r| {
        let (d, m, s) = (47 + r.of(30, 5), r.of(31, 60), r.of(32, 60));
        (format!("{d}°{m:02}′{s:02}″N"), (d * 3600 + m * 60 + s) as f64)
    });
    l.add("latitude with its letter", Number, |r| {
        let v = r.measure();
        if r.of(30, 2) == 0 { (format!("{v:.1}° N"), v) } else { (format!("{v:.1}° S"), -v) }
    });
    l.add("longitude with its letter", Number, |r| {
        let v = r.measure();
        if r.of(30, 2) == 0 { (format!("{v:.1}E"), v) } else { (format!("{v:.1}W"), -v) }
    });
    l.told("points of maps", |r| format!("POINT ({:.3} {:.3})", r.measure(), r.measure() / 3.0));
    // Texts that differ in nothing that is seen.
    l.told("case", |r| r.pick(&["male", "Male", "MALE", "female", "Female"]).into());
    l.told("two blanks", |r| r.pick(&["New York", "New  York", "Boston"]).into());
    l.told("no-break blanks", |r| r.pick(&["New York", "New\u{a0}York", "Boston"]).into());
    l.told("accents composed and not", |r| r.pick(&["Zürich", "Zu\u{308}rich", "Bern"]).into());
    l.told("zero-width signs", |r| r.pick(&["Bern", "Bern\u{200b}", "Basel"]).into());
    l.told("hyphens", |r| r.pick(&["full-time", "full‑time", "full time", "part-time"]).into());
    l.told("points of abbreviations", |r| r.pick(&["St. Gallen", "St Gallen", "Bern"]).into());
    // Dates.
    l.date("ISO", |y, m, d| format!("{y}-{m:02}-{d:02}"));
    l.date("ISO, compact", |y, m, d| format!("{y}{m:02}{d:02}"));
    l.date("slashes, year first", |y, m, d| format!("{y}/{m:02}/{d:02}"));
    l.date("German", |y, m, d| format!("{d:02}.{m:02}.{y}"));
    l.date("German, short", |y, m, d| format!("{d}.{m}.{:02}", y % 100));
    l.date("American", |y, m, d| format!("{m}/{d}/{y}"));
    l.date("American, short", |y, m, d| format!("{m:02}/{d:02}/{:02}", y % 100));
    l.date("British", |y, m, d| format!("{d:02}/{m:02}/{y}"));
    l.date("hyphens, day first", |y, m, d| format!("{d:02}-{m:02}-{y}"));
    l.told("day or month first", |r| format!("{:02}/{:02}/2024", 1 + r.of(30, 12), 1 + r.of(31, 12)));
    l.told("day or month first, beside clear ones", |r| {
        if r.0 == 7 {
            "25/12/2024".into()
        } else if r.0 == 9 {
            "12/25/2024".into()
        } else {
            format!("{:02}/{:02}/2024", 1 + r.of(30, 12), 1 + r.of(31, 12))
        }
    });
    l.date("month by name", |y, m, d| format!("{d}-{}-{y}", MONTHS[m - 1]));
    l.date("month by name, Oracle", |y, m, d| format!("{d:02}-{}-{:02}", MONTHS[m - 1].to_uppercase(), y % 100));
    l.date("SAS", |y, m, d| format!("{d:02}{}{y}", MONTHS[m - 1].to_uppercase()));
    l.date("English, month first", |y, m, d| format!("{} {d}, {y}", LONG[m - 1]));
    l.date("English, short, month first", |y, m, d| format!("{} {d}, {y}", MONTHS[m - 1]));
    l.date("English, ordinal", |y, m, d| {
        format!(
            "{d}{} {} {y}",
            ["th", "st", "nd", "rd"][if d % 10 < 4 && d / 10 != 1 { (d % 10) as usize } else { 0 }],
            LONG[m - 1]
        )
    });
    l.date("English, day first", |y, m, d| format!("{d} {} {y}", LONG[m - 1]));
    l.date("German, month by name", |y, m, d| format!("{d}. {} {y}", MONATE[m - 1]));
    l.date("French, month by name", |y, m, d| format!("{d} {} {y}", MOIS[m - 1]));
    l.date("Spanish, month by name", |y, m, d| format!("{d} de {} de {y}", MESES[m - 1]));
    l.date("Japanese", |y, m, d| format!("{y}年{m}月{d}日"));
    l.date("Korean", |y, m, d| format!("{y}. {m}. {d}."));
    l.add("weekday before", Date, |r| {
        let (y, m, d, days) = r.day();
        (format!("{}, {d} {} {y}", DAYS[days.rem_euclid(7) as usize], MONTHS[m - 1]), days as f64)
    });
    l.add("day of the year", Date, |r| {
        let (y, _, _, days) = r.day();
        let first = (0..).map(|back| civil(days - back)).take_while(|c| c.0 == y).count();
        (format!("{y}-{first:03}"), days as f64)
    });
    l.date(
        "zeros for unknown days",
        |y, m, d| if d % 9 == 0 { format!("{y}-{m:02}-00") } else { format!("{y}-{m:02}-{d:02}") },
    );
    l.add("9999 for never", Right::Told, |r| {
        let (y, m, d, _) = r.day();
        (if r.rare(20) { "9999-12-31".into() } else { format!("{y}-{m:02}-{d:02}") }, 0.0)
    });
    l.add("0000 for never", Date, |r| {
        let (y, m, d, days) = r.day();
        if r.rare(20) { ("0000-00-00".into(), f64::NAN) } else { (format!("{y}-{m:02}-{d:02}"), days as f64) }
    });
    l.told("1900 for never", |r| {
        let (y, m, d, _) = r.day();
        if r.rare(20) { "1900-01-01".into() } else { format!("{y}-{m:02}-{d:02}") }
    });
    l.told("two ways of dates", |r| {
        let (y, m, d, _) = r.day();
        if r.of(30, 2) == 0 { format!("{y}-{m:02}-{d:02}") } else { format!("{d:02}.{m:02}.{y}") }
    });
    l.told("days without a year", |r| {
        let (_, m, d, _) = r.day();
        format!("{d:02}.{m:02}.")
    });
    l.told("days without a year, English", |r| {
        let (_, m, d, _) = r.day();
        format!("{d}-{}", MONTHS[m - 1])
    });
    l.told("two digits after a point that are days", |r| {
        let (_, m, d, _) = r.day();
        format!("{d:02}.{m:02}")
    });
    // Months, quarters, weeks, years.
    l.month("month, ISO", |y, m| format!("{y}-{m:02}"));
    l.month("month, slash", |y, m| format!("{m:02}/{y}"));
    l.month("month, point", |y, m| format!("{m:02}.{y}"));
    l.month("month, compact", |y, m| format!("{y}{m:02}"));
    l.month("month, IMF", |y, m| format!("{y}M{m:02}"));
    l.month("month, English", |y, m| format!("{} {y}", LONG[m - 1]));
    l.month("month, Excel", |y, m| format!("{}-{:02}", MONTHS[m - 1], y % 100));
    l.month("month, German", |y, m| format!("{} {y}", MONATE[m - 1]));
    l.month("month, short, year first", |y, m| format!("{y}-{}", MONTHS[m - 1]));
    for (name, cell) in [
        ("quarter, Q first", (|y, q| format!("Q{q} {y}")) as fn(i64, usize) -> String),
        ("quarter, year first", |y, q| format!("{y}Q{q}")),
        ("quarter, hyphen", |y, q| format!("{y}-Q{q}")),
        ("quarter, bank", |y, q| format!("{q}Q{:02}", y % 100)),
        ("quarter, German", |y, q| format!("{q}. Quartal {y}")),
        ("quarter, slash", |y, q| format!("Q{q}/{y}")),
    ] {
        l.add(name, Date, |r| {
            let (y, m, _, _) = r.day();
            let q = (m - 1) / 3 + 1;
            (cell(y, q), (y * 4 + q as i64) as f64)
        });
    }
    for (name, cell) in [
        ("week, ISO", (|y, w| format!("{y}-W{w:02}")) as fn(i64, u64) -> String),
        ("week, German", |y, w| format!("KW {w:02}/{y}")),
        ("week, short", |y, w| format!("{y}W{w:02}")),
    ] {
        l.add(name, Date, |r| {
            (
                cell(2021 + r.of(31, 3) as i64, 1 + r.of(30, 52)),
                (2021 + r.of(31, 3)) as f64 * 52.18 + r.of(30, 52) as f64,
            )
        });
    }
    l.add("half years", Date, |r| {
        (format!("H{} {}", 1 + r.of(30, 2), 2018 + r.of(31, 6)), (2018 + r.of(31, 6)) as f64 * 2.0 + r.of(30, 2) as f64)
    });
    l.add("years", Number, |r| ((1980 + r.of(31, 44)).to_string(), (1980 + r.of(31, 44)) as f64));
    l.add("fiscal years", Date, |r| (format!("FY{}", 2010 + r.of(31, 14)), (2010 + r.of(31, 14)) as f64));
    l.add("school years", Date, |r| {
        let y = 2010 + r.of(31, 14);
        (format!("{y}/{:02}", (y + 1) % 100), y as f64)
    });
    l.add("school years, hyphen", Date, |r| {
        let y = 2013 + r.of(31, 11);
        (format!("{y}-{:02}", (y + 1) % 100), y as f64)
    });
    l.texts("decades", |r| r.pick(&["1970s", "1980s", "1990s", "2000s"]).into());
    l.texts("weekdays", |r| r.pick(&["Mon", "Tue", "Wed", "Thu", "Fri"]).into());
    l.texts("months alone", |r| r.pick(&MONTHS).into());
    // Moments.
    l.moment("ISO, Z", |(y, mo, d, _), (h, m, s)| format!("{y}-{mo:02}-{d:02}T{h:02}:{m:02}:{s:02}Z"));
    l.moment("ISO, blank", |(y, mo, d, _), (h, m, s)| format!("{y}-{mo:02}-{d:02} {h:02}:{m:02}:{s:02}"));
    l.moment("ISO, milliseconds", |(y, mo, d, _), (h, m, s)| format!("{y}-{mo:02}-{d:02} {h:02}:{m:02}:{s:02}.000"));
    l.moment("ISO, milliseconds after a comma (log4j)", |(y, mo, d, _), (h, m, s)| {
        format!("{y}-{mo:02}-{d:02} {h:02}:{m:02}:{s:02},000")
    });
    l.moment("ISO, nanoseconds", |(y, mo, d, _), (h, m, s)| {
        format!("{y}-{mo:02}-{d:02}T{h:02}:{m:02}:{s:02}.000000000Z")
    });
    l.moment("ISO, zone +00:00", |(y, mo, d, _), (h, m, s)| format!("{y}-{mo:02}-{d:02}T{h:02}:{m:02}:{s:02}+00:00"));
    l.moment("ISO, zone +0000", |(y, mo, d, _), (h, m, s)| format!("{y}-{mo:02}-{d:02} {h:02}:{m:02}:{s:02}+0000"));
    l.moment("ISO, UTC in letters", |(y, mo, d, _), (h, m, s)| format!("{y}-{mo:02}-{d:02} {h:02}:{m:02}:{s:02} UTC"));
    l.add("ISO, zones that change", Date, |r| {
        let ((y, mo, d, _), (h, m, s)) = (r.day(), r.clock());
        let zone = r.of(30, 2) + 1;
        (format!("{y}-{mo:02}-{d:02}T{h:02}:{m:02}:{s:02}+0{zone}:00"), r.moment() - zone as f64 / 24.0)
    });
    l.add("zones in letters", Right::Told, |r| {
        let ((y, mo, d, _), (h, m, s)) = (r.day(), r.clock());
        (format!("{y}-{mo:02}-{d:02} {h:02}:{m:02}:{s:02} {}", r.pick(&["CET", "CEST"])), 0.0)
    });
    l.moment("compact, T", |(y, mo, d, _), (h, m, s)| format!("{y}{mo:02}{d:02}T{h:02}{m:02}{s:02}Z"));
    l.moment("compact, 14 digits", |(y, mo, d, _), (h, m, s)| format!("{y}{mo:02}{d:02}{h:02}{m:02}{s:02}"));
    l.moment("web server", |(y, mo, d, _), (h, m, s)| {
        format!("{d:02}/{}/{y}:{h:02}:{m:02}:{s:02} +0000", MONTHS[mo - 1])
    });
    l.moment("web server, brackets", |(y, mo, d, _), (h, m, s)| {
        format!("[{d:02}/{}/{y}:{h:02}:{m:02}:{s:02} +0000]", MONTHS[mo - 1])
    });
    l.moment("C's ctime", |(y, mo, d, n), (h, m, s)| {
        format!("{} {} {d:2} {h:02}:{m:02}:{s:02} {y}", DAYS[n.rem_euclid(7) as usize], MONTHS[mo - 1])
    });
    l.moment("mail", |(y, mo, d, n), (h, m, s)| {
        format!("{}, {d:02} {} {y} {h:02}:{m:02}:{s:02} +0000", DAYS[n.rem_euclid(7) as usize], MONTHS[mo - 1])
    });
    l.moment("mail, GMT", |(y, mo, d, n), (h, m, s)| {
        format!("{}, {d:02} {} {y} {h:02}:{m:02}:{s:02} GMT", DAYS[n.rem_euclid(7) as usize], MONTHS[mo - 1])
    });
    l.moment("American, twelve hours", |(y, mo, d, _), (h, m, s)| {
        let (h, half) = half(h);
        format!("{mo}/{d}/{y} {h}:{m:02}:{s:02} {half}")
    });
    l.moment("German", |(y, mo, d, _), (h, m, s)| format!("{d:02}.{mo:02}.{y} {h:02}:{m:02}:{s:02}"));
    l.moment("German, comma", |(y, mo, d, _), (h, m, s)| format!("{d:02}.{mo:02}.{y}, {h:02}:{m:02}:{s:02}"));
    l.moment("SAS", |(y, mo, d, _), (h, m, s)| {
        format!("{d:02}{}{y}:{h:02}:{m:02}:{s:02}", MONTHS[mo - 1].to_uppercase())
    });
    l.moment("SQL Server", |(y, mo, d, _), (h, m, s)| {
        let (h, half) = half(h);
        format!("{} {d:2} {y} {h:2}:{m:02}:{s:02}{half}", MONTHS[mo - 1])
    });
    l.moment("JSON of .NET", |(_, _, _, n), (h, m, s)| {
        format!("/Date({})/", (n * 86_400 + (h * 3600 + m * 60 + s) as i64) * 1000)
    });
    l.told("syslog, no year", |r| {
        let ((_, mo, d, _), (h, m, s)) = (r.day(), r.clock());
        format!("{} {d:2} {h:02}:{m:02}:{s:02}", MONTHS[mo - 1])
    });
    // Numbers that are dates.
    for (name, of) in [
        ("Excel's days", (|t: f64| format!("{}", t.floor() + 25_569.0)) as fn(f64) -> String),
        ("Excel's days with hours", |t| format!("{:.6}", t + 25_569.0)),
        ("Unix seconds", |t| format!("{:.0}", t * 86_400.0)),
        ("Unix milliseconds", |t| format!("{:.0}", t * 86_400e3)),
        ("Unix microseconds", |t| format!("{:.0}", t * 86_400e6)),
        ("Unix nanoseconds", |t| format!("{:.0}000000000", t * 86_400.0)),
        ("Unix seconds with decimals", |t| format!("{:.3}", t * 86_400.0)),
        ("Julian days", |t| format!("{:.4}", t + 2_440_587.5)),
        ("ticks of .NET", |t| format!("{:.0}0000000", t * 86_400.0 + 62_135_596_800.0)),
        ("seconds of SPSS", |t| format!("{:.0}", t * 86_400.0 + 12_219_379_200.0)),
    ] {
        l.add(name, Date, |r| (of(r.moment()), if name == "Excel's days" { r.day().3 as f64 } else { r.moment() }));
    }
    // Times of the day.
    l.time("hours and minutes", |h, m, _| format!("{h:02}:{m:02}"));
    l.time("hours, minutes, seconds", |h, m, s| format!("{h:02}:{m:02}:{s:02}"));
    l.time("with milliseconds", |h, m, s| format!("{h:02}:{m:02}:{s:02}.000"));
    l.time("twelve hours", |h, m, _| {
        let (h, half) = half(h);
        format!("{h}:{m:02} {half}")
    });
    l.time("twelve hours, no blank", |h, m, _| {
        let (h, half) = half(h);
        format!("{h}:{m:02}{}", half.to_lowercase())
    });
    l.time("twelve hours, a.m.", |h, m, _| {
        let (h, half) = half(h);
        format!("{h}:{m:02} {}", if half == "AM" { "a.m." } else { "p.m." })
    });
    l.time("Uhr", |h, m, _| format!("{h:02}:{m:02} Uhr"));
    l.time("French", |h, m, _| format!("{h}h{m:02}"));
    l.time("T before", |h, m, s| format!("T{h:02}:{m:02}:{s:02}"));
    l.told("four digits (military)", |r| {
        let (h, m, _) = r.clock();
        format!("{h:02}{m:02}")
    });
    l.told("point between (Finnish)", |r| {
        let (h, m, _) = r.clock();
        format!("{h}.{m:02}")
    });
    // How long.
    l.lasts("hours above 24", |h, m, s| format!("{h}:{m:02}:{s:02}"));
    l.lasts("letters", |h, m, s| format!("{h}h {m}m {s}s"));
    l.lasts("letters, no blanks", |h, m, s| format!("{h}h{m}m{s}s"));
    l.lasts("words", |h, m, s| format!("{h} hours {m} minutes {s} seconds"));
    l.lasts("abbreviations", |h, m, _| format!("{h} hrs {m} min"));
    l.lasts("pandas", |h, m, s| format!("{} days {:02}:{m:02}:{s:02}", h / 24, h % 24));
    l.lasts("ISO", |h, m, s| format!("PT{h}H{m}M{s}S"));
    l.lasts(".NET", |h, m, s| format!("{}.{:02}:{m:02}:{s:02}", h / 24, h % 24));
    l.lasts("PostgreSQL", |h, m, s| {
        if h < 24 { format!("{h:02}:{m:02}:{s:02}") } else { format!("{} days {:02}:{m:02}:{s:02}", h / 24, h % 24) }
    });
    l.told("laps", |r| format!("{}:{:02}.{:02}", 1 + r.of(30, 3), r.of(31, 60), r.of(32, 100)));
    l.told("minutes and seconds, or hours and minutes", |r| format!("{}:{:02}", r.of(30, 20), r.of(31, 60)));
    l.add("days", Duration, |r| (format!("{} days", r.whole()), r.whole() as f64));
    l.add("weeks and days", Duration, |r| {
        (format!("{}w {}d", r.of(30, 40), r.of(31, 7)), (r.of(30, 40) * 7 + r.of(31, 7)) as f64)
    });
    l.add("weeks and days (pregnancy)", Right::Told, |r| (format!("{}+{}", 20 + r.of(30, 20), r.of(31, 7)), 0.0));
    l.add("years and months", Duration, |r| {
        (format!("{} years {} months", r.of(30, 60), r.of(31, 12)), (r.of(30, 60) * 12 + r.of(31, 12)) as f64)
    });
    l.add("years and months, letters", Duration, |r| {
        (format!("{}y {}m", r.of(30, 60), r.of(31, 12)), (r.of(30, 60) * 12 + r.of(31, 12)) as f64)
    });
    l.add("months", Duration, |r| (format!("{} months", r.whole()), r.whole() as f64));
    l.add("days, weeks or months", Duration, |r| {
        let (unit, days) = [("days", 1.0), ("weeks", 7.0)][r.of(30, 2) as usize];
        (format!("{} {unit}", r.whole()), r.whole() as f64 * days)
    });
    l.0
}
