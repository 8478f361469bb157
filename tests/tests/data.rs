//! Reading and preparing data: the real files, hand-made ones, bad ones, and random bytes.

use proptest::prelude::*;
use std::io::Write as _;
use undercurve::Error;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{
    DataError, Dataset, Format, Kind, MAX_COLUMNS, MAX_DENSE, Missing, Options, Preparation, RawTable, ReadOptions,
    Reading, Rows, Scale, Split, SplitBy, Values, group_folds, prepare,
};

fn options(label: &str) -> Options {
    Options { label: Some(label.into()), ..Options::default() }
}

fn csv(text: &str) -> Result<RawTable, DataError> {
    RawTable::parse(text.as_bytes(), Format::Csv, "f.csv")
}

fn svm(text: &str) -> Result<RawTable, DataError> {
    RawTable::parse(text.as_bytes(), Format::Libsvm, "f.svm")
}

fn fitted(text: &str, options: &Options) -> Result<(Preparation, Dataset<f64>), DataError> {
    let table = csv(text)?;
    let preparation = Preparation::fit(&table, options)?;
    let data = preparation.apply(&table)?;
    Ok((preparation, data))
}

fn line<T: std::fmt::Debug>(result: Result<T, DataError>) -> String {
    let text = result.unwrap_err().to_string();
    assert!(!text.contains('\n'), "{text:?}");
    text
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn dense<T: undercurve::Real>(data: &Dataset<T>) -> Vec<Vec<f64>> {
    match data.rows() {
        Rows::Dense { data, cols, .. } => data.chunks(cols).map(|row| row.iter().map(|x| x.f64()).collect()).collect(),
        Rows::Csr { ptr, col, val, cols, .. } => ptr
            .windows(2)
            .map(|span| {
                let mut row = vec![0.0; cols];
                (span[0]..span[1]).for_each(|at| row[col[at] as usize] = val[at].f64());
                row
            })
            .collect(),
    }
}

/// The real files: rows, columns after encoding, positives.
#[test]
fn real_files() {
    let Some(shared) = undercurve_tests::shared() else { return };
    let files: [(&str, Options, [usize; 3]); 14] = [
        ("a1a.svm.gz", Options::default(), [1605, 119, 395]),
        ("a1a.t.svm.gz", Options::default(), [30956, 119, 7446]),
        ("a9a.svm.gz", Options::default(), [32561, 123, 7841]),
        ("a9a.t.svm.gz", Options::default(), [16281, 122, 3846]),
        ("w8a.svm.gz", Options::default(), [49749, 300, 1479]),
        ("ijcnn1.svm.gz", Options::default(), [49990, 22, 4853]),
        ("hiv.train.svm.gz", Options::default(), [33530, 2048, 1272]),
        ("hiv.valid.svm.gz", Options::default(), [4191, 2048, 85]),
        ("hiv.test.svm.gz", Options::default(), [4192, 2048, 130]),
        ("annthyroid.csv.gz", options("label"), [7200, 6, 534]),
        ("mammography.csv.gz", Options::default(), [11183, 6, 260]),
        ("adult.train.csv.gz", options("income"), [32561, 108, 7841]),
        ("adult.test.csv.gz", options("income"), [16281, 107, 3846]),
        (
            "compas.csv.gz",
            Options { label: Some("two_year_recid".into()), missing: Missing::Impute, ..Options::default() },
            [7214, 25, 3251],
        ),
    ];
    for (name, mut options, want) in files {
        let bytes = std::fs::read(shared.join("data").join(name)).unwrap();
        let table = RawTable::parse(&bytes, Format::Auto, name).unwrap();
        options.missing = Missing::Impute;
        let preparation = Preparation::fit(&table, &options).unwrap();
        let data: Dataset<f32> = preparation.apply(&table).unwrap();
        assert_eq!([data.len(), data.cols(), data.positives()], want, "{name}");
    }
}

/// A test that has no data sets passes, and puts its name on the list that `tests/run` prints.
#[test]
fn tests_without_their_data_are_listed() {
    let folder = std::env::temp_dir().join(format!("undercurve-skipped-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let list = folder.join("list");
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "data::real_files"])
        .env("UNDERCURVE_SHARED", &folder)
        .env("UNDERCURVE_SKIPPED", &list)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let listed = std::fs::read_to_string(&list).unwrap();
    assert!(listed.starts_with("no shared data") && listed.ends_with("\tdata::real_files\n"), "{listed}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// One line each, with file, line and cell.
#[test]
fn error_lines() {
    let parse = |bytes: &[u8]| line(RawTable::parse(bytes, Format::Auto, "f"));
    let csv_line = |text: &str| line(csv(text));
    let svm_line = |text: &str| line(svm(text));
    let fit = |text: &str, options: &Options| line(fitted(text, options));
    let usual = Options::default();

    assert_eq!(parse(b""), "f: the file is empty");
    assert_eq!(parse(b"\n\r\n \n"), "f: the file is empty");
    assert_eq!(
        parse(b"PK\x03\x04rest"),
        "f: not a text file (it looks like a zip archive, as Excel's files are: save it as CSV)"
    );
    assert_eq!(parse(b"a,b\n1,\0\n"), "f: not a text file (it looks like binary data)");
    assert_eq!(parse(b"undercurvek\0\x01\0"), "f: not a text file (it looks like a run that undercurve saved)");
    assert!(RawTable::parse(b"undercurve,label\n1,0\n2,1\n", Format::Auto, "f").is_ok(), "a column may be called so");
    assert_eq!(parse(b"a,label\n1,0\n\xff,1\n"), "f:3: the text is not UTF-8");
    assert_eq!(csv_line("a,label\n"), "f.csv:1: a header and no rows");
    assert_eq!(csv_line("a,b,label\n1,2,0\n\n1,2\n"), "f.csv:4:3: 2 cells, but the first line has 3");
    assert_eq!(csv_line("a,label\n1,0\n1\n"), "f.csv:3:2: 1 cell, but the first line has 2");
    assert_eq!(csv_line("a,label\r\n1,0\r\n1,2,1\r\n"), "f.csv:3:3: 3 cells, but the first line has 2");
    assert_eq!(csv_line("a,label\n1,0\n\"x,1\n2,1\n"), "f.csv:3:1: a quoted cell never ends");
    assert_eq!(csv_line("a,label\n1,0\ninf,1\n"), "f.csv:3:1: value \"inf\" is not finite");
    assert_eq!(csv_line("a,label\n\"1\n\",0\n-inf,1\n"), "f.csv:4:1: value \"-inf\" is not finite");
    assert_eq!(csv_line("a,label\n1e999,0\n1,1\n"), "f.csv:2:1: value \"1e999\" is not finite");

    assert_eq!(svm_line("1 0:1\n"), "f.svm:1:2: index 0, but LIBSVM counts columns from 1");
    assert_eq!(svm_line("1 1:1\n\n0 2:1 2:3\n"), "f.svm:3:3: index 2 a second time");
    assert_eq!(svm_line("1 3:1 2:3\n"), "f.svm:1:3: index 2 after 3; indices must ascend");
    assert_eq!(svm_line("1 a:1\n"), "f.svm:1:2: \"a:1\" is not index:value");
    assert_eq!(svm_line("1 1:\n"), "f.svm:1:2: \"1:\" is not index:value");
    assert_eq!(svm_line("1 1:nan\n"), "f.svm:1:2: value \"nan\" is not finite");
    assert_eq!(svm_line("x 1:1\n"), "f.svm:1:1: label \"x\" is not a number");
    assert_eq!(svm_line("1 4294967295:1\n"), "f.svm:1:2: index \"4294967295\" is above the limit of 67108864");
    assert_eq!(svm_line("1 99999999999:1\n"), "f.svm:1:2: index \"99999999999\" is above the limit of 67108864");

    assert_eq!(
        fit("a,b\n1,0\n2,1\n", &usual),
        "f.csv:1: which column is the label? Name it; the columns are \"a\", \"b\""
    );
    assert_eq!(
        fit("a,b\n1,0\n2,1\n", &options("z")),
        "f.csv:1: there is no column \"z\"; the columns are \"a\", \"b\""
    );
    assert_eq!(fit("label\n0\n1\n", &usual), "f.csv: there is no column besides the label");
    assert_eq!(
        fit("a,label\n1,1\n2,1\n", &usual),
        "f.csv: every label in column \"label\" is \"1\", and two classes are needed"
    );
    assert_eq!(
        fit("a,label\n1,1\n2,2\n3,10\n", &usual),
        "f.csv:4:2: the third of more than two label values (\"1\", \"2\", \"10\"); correct a wrong one, or name the \
         positive one"
    );
    // The first row of the third value, past rows without one and labels that are equal as numbers.
    let third = |text: &str| fit(text, &usual).split(": ").next().unwrap().to_string();
    assert_eq!(third("label,a\nyes,1\n\n,2\nno,3\nyes,4\nYes,5\nmaybe,6\n"), "f.csv:7:1");
    assert_eq!(third("a,label\n1,0\n2,1\n3,1\n4,3\n5,2\n"), "f.csv:5:2");
    let same = fit("a,label\n1,-0\n1,0\n2,1\n3,1\n", &usual);
    assert_eq!(same, "f.csv: labels \"0\" and \"-0\" of column \"label\" are the same number");
    let sparse = line(Preparation::fit(&svm("# three\n+1 1:1\n-1 1:2\n1 2:1\n11 1:3\n7\n").unwrap(), &usual));
    assert!(sparse.starts_with("f.svm:5:1: the third of more than two label values"), "{sparse}");
    let positive = Options { positive: Some("yes".into()), ..usual.clone() };
    assert_eq!(fit("a,label\n1,1\n2,2\n", &positive), "f.csv: no label is \"yes\"; the labels are \"1\", \"2\"");
    assert_eq!(fit("a,label\n1,1\n2,\n3,0\n", &usual), "f.csv:3:2: the label is missing");
    assert_eq!(fit("a,b,label\n1,1,1\n2,?,1\n,2,0\n", &usual), "f.csv:3:2: missing value in column \"b\"");
    assert_eq!(
        fit("a,label\n1,1\n2,1\nabc,0\n", &usual),
        "f.csv:4:1: value \"abc\" in column \"a\" of numbers (a categorical column has to be named as one)"
    );
    assert_eq!(fit("a,label\n1e308,1\n-1e308,0\n", &usual), "f.csv: the values of column \"a\" are too large to scale");

    let (preparation, _) = fitted("a,label\n1,1\n2,0\n", &usual).unwrap();
    let apply = |text: &str| line(preparation.apply::<f32>(&csv(text).unwrap()));
    assert_eq!(apply("b,label\n1,1\n"), "f.csv:1: there is no column \"a\"; the columns are \"b\", \"label\"");
    assert_eq!(apply("a,label\n1,3\n"), "f.csv:2:2: label \"3\", but training knew \"0\" and \"1\"");
    assert_eq!(apply("a,label\n1e300,1\n").split(": ").next(), Some("f.csv:2:1"));
    let sparse = preparation.apply::<f32>(&svm("1 1:1\n").unwrap());
    assert!(line(sparse).starts_with("f.svm: a table with named columns"));
    let wide = svm(&format!("1 1:1\n0 {MAX_COLUMNS}:1\n")).unwrap();
    let standard = Options { scale: Some(Scale::Standard), ..usual };
    assert!(line(Preparation::fit(&wide, &standard)).contains("too many to centre"));
    assert_eq!(line(RawTable::parse(b"", Format::Csv, "a\nb")), "a\\nb: the file is empty");
}

/// Of more categories than features fit, the most frequent have one; rows of the others are as rows of a category that training did
/// not have.
#[test]
fn of_too_many_categories_the_rarest_have_no_feature() {
    // Category k of 1,000 in k % 40 + 60 rows: 79,500 rows, which may become 844 features each.
    let mut text = String::from("k,x,label\n");
    let mut rows = 0;
    for k in 0..1000 {
        for _ in 0..k % 40 + 60 {
            text += &format!("c{k},{},{}\n", rows % 7, rows % 2);
            rows += 1;
        }
    }
    let preparation = Preparation::fit(&csv(&text).unwrap(), &Options::default()).unwrap();
    assert_eq!((rows, preparation.cols()), (79_500, MAX_DENSE / 79_500));
    let names = preparation.column_names();
    let kept = |k: usize| names.contains(&format!("k=c{k}"));
    // 843 for categories: the 825 of 67 rows and more, and 18 of the 25 in 66.
    assert!((0..1000).all(|k| k % 40 == 6 || kept(k) == (k % 40 > 6)));
    assert_eq!((0..1000).filter(|&k| k % 40 == 6 && kept(k)).count(), 18);
    let few = preparation.apply::<f32>(&csv("k,x,label\nc39,1,0\nc0,1,1\nc40,1,1\n").unwrap()).unwrap();
    assert_eq!(few.summary().unseen, [("k".to_string(), 2)]);
}

/// Delimiters, quotes, line ends, a byte order mark, headers.
#[test]
fn dialects() {
    let want = vec![vec![1.0, 0.0, 1.0], vec![2.5, 1.0, 0.0]];
    let texts = [
        "v,k,label\n1,z,0\n2.5,\"a,b\",1\n",
        "\u{feff}v,k,label\r\n1,z,0\r\n2.5,\"a,b\",1\r\n\r\n\r\n",
        "v;k;label\n1;z;0\n2.5;\"a,b\";1",
        "v\tk\tlabel\n1\tz\t0\n2.5\ta,b\t1\n",
        "\nv , k, label\n 1,z ,0\n\n2.5,\"a,b\" , 1\n",
    ];
    for text in texts {
        let none = Options { scale: Some(Scale::None), ..Options::default() };
        let (preparation, data) = fitted(text, &none).unwrap();
        assert_eq!(preparation.column_names(), ["v", "k=a,b", "k=z"], "{text:?}");
        assert_eq!(dense(&data), want, "{text:?}");
        assert_eq!(data.labels(), [0, 1]);
    }
    let table = csv("3,0\n4,1\n").unwrap();
    assert!(!table.has_header());
    assert_eq!(table.columns(), ["x1", "x2"]);
    for label in ["2", "-1", "x2"] {
        assert_eq!(Preparation::fit(&table, &options(label)).unwrap().label_column(), Some("x2"));
    }
    let named = ReadOptions { label: Some("q".into()), ..ReadOptions::default() };
    let table = RawTable::parse_with(b"p,q\nu,v\nw,x\n", &named, "f").unwrap();
    assert_eq!((table.rows(), table.columns()), (2, vec!["p".to_string(), "q".to_string()]));
    assert_eq!(RawTable::parse(b"+1 1:2\n-1\n", Format::Auto, "f").unwrap().format(), Format::Libsvm);
}

/// A first line is names or a row: rows, and whether the other reading comes into question.
#[test]
fn headers() {
    let read = |text: &str, header, label: Option<&str>| {
        let options = ReadOptions { header, label: label.map(str::to_string), ..ReadOptions::default() };
        let table = RawTable::parse_with(text.as_bytes(), &options, "f.csv").unwrap();
        (table.has_header(), table.rows(), table.header_is_guessed())
    };
    let cases = [
        // Labels that are usual names of the label are labels beside numbers …
        ("5.1,3.2,y\n4.1,2.2,n\n3.1,2.0,y\n", (false, 3, true)),
        ("5.1,3.2,y\n4.1,2.2,n\n", (false, 2, true)),
        ("Target;1;2\nother;3;4\n", (false, 2, true)),
        ("0.5,class\n0.7,thing\n", (false, 2, true)),
        // … and where they come again.
        ("a,b,y\nc,d,n\ne,f,y\n", (false, 3, true)),
        ("a,b,y\nc,d,n\ne,f,n\n", (true, 2, true)),
        // Numbers may name columns, if the label column is numbers below its name.
        ("0,1,target\n5,6,0\n7,8,1\n", (true, 2, false)),
        ("0,0,target\n5,6,0\n7,8,1\n", (false, 3, true)),
        ("a,b,y\n1,2,0\n3,4,1\n", (true, 2, false)),
        ("a,b,y\n1,2,y\n3,4,n\n", (true, 2, false)),
        ("a,kind\n1,p\n2,q\n", (true, 2, false)),
        ("cap,kind\nred,p\nblue,q\n", (false, 3, true)),
        ("1,2,0\n3,4,1\n", (false, 2, false)),
        ("7,p\n8,q\n", (false, 2, false)),
    ];
    for (text, want) in cases {
        assert_eq!(read(text, None, None), want, "{text:?}");
        let rows = text.lines().count();
        assert_eq!(read(text, Some(false), None), (false, rows, false), "{text:?}");
        if !text.starts_with("0,0") {
            assert_eq!(read(text, Some(true), None), (true, rows - 1, false), "{text:?}");
        }
    }
    assert_eq!(read("cap,kind\nred,p\nblue,q\n", None, Some("kind")), (true, 2, false));
    assert_eq!(read("cap,kind\nred,p\nblue,q\n", None, Some("2")), (false, 3, true));
    // Beyond the hundred rows that are looked at.
    let late = format!("a,y\n{}c,y\n", "b,n\n".repeat(99));
    assert_eq!(read(&late, None, None), (true, 100, true));
    assert_eq!(read(&late.replacen("b,n\n", "", 1), None, None), (false, 100, true));
}

/// The first cell of a column that is no number.
#[test]
fn first_texts() {
    let table = csv("a,b,c\n1,x,\n\n2,1,0x10\n3,y,1_000\n").unwrap();
    let found: Vec<_> = (0..4).map(|column| table.first_text(column)).collect();
    assert_eq!(found, [None, Some((2, "x")), Some((4, "0x10")), None]);
    assert_eq!(svm("1 1:1\n").unwrap().first_text(0), None);
}

/// Positive and negative: the larger of two, or the named one against the rest.
#[test]
fn labels() {
    for (values, want) in [(["+1", "-1"], [1, 0]), (["0", "1"], [0, 1]), (["2", "1"], [1, 0]), (["10", "9"], [1, 0])] {
        let table = svm(&format!("{} 1:1\n{} 1:2\n", values[0], values[1])).unwrap();
        let data: Dataset<f32> = Preparation::fit(&table, &Options::default()).unwrap().apply(&table).unwrap();
        assert_eq!(data.labels(), want, "{values:?}");
    }
    let rest = Options { positive: Some("b".into()), ..Options::default() };
    let (_, data) = fitted("v,label\n1,a\n2,b\n3,c\n", &rest).unwrap();
    assert_eq!(data.labels(), [0, 1, 0]);
    let low = Options { positive: Some("1.0".into()), ..Options::default() };
    let (preparation, data) = fitted("v,label\n1,1\n2,2\n", &low).unwrap();
    assert_eq!((preparation.positive(), data.labels()), (Some("1"), &[1, 0][..]));
}

/// Imputation, unseen categories and columns beyond training, with their counts; saved and loaded again.
#[test]
fn applied_to_new_data() {
    let impute = Options { missing: Missing::Impute, scale: Some(Scale::None), ..Options::default() };
    let (preparation, data) = fitted("v,k,label\n1,a,0\n,b,1\n4,,1\n", &impute).unwrap();
    assert_eq!(preparation.column_names(), ["v", "v=(missing)", "k=a", "k=b", "k=(missing)"]);
    assert_eq!(dense(&data), [[1.0, 0.0, 1.0, 0.0, 0.0], [2.5, 1.0, 0.0, 1.0, 0.0], [4.0, 0.0, 0.0, 0.0, 1.0]]);
    assert_eq!(data.summary().missing, [("v".to_string(), 1), ("k".to_string(), 1)]);
    let saved = SavedModel::new(preparation.clone(), 4, vec![]).to_bytes();
    let loaded = SavedModel::from_bytes(&saved).unwrap().preparation;
    assert_eq!(loaded, preparation);
    let new = csv("extra,label,k,v\n9,1,c,7\n9,0,b,?\n").unwrap();
    let data: Dataset<f64> = loaded.apply(&new).unwrap();
    assert_eq!(dense(&data), [[7.0, 0.0, 0.0, 0.0, 0.0], [2.5, 1.0, 0.0, 1.0, 0.0]]);
    assert_eq!(data.summary().unseen, [("k".to_string(), 1)]);

    let train = svm("1 1:3 2:4\n0 2:2\n").unwrap();
    let preparation = Preparation::fit(&train, &Options::default()).unwrap();
    let data: Dataset<f64> = preparation.apply(svm("0 1:3 2:4 5:9\n1\n").unwrap()).unwrap();
    assert_eq!(dense(&data), [[0.6, 0.8], [0.0, 0.0]]);
    assert_eq!(data.summary().beyond, 1);
}

/// Split: sizes by class, disjoint, complete, in order, decided by the seed; the test part does not move the scaling.
#[test]
fn splits() {
    let labels: Vec<u8> = (0..103).map(|i| u8::from(i % 10 == 3)).collect();
    let parts = Split::new(0.6, 5).parts(&labels).unwrap();
    let positives = |rows: &[u32]| rows.iter().filter(|&&row| labels[row as usize] == 1).count();
    assert_eq!((parts.train.len(), positives(&parts.train)), (62, 6));
    let mut all = [parts.train.clone(), parts.test.clone()].concat();
    assert!(parts.train.is_sorted() && parts.test.is_sorted());
    all.sort_unstable();
    assert_eq!(all, (0..103).collect::<Vec<_>>());
    assert_eq!(parts, Split::new(0.6, 5).parts(&labels).unwrap());
    assert_ne!(parts, Split::new(0.6, 6).parts(&labels).unwrap());
    assert_eq!(positives(&Split::new(0.99, 1).parts(&labels).unwrap().test), 1);
    for share in [0.0, 1.0, f64::NAN, -1.0] {
        assert!(Split::new(share, 1).parts(&labels).is_err());
    }
    let text = |test_value: f64| {
        (0..103).fold("v,label\n".to_string(), |text, i| {
            let x = if parts.test.contains(&i) { test_value } else { f64::from(i) };
            text + &format!("{x},{}\n", labels[i as usize])
        })
    };
    let a = prepare::<f64>(&csv(&text(1.0)).unwrap(), &Options::default(), Split::new(0.6, 5)).unwrap();
    let b = prepare::<f64>(&csv(&text(1e6)).unwrap(), &Options::default(), Split::new(0.6, 5)).unwrap();
    assert_eq!((a.preparation, a.train), (b.preparation, b.train));
    assert_ne!(a.test, b.test);
}

/// A gzip file cut anywhere is an error, never a shorter file; a flipped bit is an error or the same text.
#[test]
fn damaged_gzip() {
    let text = b"a,label\n1,0\n2,1\n3,0\n";
    let packed = gzip(text);
    let whole = RawTable::parse(&packed, Format::Auto, "f").unwrap();
    assert_eq!(whole, RawTable::parse(text, Format::Auto, "f").unwrap());
    for cut in 0..packed.len() {
        let message = line(RawTable::parse(&packed[..cut], Format::Auto, "f"));
        let want = match cut {
            0 => "f: the file is empty",
            1 => "f: not a text file (it looks like binary data)",
            _ => "f: the gzip data is cut off",
        };
        assert_eq!(message, want, "cut at {cut}");
    }
    for bit in 16..packed.len() * 8 {
        let mut damaged = packed.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        if let Ok(table) = RawTable::parse(&damaged, Format::Auto, "f") {
            assert_eq!(table, whole, "bit {bit}");
        }
    }
}

/// Everything a byte string can go through.
fn exercise(bytes: &[u8]) {
    for format in [Format::Auto, Format::Csv, Format::Libsvm] {
        let table = match RawTable::parse(bytes, format, "f") {
            Ok(table) => table,
            Err(error) => {
                assert!(!error.to_string().contains('\n'));
                continue;
            }
        };
        for (label, scale, missing) in
            [(None, None, Missing::Refuse), (Some("-1".to_string()), Some(Scale::Unit), Missing::Impute)]
        {
            let options = Options { label, scale, missing, ..Options::default() };
            match prepare::<f32>(&table, &options, Split::new(0.5, 1)) {
                Ok(prepared) => {
                    for data in [prepared.train, prepared.test] {
                        assert!(dense(&data).iter().flatten().all(|x| x.is_finite()));
                        assert_eq!(data.labels().len(), data.len());
                    }
                }
                Err(error) => assert!(!error.to_string().contains('\n')),
            }
        }
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&bytes);
    }

    #[test]
    fn random_text_never_panics(text in "[-0-9a.,;:\"\n\r\t #?+eNlb]{0,200}") {
        exercise(text.as_bytes());
    }

    #[test]
    fn damaged_files_never_panic(
        which in 0..3usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        const GOOD: [&str; 3] = [
            "a,k,label\n1,x,0\n2,\"y\",1\n3,x,0\n4,z,1\n",
            "+1 1:1 3:.5\n-1 2:1\n+1 1:2\n-1 3:1\n",
            "a;label\n1;0\n?;1\n2;1\n",
        ];
        let mut bytes = GOOD[which].as_bytes().to_vec();
        for (at, byte) in &edits {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        exercise(&bytes);
        let mut packed = gzip(GOOD[which].as_bytes());
        for (at, byte) in edits {
            let at = at.index(packed.len());
            packed[at] = byte;
        }
        exercise(&packed);
    }

    /// Numbers written out and read again are the same; arrays and files give the same features; scaling equals a
    /// plain loop.
    #[test]
    fn scaling_and_round_trip(
        rows in prop::collection::vec((prop::collection::vec(-1e3..1e3f64, 3), any::<bool>()), 4..40),
        constant in -10.0..10.0f64,
    ) {
        let mut labels: Vec<u8> = rows.iter().map(|row| u8::from(row.1)).collect();
        (labels[0], labels[1]) = (0, 1);
        let x: Vec<Vec<f64>> = rows.iter().map(|row| [row.0.as_slice(), &[constant]].concat()).collect();
        let mut text = "a,b,c,d,label\n".to_string();
        let mut sparse = String::new();
        for (row, y) in x.iter().zip(&labels) {
            text += &format!("{},{},{},{},{y}\n", row[0], row[1], row[2], row[3]);
            sparse += &format!("{y} 1:{} 2:{} 3:{} 4:{}\n", row[0], row[1], row[2], row[3]);
        }
        let flat = x.concat();
        for scale in [Scale::None, Scale::Standard, Scale::Unit] {
            let options = Options { scale: Some(scale), ..Options::default() };
            let (_, data) = fitted(&text, &options).unwrap();
            let got = dense(&data);
            let table = svm(&sparse).unwrap();
            let other: Dataset<f64> = Preparation::fit(&table, &options).unwrap().apply(&table).unwrap();
            prop_assert_eq!(&dense(&other), &got);
            let arrays = Preparation::fit_arrays(&flat, &labels, 4, scale).unwrap();
            prop_assert_eq!(&dense(&arrays.apply_arrays(&flat, &labels).unwrap()), &got);
            prop_assert_eq!(data.labels(), &labels[..]);
            let n = x.len() as f64;
            for (row, scaled) in x.iter().zip(&got) {
                let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
                for column in 0..4 {
                    let mean = x.iter().map(|row| row[column]).sum::<f64>() / n;
                    let deviation = (x.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / n).sqrt();
                    let want = match scale {
                        Scale::None => row[column],
                        Scale::Unit => row[column] / norm,
                        Scale::Standard if column == 3 => 0.0,
                        _ => (row[column] - mean) / deviation,
                    };
                    prop_assert!((scaled[column] - want).abs() <= 1e-12 * (1.0 + want.abs()), "{} {}", scaled[column], want);
                }
            }
        }
    }
}

/// Numbers, with some left out or the few of sparse rows: standardised they have mean 0 and deviation 1 over the rows that
/// were fitted on. Columns of 0 and 1 stay, whatever they are made of.
#[test]
fn standardised_columns_have_mean_zero_and_deviation_one_but_for_indicators() {
    let options = Options { scale: Some(Scale::Standard), missing: Missing::Impute, ..Options::default() };
    let text = "n,c,b,label\n1,red,0,0\n,blue,1,1\n4,,,0\n2.5,red,1,1\n,green,0,0\n7,blue,-0,1\n3,red,0,0\n";
    let (preparation, named) = fitted(text, &options).unwrap();
    let table = svm("0 1:1 3:2 4:1\n1 2:5 5:1\n0 1:4 2:-1 3:7 4:1 5:1\n1 5:1\n0 3:0.5 5:1 6:0\n").unwrap();
    let numbered = Preparation::fit(&table, &options).unwrap().apply::<f64>(&table).unwrap();
    // n and where it is missing; blue, green, red and (missing); b and where it is missing
    assert_eq!((named.cols(), numbered.cols()), (8, 6));
    for (rows, kept) in [(dense(&named), 1), (dense(&numbered), 3)] {
        for column in (0..rows[0].len()).filter(|&column| column < kept) {
            let of = |f: &dyn Fn(f64) -> f64| rows.iter().map(|row| f(row[column])).sum::<f64>() / rows.len() as f64;
            assert!(of(&|x| x).abs() < 1e-15 && (of(&|x| x * x) - 1.0).abs() < 1e-14, "column {column}: {rows:?}");
        }
        let scale = Some(Scale::None);
        let as_they_are = match kept {
            1 => dense(&fitted(text, &Options { scale, ..options.clone() }).unwrap().1),
            _ => {
                let of = Preparation::fit(&table, &Options { scale, ..options.clone() }).unwrap();
                dense(&of.apply::<f64>(&table).unwrap())
            }
        };
        for (row, plain) in rows.iter().zip(as_they_are) {
            assert_eq!(row[kept..], plain[kept..]);
        }
    }
    // A missing one is the share of the others; what training did not have is as it is.
    let more = csv("n,c,b,label\n1,red,3,0\n1,,,1\n").unwrap();
    let more = dense(&preparation.apply::<f64>(&more).unwrap());
    assert_eq!((more[0][6], more[0][7], more[1][7]), (3.0, 0.0, 1.0));
    assert!((more[1][6] - 2.0 / 6.0).abs() < 1e-15);
    // Of numbers that are two others they are not; where only one of the two is left there is nothing to tell.
    let (of, data) = fitted("two,one,label\n1,1,0\n2,1,1\n1,1,0\n2,1,1\n", &Options::default()).unwrap();
    assert_eq!(dense(&data)[..2], [[-1.0, 0.0], [1.0, 0.0]]);
    assert_eq!(of.encoded().iter().map(|column| column.divisor).collect::<Vec<_>>(), [0.5, 0.0]);
    let (x, y) = ([0.0, 3.0, 1.0, 5.0, 1.0, 7.0], [0, 1, 1]);
    let arrays = Preparation::fit_arrays(&x, &y, 2, Scale::Standard).unwrap().apply_arrays(&x, &y).unwrap();
    assert_eq!(dense(&arrays).iter().map(|row| row[0]).collect::<Vec<_>>(), [0.0, 1.0, 1.0]);
}

/// What sparse rows have beyond the columns of training is left out and counted.
#[test]
fn columns_beyond_those_of_training_are_left_out() {
    let (fitted_on, more) = (svm("0 1:1 2:2\n1 2:5\n").unwrap(), svm("0 1:3 3:4\n1 2:3 4:1\n1 3:1\n").unwrap());
    for scale in [Scale::None, Scale::Standard, Scale::Unit] {
        let preparation = Preparation::fit(&fitted_on, &Options { scale: Some(scale), ..Options::default() }).unwrap();
        let data = preparation.apply::<f64>(&more).unwrap();
        let without = preparation.apply::<f64>(&svm("0 1:3\n1 2:3\n1\n").unwrap()).unwrap();
        assert_eq!((data.cols(), data.summary().beyond, without.summary().beyond), (2, 3, 0));
        assert_eq!(dense(&data), dense(&without), "{scale:?}");
    }
}

#[test]
fn sparse_arrays_are_checked_and_taken_as_they_are() {
    let make = |ptr: &[usize], col: &[u32], val: &[f64], y: &[u8], cols| {
        Dataset::csr(ptr.to_vec(), col.to_vec(), val.to_vec(), y.to_vec(), cols)
    };
    let (ptr, col, val) = ([0, 2, 2, 3], [0, 3, 1], [1.0, -2.0, 0.5]);
    let data = make(&ptr, &col, &val, &[1, 0, 1], 4).unwrap();
    assert_eq!((data.len(), data.cols(), data.positives(), data.labels()), (3, 4, 2, &[1, 0, 1][..]));
    match data.rows() {
        Rows::Csr { ptr: p, col: c, val: v, cols: 4, .. } => assert_eq!((p, c, v), (&ptr[..], &col[..], &val[..])),
        other => panic!("{other:?}"),
    }
    assert_eq!(make(&ptr, &col, &val, &[], 4).unwrap().labels(), &[] as &[u8]);
    use undercurve::Error;
    assert_eq!(make(&[0], &[], &[], &[], 0).unwrap_err(), Error::Param { what: "cols" });
    assert_eq!(make(&[], &[], &[], &[], 4).unwrap_err(), Error::Empty { what: "ptr" });
    assert_eq!(make(&ptr, &col, &val, &[1, 0], 4).unwrap_err(), Error::Length { what: "y", need: 3, got: 2 });
    assert_eq!(make(&ptr, &col, &val, &[1, 0, 2], 4).unwrap_err(), Error::Label { at: 2 });
    assert_eq!(make(&ptr, &col, &val, &[1, 0, 1], 3).unwrap_err(), Error::Index { what: "col", at: 1, len: 3 });
    assert_eq!(
        make(&[0, 2, 1, 3], &col, &val, &[1, 0, 1], 4).unwrap_err(),
        Error::Index { what: "ptr", at: 2, len: 3 }
    );
    assert!(make(&ptr, &col, &[1.0, f64::NAN, 0.5], &[1, 0, 1], 4).is_err());
}

const PEOPLE: &str = "age,sex,race,label\n30,f,b,1\n40,m,w,0\n50,f,w,1\n35,m,b,0\n45,f,\"w,x\",0\n";

#[test]
fn groups_are_the_values_of_their_columns() {
    let group =
        |columns: &[&str]| Options { group: columns.iter().map(ToString::to_string).collect(), ..options("label") };
    let (preparation, data) = fitted(PEOPLE, &group(&["sex"])).unwrap();
    assert_eq!(
        (data.groups(), data.group_of(), data.group_names()),
        (2, &[0, 1, 0, 1, 0][..], &["f".into(), "m".into()][..])
    );
    assert_eq!(
        (preparation.group_columns(), preparation.group_names()),
        (&["sex".to_string()][..], data.group_names())
    );
    // Still features, unless they are left out; cells are label × group.
    assert_eq!(data.cols(), 1 + 2 + 3);
    assert_eq!(data.cells(), [2, 1, 2, 1, 0]);
    let hidden = Options { ignore: vec!["sex".into()], ..group(&["sex"]) };
    assert_eq!(fitted(PEOPLE, &hidden).unwrap().1.cols(), 1 + 3);
    assert_eq!(fitted(PEOPLE, &hidden).unwrap().1.group_of(), data.group_of());
    // Several columns: those of their values that occur together, in the order of the values.
    let (preparation, data) = fitted(PEOPLE, &group(&["sex", "race"])).unwrap();
    assert_eq!(data.group_names(), ["f,b", "f,w", "f,\"w,x\"", "m,b", "m,w"]);
    assert_eq!(data.group_of(), [0, 4, 1, 3, 2]);
    assert_eq!(data.select(&[4, 0]).unwrap().group_of(), [2, 0]);
    // What training did not have comes after it, in the order of occurrence.
    let new = "race,age,label,sex\nz,1,0,m\nw,2,1,f\nq,3,1,m\nz,3,1,m\n";
    let applied = preparation.apply::<f64>(&csv(new).unwrap()).unwrap();
    assert_eq!((applied.groups(), applied.group_of()), (7, &[5, 1, 6, 5][..]));
    assert_eq!(applied.group_names()[5..], ["m,z", "m,q"]);
    // Numbers make groups as well.
    let (_, data) = fitted("a,b,label\n1,0,0\n2,1,1\n3,0,1\n4,2,0\n", &group(&["b"])).unwrap();
    assert_eq!((data.group_names(), data.group_of()), (&["0".into(), "1".into(), "2".into()][..], &[0, 1, 0, 2][..]));
    // Kept with a model, and of no weight without.
    let saved = |preparation: &Preparation| SavedModel::new(preparation.clone(), 4, vec![1, 2, 3]);
    let model = saved(&preparation);
    assert_eq!(SavedModel::from_bytes(&model.to_bytes()).unwrap(), model);
    let plain = saved(&fitted(PEOPLE, &options("label")).unwrap().0);
    assert_eq!(SavedModel::from_bytes(&plain.to_bytes()).unwrap(), plain);
    assert!(plain.preparation.group_names().is_empty() && plain.to_bytes().len() < model.to_bytes().len());
}

#[test]
fn groups_that_cannot_be_made_are_said() {
    let fit = |text: &str, columns: &[&str], missing: Missing| {
        let group = columns.iter().map(ToString::to_string).collect();
        fitted(text, &Options { group, missing, ..options("label") })
    };
    let refused = |text: &str, columns: &[&str]| line(fit(text, columns, Missing::Refuse));
    assert_eq!(
        refused("a,g,label\n1,x,0\n2,x,1\n", &["g"]),
        "f.csv: all rows are in one group, \"x\", of \"g\"; two are needed"
    );
    assert!(refused(PEOPLE, &["sxe"]).starts_with("f.csv:1: there is no column \"sxe\""));
    let gone = "a,g,label\n1,x,0\n2,,1\n3,y,0\n";
    assert_eq!(refused(gone, &["g"]), "f.csv:3:2: missing value in column \"g\"");
    assert_eq!(refused("a,g,label\n1,4,0\n2,inf,1\n3,5,0\n", &["g"]), "f.csv:3:2: value \"inf\" is not finite");
    // Refused where the column is no feature, too; filled in, it is a value of its own.
    let hidden = Options { group: vec!["g".into()], ignore: vec!["g".into()], ..options("label") };
    assert_eq!(line(fitted(gone, &hidden)), "f.csv:3:2: missing value in column \"g\"");
    let (preparation, data) = fit(gone, &["g"], Missing::Impute).unwrap();
    assert_eq!(
        (data.group_names(), data.group_of()),
        (&["x".into(), "y".into(), "(missing)".into()][..], &[0, 2, 1][..])
    );
    let again = preparation.apply::<f64>(&csv("a,g,label\n1,,0\n").unwrap()).unwrap();
    assert_eq!(again.group_of(), [2]);
    let many: String = (0..1001).map(|row| format!("{},{}\n", 2 * row, row % 2)).collect();
    assert_eq!(refused(&format!("g,label\n{many}"), &["g"]), "f.csv: \"g\" make more than 1000 groups");
    let sparse = svm("0 1:1\n1 2:1\n").unwrap();
    let error = Preparation::fit(&sparse, &Options { group: vec!["g".into()], ..Options::default() });
    assert!(line(error).contains("groups are made of named columns, and LIBSVM has none"));
    // A table without the column has no groups; so has the part of it that is a feature to be there.
    let (preparation, _) = fitted(
        "a,g,label\n1,x,0\n2,y,1\n",
        &Options { ignore: vec!["g".into()], group: vec!["g".into()], ..options("label") },
    )
    .unwrap();
    let without = preparation.apply::<f64>(&csv("a,label\n1,0\n").unwrap()).unwrap();
    assert_eq!((without.groups(), without.group_of()), (1, &[][..]));

    let data = Dataset::dense(vec![1.0, 2.0], vec![0, 1], 1).unwrap();
    let names = |count: usize| (0..count).map(|name| name.to_string()).collect::<Vec<_>>();
    let with = |of: &[u32], count: usize| data.clone().with_groups(of.to_vec(), names(count)).unwrap_err();
    assert_eq!(with(&[0, 0], 1), Error::Param { what: "groups" });
    assert_eq!(with(&[0, 0], 1001), Error::Param { what: "groups" });
    assert_eq!(with(&[0], 2), Error::Length { what: "groups", need: 2, got: 1 });
    assert_eq!(with(&[0, 2], 2), Error::Index { what: "groups", at: 1, len: 2 });
}

/// Folds by group: no group in two folds, every class within the largest group of its share, all by the seed; the same of a split.
#[test]
fn groups_stay_together() {
    let mut rng = undercurve::rng::Rng::new(3);
    for (folds, groups) in [(2, 9), (5, 40), (10, 300)] {
        let of: Vec<u32> = (0..2000).map(|_| rng.below(groups).min(rng.below(groups))).collect();
        let labels: Vec<u32> = of.iter().map(|&group| u32::from(rng.below(20) < 1 + group % 4)).collect();
        let fold = group_folds(&labels, &of, folds, 7).unwrap();
        let whole = |part: &[u32]| {
            let mut seen = std::collections::BTreeMap::new();
            of.iter().zip(part).all(|(group, part)| seen.entry(group).or_insert(part) == &part)
        };
        assert!(whole(&fold));
        for class in 0..2 {
            let count =
                |keep: &dyn Fn(usize) -> bool| (0..of.len()).filter(|&row| labels[row] == class && keep(row)).count();
            let largest = (0..groups).map(|group| count(&|row| of[row] == group)).max().unwrap() as f64;
            let share = count(&|_| true) as f64 / folds as f64;
            for own in 0..folds as u32 {
                let got = count(&|row| fold[row] == own) as f64;
                assert!((got - share).abs() <= largest, "{folds} folds, class {class}: {got} of {share}, {largest}");
            }
        }
        assert_eq!(fold, group_folds(&labels, &of, folds, 7).unwrap());
        assert_ne!(fold, group_folds(&labels, &of, folds, 8).unwrap());
        let parts = Split::new(0.7, 1).group_parts(&labels, &of).unwrap();
        let part: Vec<u32> = (0..2000).map(|row| u32::from(parts.test.binary_search(&row).is_ok())).collect();
        assert!(whole(&part) && parts.train.len() + parts.test.len() == 2000);
        assert!(parts.test.len().abs_diff(600) < 150, "{}", parts.test.len());
    }
    // One group for each fold, and groups of one row: as even as without groups.
    let mut three = group_folds(&[], &[4, 4, 4, 4, 0, 2], 3, 1).unwrap();
    three.dedup();
    assert_eq!(three.len(), 3);
    let alone: Vec<u32> = (0..103).collect();
    let labels: Vec<u32> = alone.iter().map(|row| u32::from(row % 10 == 0)).collect();
    let fold = group_folds(&labels, &alone, 5, 1).unwrap();
    for own in 0..5 {
        let of = |class| (0..103).filter(|&row| fold[row] == own && labels[row] == class).count();
        assert!((18..=19).contains(&of(0)) && (2..=3).contains(&of(1)), "{} {}", of(0), of(1));
    }
    assert!(Split::new(0.9, 1).group_parts(&[], &[0, 1, 2]).unwrap().test.len() == 1);
    for (labels, groups, folds) in [
        (&[][..], &[][..], 2),
        (&[], &[0, 1], 1),
        (&[], &[0, 0], 2),
        (&[0], &[0, 1], 2),
        (&[9, 9], &[0, 1], 2),
        (&[], &[9, 1], 3),
    ] {
        assert!(group_folds(labels, groups, folds, 1).is_err(), "{labels:?} {groups:?} {folds}");
    }
}

/// The last rows by rank are the test rows, ties together, whatever the order of the file.
#[test]
fn the_last_rows_are_held_out() {
    let parts = |ranks: &[u32], share| Split::new(share, 1).last_parts(ranks);
    let of = parts(&[3, 0, 2, 1], 0.75).unwrap();
    assert_eq!((of.train, of.test), (vec![1, 2, 3], vec![0]));
    // The boundary next to the share: 4 of 6, 3 of 6 are both one row away from neither.
    for (ranks, share, train) in [
        (&[0, 1, 1, 1, 2, 2][..], 0.6, 4),
        (&[0, 1, 1, 1, 2, 2], 0.3, 1),
        (&[0, 0, 0, 0, 0, 1], 0.1, 5),
        (&[0, 1, 1, 1, 1, 1], 0.9, 1),
        (&[5, 6, 7, 8], 0.5, 2),
    ] {
        let of = parts(ranks, share).unwrap();
        assert_eq!(of.train.len(), train, "{ranks:?} {share}");
        assert!(of.train.iter().all(|&a| of.test.iter().all(|&b| ranks[a as usize] < ranks[b as usize])));
    }
    assert!(parts(&[1, 1, 1], 0.5).is_err() && parts(&[], 0.5).is_err() && parts(&[0, 1], 1.0).is_err());
}

/// Bytes as a file gives them, some at a time.
struct Slow<'a>(&'a [u8], usize);

impl std::io::Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(out.len()).min(self.0.len());
        let (now, later) = self.0.split_at(count);
        out[..count].copy_from_slice(now);
        self.0 = later;
        Ok(count)
    }
}

