//! The search for a method's settings, the same for all methods of a table, and where a winner has nothing beyond it.
//!
//! A grid is a product of axes, each a text of alternatives, `a=1 b=2 | a=3 b=4`. An axis of which every alternative sets
//! the same one number is ordered. The search tries the whole grid, then climbs: it tries what lies beside the best point
//! so far on each axis, until nothing beside it is better or the points are used up. Beside a value of an ordered axis
//! are the next values of the ladder 1, 3, 10, 30 …, also beyond the ends of the grid, as far as the setting's range
//! goes; beside one of another axis, all other alternatives. An axis that begins with `~` is left out of the product:
//! its first alternative holds there, and only the climb looks at the others.

use undercurve::registry::{self, Domain};

/// Settings by name.
pub type Settings = Vec<(String, String)>;

/// One alternative of each axis.
pub type Point = Vec<Settings>;

/// A point that was tried, and its validation metric: the higher, the better.
pub type Tried = Vec<(Point, f64)>;

/// An axis of a grid.
#[derive(Clone, Debug)]
pub struct Axis {
    alternatives: Vec<Settings>,
    late: bool,
    ladder: Option<Ladder>,
}

/// The values of an ordered axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    name: String,
    /// The range of the setting.
    low: f64,
    high: f64,
    /// Where the range begins at 0, the value below which 0 comes: the least positive one of a grid with 0.
    after_zero: Option<f64>,
    whole: bool,
    /// Values near 1, whose distance from 1 goes by decades.
    near_one: bool,
}

impl Axis {
    /// An axis of a method's grid, for runs of so many steps. A value `33%` is that share of the steps.
    pub fn parse(text: &str, method: &str, steps: u64) -> Self {
        let (late, text) = match text.trim().strip_prefix('~') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let mut numbers = true;
        let mut setting = |text: &str| {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let share = value.strip_suffix('%').and_then(|share| share.parse::<u64>().ok());
            numbers &= share.is_none() && value.parse::<f64>().is_ok_and(f64::is_finite);
            (name.to_owned(), share.map_or(value.to_owned(), |share| (steps * share / 100).to_string()))
        };
        let alternatives: Vec<Settings> =
            text.split('|').map(|text| text.split_whitespace().map(&mut setting).collect()).collect();
        let name = match alternatives.first().map(Vec::as_slice) {
            Some([(name, _)]) => name.clone(),
            _ => String::new(),
        };
        let one = |settings: &Settings| matches!(settings.as_slice(), [(own, _)] if *own == name);
        // One value that is no beginning of a search is a setting of all points.
        let ordered = numbers && alternatives.iter().all(one) && (late || alternatives.len() > 1);
        let ladder = ordered.then(|| {
            let values: Vec<f64> = alternatives.iter().filter_map(|own| own[0].1.parse().ok()).collect();
            Ladder::new(&name, &values, method, steps)
        });
        Self { alternatives, late, ladder }
    }

    /// What lies beside a point's place on this axis.
    fn beside(&self, at: &Settings) -> Vec<Settings> {
        match (&self.ladder, at.first().and_then(|(_, value)| value.parse().ok())) {
            (Some(ladder), Some(value)) => {
                let next = [false, true].into_iter().filter_map(|up| ladder.next(value, up));
                next.map(|value| self.place(ladder, value)).collect()
            }
            _ => self.alternatives.iter().filter(|other| *other != at).cloned().collect(),
        }
    }
}

impl Axis {
    /// A value of the ladder as the grid writes it, where it has it.
    fn place(&self, ladder: &Ladder, value: f64) -> Settings {
        let own = self.alternatives.iter().find(|own| own[0].1.parse() == Ok(value));
        own.cloned().unwrap_or_else(|| vec![(ladder.name.clone(), shown(value))])
    }
}

/// Of settings whose range begins at 0.
const NEXT_TO_ZERO: f64 = 1e-6;

impl Ladder {
    fn new(name: &str, values: &[f64], method: &str, steps: u64) -> Self {
        let param = registry::method(method).and_then(|m| m.params.iter().find(|param| param.name == name));
        let (low, mut high, whole) = match param.map(|param| param.domain) {
            Some(Domain::Number { low, high } | Domain::NumberOr { low, high, .. }) => (low, high, false),
            Some(Domain::Count { low, high } | Domain::CountOr { low, high, .. }) => (low as f64, high as f64, true),
            _ => (f64::NEG_INFINITY, f64::INFINITY, false),
        };
        // A first stage as long as the run is the longest there is.
        if name == "stage" {
            high = steps as f64;
        }
        let least = values.iter().copied().filter(|&x| x > 0.0).fold(f64::INFINITY, f64::min);
        let near_one = high <= 1.0 && values.iter().all(|&x| x == 0.0 || (0.9..1.0).contains(&x));
        let after_zero = match (near_one, values.contains(&0.0)) {
            (false, true) => Some(least),
            (false, false) if low == 0.0 => Some(NEXT_TO_ZERO),
            _ => None,
        };
        Self { name: name.to_owned(), low, high, after_zero, whole, near_one }
    }

