//! Columns by median and quartiles, and by rank (`Scale::Robust`, `Scale::Rank`), against plain loops over repeated rows.

use undercurve::checkpoint::SavedModel;
use undercurve::data::{
    ColumnStats, Dataset, Encode, Format, Missing, Options, Preparation, RawTable, Rows, Scale, Source, rank,
};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, Predictor, Trainer};

fn options(scale: Scale) -> Options {
    let (label, missing) = (Some("y".into()), Missing::Impute);
    Options { label, scale: Some(scale), missing, keep_identifiers: true, ..Options::default() }
}

fn values<T: undercurve::Real>(data: &Dataset<T>) -> Vec<T> {
    let Rows::Dense { data, .. } = data.rows() else { panic!("dense rows") };
    data.to_vec()
}

fn table(text: &str) -> RawTable {
    RawTable::parse(text.as_bytes(), Format::Csv, "s.csv").unwrap()
}

/// The least number that this share of the rows does not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let up_to = |x: f64| sorted.iter().filter(|&&other| other <= x).count() as f64;
    *sorted.iter().find(|&&x| up_to(x) >= share * sorted.len() as f64).unwrap()
}

fn share_below(rows: &[f64], x: f64) -> f64 {
    let of = |test: fn(&f64, &f64) -> bool| rows.iter().filter(|other| test(other, &x)).count() as f64;
    (of(|other, x| other < x) + 0.5 * of(|other, x| other == x)) / rows.len() as f64
}

/// What a column becomes, where rows are there as often as their weights say.
fn twin(scale: Scale, rows: &[f64], x: f64) -> f64 {
    let mut sorted = rows.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut different = sorted.clone();
    different.dedup();
    let (mean, n) = (rows.iter().sum::<f64>() / rows.len() as f64, rows.len() as f64);
    let deviation = (rows.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
    let quartiles = quantile(&sorted, 0.75) - quantile(&sorted, 0.25);
    match scale {
        _ if different.iter().all(|&x| x == 0.0 || x == 1.0) => x,
        Scale::Robust if quartiles > 0.0 => (x - quantile(&sorted, 0.5)) / (quartiles / 1.348_979_500_392_163_5),
        Scale::Rank if different.len() > 2 => {
            assert!(different.len() <= 100);
            let x = x.clamp(different[0], different[different.len() - 1]);
            let rank = |x: f64| (share_below(rows, x) - 0.5) * 12.0_f64.sqrt();
            match different.windows(2).find(|pair| pair[0] < x && x < pair[1]) {
                Some(pair) => rank(pair[0]) + (x - pair[0]) / (pair[1] - pair[0]) * (rank(pair[1]) - rank(pair[0])),
                None => rank(x),
            }
        }
        _ => (x - mean) / deviation,
    }
}

#[test]
fn columns_are_scaled_as_repeated_rows_say() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let few = [2, 3, 7, 90][(seed % 4) as usize];
        let (mut text, mut again) = (String::from("x,y,w\n"), Vec::new());
        for row in 0..200 {
            // (A few lie far out, half of them at one number.)
            let x = if row % 2 == 0 && few == 7 { 2.0 } else { f64::from(rng.below(few)) };
            let (x, weight) = (if x > 80.0 { 1e9 } else { 0.5 * x - 3.0 }, rng.below(3));
            text += &format!("{x},{},{weight}\n", row % 3 / 2);
            again.extend((0..weight).map(|_| x));
        }
        let (rows, others) = (table(&text), [-99.0, 99.0, 0.3, -2.75, 2e9, -3.0]);
        let other: String = others.iter().enumerate().map(|(row, x)| format!("{x},{},1\n", row % 2)).collect();
        for scale in [Scale::Robust, Scale::Rank] {
            let preparation = Preparation::fit(&rows, &Options { weight: Some("w".into()), ..options(scale) }).unwrap();
            let found = values(&preparation.apply::<f64>(&table(&format!("x,y,w\n{other}"))).unwrap());
            for (found, x) in found.iter().zip(others) {
                let want = twin(scale, &again, x);
                assert!((found - want).abs() <= 1e-9 * want.abs().max(1.0), "{scale:?} {seed} {x}: {found} {want}");
            }
        }
    }
}

/// Of many different numbers: ranks as they are to a hundredth, and closer at the ends; whatever the numbers are.
#[test]
fn ranks_of_many_numbers_are_near_and_know_no_size() {
    let mut rng = Rng::new(3);
    let normal: Vec<f64> = (0..5000).map(|_| rng.normal()).collect();
    let fit = |of: fn(f64) -> f64| {
        let text: String = normal.iter().enumerate().map(|(row, &x)| format!("{},{}\n", of(x), row % 2)).collect();
        let rows = table(&format!("x,y\n{text}"));
        let preparation = Preparation::fit(&rows, &options(Scale::Rank)).unwrap();
        let found = values(&preparation.apply::<f64>(&rows).unwrap());
        (preparation, found)
    };
    let (preparation, found) = fit(|x| x);
    let [(_, Source::Ranked { knots, missing: false, .. })] = preparation.sources()[..] else { panic!("one column") };
    assert!(knots.len() > 100 && knots.len() < 110);
    for (&x, &found) in normal.iter().zip(&found) {
        assert_eq!(rank(knots, x), found);
        let share = found / 12.0_f64.sqrt() + 0.5;
        let (want, near) = (share_below(&normal, x), if (0.01..0.99).contains(&share) { 0.004 } else { 0.0025 });
        assert!((share - want).abs() < near, "{x}: {share} {want}");
    }
    let square = found.iter().map(|x| x * x).sum::<f64>() / 5000.0;
    assert!((square - 1.0).abs() < 0.01 && found.iter().sum::<f64>().abs() < 5.0, "{square}");
    // (Knots are at the same rows.)
    let (_, other) = fit(|x| (3.0 * x).exp());
    assert!(found.iter().zip(&other).all(|(a, b)| (a - b).abs() < 0.1));
}

