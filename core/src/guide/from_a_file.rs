use std::fs;
use undercurve::data::{Format, Options, RawTable, Split, prepare};
use undercurve::trainer::{Config, Predictor, Trainer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = fs::read("demo/web/samples/page-blocks.csv")?;
    let options = Options { label: Some("kind".into()), positive: Some("other".into()), ..Options::default() };
    let data = prepare::<f32>(&RawTable::parse(&file, Format::Auto, "page-blocks.csv")?, &options, Split::new(0.7, 1))?;
    let config = Config { method: "ce".into(), ..Config::default() }; // a linear model
    let mut trainer = Trainer::new(&config, data.train.into(), Some(data.test.into()))?;
    println!("test AP {:.3}", trainer.run()?.test.and_then(|test| test.get("ap")).unwrap_or_default());
    fs::write("model.uc", trainer.predictor().file(data.preparation).to_bytes())?;
    let rows = Predictor::<f32>::open("model.uc")?.predict_file(&file, &["kind".into()], "page-blocks.csv")?;
    rows.kept.iter().zip(&rows.scores).take(5).for_each(|(kind, score)| println!("{kind},{score}"));
    Ok(())
}