    /// The next value up or down; `None` at the end of the setting's range.
    fn next(&self, value: f64, up: bool) -> Option<f64> {
        if self.near_one {
            let apart = 1.0 - value;
            let next = if up { 1.0 - apart / 10.0 } else { (1.0 - apart * 10.0).max(0.0) };
            let next = rounded(next);
            return (next != value && next >= self.low && next <= self.high).then_some(next);
        }
        match self.after_zero {
            Some(least) if up && value == 0.0 => return Some(least),
            Some(least) if !up && value > 0.0 && value <= least => return Some(0.0),
            _ => {}
        }
        let mut next = rung(value, up)?;
        if self.whole {
            next = if up { next.ceil() } else { next.floor() };
        }
        next = next.clamp(self.low, self.high);
        (next != value && next.is_finite()).then_some(next)
    }
}

/// The nearest of 1, 3, 10, 30 … and .3, .1 … that is at least a factor of 1.5 away.
fn rung(value: f64, up: bool) -> Option<f64> {
    if value.is_nan() || value <= 0.0 {
        return None;
    }
    let exponent = value.log10().floor() as i32;
    let rungs = (exponent - 2..=exponent + 2).flat_map(|e| [1, 3].map(|m| (m, e)));
    let mut rungs = rungs.filter_map(|(m, e)| format!("{m}e{e}").parse::<f64>().ok());
    if up { rungs.find(|&x| x >= 1.5 * value) } else { rungs.rfind(|&x| x <= value / 1.5) }
}

/// Without the last bits that 1 − x leaves.
fn rounded(value: f64) -> f64 {
    format!("{value:.12}").parse().unwrap_or(value)
}

/// A value as settings give it.
fn shown(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-3..1e5).contains(&size) { format!("{value}") } else { format!("{value:e}") }
}

/// Every point of the product; the first axis changes slowest.
pub fn product(axes: &[Axis]) -> Vec<Point> {
    let mut points = vec![Vec::new()];
    for axis in axes {
        let some = if axis.late { &axis.alternatives[..1] } else { &axis.alternatives[..] };
        let with = |point: &Point, more: &Settings| point.iter().chain([more]).cloned().collect::<Point>();
        points = points.iter().flat_map(|point| some.iter().map(move |more| with(point, more))).collect();
    }
    points
}

/// A point's settings, in the order of its axes.
pub fn settings(point: &Point) -> Settings {
    point.concat()
}

/// The points to try next; none when the search is over, or would go beyond `most` points. `slack` as in [`best`].
pub fn next(axes: &[Axis], tried: &Tried, most: usize, slack: f64) -> Vec<Point> {
    let new = |point: &Point| tried.iter().all(|(old, _)| old != point);
    let room = most.saturating_sub(tried.len());
    let open: Vec<Point> = product(axes).into_iter().filter(new).take(room).collect();
    if !open.is_empty() {
        return open;
    }
    let Some((best, _)) = best(tried, slack) else { return Vec::new() };
    let beside = axes.iter().enumerate().flat_map(|(k, axis)| {
        axis.beside(&best[k]).into_iter().map(move |there| {
            let mut point = best.clone();
            point[k] = there;
            point
        })
    });
    beside.filter(new).take(room).collect()
}

/// The best point. A later one takes the place of an earlier one only where it is better by more than `slack`: a setting
/// that no longer changes anything is not followed without end.
pub fn best(tried: &Tried, slack: f64) -> Option<&(Point, f64)> {
    tried.iter().fold(None, |best, one| match best {
        Some(best) if one.1 <= best.1 + slack || one.1.is_nan() => Some(best),
        _ => Some(one),
    })
}

/// The ordered axes on which a winner has the least or the greatest value tried although the setting's range goes on,
/// as `name=value`.
pub fn edges(axes: &[Axis], tried: &Tried, winner: &Point) -> Vec<String> {
    let value = |point: &Point, k: usize| point[k].first().and_then(|(_, value)| value.parse::<f64>().ok());
    let edge = |(k, axis): (usize, &Axis)| {
        let (ladder, at) = (axis.ladder.as_ref()?, value(winner, k)?);
        let values = tried.iter().filter_map(|(point, _)| value(point, k));
        let (low, high) = values.fold((at, at), |(low, high), x| (low.min(x), high.max(x)));
        let goes_on = |up| ladder.next(at, up).is_some();
        ((at == low && goes_on(false)) || (at == high && goes_on(true)))
            .then(|| format!("{}={}", ladder.name, shown(at)))
    };
    axes.iter().enumerate().filter_map(edge).collect()
}

