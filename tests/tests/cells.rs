//! What a cell, a label and a category says: no word is lost, no two texts are one, and what a model was trained on is what it scores.

use undercurve::checkpoint::{SavedModel, open, seal};
use undercurve::data::{
    Batches, Blocks, ColumnValues, DataErrorKind, Doubt, Format, Kind, Missing, Options, Preparation, RawTable,
    ReadOptions, Reading, Rows, Scale, Target, Values, check_label, days_of_nanos,
};

/// Words that can stand for a missing value.
const WORDS: [&str; 10] = ["None", "NA", "-", "?", "null", "N/A", "nan", "#N/A", "none", "NULL"];

/// Pairs that are one number.
const PAIRS: [[&str; 2]; 20] = [
    ["1.10", "1.1"],
    ["1E5", "100000"],
    ["1", "1.0"],
    ["01", "1"],
    ["+1", "1"],
    ["1e0", "1"],
    [".5", "0.5"],
    ["5.", "5"],
    ["0", "-0"],
    ["0.0", "0"],
    ["1e2", "100"],
    ["2.50", "2.5"],
    ["007", "7"],
    ["1e-1", "0.1"],
    ["0.1", "0.10000000000000001"],
    ["9007199254740992", "9007199254740993"],
    ["1E+3", "1000"],
    ["12.0", "12"],
    ["3.140", "3.14"],
    ["100", "1E2"],
];

fn read_with(text: &str, options: &ReadOptions) -> RawTable {
    RawTable::parse_with(text.as_bytes(), &ReadOptions { format: Format::Csv, ..options.clone() }, "f.csv").unwrap()
}

fn read(text: &str) -> RawTable {
    read_with(text, &ReadOptions::default())
}

fn options() -> Options {
    Options { missing: Missing::Impute, scale: Some(Scale::None), ..Options::default() }
}

/// The encoded columns of a table, by name.
fn names(table: &RawTable) -> Vec<String> {
    Preparation::fit(table, &options()).unwrap().column_names()
}

fn values(of: &Preparation, table: &RawTable) -> Result<Vec<f64>, DataErrorKind> {
    let data = of.apply_unlabelled::<f64>(table).map_err(|error| error.kind)?;
    let Rows::Dense { data, .. } = data.rows() else { panic!("dense rows") };
    Ok(data.to_vec())
}

/// Rows of a column x, with labels.
fn rows(cells: &[&str]) -> String {
    cells.iter().enumerate().fold("x,y\n".to_string(), |text, (at, cell)| text + &format!("{cell},{}\n", at % 2))
}

#[test]
fn a_word_is_a_text_among_texts_and_missing_among_numbers() {
    for word in WORDS {
        for gap in ["red", ""] {
            let table = read(&rows(&["red", word, "blue", gap, word, "red"]));
            let found = names(&table);
            assert!(found.contains(&format!("x={word}")), "{word}: {found:?}");
            assert_eq!(table.missing(0), usize::from(gap.is_empty()), "{word}");
            assert_eq!(table.words(0), []);
            // Dates, times of the day, truths and numbers.
            for cells in [["1.5", "2"], ["2024-01-05", "2024-02-05"], ["10:30", "11:45"], ["TRUE", "FALSE"]] {
                let table =
                    read(&rows(&[cells[0], word, cells[1], gap.trim_matches(char::is_alphabetic), word, cells[0]]));
                assert_eq!(table.missing(0), 3, "{word} beside {cells:?}");
                assert_eq!(table.words(0), [(word.to_string(), 2)]);
            }
        }
        // Beside other words and empty cells alone it is what it is; alone it says nothing.
        let beside = read(&rows(&[word, "", word, "", word, ""]));
        assert_eq!(beside.values(0, 5).unwrap(), [(word.to_string(), 3)]);
        assert_eq!(read(&rows(&[word, word, word])).missing(0), 3);
        // A frame has nulls, and no words.
        let cells = [Some(word), Some("red"), None, Some(word)];
        let y = [0.0, 1.0, 0.0, 1.0];
        let frame = RawTable::of_columns("f", &[("x", Values::Texts(&cells)), ("y", Values::Numbers(&y))]).unwrap();
        assert_eq!((frame.missing(0), frame.kind(0)), (1, Kind::Text));
        assert_eq!(frame.values(0, 5).unwrap().len(), 2);
    }
}