/// A long file is read in pieces: what its last row is decides what its columns are, and lines are counted on.
#[test]
fn long_files_are_read_in_pieces() {
    let rows = 20_000;
    let row = |k: usize| format!("{};{},25;2024-02-{:02};\"q;\n{}\";{}\n", k, k % 7, 1 + k % 28, k % 3, k % 2);
    let file = |last: &str| -> String {
        let rows: String = (0..rows).map(row).collect();
        format!("n;comma;date;text;label\n{rows}{last}")
    };
    let read = |text: &str, by: usize| RawTable::read(Slow(text.as_bytes(), by), &ReadOptions::default(), "f.csv");
    let plain = file("");
    assert!(plain.len() > 1 << 19);
    let table = read(&plain, 1 << 20).unwrap();
    assert_eq!((table.rows(), table.readings().len()), (rows, 3));
    assert_eq!(table.readings()[0], ("n", Reading::Counter));
    assert_eq!(table, read(&plain, 977).unwrap());
    assert_eq!(table, RawTable::parse(plain.as_bytes(), Format::Auto, "f.csv").unwrap());
    let data = Preparation::fit(&table, &Options { scale: Some(Scale::None), ..Options::default() }).unwrap();
    let data = data.apply::<f64>(&table).unwrap();
    let Rows::Dense { data: x, cols, .. } = data.rows() else { panic!() };
    // (Without the first, which counts the rows.)
    assert_eq!((cols, &x[cols..cols + 2]), (5, &[1.25, 19_755.0][..]));
    // A late text: the cells before it are categories as they were written.
    let table = read(&file("x;x;x;x;1\n"), 4096).unwrap();
    let named = |at, most| table.values(at, most).map(|all| all.into_iter().map(|(name, _)| name).collect::<Vec<_>>());
    assert_eq!(named(1, 10).unwrap(), ["0,25", "1,25", "2,25", "3,25", "4,25", "5,25", "6,25", "x"]);
    assert_eq!((named(2, 40).unwrap().len(), &named(2, 40).unwrap()[0]), (29, &"2024-02-01".to_string()));
    assert_eq!(table.first_text(0), Some((2 * rows as u32 + 2, "x")));
    // Errors count the lines of the whole file.
    let line = 2 * rows + 2;
    for (last, want) in [
        ("1;2;3\n", format!("f.csv:{line}:4: 3 cells, but the first line has 5")),
        ("1e400;1;2024-01-01;q;1\n", format!("f.csv:{line}:1: value \"1e400\" is not finite")),
        ("1;1;2024-01-01;\"q;1\n", format!("f.csv:{line}:4: a quoted cell never ends")),
        ("1;1;2024-01-01;\u{1};1\n", "f.csv: not a text file (it looks like binary data)".to_string()),
    ] {
        assert_eq!(read(&file(last), 4096).unwrap_err().to_string(), want);
    }
    let mut latin = file("").into_bytes();
    latin.extend_from_slice(b"1;1;2024-01-01;\xe9;1\n");
    let error = RawTable::parse(&latin, Format::Auto, "f.csv").unwrap_err();
    assert_eq!(error.to_string(), format!("f.csv:{line}: the text is not UTF-8"));
    let svm: String = (0..50_000).map(|k| format!("{} 1:{k} 3:0.5\n", k % 2)).collect();
    let error = RawTable::parse(format!("{svm}1 0:1\n").as_bytes(), Format::Auto, "f").unwrap_err();
    assert_eq!(error.to_string(), "f:50001:2: index 0, but LIBSVM counts columns from 1");
}

