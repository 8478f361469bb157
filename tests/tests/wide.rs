//! Rows of many categories, which are stored sparse, against plain loops over the cells.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use undercurve::data::{DataErrorKind, Dataset, Format, Missing, Options, Preparation, RawTable, Rows, Scale};
use undercurve::data::{Split, prepare};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};

/// A cell of each column; `None` is missing.
struct Row {
    size: Option<f64>,
    shop: Option<usize>,
    kind: usize,
    label: u8,
}

fn rows(count: usize, shops: usize, missing: bool) -> Vec<Row> {
    let mut rng = Rng::new(7);
    let of = |row: usize| {
        let shop = if row < shops { row } else { (rng.uniform() * shops as f64) as usize };
        let size = (!missing || rng.uniform() > 0.1).then(|| (8.0 * rng.normal()).round() / 4.0);
        let shop = (!missing || row % 50 != 7).then_some(shop);
        Row {
            size,
            shop,
            kind: row % 3,
            label: u8::from(rng.uniform() < if row.is_multiple_of(5) { 0.6 } else { 0.2 }),
        }
    };
    (0..count).map(of).collect()
}

fn table(rows: &[Row]) -> RawTable {
    let mut text = "size,shop,kind,y\n".to_string();
    for Row { size, shop, kind, label } in rows {
        let (size, shop) = (size.map_or(String::new(), |x| x.to_string()), shop.map_or(String::new(), name));
        let _ = writeln!(text, "{size},{shop},k{kind},{label}");
    }
    RawTable::parse(text.as_bytes(), Format::Csv, "wide.csv").unwrap()
}

fn name(shop: usize) -> String {
    format!("s{shop:05}")
}

fn options(scale: Scale, missing: Missing, cross: &[(&str, &str)]) -> Options {
    let cross = cross.iter().map(|(a, b)| ((*a).to_string(), (*b).to_string())).collect();
    // (Not an identifier, though half of the rows or more have a shop of their own.)
    let categorical = vec!["shop".to_string()];
    Options { label: Some("y".into()), categorical, scale: Some(scale), missing, cross, ..Options::default() }
}

fn all(data: &Dataset<f64>) -> Vec<Vec<f64>> {
    let row = |at: usize| {
        let mut row = vec![f64::NAN; data.cols()];
        data.rows().copy_row(at, &mut row).unwrap();
        row
    };
    (0..data.len()).map(row).collect()
}

fn is_sparse(data: &Dataset<f64>) -> bool {
    matches!(data.rows(), Rows::Csr { .. })
}

/// The encoded rows by the definition: columns size, (missing), shops, (missing), kinds; then size·shops.
fn twin(fitted: &[Row], rows: &[Row], scale: Scale, crossed: bool) -> Vec<Vec<f64>> {
    let there: Vec<f64> = fitted.iter().filter_map(|row| row.size).collect();
    let mean = there.iter().sum::<f64>() / there.len() as f64;
    // (Rows without a size count as that.)
    let square = there.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / fitted.len() as f64;
    let gone = fitted.iter().any(|row| row.size.is_none());
    let shops: BTreeSet<Option<usize>> = fitted.iter().map(|row| row.shop).collect();
    let of = |row: &Row| {
        let size = row.size.unwrap_or(mean);
        let size = if scale == Scale::Standard { (size - mean) / square.sqrt() } else { size };
        let mut to = vec![size];
        to.extend(gone.then(|| f64::from(row.size.is_none())));
        let known: Vec<f64> = shops.iter().flatten().map(|shop| f64::from(row.shop == Some(*shop))).collect();
        to.extend(&known);
        to.extend(shops.contains(&None).then(|| f64::from(row.shop.is_none())));
        to.extend([0, 1, 2].map(|kind| f64::from(row.kind == kind)));
        if crossed {
            to.extend(known.iter().map(|shop| size * shop));
        }
        if scale == Scale::Unit {
            let length = to.iter().map(|x| x * x).sum::<f64>().sqrt();
            to.iter_mut().for_each(|x| *x /= if length > 0.0 { length } else { 1.0 });
        }
        to
    };
    rows.iter().map(of).collect()
}

fn close(found: &[Vec<f64>], twin: &[Vec<f64>]) {
    assert_eq!(found.len(), twin.len());
    for (row, (found, twin)) in found.iter().zip(twin).enumerate() {
        assert_eq!(found.len(), twin.len());
        for (at, (x, y)) in found.iter().zip(twin).enumerate() {
            assert!((x - y).abs() < 1e-12, "row {row}, column {at}: {x} {y}");
        }
    }
}

