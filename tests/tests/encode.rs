//! Columns of numbers as pieces (`Options::encode`), against plain loops over repeated rows.

use undercurve::checkpoint::{Kind, SavedModel, open, seal};
use undercurve::data::{Encode, Format, Missing, Options, Preparation, RawTable, Rows, Scale};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, Predictor, Trainer};

/// The features of one number, by the definition: quantiles of the rows that are there, each as often as its weight says.
fn twin(encode: Encode, rows: &[f64], x: f64) -> Vec<f64> {
    let mut sorted = rows.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut different = sorted.clone();
    different.dedup();
    let (parts, bins) = match encode {
        Encode::Linear => return vec![x],
        Encode::Splines(count) => (usize::from(count) + 1, false),
        Encode::Bins(count) => (usize::from(count), true),
    };
    if different.len() <= 2 {
        return vec![x];
    }
    let [least, largest] = [different[0], different[different.len() - 1]];
    if different.len() <= parts {
        let middles: Vec<f64> = different.windows(2).map(|pair| 0.5 * pair[0] + 0.5 * pair[1]).collect();
        if !bins {
            return middles.iter().map(|&middle| f64::from(x >= middle)).collect();
        }
        let own = middles.iter().filter(|&&middle| x >= middle).count();
        return (0..different.len()).map(|bin| f64::from(bin == own)).collect();
    }
    // Of splines a value with more than its share of the rows is a quantile by itself, and the others are of the other rows.
    let (mut rest, mut own, mut parts) = (sorted.clone(), Vec::new(), parts);
    while !bins && parts > 1 {
        let often = |v: f64| rest.iter().filter(|&&other| other == v).count() * (parts - 1) > rest.len();
        let heavy: Vec<f64> = different.iter().copied().filter(|&v| often(v)).collect();
        if heavy.is_empty() {
            break;
        }
        rest.retain(|v| !heavy.contains(v));
        parts -= heavy.len();
        own.extend(heavy);
    }
    let mut quantiles: Vec<f64> = (1..parts)
        .map(|part| {
            let up_to = |v: f64| rest.iter().filter(|&&other| other <= v).count();
            *different.iter().find(|&&v| up_to(v) * parts >= part * rest.len()).unwrap()
        })
        .chain(own)
        .collect();
    quantiles.sort_unstable_by(f64::total_cmp);
    let mut ends: Vec<f64> = quantiles.into_iter().filter(|&end| end > least && (bins || end < largest)).collect();
    ends.dedup();
    if bins {
        let own = ends.iter().filter(|&&end| x >= end).count();
        return (0..=ends.len()).map(|bin| f64::from(bin == own)).collect();
    }
    if ends.is_empty() {
        return vec![x];
    }
    let mut out = vec![x.min(ends[0])];
    out.extend(ends.windows(2).map(|pair| x.clamp(pair[0], pair[1])));
    out.push(x.max(ends[ends.len() - 1]));
    out
}

fn options(encode: Encode) -> Options {
    Options {
        label: Some("y".into()),
        encode,
        scale: Some(Scale::None),
        missing: Missing::Impute,
        ..Options::default()
    }
}

fn features(preparation: &Preparation, table: &RawTable) -> Vec<Vec<f64>> {
    match preparation.apply::<f64>(table).unwrap().rows() {
        Rows::Dense { data, cols, .. } => data.chunks(cols).map(<[f64]>::to_vec).collect(),
        rows => panic!("{rows:?}"),
    }
}

fn table(text: &str) -> RawTable {
    RawTable::parse(text.as_bytes(), Format::Csv, "f.csv").unwrap()
}

const ALL: [Encode; 6] =
    [Encode::Linear, Encode::Splines(1), Encode::Splines(6), Encode::Bins(2), Encode::Bins(5), Encode::Splines(100)];