/// A zstd frame of one block that is stored as it is.
fn stored(text: &str) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, text.len() as u8];
    frame.extend_from_slice(&((text.len() as u32) << 3 | 1).to_le_bytes()[..3]);
    frame.extend_from_slice(text.as_bytes());
    frame
}

#[test]
fn zstd_is_unpacked() {
    let [a, b] = [stored("a,label\n1,0\n"), stored("2,1\n")];
    let both = [a, b].concat();
    let parse = |bytes: &[u8]| RawTable::parse(bytes, Format::Auto, "f.csv.zst");
    assert_eq!(parse(&both).unwrap(), parse(b"a,label\n1,0\n2,1\n").unwrap());
    let mut wrong = both.clone();
    wrong[12] = 0xff; // no such block
    wrong[6] |= 6;
    for bytes in [&both[..both.len() - 2], &both[..3 + both.len() / 2], &wrong] {
        let error = parse(bytes).unwrap_err().to_string();
        assert_eq!(error, "f.csv.zst: the zstd data is cut off or damaged");
    }
}

#[test]
fn blanks_may_part_cells() {
    let auto = |text: &str| RawTable::parse(text.as_bytes(), Format::Auto, "f").unwrap();
    let table = auto("  a   label\n 1.5\t 0\n2,5  1\n");
    assert_eq!((table.rows(), table.columns()), (2, vec!["a".to_string(), "label".into()]));
    assert_eq!(table.values(0, 9).unwrap(), [("1.5".to_string(), 1), ("2,5".into(), 1)]);
    let table = auto("1 \"a b\" x\r2 \"say \"\"c\"\"\" y\r\n3 d z");
    assert_eq!(table.columns(), ["x1", "x2", "x3"]);
    let texts: Vec<String> = table.values(1, 9).unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(texts, ["a b", "d", "say \"c\""]);
    // Words that are not as many in each line are one column.
    assert_eq!(auto("a b\nc\nd e f\n").columns().len(), 1);
    let forced =
        |text: &str| RawTable::parse(text.as_bytes(), Format::Whitespace, "f").map_err(|error| error.to_string());
    assert_eq!(forced("a b\n1 2 3\n").unwrap_err(), "f:2:3: 3 cells, but the first line has 2");
    assert_eq!(forced("a b\n1 \"2\n").unwrap_err(), "f:2:2: a quoted cell never ends");
    assert_eq!(forced("a,b c\n1 2\n").unwrap().columns(), ["a,b", "c"]);
}

