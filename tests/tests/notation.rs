//! How numbers and dates are written, and what is done where a file can be read in two ways.

use undercurve::data::{
    DataError, DataErrorKind, Dataset, DateOrder, Decimal, Doubt, Encoding, Format, Options, Preparation, RawTable,
    ReadOptions, Reading, Rows, Split, SplitBy, Target,
};

/// A table of dense rows, in their order.
fn dense(data: &Dataset<f64>) -> Vec<f64> {
    let Rows::Dense { data, .. } = data.rows() else { panic!("dense rows") };
    data.to_vec()
}

fn read_with(text: &str, options: &ReadOptions) -> RawTable {
    RawTable::parse_with(text.as_bytes(), &ReadOptions { format: Format::Csv, ..options.clone() }, "f.csv").unwrap()
}

fn read(text: &str) -> RawTable {
    read_with(text, &ReadOptions::default())
}

/// The numbers of column x, as a model that scales nothing sees them.
fn numbers(text: &str) -> Result<Vec<f64>, DataErrorKind> {
    numbers_with(text, &ReadOptions::default())
}

fn numbers_with(text: &str, options: &ReadOptions) -> Result<Vec<f64>, DataErrorKind> {
    let table = read_with(text, options);
    let options = Options {
        ignore: table.columns().into_iter().filter(|name| name != "x" && name != "y").collect(),
        scale: Some(undercurve::data::Scale::None),
        ..Options::default()
    };
    let preparation = Preparation::fit(&table, &options).map_err(|error| error.kind)?;
    let data = preparation.apply::<f64>(&table).map_err(|error| error.kind)?;
    assert_eq!(data.cols(), 1, "x is numbers");
    Ok(dense(&data))
}

/// A file of one column x, with labels, and another column that has these cells.
fn file(delimiter: char, x: &[&str], other: &[&str]) -> String {
    let d = delimiter;
    let quoted = |cell: &str| if cell.contains(d) { format!("\"{cell}\"") } else { cell.to_string() };
    let mut text = format!("x{d}z{d}y\n");
    for (at, cell) in x.iter().enumerate() {
        let other = other.get(at % other.len().max(1)).copied().unwrap_or("1");
        text += &format!("{}{d}{}{d}{}\n", quoted(cell), quoted(other), at % 2);
    }
    text
}

#[test]
fn numbers_as_people_write_them() {
    let same: &[(&[&str], &[f64])] = &[
        (&["1.243", "960", "12,5"], &[1243.0, 960.0, 12.5]),
        (&["1,243", "960", "12.5"], &[1243.0, 960.0, 12.5]),
        (&["6.241,63", "7,5"], &[6241.63, 7.5]),
        (&["1.000.000", "2.500"], &[1e6, 2500.0]),
        (&["1,000,000", "2,500"], &[1e6, 2500.0]),
        (&["$89.40", "$1,200.00", "0"], &[89.4, 1200.0, 0.0]),
        (&["89,40 €", "-1.200,00 €"], &[89.4, -1200.0]),
        (&["5.7%", "12.5 %", "0"], &[5.7, 12.5, 0.0]),
        (&["(0.50)", "1.25", "($3.00)"], &[-0.5, 1.25, -3.0]),
        (&["12.5-", "3.25"], &[-12.5, 3.25]),
        (&["1'243.50", "17"], &[1243.5, 17.0]),
        (&["1 243,50", "17"], &[1243.5, 17.0]),
        (&["1\u{a0}243", "17"], &[1243.0, 17.0]),
        (&["0.123", "1.243"], &[0.123, 1.243]),
        (&["0,123", "1,243"], &[0.123, 1.243]),
        (&["-1.5e3", "2E-2"], &[-1500.0, 0.02]),
        (&["\u{2212}4.5", "+3"], &[-4.5, 3.0]),
        (&["CHF 12.50", "CHF 7"], &[12.5, 7.0]),
    ];
    for delimiter in [';', ',', '\t', '|'] {
        for (cells, values) in same {
            let text = file(delimiter, cells, &[]);
            assert_eq!(numbers(&text).as_deref(), Ok(*values), "{text}");
        }
    }
}

