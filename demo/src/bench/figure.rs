//! Convergence figures as SVG.

use plotters::prelude::*;
use std::path::Path;

/// One line of a figure.
pub struct Line<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its points.
    pub points: &'a [(f64, f64)],
}

/// Draws lines over passes into a file.
///
/// # Errors
/// When the file cannot be written.
pub fn draw(file: &Path, title: &str, value: &str, lines: &[Line<'_>]) -> anyhow::Result<()> {
    let every = || lines.iter().flat_map(|line| line.points.iter().copied());
    let right = every().fold(0.0f64, |a, (x, _)| a.max(x));
    let (low, high) = every().fold((1.0f64, 0.0f64), |(low, high), (_, y)| (low.min(y), high.max(y)));
    let area = SVGBackend::new(file, (720, 440)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..right, low - 0.02 * (high - low)..high + 0.02 * (high - low))?;
    chart.configure_mesh().x_desc("passes").y_desc(value).light_line_style(WHITE).draw()?;
    for (k, line) in lines.iter().enumerate() {
        let colour = Palette99::pick(k).to_rgba();
        chart
            .draw_series(LineSeries::new(line.points.iter().copied(), colour.stroke_width(2)))?
            .label(line.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    area.present()?;
    Ok(())
}
