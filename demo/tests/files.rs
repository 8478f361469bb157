//! Awkward files: each is written, read by the program itself, and what is done about it, in which words, is a row of a table.
//!
//! `tests/results/files.md` is that table, and has to be as it comes out; with UNDERCURVE_BLESS=files it is written.

mod common;

use common::{Folder, run, stdout};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use undercurve::checkpoint::SavedModel;
use undercurve::data::Dataset;
use undercurve::trainer::{Config, Length, Predictor, Trainer};

/// What has to come of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Want {
    /// These features.
    Read(&'static str),
    /// One line that says why not; nothing is written.
    Refused,
}
use Want::{Read, Refused};

struct Case {
    what: &'static str,
    name: &'static str,
    bytes: Vec<u8>,
    options: &'static str,
    want: Want,
}

/// Rows of numbers `v`, `w` and a label with a column before them.
fn rows(name: &str, delimiter: &str, cell: impl Fn(usize) -> String) -> String {
    let d = delimiter;
    let mut text = format!("{name}{d}v{d}label\n");
    for k in 0..60 {
        let _ = writeln!(text, "{}{d}{}{d}{}", cell(k), k * k % 17, usize::from(k % 3 == 0));
    }
    text
}

fn gzip(text: &str) -> Vec<u8> {
    use std::io::Write as _;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// A zstd frame of one block that is stored as it is.
fn zstd(text: &str) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, text.len() as u8];
    frame.extend_from_slice(&((text.len() as u32) << 3 | 1).to_le_bytes()[..3]);
    frame.extend_from_slice(text.as_bytes());
    frame
}