/// Whether a winner's value is the least or the greatest of a grid's values and no end of its range, `range`.
pub fn at_end(value: f64, values: impl Iterator<Item = f64>, range: (f64, f64)) -> bool {
    let (low, high) = values.fold((value, value), |(low, high), x| (low.min(x), high.max(x)));
    low < high && ((value == low && value > range.0) || (value == high && value < range.1))
}

/// The mark in a table of a winner on the end of its grid.
pub const EDGE: &str = "†";

/// The line about a winner on the end of its grid.
pub fn edge_line(method: &str, data: &str, edge: &str) -> String {
    format!("{method} on {data}: {edge} is the end of its grid")
}

#[cfg(test)]
mod tests {
    use super::{Axis, Point, Tried, at_end, best, edge_line, edges, next, product, settings};
    use crate::experiment::text;

    fn axes(method: &str, texts: &[&str]) -> Vec<Axis> {
        texts.iter().map(|text| Axis::parse(text, method, 3000)).collect()
    }

    fn texts(points: &[Point]) -> Vec<String> {
        points.iter().map(|point| text(&settings(point))).collect()
    }

    /// Searches with a metric of the settings' text.
    fn search(axes: &[Axis], most: usize, metric: impl Fn(&str) -> f64) -> Tried {
        let mut tried = Tried::new();
        loop {
            let points = next(axes, &tried, most, 0.0);
            if points.is_empty() {
                return tried;
            }
            tried.extend(points.into_iter().map(|point| (point.clone(), metric(&text(&settings(&point))))));
        }
    }

    fn beside(axes: &[Axis], at: &str) -> Vec<String> {
        let tried = search(axes, 1000, |own| f64::from(own == at));
        assert_eq!(text(&settings(&best(&tried, 0.0).unwrap().0)), at);
        let grid = product(axes).len();
        texts(&tried.iter().skip(grid).map(|one| one.0.clone()).collect::<Vec<_>>())
    }

    #[test]
    fn grids_are_products_and_shares_are_of_the_steps() {
        let own = axes("soap", &["margin=1 lr=2 | margin=3", "pretrain=0 | pretrain=33%", "~ decay=0 | decay=1e-4"]);
        assert_eq!(
            texts(&product(&own)),
            [
                "margin=1 lr=2 pretrain=0 decay=0",
                "margin=1 lr=2 pretrain=990 decay=0",
                "margin=3 pretrain=0 decay=0",
                "margin=3 pretrain=990 decay=0"
            ]
        );
    }

    #[test]
    fn the_ladder_goes_beyond_the_grid_and_ends_with_the_range() {
        let own = axes("soap", &["lr=0.01 | lr=0.1"]);
        assert_eq!(beside(&own, "lr=0.1"), ["lr=0.03", "lr=0.3"]);
        assert_eq!(beside(&own, "lr=0.01"), ["lr=0.003", "lr=0.03"]);
        // γ ends at 1, decay at 0, and below the least decay of a grid with 0 comes 0.
        assert_eq!(beside(&axes("soap", &["gamma=0.1 | gamma=0.9"]), "gamma=0.9"), ["gamma=0.3", "gamma=1"]);
        assert_eq!(beside(&axes("soap", &["gamma=0.9 | gamma=1"]), "gamma=1"), ["gamma=0.3"]);
        assert_eq!(beside(&axes("ce", &["decay=1e-4 | decay=1e-3"]), "decay=1e-4"), ["decay=3e-5", "decay=3e-4"]);
        assert_eq!(beside(&axes("ce", &["decay=0 | decay=1e-4"]), "decay=1e-4"), ["decay=3e-4"]);
        assert_eq!(beside(&axes("ce", &["decay=1e-6 | decay=1e-4"]), "decay=1e-6"), ["decay=0", "decay=3e-6"]);
        assert_eq!(beside(&axes("ce", &["decay=0 | decay=1e-4"]), "decay=0"), [""; 0]);
        // Whole numbers, a stage that is the whole run, and weights near 1.
        assert_eq!(beside(&axes("fast-ap", &["bins=1 | bins=20"]), "bins=1"), ["bins=3"]);
        assert_eq!(beside(&axes("pga", &["stage=300 | stage=1000"]), "stage=1000"), ["stage=3000"]);
        assert_eq!(beside(&axes("pga", &["stage=1000 | stage=3000"]), "stage=3000"), [""; 0]);
        assert_eq!(beside(&axes("cb-ce", &["beta=0.9 | beta=0.999"]), "beta=0.999"), ["beta=0.99", "beta=0.9999"]);
        assert_eq!(beside(&axes("cb-ce", &["beta=0.9 | beta=0.99"]), "beta=0.9"), ["beta=0"]);
    }

