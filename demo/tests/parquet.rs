//! Parquet files give what CSV files of the same rows give, byte for byte; those that cannot be read are refused in a line.

mod common;

use common::{Folder, run, stdout, undercurve};
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::Arc;

const ROWS: usize = 3000;
const TEXTS: [&str; 5] = ["plain", "say \"so\"", "two\nlines", "a,b;c\td", "üm\r\nlaut"];
const DAYS: [(i32, &str); 6] = [
    (0, "1970-01-01"),
    (-1, "1969-12-31"),
    (19_782, "2024-02-29"),
    (11_016, "2000-02-29"),
    (-25_508, "1900-03-01"),
    (20_453, "2025-12-31"),
];

fn write<T: DataType>(group: &mut SerializedRowGroupWriter<'_, File>, values: impl Iterator<Item = Option<T::T>>) {
    let values: Vec<Option<T::T>> = values.collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let there: Vec<T::T> = values.into_iter().flatten().collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(&there, Some(&levels), None).unwrap();
    column.close().unwrap();
}

fn file(path: &Path, schema: &str, packed: Compression) -> SerializedFileWriter<File> {
    let options = Arc::new(WriterProperties::builder().set_compression(packed).build());
    let schema = Arc::new(parse_message_type(schema).unwrap());
    SerializedFileWriter::new(File::create(path).unwrap(), schema, options).unwrap()
}

/// The rows `rows` of the table, a value missing here and there.
fn there<T>(rows: std::ops::Range<usize>, every: usize, value: impl Fn(usize) -> T) -> impl Iterator<Item = Option<T>> {
    rows.map(move |row| (row % every != every - 1).then(|| value(row)))
}

fn double(row: usize) -> f64 {
    ((row * 7919 % 1009) as f64 / 1009.0 - 0.5) * if row.is_multiple_of(50) { 1e-9 } else { 3.0 }
}

fn single(row: usize) -> f32 {
    (row * 31 % 257) as f32 / 10.0
}

fn micros(row: usize) -> i64 {
    (row as i64 % 90 - 45) * 86_400_000_000 + (row as i64 % 3) * 3_600_500_000
}

fn label(row: usize) -> bool {
    double(row) + f64::from(single(row)) / 30.0 + (row % 5) as f64 / 9.0 > 0.8
}

/// The table as Parquet, in two row groups.
fn as_parquet(path: &Path, packed: Compression) {
    let schema = "message table {
        optional double x; optional float f; optional int32 count (UINT_32); optional int64 price (DECIMAL(12,2));
        optional binary text (STRING); optional int32 day (DATE); optional int64 at (TIMESTAMP(MICROS,true));
        optional int64 until (TIMESTAMP(NANOS,false)); optional boolean flag; optional boolean label; }";
    let mut writer = file(path, schema, packed);
    for rows in [0..1300, 1300..ROWS] {
        let mut group = writer.next_row_group().unwrap();
        write::<DoubleType>(&mut group, there(rows.clone(), 11, double));
        write::<FloatType>(&mut group, there(rows.clone(), 13, single));
        write::<Int32Type>(&mut group, there(rows.clone(), ROWS + 1, |row| (row as u32 * 1_431_655) as i32));
        write::<Int64Type>(&mut group, there(rows.clone(), 17, |row| row as i64 * 25 % 997 - 480));
        let text = |row: usize| ByteArray::from(TEXTS[row % 5]);
        write::<ByteArrayType>(&mut group, there(rows.clone(), 19, text));
        write::<Int32Type>(&mut group, there(rows.clone(), 23, |row| DAYS[row % 6].0));
        write::<Int64Type>(&mut group, there(rows.clone(), ROWS + 1, micros));
        write::<Int64Type>(&mut group, there(rows.clone(), ROWS + 1, |row| micros(row) * 1000 + 1));
        write::<BoolType>(&mut group, there(rows.clone(), 29, |row| row % 7 < 3));
        write::<BoolType>(&mut group, there(rows, ROWS + 1, label));
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// The timestamp of a row, by the lengths of the months it can lie in, with further digits of its seconds.
fn moment(row: usize, nanos: &str) -> String {
    let lengths = [(1969, 11, 30), (1969, 12, 31), (1970, 1, 31), (1970, 2, 28)];
    let mut days = row as i64 % 90 - 45 + 61; // from 1 November 1969
    let (year, month, _) = *lengths
        .iter()
        .find(|month| {
            let here = days < month.2;
            days -= if here { 0 } else { month.2 };
            here
        })
        .unwrap();
    let second = ["00:00:00.000", "01:00:00.500", "02:00:01.000"][row % 3];
    format!("{year}-{month:02}-{:02}T{second}{nanos}", days + 1)
}

/// The table as CSV.
fn as_csv() -> String {
    let mut text = "x,f,count,price,text,day,at,until,flag,label\n".to_string();
    for row in 0..ROWS {
        let cell = |every: usize, text: String| if row % every == every - 1 { String::new() } else { text };
        let cents = row as i64 * 25 % 997 - 480;
        let sign = if cents < 0 { "-" } else { "" };
        let price = format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100);
        let words = format!("\"{}\"", TEXTS[row % 5].replace('"', "\"\""));
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{}",
            cell(11, double(row).to_string()),
            cell(13, single(row).to_string()),
            row as u32 * 1_431_655,
            cell(17, price),
            cell(19, words),
            cell(23, DAYS[row % 6].1.to_string()),
            moment(row, ""),
            moment(row, "000001"),
            cell(29, (row % 7 < 3).to_string()),
            label(row)
        );
    }
    text
}

