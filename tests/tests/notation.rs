//! How numbers and dates are written, and what is done where a file can be read in two ways.

use undercurve::data::{
    Blocks, ColumnValues, DataError, DataErrorKind, Dataset, DateOrder, Decimal, Doubt, Encoding, Format, Options,
    Preparation, RawTable, ReadOptions, Reading, Rows, Split, SplitBy, Target,
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
    for text in [
        "1970-02-30",
        "29/02/1971",
        "1/1/7",
        "3 Foo 1970",
        "3 Mar",
        "1970年3月",
        "1970-01-01 25:00",
        "1970-01-01 13:00 pm",
        "1970-13-01",
    ] {
        let table = read(&file(';', &[text, "1970-01-01"], &[]));
        assert!(table.first_text(0).is_some(), "{text}");
    }
}

/// What is said of the numbers says nothing of the dates, nor the reverse.
#[test]
fn a_decimal_mark_leaves_the_order_of_dates_alone() {
    let text = "d;x;y\n05/01/1970;1.243;0\n13/01/1970;2.117;1\n";
    let said = |decimal, dates| {
        let table = read_with(text, &ReadOptions { decimal, dates, ..ReadOptions::default() });
        [0, 1].map(|at| match table.column(at) {
            Some(ColumnValues::Numbers(values)) => values.to_vec(),
            _ => Vec::new(),
        })
    };
    assert_eq!(said(Some(Decimal::Comma), None), [vec![4.0, 12.0], vec![1243.0, 2117.0]]);
    assert_eq!(said(Some(Decimal::Comma), Some(DateOrder::Day)), [vec![4.0, 12.0], vec![1243.0, 2117.0]]);
    let text = "d;x;y\n05/01/1970;1.243;0\n01/13/1970;2.117;1\n";
    let table = read_with(
        text,
        &ReadOptions { decimal: Some(Decimal::Point), dates: Some(DateOrder::Month), ..ReadOptions::default() },
    );
    assert!(matches!(table.column(1), Some(ColumnValues::Numbers(values)) if values == [1.243, 2.117]));
}

#[test]
fn names_of_months() {
    let days = |cells: &[&str]| numbers(&file(';', cells, &[]));
    let same = [
        "4 Mar 1970",
        "04-Mar-70",
        "Mar 4, 1970",
        "March 4th, 1970",
        "4. März 1970",
        "4 mars 1970",
        "4 de marzo de 1970",
        "4 de março de 1970",
        "4 marca 1970",
        "4 mrt 1970",
        "1970年3月4日",
        "04/mar./1970",
        "4 Mar 1970 00:00 UTC",
        "1970-03-04, 00:00",
    ];
    assert_eq!(days(&same), Ok(vec![62.0; same.len()]));
    let each = ["3 juin 1970", "3 juil. 1970", "3 août 1970", "3 déc. 1970", "3 Oktober 1970", "3 paź 1970"];
    assert_eq!(days(&each), Ok(vec![153.0, 183.0, 214.0, 336.0, 275.0, 275.0]));
    // (Words about them are no dates.)
    assert!(read(&file(';', &["Mar 4, 1970", "Market 4"], &[])).first_text(0).is_some());
}