    #[test]
    fn a_climb_extends_an_axis_while_the_winner_is_on_its_end() {
        let own = axes("soap", &["lr=0.01 | lr=0.1", "~ decay=0 | decay=1e-4", "~ link=sigmoid | link=identity"]);
        // Best at lr = 30, decay = 3e-4, without link.
        let metric = |own: &str| {
            let part = |name: &str| own.split(' ').find_map(|s| s.strip_prefix(name)).unwrap();
            let (lr, decay): (f64, f64) = (part("lr=").parse().unwrap(), part("decay=").parse().unwrap());
            let near = (lr / 30.0).ln().abs() + 2000.0 * (decay - 3e-4).abs();
            -near - f64::from(part("link=") == "sigmoid")
        };
        let tried = search(&own, 1000, metric);
        let (winner, _) = best(&tried, 0.0).unwrap();
        assert_eq!(text(&settings(winner)), "lr=30 decay=3e-4 link=identity");
        assert_eq!(edges(&own, &tried, winner), [""; 0]);
        // With fewer points it ends on an edge, and says so.
        let tried = search(&own, 8, metric);
        assert_eq!(tried.len(), 8);
        let (winner, _) = best(&tried, 0.0).unwrap();
        let edge = edges(&own, &tried, winner);
        assert!(edge.iter().any(|edge| edge.starts_with("lr=")), "{edge:?} {tried:?}");
        assert_eq!(edge_line("SOAP", "annthyroid", "lr=3"), "SOAP on annthyroid: lr=3 is the end of its grid");
    }

    #[test]
    fn ends_of_the_range_are_no_edges() {
        let grid = |texts: &[&str], method: &str, at: &str| {
            let own = axes(method, texts);
            let tried: Tried = product(&own).into_iter().map(|point| (point, 0.0)).collect();
            let winner = tried.iter().find(|one| text(&settings(&one.0)) == at).unwrap().0.clone();
            edges(&own, &tried, &winner)
        };
        let rates: &[&str] = &["lr=0.01 | lr=0.03 | lr=0.1"];
        assert_eq!(grid(rates, "ce", "lr=0.1"), ["lr=0.1"]);
        assert_eq!(grid(rates, "ce", "lr=0.01"), ["lr=0.01"]);
        assert_eq!(grid(rates, "ce", "lr=0.03"), [""; 0]);
        assert_eq!(grid(&["decay=0 | decay=1e-4"], "ce", "decay=0"), [""; 0]);
        assert_eq!(grid(&["decay=0 | decay=1e-4"], "ce", "decay=1e-4"), ["decay=1e-4"]);
        assert_eq!(grid(&["gamma=0.9 | gamma=1"], "soap", "gamma=1"), [""; 0]);
        assert_eq!(grid(&["link=sigmoid | link=identity"], "soap", "link=identity"), [""; 0]);
        assert_eq!(grid(&["lr=0.1"], "soap", "lr=0.1"), [""; 0], "one value is no grid");
        let tenths = || (0..=10).map(|k| f64::from(k) / 10.0);
        assert!(!at_end(0.0, tenths(), (0.0, 5.0)) && at_end(1.0, tenths(), (0.0, 5.0)));
        assert!(!at_end(0.5, tenths(), (0.0, 5.0)) && !at_end(1.0, tenths(), (0.0, 1.0)));
        assert!(!at_end(1.0, [1.0].into_iter(), (0.0, 5.0)));
    }

    #[test]
    fn runs_that_came_to_nothing_do_not_win_and_are_not_tried_again() {
        let own = axes("soap", &["lr=1 | lr=10"]);
        let tried = search(&own, 100, |own| if own == "lr=1" { 0.5 } else { f64::NEG_INFINITY });
        assert_eq!(texts(&[best(&tried, 0.0).unwrap().0.clone()]), ["lr=1"]);
        assert_eq!(tried.len(), 4);
        let tried: Tried = [f64::NAN, 0.25].into_iter().zip(product(&own)).map(|(x, point)| (point, x)).collect();
        assert_eq!(best(&tried, 0.0).unwrap().1, 0.25);
        let tried: Tried = [0.5, 0.75].into_iter().zip(product(&own)).map(|(x, point)| (point, x)).collect();
        assert_eq!([0.125, 0.25].map(|slack| best(&tried, slack).unwrap().1), [0.75, 0.5]);
    }
}