/// Numbers that were missing in training have a column that says so, 0 or 1 unless rows have unit length; where none was, one is
/// filled in.
#[test]
fn missing_numbers_have_a_column() {
    let table = csv("v,w,label\n1,1,0\n,2,1\n3,3,0\n5,6,1\n").unwrap();
    for scale in [Scale::None, Scale::Standard, Scale::Unit] {
        let options = Options { missing: Missing::Impute, scale: Some(scale), ..Options::default() };
        let preparation = Preparation::fit(&table, &options).unwrap();
        assert_eq!(preparation.column_names(), ["v", "v=(missing)", "w"]);
        let data = preparation.apply::<f64>(&csv("w,v,label\n,,1\n2,4,0\n").unwrap()).unwrap();
        let Rows::Dense { data: x, .. } = data.rows() else { panic!() };
        let want: Vec<f64> = match scale {
            Scale::None => vec![3.0, 1.0, 3.0, 4.0, 0.0, 2.0],
            Scale::Standard => {
                let deviation = [2.0_f64.sqrt(), 3.5_f64.sqrt()];
                vec![0.0, 1.0, 0.0, 1.0 / deviation[0], 0.0, -1.0 / deviation[1]]
            }
            _ => {
                let norms = [19.0_f64.sqrt(), 20.0_f64.sqrt()];
                vec![3.0 / norms[0], 1.0 / norms[0], 3.0 / norms[0], 4.0 / norms[1], 0.0, 2.0 / norms[1]]
            }
        };
        assert!(x.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-12), "{scale:?}: {x:?} {want:?}");
        assert_eq!(data.summary().missing, [("v".to_string(), 1), ("w".to_string(), 1)]);
        let model = SavedModel::new(preparation.clone(), 8, Vec::new());
        assert_eq!(SavedModel::from_bytes(&model.to_bytes()).unwrap().preparation, preparation);
    }
}

