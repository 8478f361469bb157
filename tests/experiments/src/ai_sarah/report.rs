//! Tables and figures of the experiment.

use super::Problem;
use super::runs::{Point, Setting};
use crate::tune::{EDGE, edge_line};
use anyhow::Result;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use undercurve_demo::figure::{self, Axes, Line};

/// Columns of a [`Point`].
const PASSES: usize = 0;
const EVALUATIONS: usize = 1;
const SECONDS: usize = 2;
const VALUE: usize = 3;
const NORM: usize = 4;
const ACCURACY: usize = 5;
const ALPHA: usize = 6;
const ALPHA_MAX: usize = 7;

/// Points of a line over seconds.
const MOMENTS: usize = 60;

/// Counts in how many cells AI-SARAH has the smallest mean, over all sections.
pub struct Report {
    folder: PathBuf,
    won: [usize; 2],
    cells: usize,
}

/// One data set with one λ: the settings that were chosen, their edges of the grids, and `runs` by setting and seed.
pub struct Results<'a> {
    pub chosen: &'a [Setting],
    pub edges: &'a [Vec<String>],
    pub runs: &'a [Vec<Vec<Point>>],
}

/// The smallest ‖∇P‖² up to so many passes or seconds, by a column of the points.
fn least(points: &[Point], column: usize, up_to: f64) -> f64 {
    points.iter().filter(|p| p[column] <= up_to).map(|p| p[NORM]).fold(f64::INFINITY, f64::min)
}

/// The last point up to so many passes.
fn at(points: &[Point], passes: f64) -> Option<&Point> {
    points.iter().rfind(|p| p[PASSES] <= passes)
}

/// One minibatch may reach over a whole number of passes.
fn whole(passes: f64) -> f64 {
    passes + 0.05
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    sum / count
}

fn mean_log(values: impl Iterator<Item = f64>) -> f64 {
    mean(values.map(|x| x.max(1e-300).ln())).exp()
}

/// A line of the table.
fn line(setting: &Setting, runs: &[Vec<Point>], cells: &[f64], edges: &[String]) -> String {
    let end = |column: usize| mean(runs.iter().filter_map(|points| points.last()).map(|p| p[column]));
    let best = mean(runs.iter().map(|points| points.iter().map(|p| p[ACCURACY]).fold(f64::NAN, f64::max)));
    let shown: Vec<String> = cells.iter().map(|x| format!("{x:.2e}")).collect();
    let tuned = |x: f64| if setting.alpha > 0.0 { format!("{x:.4}") } else { "–".to_owned() };
    let number = |x: f64| if x.is_finite() { format!("{x:.3}") } else { "–".to_owned() };
    format!(
        "| {}{} | {} | {} | {} | {:.3} | {:.6} | {} | {}, {} |",
        setting.method,
        if edges.is_empty() { "" } else { EDGE },
        tuned(setting.alpha),
        tuned(setting.other),
        shown.join(" | "),
        end(SECONDS),
        end(VALUE),
        if best.is_finite() { format!("{best:.4}") } else { "–".to_owned() },
        number(end(ALPHA)),
        number(end(ALPHA_MAX)),
    )
}

