//! What many runs come to: means, quantiles, points of a grid, the table.

use super::backend::List;
use super::told::{All, By, Row};
use crate::tell::paired::mean_sd;
use crate::tell::report::{Columns, cell, shown};
use crate::tell::signal::NoSignal;
use crate::tell::table;
use serde_json::Value;
use undercurve::Real;
use undercurve::trainer::Figures;

/// The point below which a share of sorted values lies, on the line between two of them.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

/// Values in order.
pub fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Mean, standard deviation, 10 %, median, 90 % of a figure over the runs that have it.
pub struct Spread {
    pub part: &'static str,
    pub heading: &'static str,
    /// Its name for programs.
    name: String,
    pub figures: [f64; 5],
}

impl All {
    /// The runs that ended.
    pub fn ended(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.rows.iter().enumerate().filter_map(|(at, row)| Some((at, row.as_ref()?.as_ref().ok()?)))
    }

    /// Those that have a result.
    pub fn good(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.ended().filter(|(_, row)| !row.collapsed)
    }

    /// Runs that came to nothing.
    pub fn failed(&self) -> usize {
        self.rows.iter().flatten().filter(|row| row.is_err()).count()
    }

    /// The spread of every figure of every part.
    pub fn spreads(&self) -> Vec<Spread> {
        let Some((_, first)) = self.good().next() else { return Vec::new() };
        let mut spreads = Vec::new();
        for (part, figures) in &first.parts {
            let columns: Columns = shown(figures).0;
            for (heading, name) in columns {
                let of = |row: &Row| row.figures(part).and_then(|figures| figures.get(name)).unwrap_or(f64::NAN);
                let values = sorted(self.good().map(|(_, row)| of(row)));
                if values.is_empty() {
                    continue;
                }
                let (mean, sd) = mean_sd(&values);
                let sd = if values.len() > 1 { sd } else { f64::NAN };
                let of = |share| quantile(&values, share);
                let figures = [mean, sd, of(0.1), of(0.5), of(0.9)];
                spreads.push(Spread { part, heading, name: name.replace('-', "_"), figures });
            }
        }
        spreads
    }

    /// Mean, standard deviation and number of the values that runs of each point of the grid have; the runs of a seed
    /// follow each other.
    pub fn points(&self, by: &By, points: usize) -> Vec<(f64, f64, usize)> {
        let of = |point: usize| {
            let rows = self.rows.iter().skip(point).step_by(points).flatten();
            let values: Vec<f64> = rows.filter_map(|row| row.as_ref().ok()?.value(by)).collect();
            let (mean, sd) = if values.is_empty() { (f64::NAN, f64::NAN) } else { mean_sd(&values) };
            (mean, sd, values.len())
        };
        (0..points).map(of).collect()
    }

    /// The table of `--csv`.
    pub fn csv<T: Real>(&self, list: &List<'_, T>) -> String {
        let names: Vec<(&str, Vec<String>)> = self.ended().next().map_or_else(Vec::new, |(_, row)| {
            let whole =
                |figures: &Figures| figures.named().into_iter().map(|f| f.0).filter(|f| !f.contains('[')).collect();
            row.parts.iter().map(|(part, figures)| (*part, whole(figures))).collect()
        });
        let axes = list.grid.0.iter().map(|axis| axis.name.clone());
        let figures = names
            .iter()
            .flat_map(|(part, names)| names.iter().map(move |name| format!("{part}_{}", name.replace('-', "_"))));
        let fixed = |name: &str| std::iter::once(name.to_string());
        let start = fixed("run").chain(fixed("seed")).chain(axes);
        let head = start
            .chain(fixed("step"))
            .chain(fixed("objective"))
            .chain(figures)
            .chain(fixed("warning"))
            .chain(fixed("error"));
        let mut text = line_of(head);
        for (at, (outcome, spec)) in self.rows.iter().zip(&list.runs).enumerate() {
            let Some(outcome) = outcome else { continue };
            let mut cells = vec![(at + 1).to_string(), spec.seed.to_string()];
            cells.extend(spec.settings.iter().map(|(_, value)| value.clone()));
            let row = outcome.as_ref().ok();
            cells.push(row.map_or_else(String::new, |row| row.step.to_string()));
            cells.push(row.map_or_else(String::new, |row| row.objective.to_string()));
            for (part, figures) in &names {
                let of = row.and_then(|row| row.figures(part));
                cells.extend(figures.iter().map(|name| {
                    let value = of.and_then(|of| of.get(name)).filter(|value| !value.is_nan());
                    value.map_or_else(String::new, |value| value.to_string())
                }));
            }
            let none = |row: &Row| row.no_signal.as_ref().map(NoSignal::sentence);
            cells.push(row.and_then(|row| row.warning.clone().or_else(|| none(row))).unwrap_or_default());
            cells.push(outcome.as_ref().err().cloned().unwrap_or_default());
            text += &line_of(cells.into_iter());
        }
        text
    }
}

/// A line of a CSV file.
fn line_of(cells: impl Iterator<Item = String>) -> String {
    cells.map(|cell| table::cell(&cell)).collect::<Vec<_>>().join(",") + "\n"
}

impl Spread {
    /// Its line of the table.
    pub fn line(&self) -> String {
        let cells = self.figures.map(|figure| if figure.is_nan() { format!("{:>7}", "–") } else { cell(figure) });
        format!("{:<6} {:<7} {}", self.part, self.heading, cells.join(" "))
    }

    /// Adds it to what programs read.
    pub fn add(&self, object: &mut Value) {
        for (name, figure) in ["mean", "sd", "q10", "median", "q90"].iter().zip(self.figures) {
            object[*name][self.part][&self.name] = figure.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{quantile, sorted};

    #[test]
    fn quantiles_lie_between_the_values() {
        let values = sorted([3.0, 1.0, f64::NAN, 2.0, 4.0].into_iter());
        assert_eq!([0.0, 0.5, 1.0].map(|share| quantile(&values, share)), [1.0, 2.5, 4.0]);
        assert!((quantile(&values, 0.1) - 1.3).abs() < 1e-12);
        assert_eq!(quantile(&[7.0], 0.9), 7.0);
    }
}