#[allow(clippy::too_many_lines)]
fn cases() -> Vec<Case> {
    const SMALL: &str = "a,b,label\n1,2,0\n3,4,1\n5,7,0\n";
    let wide: String = {
        let line = |first: &str, cell: &dyn Fn(usize) -> String| {
            let cells: Vec<String> = (0..100_000).map(cell).collect();
            format!("{first},{}\n", cells.join(","))
        };
        let head = line("label", &|k| format!("c{k}"));
        (0..4).fold(head, |text, row| text + &line(&(row % 2).to_string(), &|k| ((k * 7 + row * 3) % 10).to_string()))
    };
    let long = format!("a,b,label\n1,{},0\n3,y,1\n5,y,0\n", "x".repeat(100_000));
    let utf16: Vec<u8> = "\u{feff}".encode_utf16().chain(SMALL.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let packed = gzip(SMALL);
    let text = |what, name, text: &str, want| (what, name, text.as_bytes().to_vec(), "", want);
    let with = |what, name, text: &str, options, want| (what, name, text.as_bytes().to_vec(), options, want);
    let raw = |what, name, bytes: &[u8], want| (what, name, bytes.to_vec(), "", want);
    let date = |k: usize, parts: [&str; 2]| format!("{:02}{}{:02}{}", 1 + k % 28, parts[0], 1 + k / 28, parts[1]);
    let cases = [
        text("decimal commas", "comma.csv", &rows("x", ";", |k| format!("{},{}", k, k % 10)), Read("x, v")),
        text(
            "commas beside points",
            "both.csv",
            &rows("x", ";", |k| if k < 30 { format!("{k},5") } else { format!("{k}.5") }),
            Refused,
        ),
        text(
            "dates",
            "dates.csv",
            &rows("day", ",", |k| format!("2024-{:02}-{:02}", 1 + k / 28, 1 + k % 28)),
            Read("day, v"),
        ),
        text("dates of another order", "days.csv", &rows("day", ",", |k| date(k, [".", ".2024"])), Read("day, v")),
        text(
            "timestamps",
            "stamps.csv",
            &rows("at", ",", |k| format!("2024-01-{:02}T{:02}:30:00Z", 1 + k % 28, k % 24)),
            Read("at, v"),
        ),
        text("dates with slashes", "slashes.csv", &rows("day", ",", |k| date(k, ["/", "/2024"])), Read("day, v")),
        text(
            "dates that do not tell their order",
            "either.csv",
            &rows("day", ",", |k| format!("{:02}/{:02}/2024", 1 + k % 12, 1 + k % 11)),
            Refused,
        ),
        with(
            "the order told",
            "order.csv",
            &rows("day", ",", |k| format!("{:02}/{:02}/2024", 1 + k % 12, 1 + k % 11)),
            "--dates month",
            Read("day, v"),
        ),
        text(
            "times with zones",
            "zones.csv",
            &rows("at", ",", |k| format!("2024-01-{:02}T12:00:00+0{}:00", 1 + k % 28, k % 9)),
            Read("at, v"),
        ),
        text(
            "dates among numbers",
            "some-dates.csv",
            &rows("day", ",", |k| if k % 2 == 0 { "2024-01-01".into() } else { k.to_string() }),
            Read("day=1, day=11, day=13, day=15, day=17, …"),
        ),
        text("identifiers", "ids.csv", &rows("id", ",", |k| format!("c{:x}", k * 7919)), Read("v")),
        with(
            "identifiers that are wanted",
            "wanted.csv",
            &rows("id", ",", |k| format!("c{}", k / 2)),
            "--categorical id --ignore v",
            Read("id=c0, id=c1, id=c10, id=c11, id=c12, …"),
        ),
        text("numbers that count the rows", "counter.csv", &rows("row", ",", |k| (k + 1).to_string()), Read("v")),
        text(
            "huge whole numbers",
            "huge.csv",
            &rows("account", ",", |k| format!("90071992547409{:02}123", k)),
            Read("account, v"),
        ),
        text("zeros before numbers", "zip.csv", &rows("zip", ",", |k| format!("{:05}", 7 * k)), Read("zip, v")),
        text(
            "dots and commas for thousands",
            "thousands.csv",
            &rows("x", ",", |k| format!("\"{},{:03}\"", 1 + k, k)),
            Read("x, v"),
        ),
        text("percent signs", "percent.csv", &rows("rate", ",", |k| format!("{}%", k % 20)), Read("rate, v")),
        text("currency", "money.csv", &rows("price", ",", |k| format!("${}.00", k % 25)), Read("price, v")),
        text(
            "points that may part thousands",
            "points.csv",
            &rows("x", ";", |k| format!("{}.{:03}", 1 + k, k)),
            Refused,
        ),
        with(
            "the decimal mark told",
            "told.csv",
            &rows("x", ";", |k| format!("{}.{:03}", 1 + k, k)),
            "--decimal comma",
            Read("x, v"),
        ),
        text(
            "points between thousands beside decimal commas",
            "office.csv",
            &rows("x", ";", |k| if k % 2 == 0 { format!("{}.{:03}", 1 + k, k) } else { format!("{k},5") }),
            Read("x, v"),
        ),
        text(
            "negative amounts in brackets",
            "brackets.csv",
            &rows("x", ",", |k| if k % 3 == 0 { format!("({k}.50)") } else { format!("{k}.25") }),
            Read("x, v"),
        ),
        text(
            "some numbers with percent signs",
            "some-percent.csv",
            &rows("rate", ",", |k| if k % 2 == 0 { format!("{k}%") } else { format!(".{k}") }),
            Refused,
        ),
        text(
            "two currencies",
            "currencies.csv",
            &rows("price", ",", |k| format!("{}{k}", if k % 2 == 0 { "$" } else { "€" })),
            Refused,
        ),
        text(
            "limits of measuring",
            "limits.csv",
            &rows("x", ",", |k| if k % 9 == 0 { "<0.5".into() } else { format!("{k}.25") }),
            Read("x, v, x=(below)"),
        ),
        text("words for true and false", "bools.csv", &rows("old", ",", |k| (k % 2 == 0).to_string()), Read("old, v")),
        raw("a byte order mark", "bom.csv", format!("\u{feff}{SMALL}").as_bytes(), Read("a, b")),
        text(
            "quotes",
            "quotes.csv",
            "\"a\",\"b,c\",label\n\"1\",\"x \"\"y\"\"\",0\n3,z,1\n",
            Read("a, b,c=x \"y\", b,c=z"),
        ),
        text("a line break in quotes", "break.csv", "a,b,label\n1,\"x\ny\",0\n3,z,1\n5,z,0\n", Read("a, b=x\ny, b=z")),
        text(
            "quotes inside a cell",
            "inch.csv",
            "a,size,label\n1,3\" pipe,0\n3,4\" pipe,1\n",
            Read("a, size=3\" pipe, size=4\" pipe"),
        ),
        text("a quote that never ends", "open.csv", "a,b,label\n1,\"x,0\n3,z,1\n", Refused),
        text("CRLF", "crlf.csv", &SMALL.replace('\n', "\r\n"), Read("a, b")),
        text("CR alone", "cr.csv", &SMALL.replace('\n', "\r"), Read("a, b")),
        text("blank lines", "blank.csv", "\n\na,b,label\n\n1,2,0\n   \n3,4,1\n\n", Read("a, b")),
        text("blanks around cells", "padded.csv", " a , b ,label\n 1, 2 , 0\n3 ,4,1 \n", Read("a, b")),
        text("tabs", "tabs.tsv", &SMALL.replace(',', "\t"), Read("a, b")),
        text("blanks between cells", "blanks.txt", "a   b  label\n1   2  0\n3  40  1\n", Read("a, b")),
        text("another delimiter", "pipes.csv", &SMALL.replace(',', "|"), Read("a, b")),
        text(
            "a line that names the delimiter",
            "sep.csv",
            &format!("sep=;\n{}", SMALL.replace(',', ";")),
            Read("a, b"),
        ),
        text("a delimiter at every end", "trailing.csv", "a,b,label,\n1,2,0,\n3,4,1,\n", Read("a, b")),
        text("two columns of one name", "twice.csv", "a,a,label\n1,2,0\n3,4,1\n", Read("a, a.2")),
        text(
            "names of rows, as R writes them",
            "rownames.tsv",
            "\"a\"\t\"b\"\t\"label\"\n\"p\"\t1\t2\t0\n\"q\"\t3\t4\t1\n",
            Read("rownames=p, rownames=q, a, b"),
        ),
        with(
            "lines before the names",
            "preamble.csv",
            "Offered, as is\na,b,label\n1,2,0\n3,4,1\n",
            "--skip 1",
            Read("a, b"),
        ),
        text(
            "ARFF",
            "r.arff",
            "@relation r\n@attribute a numeric\n@attribute g {p,q}\n@attribute label {0,1}\n@data\n1,p,0\n2,q,1\n",
            Read("a, g=p, g=q"),
        ),
        text("a name left out", "unnamed.csv", ",b,label\n1,2,0\n3,4,1\n", Read("x1, b")),
        text("a row too short", "short.csv", "a,b,label\n1,2,0\n3,1\n", Refused),
        text("a row too long", "long.csv", "a,b,label\n1,2,0\n3,4,5,1\n", Refused),
        text("comments", "comments.csv", "# made by hand\na,b,label\n1,2,0\n3,4,1\n", Refused),
        text("no names of columns", "nameless.csv", "1,2,0\n3,4,1\n5,7,0\n", Refused),
        with(
            "no names of columns, the label told",
            "numbered.csv",
            "1,2,0\n3,4,1\n5,7,0\n",
            "--label -1",
            Read("x1, x2"),
        ),
        with("years as names", "years.csv", "2023,2024,label\n1,2,0\n3,4,1\n", "--label label", Read("2023, 2024")),
        raw("100,000 columns", "wide.csv", wide.as_bytes(), Read("c0, c1, c2, c3, c4, …")),
        raw("a cell of 100,000 letters", "cell.csv", long.as_bytes(), Read("a, b=xxxxxxxxxx…, b=y")),
        text(
            "spellings of a missing value",
            "nan.csv",
            "a,b,label\nNaN,2,0\n?,4,1\nN/A,5,0\n,2,1\nnull,1,0\n-,2,0\n7,1,1\n#N/A,2,0\nNone,3,1\n",
            Read("a, a=(missing), b"),
        ),
        with(
            "spellings of a missing value, refused",
            "filled.csv",
            "a,b,label\nNaN,2,0\n?,4,1\nN/A,5,0\n,2,1\nnull,1,0\n-,2,0\n7,1,1\n#N/A,2,0\nNone,3,1\n",
            "--missing refuse",
            Refused,
        ),
        with(
            "a spelling of one's own",
            "own.csv",
            "a,b,label\n-999,2,0\n3,4,1\n5,1,0\n",
            "--na -999",
            Read("a, a=(missing), b"),
        ),
        text(
            "a number that stands for a missing one",
            "minus.csv",
            "a,b,label\n-999,2,0\n3,4,1\n5,1,0\n",
            Read("a, b"),
        ),
        text("text among numbers", "stray.csv", "a,b,label\n1,2,0\noops,4,1\n3,1,0\n5,2,0\n", Refused),
        text(
            "numbers among text",
            "mixed.csv",
            "a,b,label\nred,2,0\n1,4,1\n1.0,1,0\nblue,2,0\n",
            Read("a=1, a=1.0, a=blue, a=red, b"),
        ),
        text("infinity", "inf.csv", "a,b,label\n1,2,0\ninf,4,1\n", Refused),
        text("a number beyond all", "beyond.csv", "a,b,label\n1,2,0\n1e400,4,1\n", Refused),
        text("a number beyond 32 bits", "f64.csv", "a,b,label\n1e300,2,0\n2e300,4,1\n", Read("a, b")),
        text("a constant column", "constant.csv", "a,b,label\n1,2,0\n1,4,1\n", Read("a, b")),
        text("one class", "one.csv", "a,b,label\n1,2,0\n3,4,0\n", Refused),
        text("three labels", "three.csv", "a,b,label\n1,2,0\n3,4,1\n5,6,2\n", Refused),
        text("labels missing in some rows", "unlabelled.csv", "a,b,label\n1,2,0\n3,4,\n5,6,1\n", Read("a, b")),
        text(
            "labels of several words",
            "words.csv",
            "a,b,label\n1,2,not good\n3,4,very good\n5,7,not good\n",
            Read("a, b"),
        ),
        text("labels yes and no", "yes.csv", "a,b,label\n1,2,no\n3,4,yes\n5,7,yes\n", Read("a, b")),
        text("no column called label", "unknown.csv", "a,b,outcome\n1,2,0\n3,4,1\n", Refused),
        text("nothing but the label", "bare.csv", "label\n0\n1\n", Refused),
        text("an empty file", "empty.csv", "", Refused),
        text("blank lines alone", "nothing.csv", "\n \n\n", Refused),
        text("a header alone", "header.csv", "a,b,label\n", Refused),
        raw("UTF-16", "utf16.csv", &utf16, Read("a, b")),
        raw("Latin-1", "latin.csv", b"a,b,label\n1,caf\xe9,0\n3,th\xe9,1\n", Refused),
        (
            "Latin-1, told",
            "latin-1.csv",
            b"a,b,label\n1,caf\xe9,0\n3,th\xe9,1\n".to_vec(),
            "--encoding latin1",
            Read("a, b=café, b=thé"),
        ),
        raw("NUL bytes", "nul.csv", b"a,b,label\n1,\0,0\n3,4,1\n", Refused),
        raw("gzip", "small.csv.gz", &packed, Read("a, b")),
        raw("gzip, cut off", "cut.csv.gz", &packed[..packed.len() - 6], Refused),
        raw("zstd", "small.csv.zst", &zstd(SMALL), Read("a, b")),
        raw("zstd, cut off", "cut.csv.zst", &zstd(SMALL)[..20], Refused),
        raw("a zip archive, or a spreadsheet", "book.xlsx", b"PK\x03\x04\x14\0\0\0\x08\0", Refused),
        raw("Parquet", "table.parquet", b"PAR1\x15\x04\x15\x10", Refused),
        text("JSON", "rows.json", "[{\"a\": 1, \"label\": 0},\n {\"a\": 2, \"label\": 1}]\n", Refused),
        text("HTML", "page.csv", "<!DOCTYPE html>\n<html><body>Not found</body></html>\n", Refused),
        text("LIBSVM", "plain.svm", "1 1:0.5 3:2\n-1 2:1 # a comment\n+1\n", Read("1, 2, 3")),
        text("LIBSVM, a blank behind the colon", "apart.svm", "1 1:0.5 3: .2\n-1 2: 1\n", Read("1, 2, 3")),
        text("LIBSVM from 0", "zero.svm", "1 0:0.5 3:2\n-1 2:1\n", Refused),
        text("LIBSVM out of order", "order.svm", "1 3:0.5 1:2\n-1 2:1\n", Refused),
        text("LIBSVM, an index twice", "again.svm", "1 1:0.5 1:2\n-1 2:1\n", Refused),
        text("LIBSVM, a value missing", "gap.svm", "1 1:nan 2:2\n-1 2:1\n", Refused),
        text("LIBSVM, a stray index", "stray.svm", "1 1:1 4000000000:2\n-1 2:1\n", Refused),
    ];
    cases.into_iter().map(|(what, name, bytes, options, want)| Case { what, name, bytes, options, want }).collect()
}

/// The names of the features in what `prepare` wrote, and the number of rows.
fn features(path: &Path) -> (Vec<String>, usize) {
    let text = fs::read_to_string(path).unwrap();
    if text.starts_with("label,") {
        // (Names may have line breaks and commas in their quotes.)
        let mut names = vec![String::new()];
        let (mut quoted, mut end) = (false, text.len());
        for (at, c) in text.char_indices() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => names.push(String::new()),
                '\n' if !quoted => {
                    end = at;
                    break;
                }
                c => names.last_mut().unwrap().push(c),
            }
            if c == '"' && quoted && text[..at].ends_with('"') {
                names.last_mut().unwrap().push('"');
            }
        }
        return (names.split_off(1), text[end..].lines().count() - 1);
    }
    let columns = text.split_whitespace().filter_map(|pair| pair.split_once(':')?.0.parse::<usize>().ok()).max();
    ((1..=columns.unwrap()).map(|column| column.to_string()).collect(), text.lines().count())
}

