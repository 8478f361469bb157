//! `--grid lr=.01:.1:8,margin=.3|.5`: the values of parameters that runs are made with.

use undercurve::registry::{Domain, Method};

/// Values that span this factor, above 0, are spaced by ratio.
const SPAN: f64 = 5.0;
/// More runs than anybody reads the rows of.
pub const MOST: usize = 1024;

/// A parameter and its values, as `--set` takes them.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub name: String,
    pub values: Vec<String>,
    /// Of values between two ends, whether they are spaced by ratio.
    pub by_ratio: Option<bool>,
}

/// Every axis of `--grid`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid(pub Vec<Axis>);

impl Grid {
    /// Reads `--grid`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut axes: Vec<Axis> = Vec::new();
        for item in text.split(',') {
            let (name, values) = item.split_once('=').ok_or_else(expected)?;
            let name = name.trim();
            if name.is_empty() {
                return Err(expected());
            }
            if axes.iter().any(|axis| axis.name == name) {
                return Err(format!("{name}: given twice"));
            }
            let (values, by_ratio) = values_of(values).map_err(|error| format!("{name}: {error}"))?;
            axes.push(Axis { name: name.to_string(), values, by_ratio });
        }
        Ok(Self(axes))
    }

    /// How many points it has.
    pub fn points(&self) -> usize {
        self.0.iter().fold(1, |points, axis| points.saturating_mul(axis.values.len()))
    }

    /// The settings of a point; the last axis runs fastest.
    pub fn point(&self, mut at: usize) -> Vec<(String, String)> {
        let mut settings: Vec<(String, String)> = Vec::new();
        for axis in self.0.iter().rev() {
            settings.push((axis.name.clone(), axis.values[at % axis.values.len()].clone()));
            at /= axis.values.len();
        }
        settings.reverse();
        settings
    }

    /// The same with whole numbers where the method takes no others.
    ///
    /// # Errors
    /// Where fewer of them are left than were asked for.
    pub fn of(&self, method: &Method) -> Result<Self, String> {
        let mut grid = self.clone();
        for axis in &mut grid.0 {
            let param = method.params.iter().find(|param| param.name == axis.name);
            let whole = param.is_some_and(|p| matches!(p.domain, Domain::Count { .. } | Domain::CountOr { .. }));
            if !whole || axis.by_ratio.is_none() {
                continue;
            }
            for value in &mut axis.values {
                *value = value.parse::<f64>().map_or(value.clone(), |number| number.round().to_string());
            }
            if let Some(twice) = repeated(&axis.values) {
                return Err(format!("{} is a whole number, and {twice} would be there twice", axis.name));
            }
        }
        Ok(grid)
    }
}

fn expected() -> String {
    "expected NAME=LO:HI:COUNT or NAME=A|B|…, with commas between parameters".to_string()
}

fn repeated(values: &[String]) -> Option<&String> {
    values.iter().enumerate().find(|(at, value)| values[..*at].contains(value)).map(|found| found.1)
}

/// The values of one axis, and how they are spaced.
fn values_of(text: &str) -> Result<(Vec<String>, Option<bool>), String> {
    if text.contains('|') {
        let values: Vec<String> = text.split('|').map(|value| value.trim().to_string()).collect();
        return match repeated(&values) {
            _ if values.iter().any(String::is_empty) => Err("a value is missing beside |".to_string()),
            Some(value) => Err(format!("{value} is there twice")),
            None => Ok((values, None)),
        };
    }
    let parts: Vec<&str> = text.split(':').collect();
    let &[low, high, count] = &*parts else { return Err("expected LO:HI:COUNT or A|B|…".to_string()) };
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    let (Some(low), Some(high), Ok(count)) = (number(low), number(high), count.trim().parse::<usize>()) else {
        return Err("expected two numbers and a count, LO:HI:COUNT".to_string());
    };
    if low >= high || !(2..=MOST).contains(&count) {
        return Err(format!("expected LO < HI and a count from 2 to {MOST}"));
    }
    let by_ratio = low > 0.0 && high >= SPAN * low;
    let value = |at: usize| {
        let share = at as f64 / (count - 1) as f64;
        // (The ends as they were given.)
        match at {
            0 => low,
            at if at == count - 1 => high,
            _ if by_ratio => rounded(low * (high / low).powf(share)),
            _ => rounded(low + (high - low) * share),
        }
    };
    let values: Vec<String> = (0..count).map(|at| value(at).to_string()).collect();
    match repeated(&values) {
        Some(value) => Err(format!("{value} would be there twice: too many for this range")),
        None => Ok((values, Some(by_ratio))),
    }
}

/// To four digits, which people read and `--set` takes.
fn rounded(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::Grid;

    fn values(text: &str) -> Vec<String> {
        Grid::parse(text).unwrap().0.swap_remove(0).values
    }

    #[test]
    fn wide_ranges_are_spaced_by_ratio_and_others_evenly() {
        assert_eq!(values("lr=.01:1:3"), ["0.01", "0.1", "1"]);
        assert_eq!(values("lr=.01:.1:4"), ["0.01", "0.02154", "0.04642", "0.1"]);
        assert_eq!(values("margin=.3:1.2:4"), ["0.3", "0.6", "0.9", "1.2"]);
        assert_eq!(values("a=0:1:5"), ["0", "0.25", "0.5", "0.75", "1"]);
        assert_eq!(values("sampling=uniform| stratified"), ["uniform", "stratified"]);
    }

    #[test]
    fn points_are_every_pair() {
        let grid = Grid::parse("lr=1|2|3,margin=.3:1:2").unwrap();
        assert_eq!(grid.points(), 6);
        let text = |at| grid.point(at).into_iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ");
        assert_eq!([text(0), text(1), text(5)], ["lr=1 margin=0.3", "lr=1 margin=1", "lr=3 margin=1"]);
    }

    #[test]
    fn whole_numbers_are_whole() {
        let soap = undercurve::registry::method("soap").unwrap();
        let grid = Grid::parse("batch=16:256:4,lr=.1|.2").unwrap().of(soap).unwrap();
        assert_eq!(grid.0[0].values, ["16", "40", "102", "256"]);
        assert!(Grid::parse("batch=2:4:5").unwrap().of(soap).unwrap_err().contains("twice"));
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in [
            "",
            "lr",
            "=1|2",
            "lr=1",
            "lr=1:2",
            "lr=2:1:3",
            "lr=1:2:1",
            "lr=a:b:3",
            "lr=1|",
            "lr=1|1",
            "lr=1|2,lr=3|4",
            "lr=1:2:2000",
            "lr=1:inf:3",
        ] {
            assert!(Grid::parse(bad).is_err(), "{bad}");
        }
    }
}