#[test]
fn years_of_two_digits() {
    let days = |cells: &[&str]| numbers(&file(';', cells, &[]));
    assert_eq!(days(&["04.03.70", "05.03.70"]), Ok(vec![62.0, 63.0]));
    // The year cannot be first where its place holds no day, or the month is in the middle of nothing.
    assert_eq!(days(&["03/14/70", "03/05/70"]), Ok(vec![72.0, 63.0]));
    assert_eq!(days(&["14/03/70", "05/03/00"]), Ok(vec![72.0, 11_021.0]));
    let ask = |cells: &[&str]| matches!(days(cells), Err(DataErrorKind::Doubtful { doubt: Doubt::ShortYear, .. }));
    assert!(ask(&["14/03/22", "05/03/22"]) && ask(&["70-03-04", "71-03-05"]) && ask(&["4.3.22", "14.3.22"]));
    for (order, wants) in [(DateOrder::Year, [63.0, 428.0]), (DateOrder::Day, [12_847.0, 13_212.0])] {
        let options = ReadOptions { dates: Some(order), ..ReadOptions::default() };
        let cells = if order == DateOrder::Year { ["70-03-05", "71-03-05"] } else { ["05-03-05", "05-03-06"] };
        assert_eq!(numbers_with(&file(';', &cells, &[]), &options), Ok(wants.to_vec()));
        // A model reads later files so.
        let table = read_with(&file(';', &cells, &[]), &options);
        let model = Preparation::fit(&table, &Options::default()).unwrap();
        assert_eq!(model.notations()[0].1.dates, Some(order));
        let again = ReadOptions { columns: model.notations().to_vec(), ..ReadOptions::default() };
        assert_eq!(numbers_with(&file(';', &cells, &[]), &again), Ok(wants.to_vec()));
    }
}

#[test]
fn lakhs_and_triangles() {
    assert_eq!(
        numbers(&file(';', &["₹4,83,741.11", "₹12,34,56,789", "₹7.25"], &[])),
        Ok(vec![483_741.11, 123_456_789.0, 7.25])
    );
    assert_eq!(numbers(&file(';', &["▲1,234.5", "△2", "3"], &[])), Ok(vec![-1234.5, -2.0, 3.0]));
}

