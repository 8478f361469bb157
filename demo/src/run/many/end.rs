//! What stands below the rows of many runs.

use super::backend::List;
use super::told::All;
use super::told::By;
use crate::error::Result;
use crate::output;
use serde_json::{Value, json};
use undercurve::Real;

/// What stands below the rows.
pub struct End<'a, T: Real> {
    pub list: &'a List<'a, T>,
    pub by: &'a By,
    pub all: &'a All,
    pub seconds: f64,
    pub backend: String,
    pub given: Option<[u64; 2]>,
}

impl<T: Real> End<'_, T> {
    /// Seed and settings of a run.
    fn name(&self, at: usize) -> String {
        let spec = &self.list.runs[at];
        let settings = spec.settings.iter().map(|(name, value)| format!(", {name}={value}"));
        format!("seed {}{}", spec.seed, settings.collect::<String>())
    }

    /// Settings of a point.
    fn point(&self, at: usize) -> String {
        let settings = self.list.grid.point(at).into_iter().map(|(name, value)| format!("{name}={value}"));
        settings.collect::<Vec<_>>().join(", ")
    }

    fn value(&self, at: usize) -> f64 {
        let row = self.all.rows[at].as_ref().and_then(|row| row.as_ref().ok());
        row.and_then(|row| row.value(self.by)).unwrap_or(f64::NAN)
    }

    /// Seeds that every point was trained with, if there are several, and points of the grid, if there is one.
    fn is_grid_of_seeds(&self) -> bool {
        !self.list.grid.0.is_empty() && self.list.runs.len() > self.list.grid.points()
    }

    /// The point with the best mean, of those with most runs.
    fn best_point(&self, points: &[(f64, f64, usize)]) -> Option<usize> {
        let most = points.iter().map(|point| point.2).max().filter(|&most| most > 0)?;
        (0..points.len())
            .filter(|&at| points[at].2 == most)
            .reduce(|best, at| if self.by.better(points[at].0, points[best].0) { at } else { best })
    }

    /// Parameters whose best value is the first or the last.
    fn at_end(&self, point: usize) -> Vec<&str> {
        let chosen = self.list.grid.point(point);
        let numbers = self.list.grid.0.iter().zip(&chosen).filter(|(axis, _)| axis.by_ratio.is_some());
        let at_end =
            numbers.filter(|(axis, (_, value))| [axis.values.first(), axis.values.last()].contains(&Some(value)));
        at_end.map(|(axis, _)| axis.name.as_str()).collect()
    }

    pub fn print(&self) -> Result<()> {
        self.print_warnings()?;
        let spreads = self.all.spreads();
        if !spreads.is_empty() {
            let names = ["mean", "sd", "10 %", "median", "90 %"].map(|name| format!("{name:>7}"));
            output::line(format!("\n{:14} {}", "", names.join(" ")))?;
            spreads.iter().try_for_each(|spread| output::line(spread.line()))?;
        }
        let chosen = self.print_points()?;
        for name in chosen.map_or_else(Vec::new, |at| self.at_end(at)) {
            output::line(format!("{name} lies at an end of its range; there may be more to gain beyond."))?;
        }
        if let Some(at) = self.all.best {
            let most = match self.by.part {
                "valid" => "",
                "test" => "; chosen on the test rows, which flatters it (--valid chooses on others)",
                _ => "; chosen on the training rows, which says nothing of others (--test, --split, --valid)",
            };
            let several = self.list.runs[0].seed != self.list.runs[self.list.runs.len() - 1].seed;
            let split =
                if several && self.list.splits() { "; every seed has rows of its own, some easier" } else { "" };
            output::line(format!("Best run: {}, {} {:.4}{most}{split}", self.name(at), self.by.name, self.value(at)))?;
        }
        let [saved, model] =
            [("saved to", &self.list.manner.place), ("the model is in", &self.list.manner.out)].map(|(what, path)| {
                match (path, self.all.best) {
                    (Some(path), Some(_)) => format!(", {what} {}", path.display()),
                    _ => String::new(),
                }
            });
        let (done, runs) = (self.all.rows.iter().flatten().count(), self.list.runs.len());
        let done = if done == runs { format!("{runs} runs") } else { format!("{done} of {runs} runs") };
        output::line(format!("{done} in {:.2} s on {}{saved}{model}", self.seconds, self.backend))
    }

    /// What is to be said against some of the runs.
    fn print_warnings(&self) -> Result<()> {
        let warned: Vec<(usize, &String)> =
            self.all.ended().filter_map(|(at, row)| Some((at, row.warning.as_ref()?))).collect();
        if let Some((first, sentence)) = warned.first() {
            let runs = if warned.len() == 1 { "1 run".to_string() } else { format!("{} runs", warned.len()) };
            output::line(format!("\n{runs} with a warning; {}: {sentence}", self.name(*first)))?;
            output::line(
                "(Those of all are in --csv and --json. Collapsed runs are no result: they are not counted below.)",
            )?;
        }
        match self.all.ended().filter(|(_, row)| row.no_signal.is_some()).count() {
            0 => Ok(()),
            none => output::line(format!(
                "\n{none} of {} runs found no signal: the 95 % interval of their AUROC is not above 0.5",
                self.list.runs.len()
            )),
        }
    }

    /// Of a grid of seeds its points, and the best; which point it is, or that of the best run.
    fn print_points(&self) -> Result<Option<usize>> {
        if !self.is_grid_of_seeds() {
            output::line("")?;
            return Ok(self.all.best.map(|at| at % self.list.grid.points()));
        }
        let points = self.all.points(self.by, self.list.grid.points());
        output::line(format!("\n{} by point, mean ± sd over seeds:", self.by.name))?;
        let width = (0..points.len()).map(|at| self.point(at).len()).max().unwrap_or(0);
        for (at, (mean, sd, runs)) in points.iter().enumerate() {
            output::line(format!("  {:<width$}  {mean:.4} ± {sd:.4} ({runs} runs)", self.point(at)))?;
        }
        output::line("")?;
        let chosen = self.best_point(&points);
        if let Some(at) = chosen {
            let ((mean, sd, runs), name) = (points[at], &self.by.name);
            output::line(format!("Best point: {}, {name} {mean:.4} ± {sd:.4} over {runs} seeds", self.point(at)))?;
        }
        Ok(chosen)
    }

    pub fn object(&self) -> Value {
        let mut object = json!({
            "done": true, "runs": self.list.runs.len(), "failed": self.all.failed(), "method": self.list.method(),
            "seconds": self.seconds, "backend": self.backend, "by": {"part": self.by.part, "metric": self.by.metric},
        });
        if let Some([pipelines, dispatches]) = self.given {
            (object["pipelines"], object["dispatches"]) = (pipelines.into(), dispatches.into());
        }
        let ended = self.all.rows.iter().flatten().count();
        if ended < self.list.runs.len() {
            object["interrupted"] = true.into();
        }
        object["ended"] = ended.into();
        object["no_signal"] = self.all.ended().filter(|(_, row)| row.no_signal.is_some()).count().into();
        object["collapsed"] = (self.all.ended().count() - self.all.good().count()).into();
        self.all.spreads().iter().for_each(|spread| spread.add(&mut object));
        let settings =
            |settings: Vec<(String, String)>| settings.into_iter().map(|(k, v)| (k, Value::from(v))).collect::<Value>();
        if let Some(at) = self.all.best {
            let spec = &self.list.runs[at];
            object["best"] = json!({
                "run": at + 1, "seed": spec.seed, "settings": settings(spec.settings.clone()), "value": self.value(at),
            });
        }
        if self.is_grid_of_seeds() {
            let points = self.all.points(self.by, self.list.grid.points());
            let best = self.best_point(&points);
            let of = |at: usize| {
                let (mean, sd, runs) = points[at];
                json!({"settings": settings(self.list.grid.point(at)), "mean": mean, "sd": sd, "runs": runs})
            };
            object["points"] = (0..points.len()).map(of).collect();
            object["best_point"] = best.map_or(Value::Null, of);
        }
        object
    }
}