#[test]
fn another_column_tells_the_decimal_mark() {
    let x = &["1.243", "960", "2.117"];
    for delimiter in [';', '\t', '|'] {
        assert_eq!(numbers(&file(delimiter, x, &["0,5"])), Ok(vec![1243.0, 960.0, 2117.0]));
        assert_eq!(numbers(&file(delimiter, x, &["0.5"])), Ok(vec![1.243, 960.0, 2.117]));
        // Nothing tells, or columns contradict each other.
        let open = |error| matches!(error, Err(DataErrorKind::Doubtful { doubt: Doubt::Decimal, .. }));
        assert!(open(numbers(&file(delimiter, x, &["5"]))));
        let said = |decimal| ReadOptions { decimal: Some(decimal), ..ReadOptions::default() };
        assert_eq!(numbers_with(&file(delimiter, x, &["5"]), &said(Decimal::Comma)), Ok(vec![1243.0, 960.0, 2117.0]));
        assert_eq!(numbers_with(&file(delimiter, x, &["5"]), &said(Decimal::Point)), Ok(vec![1.243, 960.0, 2.117]));
    }
    // Commas between the cells: a point is usual.
    assert_eq!(numbers(&file(',', x, &["5"])), Ok(vec![1.243, 960.0, 2.117]));
    assert_eq!(numbers(&file(',', &["1,243", "960"], &["5"])), Ok(vec![1243.0, 960.0]));
    assert_eq!(numbers(&file(',', &["1,243", "960"], &["0,5"])), Ok(vec![1.243, 960.0]));
    // A column that is left out asks nothing.
    let table = read(&file(';', &["5", "6"], x));
    let options = Options { ignore: vec!["z".into()], ..Options::default() };
    assert!(Preparation::fit(&table, &options).is_ok());
    assert!(Preparation::fit(&table, &Options::default()).is_err());
    assert_eq!(table.doubt(1).unwrap().line, 2);
}

#[test]
fn contradictions_are_told_and_not_guessed() {
    let doubt = |cells: &[&str]| match numbers(&file(';', cells, &[])) {
        Err(DataErrorKind::Doubtful { doubt, text, other, .. }) => (doubt, text, other),
        other => panic!("{cells:?}: {other:?}"),
    };
    let told = |doubt, text: &str, other: &str| (doubt, text.to_string(), other.to_string());
    assert_eq!(doubt(&["12.5", "7", "12,5"]), told(Doubt::TwoMarks, "12.5", "12,5"));
    assert_eq!(doubt(&["5.7%", "0.3"]), told(Doubt::Percent, "5.7%", "0.3"));
    assert_eq!(doubt(&["$5.1", "€4.2"]), told(Doubt::Currencies, "$5.1", "€4.2"));
    assert_eq!(doubt(&["03/04/2022", "05/06/2022"]), told(Doubt::DateOrder, "03/04/2022", "03/04/2022"));
    assert_eq!(doubt(&["23/04/2022", "05/26/2022"]), told(Doubt::TwoOrders, "23/04/2022", "05/26/2022"));
    // As a column of its own kind it is what is written.
    let table = read(&file(';', &["12.5", "7", "12,5", "7"], &[]));
    let options = Options { categorical: vec!["x".into()], ..Options::default() };
    let names = Preparation::fit(&table, &options).unwrap().column_names();
    assert_eq!(&names[..3], ["x=12,5", "x=12.5", "x=7"]);
}

#[test]
fn dates_in_their_orders() {
    let days = |cells: &[&str]| numbers(&file(';', cells, &[]));
    assert_eq!(days(&["1970-01-02", "1970/1/3", "4.1.1970"]), Ok(vec![1.0, 2.0, 3.0]));
    assert_eq!(days(&["01/02/1970", "01/13/1970"]), Ok(vec![1.0, 12.0]));
    assert_eq!(days(&["02/01/1970", "13/01/1970"]), Ok(vec![1.0, 12.0]));
    assert_eq!(days(&["02-01-1970", "13-01-1970"]), Ok(vec![1.0, 12.0]));
    assert_eq!(days(&["1970-01-02T12:00+02:00", "1970-01-02 12:00Z"]), Ok(vec![1.0 + 10.0 / 24.0, 1.5]));
    assert_eq!(days(&["1/13/1970 1:30 PM", "1/13/1970 12:00 am"]), Ok(vec![12.0 + 13.5 / 24.0, 12.0]));
    assert_eq!(
        days(&["1970-01-02 00:00:00-0530", "1970-01-02 00:00:00+05"]),
        Ok(vec![1.0 + 5.5 / 24.0, 1.0 - 5.0 / 24.0])
    );
    for (order, first) in [(DateOrder::Day, 31.0), (DateOrder::Month, 1.0)] {
        let options = ReadOptions { dates: Some(order), ..ReadOptions::default() };
        let found = numbers_with(&file(';', &["01/02/1970", "03/03/1970"], &[]), &options).unwrap();
        assert_eq!(found[0], first);
    }
    for text in ["1970-02-30", "29/02/1971", "1/1/70", "1970-01-01 25:00", "1970-01-01 13:00 pm", "1970-13-01"] {
        let table = read(&file(';', &[text, "1970-01-01"], &[]));
        assert!(table.first_text(0).is_some(), "{text}");
    }
}