/// The first five, each at most twenty characters.
fn listed(names: &[String]) -> String {
    let short = |name: &String| if name.len() > 20 { format!("{}…", &name[..12]) } else { name.clone() };
    let more = if names.len() > 5 { ", …" } else { "" };
    format!("{}{more}", names.iter().take(5).map(short).collect::<Vec<_>>().join(", "))
}

#[test]
#[cfg_attr(feature = "parquet", ignore = "the table is that of a build without Parquet")]
fn awkward_files_are_read_or_refused_in_these_words() {
    let folder = Folder::new("files");
    let mut table = String::from(
        "# What is done about awkward files\n\n    cargo test -p undercurve-demo --test files\n\nEach file is read as by `undercurve \
         train FILE`, with the options named. What is said is said on stderr, before training; a refusal is exit code 2, and \
         nothing is written.\n\n| file | what is done | in which words |\n|---|---|---|\n",
    );
    let escaped = |text: &str| text.replace('|', "\\|").replace('\n', "⏎");
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    for Case { what, name, bytes, options, want } in &cases {
        folder.write(name, bytes);
        let args: Vec<&str> =
            ["prepare", name, "--train", "out"].into_iter().chain(options.split_whitespace()).collect();
        let output = run(&folder.0, &args);
        let said = String::from_utf8(output.stderr).unwrap();
        let done = match want {
            Read(wanted) => {
                if output.status.code() != Some(0) {
                    wrong.push(format!("{name}: {said}"));
                    continue;
                }
                let (names, rows) = features(&folder.path("out"));
                if listed(&names) != *wanted {
                    wrong.push(format!("{name}: {}", listed(&names)));
                }
                format!("{rows} rows × {}: {}", names.len(), escaped(wanted))
            }
            Refused => {
                let one = said.starts_with("error: ") && said.lines().count() == 1;
                if output.status.code() != Some(2) || !one || folder.path("out").exists() {
                    wrong.push(format!("{name}: not refused in one line: {said}"));
                }
                "refused".to_string()
            }
        };
        let words: Vec<String> = said.lines().map(escaped).collect();
        let shown = if options.is_empty() { String::new() } else { format!(" (`{options}`)") };
        let _ = writeln!(table, "| {what}{shown} | {done} | {} |", words.join("<br>"));
        let _ = fs::remove_file(folder.path("out"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/results/files.md");
    // (`office.rs` has the second part.)
    let whole = fs::read_to_string(&place).unwrap_or_default();
    let (there, rest) = whole.find("\n# ").map_or((whole.as_str(), ""), |at| whole.split_at(at));
    if std::env::var_os("UNDERCURVE_BLESS").is_some_and(|what| what == "files") {
        fs::write(&place, format!("{table}{rest}")).unwrap();
        return;
    }
    let differs = table.lines().zip(there.lines()).find(|(a, b)| a != b);
    assert!(there == table, "tests/results/files.md (UNDERCURVE_BLESS=files writes it): {differs:?}");
}

/// Splits by a column: the rows that were held out are found again, and what cannot be split by it says so.
#[test]
fn held_out_rows_are_those_of_the_column() {
    let folder = Folder::new("split-by");
    let mut text = String::from("day,patient,v,label\n");
    for k in 0..400 {
        let day = format!("2024-{:02}-{:02}", 1 + k * 7 % 365 / 31, 1 + k * 7 % 365 % 28);
        let _ = writeln!(text, "{day},{},{},{}", k % 37, k * k % 29, usize::from(k * k % 29 + k % 5 > 20));
    }
    folder.write("data.csv", text);
    let said = |args: &str| {
        let output = run(&folder.0, &args.split(' ').collect::<Vec<_>>());
        let [out, told] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.code(), out, told)
    };
    let fit = "train data.csv --method ce --steps 50 --valid 0.2 --json";
    for (by, ignore) in [("--split-by day", "--ignore patient"), ("--split-group patient", "--ignore day")] {
        let (code, out, told) = said(&format!("{fit} --split 0.7 {by} {ignore} --out m --save r"));
        assert_eq!(code, Some(0), "{told}");
        let last: serde_json::Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        assert_eq!(last["columns"], 1, "{out}");
        let (code, out, told) = said("eval m data.csv --held-out --json");
        assert_eq!(code, Some(0), "{told}");
        let figures: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
        assert_eq!(figures["auroc"], last["test"]["auroc"], "{out} {last}");
        assert_eq!(said("train data.csv --resume r --steps 80").0, Some(0));
        let (code, _, told) = said("train data.csv --resume r --split-by v");
        assert!(code == Some(2) && told.contains("another column that splits go by"), "{told}");
    }
    let without = fs::read_to_string(folder.path("data.csv")).unwrap().replace("patient", "person");
    folder.write("other.csv", without);
    let refusals = [
        ("eval m other.csv --held-out", "there is no column \"patient\""),
        (&format!("{fit} --split 0.7 --split-by nothing"), "there is no column \"nothing\""),
        ("train data.csv --method ce --split-by day", "nothing is split without --split or --valid SHARE"),
        ("train data.csv --method ce --split 0.7 --split-by label", "is the label column"),
        ("train data.csv --method ce --split 0.7 --split-by day --split-group v", "cannot be used with"),
        ("compare data.csv --metric ap --split-group patient --folds 40", "there are fewer groups"),
    ];
    for (args, part) in refusals {
        let (code, _, told) = said(args);
        assert!(code == Some(2) && told.contains(part), "{args}: {told}");
    }
    let (code, out, told) =
        said("compare data.csv --metric ap --split-group patient --ignore day --folds 3 --methods ppd-sg");
    assert!(code == Some(0) && out.contains("ppd-sg"), "{told}");
}

/// What each language writes, read by Rust and the command line; the others read it in their tests. `UNDERCURVE_BLESS=doors`, there and then here, writes
/// the files anew.
#[test]
fn model_files_of_every_language() {
    let golden = |name: &str| format!("{}/../tests/golden/doors/{name}", env!("CARGO_MANIFEST_DIR"));
    let bless = std::env::var("UNDERCURVE_BLESS").is_ok_and(|what| what == "doors");
    let folder = Folder::new("doors");
    let said = |args: &[&str]| stdout(&run(&folder.0, args));
    let rows = fs::read_to_string(golden("rows.csv")).unwrap();
    let cells: Vec<Vec<f32>> =
        rows.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    let (x, y) = (cells.iter().flat_map(|row| &row[..2]).copied().collect(), cells.iter().map(|row| row[2] as u8));
    let config = Config { method: "ce".into(), length: Length::Steps(30), ..Config::default() };
    let mut trainer = Trainer::new(&config, Dataset::dense(x, y.collect(), 2).unwrap().into(), None).unwrap();
    trainer.run().unwrap();
    said(&["train", &golden("rows.csv"), "--label", "label", "--method", "ce", "--steps", "30", "--out", "m.uc"]);
    let ours = [("rust.uc", trainer.predictor().save()), ("command-line.uc", fs::read(folder.path("m.uc")).unwrap())];
    for (name, bytes) in ours {
        if bless {
            fs::write(golden(name), &bytes).unwrap();
        }
        assert_eq!(bytes, fs::read(golden(name)).unwrap(), "{name}");
    }
    let names = ["rust", "command-line", "python", "npm", "c"];
    let mut scores = vec![names.join(",")];
    scores.resize(cells.len() + 1, String::new());
    for name in names {
        let bytes = fs::read(golden(&format!("{name}.uc"))).unwrap();
        let mut model = Predictor::<f32>::of(&SavedModel::from_bytes(&bytes).unwrap()).unwrap();
        let found = model.predict_file(rows.as_bytes(), &[], "rows.csv").unwrap().scores;
        let told = said(&["predict", &golden(&format!("{name}.uc")), &golden("rows.csv")]);
        for ((line, told), score) in scores[1..].iter_mut().zip(told.lines().skip(1)).zip(&found) {
            assert_eq!(told.split(',').next().unwrap(), score.to_string(), "{name}");
            *line += &format!("{}{score}", if line.is_empty() { "" } else { "," });
        }
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0x55;
            assert!(SavedModel::from_bytes(&wrong).is_err() && SavedModel::from_bytes(&bytes[..at]).is_err(), "{at}");
        }
    }
    let scores = scores.join("\n") + "\n";
    if bless {
        fs::write(golden("scores.csv"), &scores).unwrap();
    }
    assert_eq!(scores, fs::read_to_string(golden("scores.csv")).unwrap());
    for name in ["npm", "c"] {
        let told = said(&["inspect", &golden(&format!("{name}.uc"))]);
        assert!(told.contains("a model alone") && !told.contains("finished"), "{told}");
    }
    fs::write(folder.path("run"), trainer.save()).unwrap();
    let output = run(&folder.0, &["predict", "run", &golden("rows.csv")]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("error: run: a saved run without the preparation of its rows: save its model"), "{told}");
}