impl Report {
    /// Figures go to `folder`.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), won: [0; 2], cells: 0 }
    }

    /// One data set with one λ.
    pub fn section(
        &mut self,
        text: &mut String,
        problem: &Problem,
        regularised: bool,
        smooth: f64,
        budget: f64,
        results: Results<'_>,
    ) -> Result<()> {
        let (name, lambda) = (problem.name, problem.lambda(regularised));
        let Results { chosen, edges, runs } = results;
        let seeds = runs.first().map_or(0, Vec::len);
        writeln!(text, "\n## {name}, λ = {lambda:.3e}, budget {budget} passes, {seeds} seeds\n")?;
        writeln!(text, "Running minimum of ‖∇P‖², geometric mean over seeds. L = {smooth:.6}.\n")?;
        text.push_str("| method | α | other | 5 | 10 | 20 | 5 by gradients | 10 by gradients | 20 by gradients | s for the budget | P at the end | best test accuracy | α, α_max at the end |\n");
        text.push_str("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
        let places =
            [PASSES, EVALUATIONS].into_iter().flat_map(|column| [5.0, 10.0, 20.0].map(|passes| (column, passes)));
        let places: Vec<(usize, f64)> = places.collect();
        let of = |runs: &Vec<Vec<Point>>| {
            let cell = |&(column, passes): &(usize, f64)| {
                mean_log(runs.iter().map(|points| least(points, column, whole(passes))))
            };
            places.iter().map(cell).collect()
        };
        let cells: Vec<Vec<f64>> = runs.iter().map(of).collect();
        for (((setting, runs), cells), edges) in chosen.iter().zip(runs).zip(&cells).zip(edges) {
            writeln!(text, "{}", line(setting, runs, cells, edges))?;
        }
        let data = format!("{name}, λ = {}", if regularised { "1/n" } else { "0" });
        let lines: Vec<String> = (chosen.iter().zip(edges))
            .flat_map(|(setting, edges)| edges.iter().map(|edge| edge_line(setting.method, &data, edge)))
            .collect();
        if !lines.is_empty() {
            writeln!(text, "\nWinners on an end of their grid ({EDGE}):\n")?;
            lines.iter().try_for_each(|line| writeln!(text, "- {line}"))?;
        }
        for (k, (column, _)) in places.iter().enumerate() {
            let won = cells.iter().skip(1).all(|other| cells[0][k] < other[k]);
            self.won[*column] += usize::from(won);
        }
        self.cells += places.len() / 2;
        self.figures(&format!("{name}-{}", if regularised { "l2" } else { "plain" }), smooth, budget, chosen, runs)
    }

    fn figures(
        &self,
        stem: &str,
        smooth: f64,
        budget: f64,
        chosen: &[Setting],
        results: &[Vec<Vec<Point>>],
    ) -> Result<()> {
        let passes = || (0..=budget as u32).map(f64::from);
        let by = |column: usize| {
            move |runs: &Vec<Vec<Point>>| -> Vec<(f64, f64)> {
                passes().map(|x| (x, mean_log(runs.iter().map(|points| least(points, column, whole(x)))))).collect()
            }
        };
        let by_seconds = |runs: &Vec<Vec<Point>>| -> Vec<(f64, f64)> {
            let ends = runs.iter().filter_map(|points| points.last()).map(|p| p[SECONDS]);
            let end = ends.fold(f64::INFINITY, f64::min);
            let moments = (0..=MOMENTS).map(|k| end * k as f64 / MOMENTS as f64);
            moments.map(|x| (x, mean_log(runs.iter().map(|points| least(points, SECONDS, x))))).collect()
        };
        let of = |column: usize| {
            move |runs: &Vec<Vec<Point>>| -> Vec<(f64, f64)> {
                let value = |x| mean(runs.iter().filter_map(|points| at(points, whole(x))).map(|p| p[column]));
                passes().map(|x| (x, value(x))).collect()
            }
        };
        let draw = |what: &str, across: &str, up: &str, log: bool, lines: Vec<Vec<(f64, f64)>>| {
            let lines: Vec<Line<'_>> =
                chosen.iter().zip(&lines).map(|(setting, points)| Line::new(setting.method, points)).collect();
            let file = self.folder.join(format!("{stem}-{what}.svg"));
            figure::draw_on(&file, &Axes { title: stem, across, up, log }, &lines)
        };
        let norm = "running minimum of |grad P|²";
        draw("passes", "passes", norm, true, results.iter().map(by(PASSES)).collect())?;
        draw("gradients", "passes by gradient evaluations", norm, true, results.iter().map(by(EVALUATIONS)).collect())?;
        draw("seconds", "seconds", norm, true, results.iter().map(by_seconds).collect())?;
        draw("value", "passes", "P", false, results.iter().map(of(VALUE)).collect())?;
        draw("accuracy", "passes", "test accuracy", false, results.iter().map(of(ACCURACY)).collect())?;
        // The steps of AI-SARAH itself; there is none at pass 0.
        let own = results.first().map_or(Vec::new(), |runs| of(ALPHA)(runs));
        let bound = results.first().map_or(Vec::new(), |runs| of(ALPHA_MAX)(runs));
        let constant: Vec<(f64, f64)> = passes().map(|x| (x, 1.0 / smooth)).collect();
        let lines = [Line::new("α", &own), Line::new("α_max", &bound), Line::new("1/L", &constant)];
        let axes = Axes { title: stem, across: "passes", up: "step size", log: true };
        figure::draw_on(&self.folder.join(format!("{stem}-steps.svg")), &axes, &lines)
    }

    /// The sentence that counts the cells.
    pub fn score(&self, text: &mut String) -> Result<()> {
        let [by_pass, by_gradient] = self.won;
        writeln!(
            text,
            "\nAI-SARAH has the smallest geometric mean in {by_pass} of {0} cells by the paper's pass and in {by_gradient} of {0} by gradient evaluations.",
            self.cells
        )?;
        Ok(())
    }
}
