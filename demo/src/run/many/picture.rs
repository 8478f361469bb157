//! `--plot`: the band of many seeds over steps, and the map of a grid.

use super::all::{quantile, sorted};
use super::told::All;
use super::told::By;
use crate::args::grid::{Axis, Grid};
use crate::error::Result;
use crate::output;
use crate::tell::figure::{Axes, Line, draw_on};
use crate::tell::svg::{INK, SOFT, Svg};
use std::path::Path;

/// Draws what there is to see; nothing where no run ended well.
pub fn draw(path: &Path, all: &All, by: &By, grid: &Grid, method: &str) -> Result<()> {
    if grid.0.is_empty() {
        return bands(path, all, by, method);
    }
    let points = all.points(by, grid.points());
    output::write_atomic(path, map(&points, by, grid, method).as_bytes())
}

/// Median and band of every part over steps, from the first report after the start values. A run that ended early stays at its
/// last value.
fn bands(path: &Path, all: &All, by: &By, method: &str) -> Result<()> {
    let good = || all.good().map(|(at, _)| &all.paths[at]);
    let Some(longest) = good().max_by_key(|path| path.len()) else { return Ok(()) };
    let parts = longest.first().map_or(0, |first| first.1.len());
    let metric = by.name.trim_start_matches(by.part).trim();
    let mut lines = Vec::new();
    for (part, name) in ["train", "test"].iter().enumerate().take(parts) {
        let (mut median, mut band) = (Vec::new(), Vec::new());
        for (at, &(step, _)) in longest.iter().enumerate().skip(1) {
            let of =
                |path: &super::told::Path| path.get(at).or(path.last()).map_or(f64::NAN, |(_, values)| values[part]);
            let values = sorted(good().map(of));
            if !values.is_empty() {
                let x = step as f64;
                median.push((x, quantile(&values, 0.5)));
                band.push((x, quantile(&values, 0.1), quantile(&values, 0.9)));
            }
        }
        lines.push((format!("{name}: median and 10–90 %"), median, band));
    }
    // (The first is that of the training rows.)
    let lines = lines.iter().enumerate().map(|(at, (name, median, band))| {
        let line = Line::new(name, median).with_band(band);
        if at == 0 && parts > 1 { line.dashed() } else { line }
    });
    let lines: Vec<Line<'_>> = lines.collect();
    let title = format!("{method}: {} seeds", good().count());
    Ok(draw_on(path, &Axes { title: &title, across: "steps", up: metric, log: false }, &lines)?)
}

const CELL: (f64, f64) = (74.0, 44.0);
const LEFT: f64 = 110.0;
const ABOVE: f64 = 78.0;

/// From light to dark; `None` where there is no value.
fn colour(share: Option<f64>) -> (String, &'static str) {
    let Some(share) = share else { return ("#eeeeea".to_string(), SOFT) };
    let (light, dark) = ([0xed_u8, 0xf4, 0xfb], [0x0f_u8, 0x3f, 0x82]);
    let mix = |at: usize| (f64::from(light[at]) + share * (f64::from(dark[at]) - f64::from(light[at]))).round() as u8;
    (format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2)), if share > 0.6 { "#ffffff" } else { INK })
}

/// The map of a grid.
struct Map {
    svg: Svg,
    width: f64,
    height: f64,
}

impl Map {
    /// With room for so many cells.
    fn new(columns: usize, lines: usize) -> Self {
        let (width, height) = (CELL.0 * columns as f64, CELL.1 * lines as f64);
        Self { svg: Svg::new((LEFT + width + 30.0).max(560.0), ABOVE + height + 62.0), width, height }
    }

    fn cell(&mut self, (x, y): (f64, f64), style: &str) {
        let (width, height) = CELL;
        let place = format!("x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width}\" height=\"{height}\"");
        self.svg.line(format_args!("<rect {place} {style}/>"));
    }