#[test]
fn sparse_rows_have_the_values_of_the_definition() {
    for (scale, missing) in
        [(Scale::Standard, false), (Scale::Standard, true), (Scale::None, true), (Scale::Unit, true)]
    {
        let rows = rows(2500, 1200, missing);
        let table = table(&rows);
        let impute = if missing { Missing::Impute } else { Missing::Refuse };
        let fitted = Preparation::fit(&table, &options(scale, impute, &[])).unwrap();
        let lent = fitted.apply::<f64>(&table).unwrap();
        assert!(is_sparse(&lent), "{scale:?}");
        close(&all(&lent), &twin(&rows, &rows, scale, false));
        // The same of a table that is given away, after saving, and of some rows.
        assert_eq!(fitted.apply::<f64>(table.clone()).unwrap(), lent);
        let saved = Preparation::from_bytes(&fitted.to_bytes()).unwrap();
        assert_eq!(saved.apply::<f64>(&table).unwrap(), lent);
        let some = fitted.apply_rows::<f64>(&table, &[7, 2400, 3, 3]).unwrap();
        assert_eq!(all(&some), [7, 2400, 3, 3].map(|row: usize| all(&lent)[row].clone()));
        let Rows::Csr { ptr, .. } = lent.rows() else { unreachable!() };
        assert!(ptr.windows(2).all(|pair| pair[1] - pair[0] <= 4), "zeros are stored");
    }
}

#[test]
fn categories_of_other_rows_are_zeros_and_counted() {
    let (train, mut test) = (rows(2500, 1200, false), rows(40, 20, false));
    test[3].shop = Some(99_999);
    test[9].shop = Some(88_888);
    let fitted = Preparation::fit(&table(&train), &options(Scale::Standard, Missing::Refuse, &[])).unwrap();
    let data = fitted.apply::<f64>(&table(&test)).unwrap();
    close(&all(&data), &twin(&train, &test, Scale::Standard, false));
    assert_eq!(data.summary().unseen, [("shop".to_string(), 2)]);
}

#[test]
fn products_with_categories_stay_sparse_where_they_are_zero() {
    let rows = rows(2500, 1200, false);
    let table = table(&rows);
    let of = |scale, cross| Preparation::fit(&table, &options(scale, Missing::Refuse, cross)).unwrap();
    let crossed = of(Scale::None, &[("size", "shop")]);
    let data = crossed.apply::<f64>(&table).unwrap();
    assert!(is_sparse(&data) && data.cols() == 1 + 1200 + 3 + 1200);
    close(&all(&data), &twin(&rows, &rows, Scale::None, true));
    // Standardised they are 0 nowhere.
    let standard = of(Scale::Standard, &[("size", "shop")]).apply::<f64>(&table).unwrap();
    assert!(!is_sparse(&standard) && standard.cols() == data.cols());
    let kinds = of(Scale::Standard, &[("kind", "shop")]).apply::<f64>(&table).unwrap();
    assert!(is_sparse(&kinds));
    let (rows, base) = (all(&kinds), 1 + 1200 + 3);
    for row in &rows {
        for (at, x) in row[base..].iter().enumerate() {
            let [kind, shop] = [row[1201 + at / 1200], row[1 + at % 1200]];
            assert!(*x == kind * shop || rows.iter().all(|row| row[base + at] == 0.0));
        }
    }
}

/// More products than memory would hold are refused before they are made.
#[test]
fn too_many_products_are_refused() {
    let table = table(&rows(2500, 1200, false));
    let error = Preparation::fit(&table, &options(Scale::Standard, Missing::Refuse, &[("shop", "shop")])).unwrap_err();
    let DataErrorKind::TooWide { columns, widest, .. } = error.kind else { panic!("{error}") };
    assert_eq!((columns, widest.as_str()), (1_440_000, "shop*shop"));
}

/// Small tables, and tables of few categories, are dense.
#[test]
fn few_columns_are_dense() {
    let rows = rows(2500, 1000, false);
    let fitted = Preparation::fit(&table(&rows), &options(Scale::Standard, Missing::Refuse, &[])).unwrap();
    let data = fitted.apply::<f64>(&table(&rows)).unwrap();
    assert!(!is_sparse(&data));
    close(&all(&data), &twin(&rows, &rows, Scale::Standard, false));
}

