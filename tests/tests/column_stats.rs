//! Statistics of columns (`data::ColumnStats`): merged, they make the preparation of all rows.

use undercurve::checkpoint::{Kind, seal};
use undercurve::data::{
    ColumnStats, DataError, DataErrorKind, Encode, Format, Missing, Options, Preparation, RawTable, Scale, Source,
    Target, Values,
};
use undercurve::metric::StateError;
use undercurve::rng::Rng;

/// Rows of columns of several kinds.
#[derive(Clone, Default)]
struct Columns {
    numbers: Vec<(&'static str, Vec<f64>)>,
    texts: Vec<(&'static str, Vec<Option<String>>)>,
}

impl Columns {
    fn rows(&self, rows: &[usize]) -> RawTable {
        let numbers: Vec<(&str, Vec<f64>)> =
            self.numbers.iter().map(|(name, of)| (*name, rows.iter().map(|&row| of[row]).collect())).collect();
        let texts: Vec<(&str, Vec<Option<&str>>)> =
            self.texts.iter().map(|(name, of)| (*name, rows.iter().map(|&row| of[row].as_deref()).collect())).collect();
        let numbers = numbers.iter().map(|(name, of)| (*name, Values::Numbers(of)));
        let all: Vec<_> = numbers.chain(texts.iter().map(|(name, of)| (*name, Values::Texts(of)))).collect();
        RawTable::of_columns("", &all).unwrap()
    }

    fn len(&self) -> usize {
        self.numbers[0].1.len()
    }

    fn all(&self) -> RawTable {
        self.rows(&(0..self.len()).collect::<Vec<_>>())
    }
}

fn normal(random: &mut Rng) -> f64 {
    (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0
}

fn drawn(n: usize, random: &mut Rng) -> Columns {
    let mut of = Columns::default();
    let some = |random: &mut Rng, x: f64| if random.uniform() < 0.1 { f64::NAN } else { x };
    let mut column = |name, x: &mut dyn FnMut(&mut Rng, usize) -> f64| {
        let values = (0..n).map(|row| x(random, row)).collect();
        of.numbers.push((name, values));
    };
    column("gauss", &mut |random, _| normal(random));
    column("gaps", &mut |random, _| {
        let x = normal(random);
        some(random, x)
    });
    column("far", &mut |random, _| 1.7e9 + (random.uniform() * 1e5).floor());
    column("wide", &mut |random, _| (if random.uniform() < 0.5 { -1.0 } else { 1.0 }) * (60.0 * normal(random)).exp());
    column("few", &mut |random, _| (random.uniform() * 5.0).floor() - 2.0);
    column("flag", &mut |random, _| f64::from(u8::from(random.uniform() < 0.2)));
    column("same", &mut |_, _| 0.1);
    column("zero", &mut |random, _| if random.uniform() < 0.5 { -0.0 } else { 0.0 });
    column("number", &mut |_, row| row as f64 + 7.0);
    column("user_id", &mut |_, row| ((row * 7919) % 1_000_003) as f64);
    column("y", &mut |random, row| f64::from(u8::from(row == 0 || random.uniform() < 0.3)));
    let letters =
        |random: &mut Rng| ["red", "green", "", "blue,", "Grün"][(random.uniform() * 5.0) as usize].to_string();
    let texts = (0..n).map(|_| Some(letters(random)).filter(|_| random.uniform() < 0.9)).collect();
    of.texts.push(("colour", texts));
    of.texts.push(("name", (0..n).map(|row| Some(format!("row {row}"))).collect()));
    of
}

fn options(encode: Encode) -> Options {
    Options { label: Some("y".into()), encode, missing: Missing::Impute, ..Options::default() }
}

/// Statistics of parts of the rows, which are dealt at random, merged in any order.
fn split(of: &Columns, parts: usize, options: &Options, random: &mut Rng) -> ColumnStats {
    let mut dealt = vec![Vec::new(); parts];
    for row in 0..of.len() {
        dealt[(random.uniform() * parts as f64) as usize].push(row);
    }
    let mut stats = ColumnStats::default();
    while !dealt.is_empty() {
        let mut part = dealt.swap_remove((random.uniform() * dealt.len() as f64) as usize);
        part.reverse();
        if !part.is_empty() {
            let sent = ColumnStats::of(&of.rows(&part), options).unwrap().to_bytes();
            stats.merge(&ColumnStats::from_bytes(&sent).unwrap()).unwrap();
        }
    }
    stats
}

fn near(a: f64, b: f64, of: f64) -> bool {
    a == b || (a - b).abs() <= 1e-13 * of
}

#[test]
fn any_split_has_the_preparation_of_all_rows() {
    let mut random = Rng::new(1);
    for case in 0..40 {
        let of = drawn(60 + 13 * case, &mut random);
        let encode = [Encode::Linear, Encode::Splines(6), Encode::Bins(5), Encode::Splines(1)][case % 4];
        let options = Options { scale: [None, Some(Scale::None)][case % 3 % 2], ..options(encode) };
        let table = of.all();
        let one = ColumnStats::of(&table, &options).unwrap();
        for parts in [1, 2, 7] {
            let merged = split(&of, parts, &options, &mut random);
            assert!(merged == one && merged.to_bytes() == one.to_bytes(), "case {case}, {parts} parts");
        }
        let (found, want) = (one.finish(&options).unwrap(), Preparation::fit(&table, &options).unwrap());
        assert_eq!(found.column_names(), want.column_names());
        assert!(
            !found.column_names().iter().any(|name| name.starts_with("name=") || name == "number" || name == "user_id")
        );
        for (found, want) in found.sources().iter().zip(want.sources()) {
            match (found.1, want.1) {
                (Source::Pieces { pieces: ours, .. }, Source::Pieces { pieces, .. }) => assert_eq!(ours, pieces),
                (ours, theirs) => {
                    assert_eq!((ours.is_category(), ours.width()), (theirs.is_category(), theirs.width()))
                }
            }
        }
        for (found, want) in found.encoded().iter().zip(want.encoded()) {
            let of = want.divisor.abs().max(want.shift.abs());
            assert!(near(found.shift, want.shift, of) && near(found.divisor, want.divisor, of), "{found:?}, {want:?}");
        }
        assert_eq!(Preparation::from_bytes(&found.to_bytes()).unwrap(), found);
    }
}

#[test]
fn quantiles_of_many_numbers_are_near_in_rows_and_the_same_for_any_split() {
    let mut random = Rng::new(2);
    let n = 150_000;
    let mut of = Columns::default();
    of.numbers.push(("gauss", (0..n).map(|_| normal(&mut random)).collect()));
    of.numbers.push(("far", (0..n).map(|_| 1.7e9 + random.uniform() * 1e5).collect()));
    of.numbers.push(("y", (0..n).map(|row| f64::from(u8::from(row % 9 == 0))).collect()));
    let options = options(Encode::Splines(9));
    let one = ColumnStats::of(&of.all(), &options).unwrap();
    assert_eq!(split(&of, 5, &options, &mut random).to_bytes(), one.to_bytes());
    assert!(one.to_bytes().len() < 2 * 65_536 * 8);
    let (found, want) = (one.finish(&options).unwrap(), Preparation::fit(&of.all(), &options).unwrap());
    for ((column, found), (_, want)) in found.sources().into_iter().zip(want.sources()) {
        let values = &of.numbers.iter().find(|of| of.0 == column).unwrap().1;
        let (Source::Pieces { pieces: found, .. }, Source::Pieces { pieces: want, .. }) = (found, want) else {
            panic!()
        };
        assert_eq!(found.len(), want.len());
        for (found, want) in found.iter().zip(want).take(9) {
            // A number of the column, and no less than the quantile.
            assert!(values.contains(&found.high) && found.high >= want.high);
            let between = values.iter().filter(|&&x| x > want.high && x <= found.high).count();
            assert!(between <= n / 2000, "{column}: {between} rows");
        }
    }
    for (found, want) in found.encoded().iter().zip(want.encoded()) {
        assert!(
            (found.shift - want.shift).abs() <= 1e-3 * want.divisor
                && (found.divisor / want.divisor - 1.0).abs() <= 1e-3
        );
    }
}

fn part(text: &str, options: &Options) -> Result<ColumnStats, DataError> {
    ColumnStats::of(&RawTable::parse(text.as_bytes(), Format::Auto, "part.csv").unwrap(), options)
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let options = Options { label: Some("y".into()), ..Options::default() };
    let mut stats = part("a,y\n1,0\n2,1\n", &options).unwrap();
    let before = stats.to_bytes();
    for (other, kind) in [
        ("a,y\nred,0\n", DataErrorKind::NotANumber { text: "red".into(), column: "a".into() }),
        ("b,y\n1,0\n", DataErrorKind::MissingColumn { name: "a".into(), columns: vec!["b".into(), "y".into()] }),
    ] {
        assert_eq!(stats.merge(&part(other, &options).unwrap()).unwrap_err().kind, kind);
        assert_eq!(stats.to_bytes(), before);
    }
    assert_eq!(part("a,y\n1,\n", &options).unwrap_err().to_string(), "part.csv:2:2: the label is missing");
    let weighed = Options { weight: Some("a".into()), ..options.clone() };
    assert!(matches!(part("a,y\n1,0\n", &weighed).unwrap_err().kind, DataErrorKind::Core(_)));
    // What shows in all rows alone.
    let kind = |text: &str, options: &Options| part(text, options).unwrap().finish(options).unwrap_err().kind;
    assert_eq!(
        kind("a,y\n1,0\n2,0\n", &options),
        DataErrorKind::OneClass { label: "0".into(), column: Some("y".into()) }
    );
    assert_eq!(kind("a,y\n1,0\n,1\n", &options), DataErrorKind::Missing { column: "a".into() });
    assert!(matches!(kind("a,y\n1,0\n2,1\n1,2\n", &options), DataErrorKind::ManyLabels { .. }));
    assert_eq!(ColumnStats::default().finish(&options).unwrap_err().kind, DataErrorKind::Empty);
    // A part without any number of a column takes either.
    let classes = Options { target: Target::Classes, missing: Missing::Impute, ..options };
    stats = part("a,y\n,u\n,v\n", &classes).unwrap();
    stats.merge(&part("a,y\n3,w\n4,w\n", &classes).unwrap()).unwrap();
    let made = stats.finish(&classes).unwrap();
    assert_eq!(
        (made.classes(), made.column_names()),
        (&["u", "v", "w"].map(String::from)[..], vec!["a".into(), "a=(missing)".into()])
    );
}

#[test]
fn too_many_categories_are_refused_and_names_of_rows_are_left_out() {
    let n = 70_000;
    let table = |of: &dyn Fn(usize) -> usize, from: usize| {
        let texts: Vec<String> = (0..n).map(|row| format!("{:06}", of(row + from))).collect();
        let texts: Vec<Option<&str>> = texts.iter().map(|text| Some(&text[..])).collect();
        let y: Vec<f64> = (0..n).map(|row| f64::from(u8::from(row % 2 == 0))).collect();
        let columns = [("of", Values::Texts(&texts)), ("x", Values::Numbers(&y)), ("y", Values::Numbers(&y))];
        RawTable::of_columns("", &columns).unwrap()
    };
    let options = Options { label: Some("y".into()), ..Options::default() };
    let [mut one, mut other] = [0, n].map(|from| ColumnStats::of(&table(&|row| row, from), &options).unwrap());
    let names = |stats: &ColumnStats| stats.finish(&options).map(|of| of.column_names()).map_err(|error| error.kind);
    // More than half of the rows of a part; of all rows that cannot be told.
    assert_eq!(names(&one), Ok(vec!["x".to_string()]));
    let first = one.clone();
    one.merge(&other).unwrap();
    other.merge(&first).unwrap();
    assert_eq!(one.to_bytes(), other.to_bytes());
    assert_eq!(names(&one), Err(DataErrorKind::TooWide { rows: 2 * n, columns: 65_537, widest: "of".into() }));
}

#[test]
fn damaged_bytes_are_refused() {
    let mut random = Rng::new(3);
    let of = drawn(80, &mut random);
    let options = options(Encode::Linear);
    let bytes = ColumnStats::of(&of.all(), &options).unwrap().to_bytes();
    for _ in 0..2000 {
        let mut damaged = bytes.clone();
        let at = (random.uniform() * bytes.len() as f64) as usize;
        if random.uniform() < 0.3 {
            damaged.truncate(at)
        } else {
            damaged[at] ^= 1 << (random.uniform() * 8.0) as u8
        }
        assert!(ColumnStats::from_bytes(&damaged).is_err());
        // With a checksum that holds: no panic, and only what can be.
        let mut payload = bytes[26..].to_vec();
        for _ in 0..1 + (random.uniform() * 3.0) as usize {
            let at = (random.uniform() * payload.len() as f64) as usize;
            payload[at] = (random.uniform() * 256.0) as u8;
        }
        if let Ok(mut stats) = ColumnStats::from_bytes(&seal(Kind::Columns, &payload)) {
            let _ = stats.merge(&stats.clone());
            let _ = stats.finish(&options);
        }
    }
    assert_eq!(ColumnStats::from_bytes(&seal(Kind::State, &[])), Err(StateError::NotOurs));
    assert_eq!(ColumnStats::from_bytes(&ColumnStats::default().to_bytes()), Ok(ColumnStats::default()));
}