    /// Names and values of the axes: the first parameter runs to the right, the second up.
    fn axes(&mut self, across: &Axis, up: Option<&Axis>) {
        let middle = format!("text-anchor=\"middle\" font-size=\"12\" fill=\"{SOFT}\"");
        let label = format!("text-anchor=\"middle\" font-size=\"13\" fill=\"{INK}\"");
        let (width, height) = (self.width, self.height);
        for (at, value) in across.values.iter().enumerate() {
            self.svg.text((LEFT + CELL.0 * (at as f64 + 0.5), ABOVE + height + 18.0), value, &middle);
        }
        self.svg.text((LEFT + width / 2.0, ABOVE + height + 42.0), &across.name, &label);
        let Some(up) = up else {
            return self.svg.text((LEFT - 10.0, ABOVE + height - CELL.1 / 2.0 + 4.0), "", &left());
        };
        for (at, value) in up.values.iter().enumerate() {
            self.svg.text((LEFT - 10.0, ABOVE + height - CELL.1 * (at as f64 + 0.5) + 4.0), value, &left());
        }
        let (x, y) = (28.0, ABOVE + height / 2.0);
        self.svg.text((x, y), &up.name, &format!("{label} transform=\"rotate(-90 {x:.1} {y:.1})\""));
    }
}

fn left() -> String {
    format!("text-anchor=\"end\" font-size=\"12\" fill=\"{SOFT}\"")
}

/// A cell for each point.
fn map(points: &[(f64, f64, usize)], by: &By, grid: &Grid, method: &str) -> String {
    let (across, up) = (&grid.0[0], grid.0.get(1));
    let lines = up.map_or(1, |axis| axis.values.len());
    let mut map = Map::new(across.values.len(), lines);
    let all = sorted(points.iter().map(|point| point.0));
    let (low, high) = (all.first().copied().unwrap_or(0.0), all.last().copied().unwrap_or(0.0));
    let seeds = points.iter().map(|point| point.2).max().unwrap_or(0);
    let mean = if seeds > 1 { format!(", mean over {seeds} seeds (sd below)") } else { String::new() };
    let title = format!("font-size=\"17\" font-weight=\"600\" fill=\"{INK}\"");
    map.svg.text((20.0, 30.0), &format!("{method}: {}", by.name), &title);
    let under = format!("{low:.4} to {high:.4}{mean}; framed: the best; grey: no value");
    map.svg.text((20.0, 52.0), &under, &format!("font-size=\"12\" fill=\"{SOFT}\""));
    map.axes(across, up);
    let mut best: Option<(f64, (f64, f64))> = None;
    for (at, &(mean, sd, runs)) in points.iter().enumerate() {
        let (column, row) = (at / lines, at % lines);
        let (x, y) = (LEFT + CELL.0 * column as f64, ABOVE + map.height - CELL.1 * (row + 1) as f64);
        let share = (runs > 0).then(|| if high > low { (mean - low) / (high - low) } else { 0.5 });
        // (The better, the darker.)
        let share = share.map(|share| if by.better(1.0, 0.0) { share } else { 1.0 - share });
        let (fill, ink) = colour(share);
        map.cell((x, y), &format!("fill=\"{fill}\" stroke=\"#ffffff\""));
        let said = if runs == 0 { "–".to_string() } else { format!("{mean:.4}") };
        let below = (runs > 0 && seeds != 1).then(|| format!("± {sd:.4}"));
        let lift = if below.is_some() { -2.0 } else { 4.0 };
        let (x_text, y_text) = (x + CELL.0 / 2.0, y + CELL.1 / 2.0);
        let style = |size: &str| format!("text-anchor=\"middle\" font-size=\"{size}\" fill=\"{ink}\"");
        map.svg.text((x_text, y_text + lift), &said, &style("13"));
        if let Some(below) = below {
            map.svg.text((x_text, y_text + 13.0), &below, &style("10.5"));
        }
        if runs > 0 && best.is_none_or(|(value, _)| by.better(mean, value)) {
            best = Some((mean, (x, y)));
        }
    }
    if let Some((_, place)) = best {
        map.cell(place, "fill=\"none\" stroke=\"#c03d0a\" stroke-width=\"3\"");
    }
    map.svg.finish()
}