/// A table that no memory would hold dense.
#[test]
fn up_to_65536_categories_have_a_column() {
    let rows = rows(140_000, 70_000, false);
    let table = table(&rows);
    let fitted = Preparation::fit(&table, &options(Scale::Standard, Missing::Refuse, &[])).unwrap();
    assert_eq!(fitted.cols(), 1 << 16);
    let lent = fitted.apply::<f64>(&table).unwrap();
    let data = fitted.apply::<f64>(table).unwrap();
    assert!(is_sparse(&data) && data == lent, "a table that is given away has the same rows");
    let left_out = 70_000 + 4 - (1 << 16);
    let (column, rows) = &data.summary().unseen[0];
    // (The rarest: of one row each.)
    assert_eq!((column.as_str(), *rows), ("shop", left_out));
}

/// More rows than a table gives back at once, in parts whose rows alternate.
#[test]
fn sparse_files_are_given_back_as_they_are_read() {
    let mut text = String::new();
    for row in 0..150_000_u32 {
        let _ = writeln!(text, "{} {}:{} {}:{}", row % 3 % 2, row % 7 + 1, row % 11 + 1, row % 13 + 9, row % 5 + 1);
    }
    let table = RawTable::parse(text.as_bytes(), Format::Libsvm, "sparse.svm").unwrap();
    let options = Options { scale: Some(Scale::None), ..Options::default() };
    let lent = prepare::<f64>(&table, &options, Split::new(0.6, 1)).unwrap();
    let given = prepare::<f64>(table, &options, Split::new(0.6, 1)).unwrap();
    assert!(given.train == lent.train && given.test == lent.test);
    let Rows::Csr { ptr, col, val, .. } = given.train.rows() else { panic!("dense") };
    assert_eq!((ptr.len(), col.len(), val.len()), (90_001, 180_000, 180_000));
    assert!((0..90_000).all(|row| (ptr[row], ptr[row + 1]) == (2 * row, 2 * row + 2)));
    assert!(col.chunks(2).all(|two| two[0] < 7 && (8..21).contains(&two[1])));
}

#[test]
fn a_value_that_does_not_fit_is_told_with_its_place() {
    let mut rows = rows(2500, 1200, false);
    rows[1800].size = Some(1e39);
    rows[2100].size = Some(1e40);
    let table = table(&rows);
    let fitted = Preparation::fit(&table, &options(Scale::None, Missing::Refuse, &[])).unwrap();
    let error = fitted.apply::<f32>(&table).unwrap_err();
    assert_eq!((error.line, error.column), (1802, 1));
    assert!(matches!(error.kind, DataErrorKind::NonFinite { text } if text.parse() == Ok(1e39)));
}

/// The same model as of the same rows in dense memory, but for rounding.
#[test]
fn training_is_that_of_dense_rows() {
    let table = table(&rows(3000, 1200, true));
    let options = options(Scale::Standard, Missing::Impute, &[]);
    let made = prepare::<f64>(&table, &options, Split::new(0.7, 3)).unwrap();
    assert!(is_sparse(&made.train) && is_sparse(&made.test));
    let dense = |data: &Dataset<f64>| Dataset::dense(all(data).concat(), data.labels().to_vec(), data.cols()).unwrap();
    for method in ["ce", "soap", "ap-exact", "ce-exact"] {
        for model in ["linear", "mlp:4"] {
            let model = ModelSpec::parse(model).unwrap();
            let config = Config { method: method.into(), model, length: Length::Steps(15), ..Config::default() };
            let scores = |train: Dataset<f64>, test: &Dataset<f64>| {
                let mut trainer = Trainer::new(&config, train.into(), None).unwrap();
                trainer.run().unwrap();
                let mut scores = vec![0.0; test.len()];
                trainer.score(test.rows(), &mut scores).unwrap();
                scores
            };
            let ours = scores(made.train.clone(), &made.test);
            let theirs = scores(dense(&made.train), &dense(&made.test));
            // (What is the same for all rows is no matter to a sum over pairs, whose bias moves by rounding alone.)
            let apart: Vec<f64> = ours.iter().zip(&theirs).map(|(x, y)| x - y).collect();
            let mean = apart.iter().sum::<f64>() / apart.len() as f64;
            let far = apart.iter().map(|x| (x - mean).abs()).fold(0.0, f64::max);
            let size = ours.iter().map(|x| x.abs()).fold(0.0, f64::max);
            assert!(far <= 1e-8 * (1.0 + size), "{method} {}: {far}", config.model);
        }
    }
}