#[test]
fn what_is_no_number_stays_text() {
    for text in [
        "12.34.56",
        "1,2,3",
        "1.23.456",
        "01.234.567",
        "1 2",
        "12 34",
        "1,24,567",
        "--5",
        "(5",
        "5)",
        "%",
        "$",
        "5%%",
        "$$5",
        "5USDX",
        "A12",
        "1.5.2",
        "1_000",
        "0x10",
        "1.243,5,1",
        "1e5.5",
        "- -5",
        "12:30",
        "$5%",
    ] {
        let table = read(&file(';', &[text, "7"], &[]));
        assert!(table.first_text(0).is_some(), "{text}");
    }
}

#[test]
fn a_model_keeps_how_its_columns_are_written() {
    let train = file(';', &["1.243", "960", "12,5", "7"], &["5,5"]);
    let preparation = Preparation::fit(&read(&train), &Options::default()).unwrap();
    assert_eq!(preparation.notations()[0].1.decimal, Some(Decimal::Comma));
    let known = ReadOptions { columns: preparation.notations().to_vec(), ..ReadOptions::default() };
    let x = |text: &str| preparation.apply::<f64>(&read_with(text, &known)).map(|data| dense(&data)[0]);
    // Alone it says nothing, and means what it meant in training.
    let alone = x(&file(';', &["1.243", "960"], &["5,5"])).unwrap();
    assert_eq!(alone, x(&file(';', &["1243", "960"], &["5,5"])).unwrap());
    let error = x(&file(';', &["12.5", "960"], &["5,5"])).unwrap_err();
    assert!(matches!(error.kind, DataErrorKind::Doubtful { doubt: Doubt::OtherMark, .. }), "{error}");
    assert!(error.to_string().contains("12.5"));
    // Shares with signs are not shares without.
    let train = read(&file(',', &["5.7%", "12%", "7%", "8%"], &["5.5"]));
    let preparation = Preparation::fit(&train, &Options::default()).unwrap();
    let error = preparation.apply::<f64>(&read(&file(',', &["0.057", "1"], &["5.5"]))).unwrap_err();
    assert!(matches!(error.kind, DataErrorKind::Doubtful { doubt: Doubt::Percent, .. }), "{error}");
    // Ordinary files leave nothing to keep.
    let plain = Preparation::fit(&read("x,y\n1.5,0\n2,1\n"), &Options::default()).unwrap();
    assert!(plain.notations().is_empty());
}

#[test]
fn codes_keep_their_zeros_as_categories() {
    let text = "x,y\n01234,0\n1234,1\n007,0\n7,1\n90071992547409931,0\n90071992547409932,1\n7.0,1\n";
    let table = read(text);
    let options = Options { categorical: vec!["x".into()], ..Options::default() };
    let names = Preparation::fit(&table, &options).unwrap().column_names();
    let all = ["x=007", "x=01234", "x=1234", "x=7", "x=90071992547409931", "x=90071992547409932"];
    assert_eq!(names, all);
    // The same where the reader knows it.
    let texts = ReadOptions { texts: vec!["x".into()], ..ReadOptions::default() };
    assert_eq!(Preparation::fit(&read_with(text, &texts), &options).unwrap().column_names(), all);
}

#[test]
fn readings_name_each_peculiarity() {
    let table = read(&file(';', &["1.243 €", "960 €", "12,5 €"], &["5,5%"]));
    let found = table.readings();
    assert_eq!(
        found,
        [
            ("x", Reading::Commas),
            ("x", Reading::Thousands),
            ("x", Reading::Currency),
            ("z", Reading::Commas),
            ("z", Reading::Percent)
        ]
    );
}

