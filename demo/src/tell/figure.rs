//! Convergence figures as SVG.

use plotters::element::DashedPathElement;
use plotters::prelude::*;
use std::path::Path;

/// One line of a figure.
pub struct Line<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its points; one alone is drawn as a dot.
    pub points: &'a [(f64, f64)],
    /// Whether it is dashed.
    pub dashed: bool,
    /// What is shaded around it: from one height to another.
    pub band: &'a [(f64, f64, f64)],
}

impl<'a> Line<'a> {
    /// A line drawn through.
    pub fn new(name: &'a str, points: &'a [(f64, f64)]) -> Self {
        Self { name, points, dashed: false, band: &[] }
    }

    /// What of it can be drawn.
    fn seen(&self, log: bool) -> Seen<'a> {
        let height = |y: f64| if log { y.log10() } else { y };
        let drawn = |points: &mut dyn Iterator<Item = (f64, f64)>| -> Vec<(f64, f64)> {
            points.map(|(x, y)| (x, height(y))).filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
        };
        let (lower, upper) = (self.band.iter().map(|p| (p.0, p.1)), self.band.iter().rev().map(|p| (p.0, p.2)));
        let outline = drawn(&mut lower.chain(upper));
        (self.name, drawn(&mut self.points.iter().copied()), self.dashed, outline)
    }

    /// The same with dashes.
    pub fn dashed(self) -> Self {
        Self { dashed: true, ..self }
    }

    /// The same with a band around it.
    pub fn with_band(self, band: &'a [(f64, f64, f64)]) -> Self {
        Self { band, ..self }
    }
}

/// Name, points that can be drawn, whether dashed, and the outline of the band.
type Seen<'a> = (&'a str, Vec<(f64, f64)>, bool, Vec<(f64, f64)>);

/// What a figure shows.
pub struct Axes<'a> {
    /// Above it.
    pub title: &'a str,
    /// What runs to the right.
    pub across: &'a str,
    /// What runs up.
    pub up: &'a str,
    /// Whether that is logarithmic; values that are not positive are left out.
    pub log: bool,
}

/// Where a figure ends: one long line is cut, so that the others are seen.
fn right_end(lines: &[Seen<'_>]) -> f64 {
    let mut ends: Vec<f64> = lines.iter().map(|line| line.1.iter().fold(0.0f64, |a, &(x, _)| a.max(x))).collect();
    ends.sort_by(|a, b| b.total_cmp(a));
    let longest = ends.first().copied().unwrap_or(0.0);
    ends.get(1).map_or(longest, |second| longest.min(1.5 * second))
}

/// Draws lines into a file.
pub fn draw_on(file: &Path, axes: &Axes<'_>, lines: &[Line<'_>]) -> anyhow::Result<()> {
    let lines: Vec<Seen<'_>> = lines.iter().map(|line| line.seen(axes.log)).collect();
    let every = || lines.iter().flat_map(|line| line.1.iter().chain(&line.3).copied());
    let right = right_end(&lines);
    let (low, high) = every().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, y)| (low.min(y), high.max(y)));
    if low > high {
        return Ok(());
    }
    let room = 0.02 * (high - low).max(1e-9);
    let area = SVGBackend::new(file, (720, 440)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(axes.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..right, low - room..high + room)?;
    let label = |y: &f64| if axes.log { format!("{:.1e}", 10f64.powf(*y)) } else { y.to_string() };
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(axes.across).y_desc(axes.up).light_line_style(WHITE);
    if axes.log {
        mesh.y_label_formatter(&label);
    }
    mesh.draw()?;
    for (k, (name, points, dashed, outline)) in lines.iter().enumerate() {
        let colour = Palette99::pick(k).to_rgba();
        if !outline.is_empty() {
            chart.draw_series([Polygon::new(outline.clone(), colour.mix(0.2).filled())])?;
        }
        let style = colour.stroke_width(2);
        let seen = points.iter().copied().filter(|point| point.0 <= right);
        if points.len() == 1 {
            chart
                .draw_series(seen.map(|point| Circle::new(point, 4, colour.filled())))?
                .label(*name)
                .legend(move |(x, y)| Circle::new((x + 9, y), 4, colour.filled()));
        } else if *dashed {
            chart
                .draw_series(DashedLineSeries::new(seen, 6, 4, style))?
                .label(*name)
                .legend(move |(x, y)| DashedPathElement::new([(x, y), (x + 18, y)], 4, 3, style));
        } else {
            chart
                .draw_series(LineSeries::new(seen, style))?
                .label(*name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        }
    }
    let place = if axes.log { SeriesLabelPosition::UpperRight } else { SeriesLabelPosition::LowerRight };
    chart
        .configure_series_labels()
        .position(place)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    area.present()?;
    Ok(())
}