#[test]
fn pieces_are_those_of_repeated_rows() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let few = [3, 7, 40, 1000][(seed % 4) as usize];
        let (mut text, mut again) = (String::from("x,y,w\n"), Vec::new());
        for row in 0..60 {
            let x = f64::from(rng.below(few)) * 0.25 - 3.0;
            // (In every third table most are one value, in every third of these more than most.)
            let x = if seed % 3 == 0 && rng.below(if seed % 9 == 0 { 12 } else { 3 }) > 0 { 0.5 } else { x };
            let weight = rng.below(3);
            text += &format!("{x},{},{weight}\n", row % 3 / 2);
            again.extend((0..weight).map(|_| x));
        }
        let rows = table(&text);
        let other = table("x,y,w\n-99,0,1\n99,1,1\n0.5,0,1\n-2.75,1,1\n");
        for encode in ALL {
            let weighted = Options { weight: Some("w".into()), ..options(encode) };
            let preparation = Preparation::fit(&rows, &weighted).unwrap();
            for (found, x) in features(&preparation, &other).iter().zip([-99.0, 99.0, 0.5, -2.75]) {
                assert_eq!(*found, twin(encode, &again, x), "{encode}, seed {seed}, {x}");
            }
            assert_eq!(preparation.encoded().len(), twin(encode, &again, 0.0).len());
        }
    }
}

/// Pieces are standardised like other columns, those of 0 and 1 stay; a missing number is the mean, and says so in a column of its own.
#[test]
fn pieces_are_standardised_and_filled_in() {
    let mut rng = Rng::new(5);
    let cells: Vec<Option<f64>> = (0..200).map(|row| (row % 10 != 3).then(|| rng.normal().exp())).collect();
    let cell = |x: Option<f64>| x.map(|x| x.to_string()).unwrap_or_default();
    let text: String = cells.iter().enumerate().map(|(row, &x)| format!("{},{}\n", cell(x), row % 2)).collect();
    let rows = table(&format!("x,y\n{text}"));
    for encode in [Encode::Splines(4), Encode::Bins(4)] {
        let preparation =
            Preparation::fit(&rows, &Options { scale: Some(Scale::Standard), ..options(encode) }).unwrap();
        let found = features(&preparation, &rows);
        let there: Vec<f64> = cells.iter().flatten().copied().collect();
        let mean = there.iter().sum::<f64>() / there.len() as f64;
        let raw: Vec<Vec<f64>> = cells.iter().map(|x| twin(encode, &there, x.unwrap_or(mean))).collect();
        let width = raw[0].len();
        assert_eq!(found[0].len(), width + 1);
        if let Encode::Bins(_) = encode {
            // Of 0 and 1, they stay so.
            assert!(found.iter().zip(&raw).all(|(found, raw)| found[..width] == raw[..]));
            continue;
        }
        for column in 0..width {
            let of =
                |rows: &[Vec<f64>], power| rows.iter().map(|row| f64::powi(row[column], power)).sum::<f64>() / 200.0;
            assert!(of(&found, 1).abs() < 1e-12 && (of(&found, 2) - 1.0).abs() < 1e-12, "{encode}, {column}");
            // A straight line of the piece that rises.
            let by = |a: usize, b: usize| (found[a][column] - found[b][column]) / (raw[a][column] - raw[b][column]);
            let least = (0..200).min_by(|&a, &b| raw[a][column].total_cmp(&raw[b][column])).unwrap();
            let most = (0..200).max_by(|&a, &b| raw[a][column].total_cmp(&raw[b][column])).unwrap();
            let (slope, lowest) = (by(most, least), raw[least][column]);
            assert!(slope > 0.0);
            for (row, raw) in found.iter().zip(&raw) {
                let line = found[least][column] + slope * (raw[column] - lowest);
                assert!((row[column] - line).abs() < 1e-9, "{encode}, {column}");
            }
        }
        for (row, x) in found.iter().zip(&cells) {
            assert_eq!(row[width] > 0.0, x.is_none());
        }
    }
}