/// A limit of measuring is a number and says that it is a limit.
#[test]
fn limits_of_measuring() {
    let text = "x;z;y\n<0,5;1;0\n1,25;<2;1\n≥ 9,5;3;1\n0,75;4;0\n";
    let table = read(text);
    assert_eq!(table.columns(), ["x", "z", "y", "x=(below)", "x=(above)", "z=(below)"]);
    let values = |table: &RawTable, at: usize| match table.column(at) {
        Some(ColumnValues::Numbers(values)) => values.to_vec(),
        _ => Vec::new(),
    };
    assert_eq!(values(&table, 0), [0.5, 1.25, 9.5, 0.75]);
    assert_eq!([values(&table, 3), values(&table, 4)], [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);
    assert!(table.readings().contains(&("x", Reading::Limits)));
    // The last column is the last of the file.
    let last = Options { label: Some("-1".into()), scale: Some(undercurve::data::Scale::None), ..Options::default() };
    let model = Preparation::fit(&table, &last).unwrap();
    assert_eq!(model.label_column(), Some("y"));
    assert_eq!(model.column_names(), ["x", "z", "x=(below)", "x=(above)", "z=(below)"]);
    // What says it goes with its column.
    let without = |options: Options| Preparation::fit(&table, &options).unwrap().column_names();
    assert_eq!(without(Options { ignore: vec!["x".into()], ..Options::default() }), ["z", "z=(below)"]);
    // Rows without limits, in a block or alone, are scored as ever.
    let mut blocks = Blocks::new(&model, &ReadOptions::default(), &[], "f.csv");
    let rows: Vec<RawTable> = [blocks.push(b"z;x\n2;1,5\n").unwrap(), blocks.finish().unwrap()]
        .into_iter()
        .flatten()
        .map(|block| block.table)
        .collect();
    assert_eq!(dense(&model.apply_unlabelled::<f64>(&rows[0]).unwrap()), [1.5, 2.0, 0.0, 0.0, 0.0]);
    // So is a row whose cell is one.
    let mut blocks = Blocks::new(&model, &ReadOptions::default(), &[], "f.csv");
    let rows = [blocks.push(b"z;x\n2;<0,5\n").unwrap(), blocks.finish().unwrap()].into_iter().flatten().next().unwrap();
    assert_eq!(dense(&model.apply_unlabelled::<f64>(&rows.table).unwrap()), [0.5, 2.0, 1.0, 0.0, 0.0]);
    // A limit where training had none is told.
    let plain = Preparation::fit(&read("x;y\n0,5;0\n1,25;1\n"), &Options::default()).unwrap();
    let error = plain.apply_unlabelled::<f64>(&read("x\n<0.5\n1.25\n")).unwrap_err();
    assert!(matches!(error.kind, DataErrorKind::Doubtful { doubt: Doubt::Limits, .. }), "{error}");
    // Limits alone are words, as are ages by brackets.
    let table = read("x;y\n<18;0\n>65;1\n<18;1\n");
    assert_eq!((table.columns().len(), table.first_text(0)), (2, Some((2, "<18"))));
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
        "1,24,56",
        "123,45,678",
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
    let known = ReadOptions { columns: preparation.known(), ..ReadOptions::default() };
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
    let options = Options { categorical: vec!["x".into()], ..Options::default() };
    let all = ["x=007", "x=01234", "x=1234", "x=7", "x=7.0", "x=90071992547409931", "x=90071992547409932"];
    let texts = ReadOptions { texts: vec!["x".into()], ..ReadOptions::default() };
    assert_eq!(Preparation::fit(&read_with(text, &texts), &options).unwrap().column_names(), all);
    // Where the reader did not know it, 7 and 7.0 are no two any more; codes are.
    let error = Preparation::fit(&read(text), &options).unwrap_err();
    assert!(matches!(error.kind, DataErrorKind::Doubtful { doubt: Doubt::Spelling, .. }), "{error}");
    let names = Preparation::fit(&read(&text.replace("7.0,1\n", "")), &options).unwrap().column_names();
    let rest: Vec<&str> = all.into_iter().filter(|name| *name != "x=7.0").collect();
    assert_eq!(names, rest);
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
    let (told, same) = (RawTable::parse_with(bytes, &latin, "f.csv").unwrap(), read("näme;x;y\nä;1,5;0\n€;2,5;1\n"));
    assert_eq!(told.columns(), same.columns());
    (0..3).for_each(|at| assert_eq!(told.column(at), same.column(at)));
    // A model reads later files likewise, and those that are UTF-8 as they are.
    let model = Preparation::fit(&told, &Options::default()).unwrap();
    assert_eq!(model.encoding(), Encoding::Latin1);
    assert_eq!(RawTable::parse_with(text.as_bytes(), &latin, "f.csv").unwrap().columns(), plain.columns());
    for bytes in [&bytes[..], "näme;x;y\nä;1,5;0\n€;2,5;1\n".as_bytes()] {
        let mut blocks = Blocks::new(&model, &ReadOptions::default(), &["näme".into()], "f.csv");
        let found: Vec<String> = [blocks.push(bytes).unwrap(), blocks.finish().unwrap()]
            .into_iter()
            .flatten()
            .flat_map(|b| b.kept)
            .collect();
        assert_eq!(found, ["ä", "€"]);
    }
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
    assert_eq!(table.words(3), [("?".to_string(), 1)]);
    let mended = read("x,z,w,y\n1,a,5,0\n\n007,c,7,1\n\n4,e,8,1\n5,f,9,1\n");
    (0..4).for_each(|at| assert_eq!((table.column(at), table.kind(at)), (mended.column(at), mended.kind(at))));
    assert_eq!((table.readings(), table.first_text(1)), (mended.readings(), mended.first_text(1)));
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

/// A gap in a column that becomes text later is a gap, and a word is a text.
#[test]
fn gaps_stay_gaps() {
    let table = read(&file(';', &["1.5", "", "NA", "x", "1.243", "?"], &[]));
    assert_eq!(table.missing(0), 1);
    let values: Vec<String> = table.values(0, 9).unwrap().into_iter().map(|value| value.0).collect();
    assert_eq!(values, ["1.243", "1.5", "?", "NA", "x"]);
}