#[test]
fn what_stands_for_missing_is_said_by_column_and_instead_of_the_usual_words() {
    let na = |na: &[&str]| ReadOptions { na: na.iter().map(ToString::to_string).collect(), ..ReadOptions::default() };
    let text = "x,z,y\n1,red,0\n99,NA,1\n99.0,gone,0\nNA,gone,1\n5,red,0\n";
    let missing = |options: &ReadOptions| {
        let table = read_with(text, options);
        [0, 1].map(|at| (table.missing(at), matches!(table.column(at), Some(ColumnValues::Numbers(_)))))
    };
    assert_eq!(missing(&na(&[])), [(1, true), (0, false)]);
    // A number is one however it is written, in its column alone.
    assert_eq!(missing(&na(&["x=99"])), [(3, true), (0, false)]);
    assert_eq!(missing(&na(&["z=99"])), [(1, true), (0, false)]);
    assert_eq!(missing(&na(&["gone"])), [(1, true), (2, false)]);
    assert_eq!(missing(&na(&["z=NA"])), [(1, true), (1, false)]);
    // In place of the usual words.
    assert_eq!(missing(&na(&["="])), [(0, false), (0, false)]);
    assert_eq!(missing(&na(&["x="])), [(0, false), (0, false)]);
    assert_eq!(missing(&na(&["x=", "x=NA"])), [(1, true), (0, false)]);
    // A model has it, and takes it for missing in files and in frames.
    let table = read_with(text, &na(&["x=99", "gone"]));
    let of = Preparation::fit(&table, &options()).unwrap();
    let z = [Some("red"), Some("NA"), Some("gone"), Some("gone"), Some("red")];
    let x = [1.0, 99.0, 99.0, f64::NAN, 5.0];
    let frame = RawTable::of_columns("f", &[("x", Values::Numbers(&x)), ("z", Values::Texts(&z))]).unwrap();
    assert_eq!(values(&of, &frame), values(&of, &table));
    let mut blocks = Blocks::new(&of, &ReadOptions::default(), &[], "f.csv");
    let block = blocks.push(text.as_bytes()).unwrap().or(blocks.finish().unwrap()).unwrap();
    assert_eq!(values(&of, &block.table), values(&of, &table));
}

#[test]
fn a_label_keeps_its_words() {
    for word in WORDS {
        for gap in [false, true] {
            let mut table = read(&{
                let label =
                    |k: usize| if gap && k == 7 { "" } else { [word, "Bleeding"][usize::from(k.is_multiple_of(3))] };
                (0..30).fold("x,y\n".to_string(), |text, k| text + &format!("{},{}\n", k * k % 11, label(k)))
            });
            let labelled = Options { label: Some("y".into()), ..options() };
            assert_eq!(table.leave_out_missing("y"), usize::from(gap), "{word}");
            let of = Preparation::fit(&table, &labelled).unwrap();
            assert_eq!((of.positive(), of.negative()), (Some("Bleeding"), Some(word)));
            let classes = Options { target: Target::Classes, ..labelled };
            assert!(Preparation::fit(&table, &classes).unwrap().classes().contains(&word.to_string()));
        }
        // Among numbers it asks, unless it is rare; both answers hold.
        let text = |rare: bool| {
            let label = |k: usize| if k == 4 || (!rare && k % 9 == 4) { word.to_string() } else { (k % 2).to_string() };
            (0..60).fold("x,y\n".to_string(), |text, k| text + &format!("{},{}\n", k * k % 11, label(k)))
        };
        let labelled = Options { label: Some("y".into()), target: Target::Classes, ..options() };
        assert!(check_label(&read(&text(true)), "y").is_ok());
        let error = Preparation::fit(&read(&text(false)), &labelled).unwrap_err().kind;
        let DataErrorKind::LabelWord { word: found, rows, .. } = error else { panic!("{error:?}") };
        assert_eq!((found.as_str(), rows), (word, 7));
        let said = |na: &str| read_with(&text(false), &ReadOptions { na: vec![na.into()], ..ReadOptions::default() });
        let mut left = said(word);
        assert!(check_label(&left, "y").is_ok());
        assert_eq!(left.leave_out_missing("y"), 7);
        let mut all = ["0", "1", word].map(String::from);
        all.sort_unstable();
        assert_eq!(Preparation::fit(&said("y="), &labelled).unwrap().classes(), all);
    }
}