#[test]
fn models_keep_their_pieces() {
    let mut rng = Rng::new(8);
    let text: String = (0..300)
        .map(|_| {
            let x = rng.normal();
            format!("{x},{}\n", u8::from(x.abs() + 0.3 * rng.normal() > 1.5))
        })
        .collect();
    let rows = table(&format!("x,y\n{text}"));
    let mut aucs = Vec::new();
    for encode in [Encode::Linear, Encode::Splines(6), Encode::Bins(6)] {
        let preparation = Preparation::fit(&rows, &Options { scale: None, ..options(encode) }).unwrap();
        let data = preparation.apply::<f32>(&rows).unwrap();
        let config = Config { method: "ce".into(), length: Length::Steps(400), ..Config::default() };
        let mut trainer = Trainer::new(&config, data.into(), None).unwrap();
        aucs.push(trainer.run().unwrap().train.get("auroc").unwrap());
        let file = trainer.predictor().file(preparation);
        let bytes = file.to_bytes();
        assert_eq!(SavedModel::from_bytes(&bytes).unwrap().to_bytes(), bytes);
        let mut scores = vec![0.0; 300];
        let data = file.preparation.apply::<f32>(&rows).unwrap();
        trainer.score(data.rows(), &mut scores).unwrap();
        let csv = format!("x,y\n{text}");
        let mut again = Predictor::<f32>::of(&SavedModel::from_bytes(&bytes).unwrap()).unwrap();
        assert_eq!(again.predict_file(csv.as_bytes(), &[], "f.csv").unwrap().scores, scores);
    }
    // A line says nothing of what lies on both sides; pieces do.
    assert!(aucs[0] < 0.7 && aucs[1] > 0.95 && aucs[2] > 0.85, "{aucs:?}");
}

#[test]
fn pieces_that_cannot_be_are_refused() {
    for text in ["", "spline", "splines", "splines:0", "splines:101", "bins:1", "bins:x", "bins:-3", "linear:2"] {
        assert!(Encode::parse(text).is_err(), "{text}");
    }
    let sparse = RawTable::parse(b"1 1:2\n0 2:1\n", Format::Libsvm, "f.svm").unwrap();
    let error = Preparation::fit(&sparse, &Options { encode: Encode::Bins(3), ..Options::default() }).unwrap_err();
    assert!(error.to_string().contains("splines and bins of LIBSVM rows"), "{error}");
}

/// A table of two numbers, two columns of categories and weights.
fn mixed() -> RawTable {
    let mut random = Rng::new(5);
    let mut text = String::from("a,b,shop,town,w,y\n");
    for row in 0..60 {
        let [a, b] = [random.normal(), 3.0 * random.normal() + 10.0];
        let shop = ["p", "q", "r"][row % 3];
        let town = if row % 7 == 3 { "" } else { ["n", "s"][row / 3 % 2] };
        text += &format!("{a:.4},{b:.4},{shop},{town},{},{}\n", row % 4, u8::from(a * b > 1.0));
    }
    RawTable::parse(text.as_bytes(), Format::Auto, "mixed.csv").unwrap()
}