/// Splits by a column: the last by date are held out, groups stay together, and neither column is a feature.
#[test]
fn splits_go_by_a_column() {
    let mut text = String::from("day,patient,v,label\n");
    for row in 0..300 {
        let (day, patient) = (row * 7 % 150, row % 40);
        let v = row * row;
        text += &format!("2024-{:02}-{:02},p{patient},{v},{}\n", 1 + day / 28, 1 + day % 28, row % 3 % 2);
    }
    let table = csv(&text).unwrap();
    let of = |by: SplitBy| Options { split_by: Some(by), categorical: vec!["patient".into()], ..Options::default() };
    let options = Options { ignore: vec!["patient".into()], ..of(SplitBy::Order("day".into())) };
    let parts = prepare::<f64>(&table, &options, Split::new(0.8, 1)).unwrap();
    assert_eq!(parts.preparation.column_names(), ["v"]);
    let [latest, first] = [parts.train.split_ranks().iter().max(), parts.test.split_ranks().iter().min()];
    assert!(latest < first && parts.test.len() == 60, "{latest:?} {first:?} {}", parts.test.len());
    // The same rows of the whole, and parts of parts go by the same column.
    let all = parts.preparation.apply::<f64>(&table).unwrap();
    let [train, test] = all.split(Split::new(0.8, 9), "f.csv").unwrap();
    assert_eq!((train.rows().len(), &test), (240, &parts.test));
    let [rest, valid] = train.split(Split::new(0.5, 3), "f.csv").unwrap();
    assert!(rest.split_ranks().iter().max() < valid.split_ranks().iter().min());

    let options = of(SplitBy::Group("patient".into()));
    let parts = prepare::<f64>(&table, &options, Split::new(0.7, 1)).unwrap();
    assert_eq!(parts.preparation.column_names(), ["day", "v"]);
    let model = SavedModel::new(parts.preparation.clone(), 8, Vec::new());
    let again = SavedModel::from_bytes(&model.to_bytes()).unwrap().preparation;
    assert_eq!(again.split_by(), Some(&SplitBy::Group("patient".into())));
    let all = again.apply::<f64>(&table).unwrap();
    let [train, test] = all.split(Split::new(0.7, 1), "f.csv").unwrap();
    assert!(train.split_groups().iter().all(|group| !test.split_groups().contains(group)));
    assert_eq!(test.rows().len(), parts.test.len());

    let error =
        |text: &str, by| prepare::<f64>(&csv(text).unwrap(), &of(by), Split::new(0.5, 1)).unwrap_err().to_string();
    let order = || SplitBy::Order("t".into());
    assert_eq!(
        error("t,patient,v,label\nx,a,1,0\ny,a,2,1\n", order()),
        "f.csv:2:1: \"x\" in column \"t\" is neither a number nor a date, and the rows are to be ordered by it"
    );
    assert_eq!(error("t,patient,v,label\n1,a,1,0\n,a,2,1\n", order()), "f.csv:3:1: missing value in column \"t\"");
    let equal = error("t,patient,v,label\n1,a,1,0\n1,a,2,1\n", order());
    assert_eq!(equal, "f.csv: parameter split is outside its range");
    let absent = error("u,patient,v,label\n1,a,1,0\n1,a,2,1\n", order());
    assert!(absent.contains("there is no column \"t\""), "{absent}");
}