#[test]
fn equal_numbers_are_no_equal_texts() {
    for [one, other] in PAIRS {
        // As categories: among texts, where they are named as such, and in a frame.
        let among = names(&read(&rows(&[one, other, "red", "blue", "green", "red"])));
        assert!([one, other].iter().all(|text| among.contains(&format!("x={text}"))), "{among:?}");
        let texts = ReadOptions { texts: vec!["x".into()], ..ReadOptions::default() };
        let named = names(&read_with(&rows(&[one, other, "3", one, other, "4"]), &texts));
        assert!([one, other].iter().all(|text| named.contains(&format!("x={text}"))), "{named:?}");
        let (cells, y) = ([Some(one), Some(other), Some(one), Some(other)], [0.0, 1.0, 1.0, 0.0]);
        let frame = RawTable::of_columns("f", &[("x", Values::Texts(&cells)), ("y", Values::Numbers(&y))]).unwrap();
        assert_eq!(names(&frame).len(), 2);
        // Where they were read as numbers, they are not made categories; those that a number cannot hold are kept.
        let late = Preparation::fit(
            &read(&rows(&[one, other, "3", one, other, "4"])),
            &Options { categorical: vec!["x".into()], ..options() },
        );
        match late {
            Ok(of) => assert_eq!(of.column_names().len(), 4, "{one} {other}: {:?}", of.column_names()),
            Err(error) => {
                let is = matches!(error.kind, DataErrorKind::Doubtful { doubt: Doubt::Spelling, .. });
                assert!(is, "{one} {other}: {error}");
            }
        }
        // As labels: asked about, and two classes as texts.
        let label = |k: usize| [one, other, "3"][k % 3];
        let text = (0..30).fold("x,y\n".to_string(), |text, k| text + &format!("{},{}\n", k * k % 11, label(k)));
        let labelled = Options { label: Some("y".into()), target: Target::Classes, ..options() };
        let error = Preparation::fit(&read(&text), &labelled).unwrap_err();
        assert!(matches!(error.kind, DataErrorKind::LabelTwice { .. }), "{one} {other}: {error}");
        let texts = ReadOptions { texts: vec!["y".into()], ..ReadOptions::default() };
        let of = Preparation::fit(&read_with(&text, &texts), &labelled).unwrap();
        assert_eq!(of.classes().len(), 3, "{one} {other}");
        assert_eq!(of.apply::<f64>(&read_with(&text, &texts)).unwrap().class_sizes(), [10, 10, 10]);
        // Of a file where one spelling is all there is, numbers are numbers.
        let plain =
            (0..30).fold("x,y\n".to_string(), |text, k| text + &format!("{},{}\n", k * k % 11, ["0", "1.0"][k % 2]));
        assert_eq!(Preparation::fit(&read(&plain), &options()).unwrap().positive(), Some("1"));
    }
}