#[test]
fn what_is_missing_is_the_median_and_says_so() {
    let rows = table("x,c,y\n1,0,0\n,1,1\n3,1,0\n4,0,1\n1000,1,0\n2,0,1\n");
    let (median, others) = (3.0, [1.0, 3.0, 4.0, 1000.0, 2.0]);
    for scale in [Scale::Robust, Scale::Rank] {
        let preparation = Preparation::fit(&rows, &options(scale)).unwrap();
        assert_eq!(preparation.column_names(), ["x", "x=(missing)", "c"]);
        let found = values(&preparation.apply::<f64>(&rows).unwrap());
        assert!((found[3] - twin(scale, &others, median)).abs() < 1e-12 && found[4..6] == [1.0, 1.0], "{found:?}");
        assert_eq!(found[1..3], [0.0, 0.0]);
        // Statistics that merge have the same.
        let merged = ColumnStats::of(&rows, &options(scale)).unwrap().finish(&options(scale)).unwrap();
        assert_eq!(merged.sources(), preparation.sources());
        assert_eq!(merged.encoded(), preparation.encoded());
    }
}

/// A saved model has its scaling, and scores as the run did; damaged ranks are refused.
#[test]
fn models_keep_their_scaling() {
    let mut rng = Rng::new(9);
    let row = |row: usize, rng: &mut Rng| format!("{},{},{}\n", rng.normal().exp(), rng.normal(), row % 3 / 2);
    let text: String = (0..300).map(|k| row(k, &mut rng)).collect();
    let rows = table(&format!("a,b,y\n{text}"));
    for (scale, encode) in
        [(Scale::Robust, Encode::Linear), (Scale::Rank, Encode::Linear), (Scale::Rank, Encode::Splines(3))]
    {
        let preparation = Preparation::fit(&rows, &Options { encode, ..options(scale) }).unwrap();
        let data = preparation.apply::<f32>(&rows).unwrap();
        let config = Config { method: "ce".into(), length: Length::Steps(50), ..Config::default() };
        let mut trainer = Trainer::new(&config, data.into(), None).unwrap();
        trainer.run().unwrap();
        let mut scores = vec![0.0; 300];
        let train = trainer.train_data().clone();
        trainer.score(train.rows(), &mut scores).unwrap();
        let bytes = trainer.predictor().file(preparation.clone()).to_bytes();
        let saved = SavedModel::from_bytes(&bytes).unwrap();
        assert_eq!(saved.preparation, preparation);
        let mut model = Predictor::<f32>::of(&saved).unwrap();
        let again = saved.preparation.apply::<f32>(&rows).unwrap();
        let mut found = vec![0.0; 300];
        model.score(again.rows(), &mut found).unwrap();
        assert_eq!(found, scores);
    }
}

/// Arrays and sparse rows by quartiles, as the table of the same numbers; by rank they are refused.
#[test]
fn arrays_and_sparse_rows_have_quartiles() {
    let mut rng = Rng::new(4);
    let x: Vec<f64> = (0..300).map(|at| if at % 3 == 1 && at % 2 == 0 { 0.0 } else { rng.normal().exp() }).collect();
    let y: Vec<u8> = (0..100).map(|row| u8::from(row % 4 == 0)).collect();
    let text: String = x.chunks(3).zip(&y).map(|(row, y)| format!("{},{},{},{y}\n", row[0], row[1], row[2])).collect();
    let rows = table(&format!("a,b,c,y\n{text}"));
    let want = values(&Preparation::fit(&rows, &options(Scale::Robust)).unwrap().apply::<f64>(&rows).unwrap());
    let arrays = Preparation::fit_arrays(&x, &y, 3, Scale::Robust).unwrap();
    assert_eq!(values(&arrays.apply_arrays(&x, &y).unwrap()), want);
    let cells = |row: &[f64]| {
        let there = row.iter().enumerate().filter(|cell| *cell.1 != 0.0);
        there.map(|(column, x)| format!(" {}:{x}", column + 1)).collect::<String>()
    };
    let text: String = x.chunks(3).zip(&y).map(|(row, y)| format!("{y}{}\n", cells(row))).collect();
    let sparse = RawTable::parse(text.as_bytes(), Format::Libsvm, "s.svm").unwrap();
    let of = Options { scale: Some(Scale::Robust), ..Options::default() };
    assert_eq!(values(&Preparation::fit(&sparse, &of).unwrap().apply::<f64>(&sparse).unwrap()), want);
    let error = Preparation::fit_arrays(&x, &y, 3, Scale::Rank).unwrap_err().to_string();
    assert!(error.contains("scale rank of LIBSVM rows and arrays"), "{error}");
    assert!(Preparation::fit(&sparse, &Options { scale: Some(Scale::Rank), ..of }).is_err());
}