#[test]
fn columns_in_memory_are_what_a_file_of_the_same_cells_is() {
    let csv =
        "age,city,joined,label\n31, Bern ,2024-01-01,yes\n,,2024-01-02,no\n47.5,Thun,,yes\n1e3,Bern,2024-02-29,no\n";
    let file = RawTable::parse(csv.as_bytes(), Format::Csv, "people").unwrap();
    let (age, joined) = ([31.0, f64::NAN, 47.5, 1e3], [19723.0, 19724.0, f64::NAN, 19782.0]);
    let city = [Some("Bern"), None, Some("Thun"), Some("Bern")];
    let label = [Some("yes"), Some("no"), Some("yes"), Some("no")];
    let columns = [
        ("age", Values::Numbers(&age)),
        ("city", Values::Texts(&city)),
        ("joined", Values::Of(Kind::Date, &joined)),
        ("label", Values::Texts(&label)),
    ];
    let table = RawTable::of_columns("people", &columns).unwrap();
    assert_eq!((table.columns(), table.rows()), (file.columns(), file.rows()));
    assert_eq!([0, 1, 2, 3].map(|k| table.missing(k)), [1, 1, 1, 0]);
    let options = Options { missing: Missing::Impute, ..Options::default() };
    let (a, b) = (Preparation::fit(&table, &options).unwrap(), Preparation::fit(&file, &options).unwrap());
    assert_eq!((a.encoded(), a.known(), a.positive()), (b.encoded(), b.known(), b.positive()));
    let rows = |of: &Preparation, rows: &RawTable| format!("{:?}", of.apply::<f64>(rows).unwrap().rows());
    assert_eq!(rows(&a, &file), rows(&b, &table));
    let (a, b) = (a.apply::<f64>(&table).unwrap(), b.apply::<f64>(&file).unwrap());
    assert_eq!((a.labels(), a.rows().len()), (b.labels(), b.rows().len()));
    assert_eq!(a.summary(), b.summary());
    // Texts of digits are categories, and a counter counts.
    let (code, id): (Vec<_>, Vec<f64>) = (vec![Some("1"), Some("2"), Some("1")], (0..30).map(f64::from).collect());
    let codes = code.iter().copied().cycle().take(30).collect::<Vec<_>>();
    let table = RawTable::of_columns("t", &[("code", Values::Texts(&codes)), ("id", Values::Numbers(&id))]).unwrap();
    assert_eq!(table.readings(), [("id", Reading::Counter)]);
    assert_eq!(table.values(0, 5).unwrap(), [("1".to_string(), 20), ("2".to_string(), 10)]);
    // What is wrong is said with its place.
    let error = |columns: &[(&str, Values<'_>)]| RawTable::of_columns("t", columns).unwrap_err().to_string();
    assert_eq!(error(&[]), "t: the file is empty");
    assert_eq!(error(&[("a", Values::Numbers(&[0.0, f64::INFINITY]))]), "t:2:1: value \"inf\" is not finite");
    assert_eq!(
        error(&[("a", Values::Numbers(&[0.0])), ("a", Values::Numbers(&[0.0]))]),
        "t: two columns are called \"a\""
    );
    let other = error(&[("a", Values::Numbers(&[0.0])), ("b", Values::Texts(&[None, None]))]);
    assert!(other.contains("2 cells"), "{other}");
    let kept = Options { keep_identifiers: true, ..Options::default() };
    let y: Vec<f64> = (0..60).map(|k| f64::from(k % 2)).collect();
    let id: Vec<f64> = (0..60).map(f64::from).collect();
    let table = RawTable::of_columns("t", &[("id", Values::Numbers(&id)), ("label", Values::Numbers(&y))]).unwrap();
    assert_eq!(Preparation::fit(&table, &kept).unwrap().cols(), 1);
    assert!(Preparation::fit(&table, &Options::default()).is_err());
}

#[test]
fn sparse_rows_in_memory_are_what_a_file_of_them_is() {
    let file = svm("-1 1:0.5 3:2\n+1\n-1 3:-1\n").unwrap();
    let (labels, ptr, col, val) = ([-1.0, 1.0, -1.0], [0, 2, 2, 3], [0, 2, 2], [0.5, 2.0, -1.0]);
    let table = RawTable::of_sparse("f.svm", &labels, &ptr, &col, &val, 3).unwrap();
    assert_eq!(table, file);
    assert_eq!(RawTable::of_sparse("t", &[], &ptr, &col, &val, 3).unwrap().rows(), 3);
    let error = |labels: &[f64], ptr: &[usize], col: &[u32], val: &[f64], cols| {
        RawTable::of_sparse("t", labels, ptr, col, val, cols).unwrap_err().to_string()
    };
    for (got, want) in [
        (error(&[], &[0], &[], &[], 3), "the file is empty"),
        (error(&labels, &ptr, &col, &val, 2), "col"),
        (error(&labels, &ptr, &[2, 0, 2], &val, 3), "col"),
        (error(&labels, &[0, 2, 1, 3], &col, &val, 3), "ptr"),
        (error(&labels, &[0, 2, 9, 3], &col, &val, 3), "ptr"),
        (error(&labels, &[0, 2, 2, 4], &col, &val, 3), "ptr"),
        (error(&labels[1..], &ptr, &col, &val, 3), "labels"),
        (error(&labels, &ptr, &col, &[0.5, f64::NAN, 1.0], 3), "t:1: value \"NaN\" is not finite"),
    ] {
        assert!(got.contains(want), "{got}: {want}");
    }
}