#[test]
fn labels_that_differ_by_case_ask() {
    let text = |labels: &[&str]| {
        (0..40).fold("x,y\n".to_string(), |text, k| text + &format!("{},{}\n", k * k % 11, labels[k % labels.len()]))
    };
    let with =
        |positive: Option<&str>| Options { label: Some("y".into()), positive: positive.map(Into::into), ..options() };
    let fit = |labels: &[&str], positive| Preparation::fit(&read(&text(labels)), &with(positive));
    let all = ["Yes", "no", "yes", "YES"];
    let DataErrorKind::LabelSpellings { labels } = fit(&all, Some("Yes")).unwrap_err().kind else { panic!() };
    assert_eq!(labels, ["Yes", "YES", "yes"]);
    let of = fit(&all, Some("Yes,yes,YES")).unwrap();
    assert_eq!((of.positive(), of.negative()), (Some("Yes,yes,YES"), Some("no")));
    let table = read(&text(&all));
    assert_eq!(of.apply::<f64>(&table).unwrap().positives(), 30);
    let again = Preparation::from_bytes(&of.to_bytes()).unwrap();
    assert_eq!((&again, again.apply::<f64>(&table).unwrap().positives()), (&of, 30));
    // Two labels, and no third: told apart where one is named.
    assert!(matches!(fit(&["a", "A"], None).unwrap_err().kind, DataErrorKind::LabelSpellings { .. }));
    assert_eq!(fit(&["a", "A"], Some("a")).unwrap().negative(), Some("A"));
    // A label with a comma is one; several need not be alike.
    assert_eq!(fit(&["\"late, paid\"", "paid"], Some("late, paid")).unwrap().negative(), Some("paid"));
    let several = fit(&["a", "b", "c", "d"], Some("a,c")).unwrap();
    assert_eq!(
        (several.apply::<f64>(&read(&text(&["a", "b", "c", "d"]))).unwrap().positives(), several.negative()),
        (20, None)
    );
    assert!(
        matches!(fit(&["a", "b"], Some("a,z")).unwrap_err().kind, DataErrorKind::PositiveAbsent { positive, .. } if positive == "z")
    );
    assert!(matches!(fit(&["a", "b"], Some("a,b")).unwrap_err().kind, DataErrorKind::OneClass { .. }));
    assert_eq!(fit(&["2", "7", "9"], Some("7,9.0")).unwrap().negative(), Some("2"));
}

/// A column x of these values, in memory.
fn frame(x: Values<'_>) -> RawTable {
    let rows = match x {
        Values::Numbers(of) | Values::Of(_, of) => of.len(),
        Values::Texts(of) => of.len(),
        _ => 0,
    };
    let y: Vec<f64> = (0..rows).map(|k| (k % 2) as f64).collect();
    RawTable::of_columns("f", &[("x", x), ("y", Values::Numbers(&y))]).unwrap()
}

#[test]
fn a_model_takes_what_it_was_trained_on() {
    let numbers = [0.0, 1.0, 1.0, 0.0];
    let tables = [
        (Kind::Number, frame(Values::Numbers(&[1.5, 2.5, 0.5, 3.0])), rows(&["1.5", "2.5", "0.5", "3"])),
        (
            Kind::Date,
            frame(Values::Of(Kind::Date, &numbers)),
            rows(&["1970-01-01", "1970-01-02", "02.01.1970", "1970-01-01"]),
        ),
        (
            Kind::Time,
            frame(Values::Of(Kind::Time, &[0.5, 0.75, 0.25, 0.0])),
            rows(&["12:00", "6:00 PM", "06:00", "00:00"]),
        ),
        (
            Kind::Duration,
            frame(Values::Of(Kind::Duration, &[1.25, 2.0, 0.5, 0.25])),
            rows(&["30:00", "48:00", "12:00", "6:00"]),
        ),
        (Kind::Truth, frame(Values::Of(Kind::Truth, &numbers)), rows(&["False", "True", "TRUE", "false"])),
    ];
    for (kind, of_frame, text) in &tables {
        let file = read(text);
        assert_eq!((of_frame.kind(0), file.kind(0)), (*kind, *kind));
        let models = [of_frame, &file].map(|table| Preparation::fit(table, &options()).unwrap());
        for (of, table) in models.iter().flat_map(|of| [(of, of_frame), (of, &file)]) {
            let got = values(of, table).unwrap();
            assert_eq!(got, values(&models[0], of_frame).unwrap(), "{kind:?}");
            assert_eq!(of.cols(), 1);
            // What was saved says it, too.
            let saved = SavedModel::from_bytes(&SavedModel::new(of.clone(), 8, Vec::new()).to_bytes()).unwrap();
            assert_eq!(&saved.preparation, of);
        }
        for (other, _, text) in &tables {
            let got = values(&models[0], &read(text));
            let fits = kind == other || matches!((kind, other), (Kind::Number, Kind::Truth));
            match got {
                Ok(_) => assert!(fits, "{kind:?} takes {other:?}"),
                Err(DataErrorKind::OtherKind { had, got, .. }) => assert_eq!((had, got), (*kind, *other)),
                Err(other) => panic!("{kind:?}: {other:?}"),
            }
        }
        // Nothing at all is of any kind.
        assert!(values(&models[0], &read(&rows(&["", "NA", ""]))).is_ok());
    }
    // Ones and zeros are truths, and other numbers none.
    let truth = Preparation::fit(&tables[4].1, &options()).unwrap();
    assert!(values(&truth, &frame(Values::Numbers(&numbers))).is_ok());
    assert!(values(&truth, &frame(Values::Numbers(&[0.0, 2.0]))).is_err());
    // A clock that alone would be a time of the day is the duration that it was in training.
    let of = Preparation::fit(&tables[3].1, &options()).unwrap();
    let alone = read_with(&rows(&["12:00", "6:00"]), &ReadOptions { columns: of.known(), ..ReadOptions::default() });
    assert_eq!(alone.kind(0), Kind::Duration);
}