#[test]
fn encodings_and_separators() {
    let text = "näme;x;y\nä;1,5;0\n€;2,5;1\n𝄞;3,5;1\n";
    let plain = read(text);
    let utf16 = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        core::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(unit).collect()
    };
    for bytes in [utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)] {
        assert_eq!(RawTable::parse(&bytes, Format::Csv, "f.csv").unwrap(), plain);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, &bytes).unwrap();
        assert_eq!(RawTable::parse(&packed.finish().unwrap(), Format::Csv, "f.csv").unwrap(), plain);
        // One byte at a time, and cut off in the middle of a character.
        struct Slow<'a>(&'a [u8]);
        impl std::io::Read for Slow<'_> {
            fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
                let count = out.len().min(1).min(self.0.len());
                out[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        assert_eq!(RawTable::read(Slow(&bytes), &ReadOptions::default(), "f.csv").unwrap(), plain);
        (0..bytes.len()).for_each(|cut| drop(RawTable::parse(&bytes[..cut], Format::Csv, "f.csv")));
    }
    let latin = ReadOptions { encoding: Encoding::Latin1, format: Format::Csv, ..ReadOptions::default() };
    let bytes = b"n\xe4me;x;y\n\xe4;1,5;0\n\x80;2,5;1\n";
    assert_eq!(RawTable::parse_with(bytes, &latin, "f.csv").unwrap(), read("näme;x;y\nä;1,5;0\n€;2,5;1\n"));
    assert_eq!(RawTable::parse(bytes, Format::Csv, "f.csv").unwrap_err().kind, DataErrorKind::Encoding);
    // A first line that names what is between the cells; lines count on.
    for end in ["\n", "\r\n"] {
        let table = read(&format!("sep=;{end}x;y{end}a,b;0{end}c,d;1{end}"));
        assert_eq!((table.columns(), table.first_text(0)), (vec!["x".to_string(), "y".into()], Some((3, "a,b"))));
    }
    assert_eq!(read("x|y\n1,5|0\n2,5|1\n").columns(), ["x", "y"]);
    let error = RawTable::parse(b"sep=;\nx;y\n1;0\n2\n", Format::Csv, "f.csv").unwrap_err();
    assert_eq!(error.line, 4, "{error}");
}

#[test]
fn rows_without_a_label_are_left_out() {
    let mut table = read("x,z,w,y\n1,a,5,0\n2,b,6,\n007,c,7,1\n8,d,t,?\n4,e,8,1\n5,f,9,1\n");
    assert_eq!(table.leave_out_missing("y"), 2);
    assert_eq!(table, read("x,z,w,y\n1,a,5,0\n\n007,c,7,1\n\n4,e,8,1\n5,f,9,1\n"));
    // A text among numbers that stays is refused as ever.
    let mut table = read("w,y\n5,0\n6,\nt,1\n8,0\n9,1\n");
    assert_eq!(table.leave_out_missing("y"), 1);
    let error = Preparation::fit(&table, &Options::default()).unwrap_err();
    assert!(matches!(error, DataError { line: 4, kind: DataErrorKind::NotANumber { .. }, .. }), "{error}");
    assert_eq!(table.leave_out_missing("nothing"), 0);
    let mut none = read("x,y\n1,\n2,\n");
    assert_eq!((none.leave_out_missing("y"), none.rows()), (0, 2));
}

/// Weights, orders and labels that are numbers ask what columns of features do.
#[test]
fn every_column_that_is_read_as_numbers_asks() {
    let table = read("x;w;d;y\n1;1.243;03/04/2022;1.5\n2;2.117;05/06/2022;2\n3;4;01/02/2022;3\n");
    let doubt = |options: Options| match undercurve::data::prepare::<f64>(&table, &options, Split::new(0.5, 1)) {
        Err(DataError { kind: DataErrorKind::Doubtful { doubt, column, .. }, .. }) => (doubt, column),
        other => panic!("{other:?}"),
    };
    let order = Options { target: Target::Values, split_by: Some(SplitBy::Order("d".into())), ..Options::default() };
    assert_eq!(doubt(order), (Doubt::DateOrder, "d".to_string()));
    let table = read("x;w;y\n1;1.243;0\n2;2.117;1\n3;4;1\n4;5;0\n");
    let weight = Options { weight: Some("w".into()), ..Options::default() };
    let error = Preparation::fit(&table, &weight).unwrap_err();
    assert!(matches!(error.kind, DataErrorKind::Doubtful { doubt: Doubt::Decimal, .. }), "{error}");
    let label = Options { label: Some("w".into()), target: Target::Values, ..Options::default() };
    let error = Preparation::fit(&table, &label).unwrap_err();
    assert!(matches!(error.kind, DataErrorKind::Doubtful { doubt: Doubt::Decimal, .. }), "{error}");
}

/// A gap in a column that becomes text later is a gap.
#[test]
fn gaps_stay_gaps() {
    let table = read(&file(';', &["1.5", "", "NA", "x", "1.243", "?"], &[]));
    assert_eq!(table.missing(0), 3);
    assert_eq!(table.values(0, 9).unwrap().len(), 3);
}