fn error(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.starts_with("error: ") && text.trim_end().lines().count() == 1, "{text}");
    text
}

#[test]
fn parquet_gives_the_bytes_that_csv_gives() {
    let folder = Folder::new("parquet");
    folder.write("table.csv", as_csv());
    let zstd = Compression::ZSTD(Default::default());
    let gzip = Compression::GZIP(Default::default());
    for (name, packed) in [
        ("table", Compression::SNAPPY),
        ("z", zstd),
        ("g", gzip),
        ("l", Compression::LZ4_RAW),
        ("u", Compression::UNCOMPRESSED),
    ] {
        as_parquet(&folder.path(&format!("{name}.parquet")), packed);
    }
    let train = |data: &str, model: &str| {
        let args = ["train", data, "--method", "soap", "--steps", "60", "--missing", "impute", "--save", model];
        stdout(&run(&folder.0, &args));
    };
    train("table.csv", "csv.model");
    train("table.parquet", "parquet.model");
    let said = |data: &str| {
        let output = run(&folder.0, &["predict", "csv.model", data, "--id", "text,day"]);
        let notes = String::from_utf8(output.stderr.clone()).unwrap().replace(data, "DATA");
        (stdout(&output), notes)
    };
    let (scores, notes) = said("table.csv");
    assert!(scores.lines().count() > ROWS && notes.contains("missing values"), "{notes}");
    for name in ["table", "z", "g", "l", "u"] {
        assert_eq!(said(&format!("{name}.parquet")), (scores.clone(), notes.clone()), "{name}");
    }
    let by = |model: &str| stdout(&run(&folder.0, &["predict", model, "table.csv"]));
    assert_eq!(by("csv.model"), by("parquet.model"));
    let judged = |data: &str| stdout(&run(&folder.0, &["eval", "csv.model", data])).replace(data, "DATA");
    assert_eq!(judged("table.csv"), judged("table.parquet"));
    let measured = |data: &str| {
        stdout(&run(&folder.0, &["metrics", data, "--label", "label", "--score", "count"])).replace(data, "DATA")
    };
    assert_eq!(measured("table.csv"), measured("table.parquet"));
    let prepared = |data: &str| {
        stdout(&run(&folder.0, &["prepare", data, "--missing", "impute", "--train", "prepared.svm"]));
        std::fs::read(folder.path("prepared.svm")).unwrap()
    };
    assert!(prepared("table.csv") == prepared("table.parquet"));

    // The row is named: the first without a value is the eleventh, behind texts of several lines.
    let refused =
        error(&run(&folder.0, &["train", "table.parquet", "--method", "soap", "--steps", "1", "--missing", "refuse"]));
    assert!(refused.contains("table.parquet: row 11, column 1: missing value in column \"x\""), "{refused}");
}

#[test]
fn what_cannot_be_read_is_refused_in_a_line() {
    let folder = Folder::new("parquet-refused");
    let path = folder.path("table.parquet");
    as_parquet(&path, Compression::SNAPPY);
    let metrics = |name: &str| run(&folder.0, &["metrics", name, "--label", "label", "--score", "x"]);
    let bytes = std::fs::read(&path).unwrap();
    for end in [4, 8, 100, bytes.len() / 2, bytes.len() - 9, bytes.len() - 1] {
        folder.write("cut.parquet", &bytes[..end]);
        assert!(error(&metrics("cut.parquet")).contains("cut off"), "{end}");
    }
    // A file that ends as it should, and whose middle is gone.
    let mut damaged = bytes.clone();
    damaged[4..bytes.len() / 2].fill(0);
    folder.write("damaged.parquet", damaged);
    assert!(error(&metrics("damaged.parquet")).contains("damaged"));

    // A column that nothing can be made of is named with its remedy, which is tried; bytes are text, if they are.
    let nested =
        "message table { optional double x; optional boolean label; optional binary raw; repeated int32 tags; }";
    for (name, raw, refused) in [("nested", "a", "tags"), ("raw", "\u{ff}", "raw")] {
        let mut writer = file(&folder.path(&format!("{name}.parquet")), nested, Compression::SNAPPY);
        let mut group = writer.next_row_group().unwrap();
        write::<DoubleType>(&mut group, there(0..60, 99, double));
        write::<BoolType>(&mut group, there(0..60, 99, label));
        let raw: Vec<u8> = raw.chars().map(|c| c as u8).collect();
        write::<ByteArrayType>(&mut group, there(0..60, 99, |_| ByteArray::from(raw.clone())));
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&[1; 60], Some(&[1; 60]), Some(&[0; 60])).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        let train = |ignore: &str| {
            run(&folder.0, &["train", &format!("{name}.parquet"), "--method", "ce", "--steps", "9", "--ignore", ignore])
        };
        let said = error(&train(if refused == "tags" { "raw" } else { "tags" }));
        assert!(said.contains(&format!("column \"{refused}\" holds ")), "{said}");
        assert!(
            said.contains("neither numbers, text nor dates") && said.contains(&format!("--ignore {refused}")),
            "{said}"
        );
        assert!(train("raw,tags").status.success());
    }

    let piped = undercurve()
        .current_dir(&folder.0)
        .args(["metrics", "-", "--label", "label", "--score", "x"])
        .stdin(Stdio::from(File::open(&path).unwrap()))
        .output()
        .unwrap();
    assert!(error(&piped).contains("Parquet is read from files alone"));
    for (option, value) in [("--header", "no"), ("--format", "libsvm")] {
        let args = ["train", "table.parquet", "--method", "soap", option, value];
        let refused = error(&run(&folder.0, &args));
        assert!(refused.contains("Parquet"), "{refused}");
    }
}