#[test]
fn categories_are_what_they_are_in_training() {
    let fit =
        |table: &RawTable| Preparation::fit(table, &Options { categorical: vec!["x".into()], ..options() }).unwrap();
    let again = |of: &Preparation, text: &str| {
        let known = ReadOptions { texts: of.texts(), columns: of.known(), ..ReadOptions::default() };
        values(of, &read_with(text, &known))
    };
    // Numbers as categories: by value, however a file spells them.
    let level = fit(&frame(Values::Numbers(&[1.0, 2.0, 1.0, 2.5])));
    let want = [0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(again(&level, "x,y\n2.0,0\n2.50,1\n").unwrap(), want);
    assert_eq!(values(&level, &frame(Values::Of(Kind::Level, &[2.0, 2.5]))).unwrap(), want);
    assert_eq!(values(&level, &frame(Values::Texts(&[Some("2"), Some("2.5")]))).unwrap(), want);
    // Texts as categories: to the byte in a file, and the one that a number can be in a frame.
    let text = ReadOptions { texts: vec!["x".into()], ..ReadOptions::default() };
    let codes = fit(&read_with(&rows(&["01", "2.0", "01", "3"]), &text));
    assert_eq!(again(&codes, "x,y\n1,0\n2.0,1\n").unwrap(), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(values(&codes, &frame(Values::Numbers(&[1.0, 2.0]))).unwrap(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let both = fit(&read_with(&rows(&["01", "1", "3", "1E0"]), &text));
    let error = values(&both, &frame(Values::Numbers(&[1.0, 3.0]))).unwrap_err();
    assert!(matches!(error, DataErrorKind::Doubtful { doubt: Doubt::Category, .. }), "{error:?}");
    // Blanks: a frame keeps them, a file loses them.
    let blanks = fit(&frame(Values::Texts(&[Some(" a"), Some("b"), Some(" a"), Some("c ")])));
    assert_eq!(again(&blanks, "x,y\n a,0\nc ,1\n").unwrap(), [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(
        values(&blanks, &frame(Values::Texts(&[Some("a"), Some("b")]))).unwrap(),
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    );
    let trimmed = fit(&read(&rows(&[" a", "b", "a ", "c"])));
    assert_eq!(
        values(&trimmed, &frame(Values::Texts(&[Some(" a"), Some("c ")]))).unwrap(),
        [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    );
    let twice = fit(&frame(Values::Texts(&[Some(" a"), Some("a"), Some("b"), Some("b")])));
    assert!(matches!(
        again(&twice, "x,y\na,0\nb,1\n").unwrap_err(),
        DataErrorKind::Doubtful { doubt: Doubt::Category, .. }
    ));
    // An empty text is a category of a frame, and an empty cell in a file.
    let empty = fit(&frame(Values::Texts(&[Some(""), Some("a"), Some("b"), Some("")])));
    assert_eq!(again(&empty, "x,y\n,0\nb,1\n").unwrap(), [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    // Dates as categories are no texts of dates.
    let days = fit(&frame(Values::Of(Kind::Date, &[1.0, 2.0, 1.0, 2.0])));
    assert!(matches!(again(&days, "x,y\n1970-01-02,0\n").unwrap_err(), DataErrorKind::OtherKind { .. }));
}

#[test]
fn whole_numbers_that_a_float_has_not_are_kept_apart() {
    let (x, exact) =
        ([9_007_199_254_740_992.0; 4], [(1, "9007199254740993".to_string()), (3, "9007199254740993".to_string())]);
    let y = [0.0, 1.0, 1.0, 0.0];
    let table = RawTable::of_columns("f", &[("x", Values::Whole(&x, &exact)), ("y", Values::Numbers(&y))]).unwrap();
    assert_eq!(table.readings(), [("x", Reading::Rounded)]);
    let of = Preparation::fit(&table, &Options { categorical: vec!["x".into()], ..options() }).unwrap();
    assert_eq!(of.column_names(), ["x=9007199254740992", "x=9007199254740993"]);
    let error = Preparation::fit(&table, &Options { label: Some("x".into()), ..options() }).unwrap_err();
    assert!(matches!(error.kind, DataErrorKind::LabelTwice { .. }), "{error}");
}

#[test]
fn columns_come_in_batches() {
    let columns = |from: usize| {
        let x: Vec<f64> = (from..from + 3).map(|k| k as f64 / 2.0).collect();
        let text: Vec<Option<String>> = (from..from + 3).map(|k| (k % 4 > 0).then(|| format!("t{}", k % 5))).collect();
        (x, text)
    };
    let mut batches = Batches::new("f", vec!["x".into(), "t".into(), "n".into()], &ReadOptions::default()).unwrap();
    for from in [0, 3, 6] {
        let (x, text) = columns(from);
        batches.push(&[Values::Numbers(&x), Values::Owned(&text), Values::Unreadable(3, "lists")]).unwrap();
    }
    let found = batches.finish().unwrap();
    let (x, text): (Vec<_>, Vec<_>) = [0, 3, 6].map(columns).into_iter().unzip();
    let (x, text) = (x.concat(), text.concat());
    let columns = [("x", Values::Numbers(&x)), ("t", Values::Owned(&text)), ("n", Values::Unreadable(9, "lists"))];
    assert_eq!(found, RawTable::of_columns("f", &columns).unwrap());
    // What cannot be read is refused where it is used, and left out where that is said.
    let labelled = Options { label: Some("x".into()), target: Target::Values, ..options() };
    let error = Preparation::fit(&found, &labelled).unwrap_err();
    assert!(matches!(error.kind, DataErrorKind::Doubtful { doubt: Doubt::Unreadable, .. }), "{error}");
    assert!(Preparation::fit(&found, &Options { ignore: vec!["n".into()], ..labelled }).is_ok());
    assert_eq!(found.behind(100).doubt(2).unwrap().line, 101);
    assert_eq!(days_of_nanos(-43_200_000_000_000), -0.5);
}

/// Files from before kinds were kept have the words as missing everywhere, trimmed texts and equal numbers as one category.
#[test]
fn old_files_mean_what_they_meant() {
    let text = "x,z,y\n1,red,0\n2,blue,1\nNA,red,0\n1,2.5,1\n";
    let new = Preparation::fit(&read(text), &options()).unwrap();
    let kind = undercurve::checkpoint::Kind::Preparation;
    let payload = open(kind, &new.to_bytes()).unwrap().to_vec();
    // (Behind no products: the kinds of two columns and the label, with their number before them and a byte behind.)
    let old = Preparation::from_bytes(&seal(kind, &payload[..payload.len() - 6])).unwrap();
    assert!(["NA", "None", "?", "null"].iter().all(|word| old.na().contains(&word.to_string())));
    let read_again = |text: &str| {
        let known =
            ReadOptions { na: old.na().to_vec(), texts: old.texts(), columns: old.known(), ..ReadOptions::default() };
        values(&old, &read_with(text, &known)).unwrap()
    };
    let plain = read_again("x,z,y\n5,,0\n5,2.5,0\n");
    assert_eq!(read_again("x,z,y\n5,NA,0\n5,2.50,0\n"), plain);
    let cells = [Some("NA"), Some(" 2.5")];
    let x = [5.0, 5.0];
    let frame = RawTable::of_columns("f", &[("x", Values::Numbers(&x)), ("z", Values::Texts(&cells))]).unwrap();
    assert_eq!(values(&old, &frame).unwrap(), plain);
    // Saved again it is what it was.
    assert_eq!(Preparation::from_bytes(&old.to_bytes()).unwrap(), old);
}

/// Tables as they are published.
#[test]
fn tables_of_every_shape_are_read() {
    let of =
        |text: &str, options: &ReadOptions, name: &str| RawTable::parse_with(text.as_bytes(), options, name).unwrap();
    let plain = ReadOptions::default();
    let numbers = |table: &RawTable, at: usize| match table.column(at) {
        Some(ColumnValues::Numbers(values)) => values.to_vec(),
        other => panic!("{other:?}"),
    };
    // A name twice: the second gets a number that no other has.
    let twice = of("age,priors,priors.2,priors,y\n41,2,7,3,0\n46,0,7,5,1\n", &plain, "f.csv");
    assert_eq!(twice.columns(), ["age", "priors", "priors.2", "priors.3", "y"]);
    assert_eq!((twice.readings(), numbers(&twice, 3)), (vec![("priors.3", Reading::Twice)], vec![3.0, 5.0]));
    // R's names of rows, with tabs, commas and blanks.
    for delimiter in ["\t", ",", " "] {
        let text = "'x'D'g'D'outcome'\n'1'D-2.3D'a'D0\n'2'D2.2D'b'D1\n'5'D1.0D'a'D1\n"
            .replace('D', delimiter)
            .replace('\'', "\"");
        let table = of(&text, &plain, "f.txt");
        assert_eq!(table.columns(), ["rownames", "x", "g", "outcome"], "{delimiter:?}");
        assert_eq!(numbers(&table, 1), [-2.3, 2.2, 1.0]);
    }
    // One row too long is none.
    assert!(RawTable::parse_with(b"a,b\n1,2\n1,2,3\n", &plain, "f.csv").is_err());
    assert!(RawTable::parse_with(b"1,2\n1,2,3\n4,5,6\n", &plain, "f.csv").is_err());
    // Lines before the header; errors count them.
    let skip = ReadOptions { skip: 2, ..plain.clone() };
    let text = "Notes, offered\n\"by\nx,y\n1,0\n2,1\n";
    assert_eq!(of(text, &skip, "f.csv").columns(), ["x", "y"]);
    let error = RawTable::parse_with(format!("{text}3\n").as_bytes(), &skip, "f.csv").unwrap_err();
    assert_eq!(error.line, 6);
    assert!(RawTable::parse_with(b"x,y", &skip, "f.csv").is_err());
    assert_eq!(undercurve::data::first_rows(text.as_bytes(), &skip, "f.csv", 5)[0], ["1", "0"]);
    // A blank behind the colon of LIBSVM.
    let apart = of("1  21:1.00  42:1.20  63: .98\n0 3: 1 4:2\n", &plain, "f.svm");
    assert_eq!(apart, of("1 21:1 42:1.2 63:.98\n0 3:1 4:2\n", &plain, "f.svm"));
    assert_eq!((apart.width(), apart.sparse_row(1)), (63, Some((&[2, 3][..], &[1.0, 2.0][..]))));
    // ARFF, dense and sparse: a nominal value that is left out is the first.
    let head = "% made\n@RELATION r\n\n@attribute x numeric\n@attribute 'the colour' {red, 'dark blue'}\n@attribute play {no,yes}\n@data\n";
    let dense = format!("{head}1.5,red,no\n?,'dark blue',yes\n% between\n2,red,yes\n");
    let sparse = format!("{head}{{0 1.5}}\n{{0 ?, 1 'dark blue', 2 yes}}\n% between\n{{0 2, 2 yes}}\n");
    let [dense, sparse] = [dense, sparse].map(|text| of(&text, &plain, "f.arff"));
    // (A missing number is not equal to itself.)
    assert_eq!(format!("{dense:?}"), format!("{sparse:?}"));
    assert_eq!((dense.columns(), dense.missing(0)), (vec!["x".to_string(), "the colour".into(), "play".into()], 1));
    assert_eq!(dense.values(1, 5).unwrap(), [("dark blue".to_string(), 1), ("red".into(), 2)]);
    let error = RawTable::parse_with(format!("{head}1,red\n").as_bytes(), &plain, "f.arff").unwrap_err();
    assert_eq!(error.line, 8);
    // UTF-16.
    let wide: Vec<u8> =
        [0xfeff].into_iter().chain("x,y\n1,é\n2,b\n".encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(RawTable::parse_with(&wide, &plain, "f.csv").unwrap().values(1, 2).unwrap().len(), 2);
}