#[test]
fn products_are_those_of_the_scaled_columns_and_scaled_again() {
    let table = mixed();
    let crosses = [("a", "b"), ("a", "shop"), ("town", "shop"), ("b", "b")];
    for (scale, weight, encode) in [
        (Scale::Standard, None, Encode::Linear),
        (Scale::Standard, Some("w"), Encode::Splines(3)),
        (Scale::Robust, None, Encode::Bins(3)),
        (Scale::Rank, None, Encode::Linear),
        (Scale::None, None, Encode::Linear),
    ] {
        let plain = Options { scale: Some(scale), weight: weight.map(Into::into), ..options(encode) };
        let cross = crosses.map(|(left, right)| (left.to_string(), right.to_string())).to_vec();
        let asked = Options { cross, ..plain.clone() };
        let (base, made) = (Preparation::fit(&table, &plain).unwrap(), Preparation::fit(&table, &asked).unwrap());
        let (rows, found) = (features(&base, &table), features(&made, &table));
        let names = base.column_names();
        let of = |name: &str| -> Vec<usize> {
            let mut at = 0..names.len();
            let sources = base.sources();
            let places = sources.iter().map(|(source, role)| (*source, at.by_ref().take(role.width()).collect()));
            places.into_iter().find(|(source, _): &(&str, Vec<usize>)| *source == name).unwrap().1
        };
        let mut pairs = Vec::new();
        for (left, right) in crosses {
            for &i in &of(left) {
                pairs.extend(of(right).into_iter().filter(|&j| left != right || j >= i).map(|j| [i, j]));
            }
        }
        assert_eq!(made.crosses(), pairs);
        assert_eq!(made.cols(), base.cols() + pairs.len());
        assert_eq!(found[0].len(), made.cols());
        let weights: Vec<f64> =
            (0..rows.len()).map(|row| if weight.is_some() { (row % 4) as f64 } else { 1.0 }).collect();
        for (k, &[i, j]) in pairs.iter().enumerate() {
            assert_eq!(made.column_names()[base.cols() + k], format!("{}*{}", names[i], names[j]));
            let product: Vec<f64> = rows.iter().map(|row| row[i] * row[j]).collect();
            let mean = |of: &dyn Fn(usize) -> f64| {
                (0..rows.len()).map(|row| weights[row] * of(row)).sum::<f64>() / weights.iter().sum::<f64>()
            };
            let centre = mean(&|row| product[row]);
            let deviation = mean(&|row| (product[row] - centre).powi(2)).sqrt();
            let there = |row: &usize| weights[*row] > 0.0;
            let alone = (0..rows.len()).filter(there).all(|row| product[row] == 0.0 || product[row] == 1.0);
            let alike = (0..rows.len()).filter(there).all(|row| product[row] == product[0]);
            for (row, &x) in product.iter().enumerate() {
                let want = match scale {
                    Scale::None => x,
                    _ if alike => 0.0,
                    _ if alone => x,
                    _ => (x - centre) / deviation,
                };
                let got = found[row][base.cols() + k];
                assert!((got - want).abs() < 1e-9 * (1.0 + want.abs()), "{scale:?} {i}*{j}: {got}, {want}");
            }
        }
        // The columns before are those without products; saved and read again they are the same.
        for (with, without) in found.iter().zip(&rows) {
            assert_eq!(with[..base.cols()], without[..]);
        }
        assert_eq!(Preparation::from_bytes(&made.to_bytes()).unwrap(), made);
        let file = SavedModel::new(made.clone(), 8, Vec::new()).to_bytes();
        assert_eq!(SavedModel::from_bytes(&file).unwrap().preparation, made);
        assert_eq!(made.encoded().len(), made.cols());
    }
}

#[test]
fn products_that_cannot_be_made_are_refused() {
    let table = mixed();
    let fit = |left: &str, right: &str| {
        let cross = vec![(left.to_string(), right.to_string())];
        let ignore = vec!["w".to_string()];
        Preparation::fit(&table, &Options { cross, ignore, ..options(Encode::Linear) }).unwrap_err().to_string()
    };
    for (left, right, gone) in [("a", "nobody", "nobody"), ("w", "a", "w"), ("a", "y", "y")] {
        assert!(fit(left, right).contains(&format!("there is no column \"{gone}\"")), "{}", fit(left, right));
    }
    // A damaged file names a column that is not there, or has half a product.
    let cross = vec![("a".to_string(), "b".to_string())];
    let made = Preparation::fit(&table, &Options { cross, ..options(Encode::Linear) }).unwrap();
    let payload = open(Kind::Preparation, &made.to_bytes()).unwrap().to_vec();
    let read = |payload: &[u8]| Preparation::from_bytes(&seal(Kind::Preparation, payload));
    assert_eq!(read(&payload).unwrap(), made);
    // (Behind the product are the kinds of the columns and the label, with their number before them and a byte behind.)
    let left = payload.len() - 24 - (made.sources().len() + 3);
    let mut beyond = payload.clone();
    beyond[left..left + 4].copy_from_slice(&(made.cols() as u32 - 1).to_le_bytes());
    assert!(read(&beyond).is_err());
    assert!(read(&payload[..payload.len() - 1]).is_err());
}
