//! Small figures of the card, as SVG that takes its colours from the page.

use std::fmt::Write as _;

/// A square plot over [0, 1] × [0, 1], with its axes named.
pub struct Plot {
    body: String,
}

const SIZE: f64 = 240.0;
const LEFT: f64 = 44.0;
const TOP: f64 = 10.0;
const BELOW: f64 = 42.0;

fn x(at: f64) -> f64 {
    LEFT + SIZE * at.clamp(0.0, 1.0)
}

fn y(at: f64) -> f64 {
    TOP + SIZE * (1.0 - at.clamp(0.0, 1.0))
}

impl Plot {
    /// Empty, with a grid.
    pub fn new(across: &str, up: &str) -> Self {
        let mut body = String::new();
        for tick in 0..=4 {
            let at = f64::from(tick) / 4.0;
            let (px, py, label) = (x(at), y(at), format!("{at:.2}"));
            let (left, right, top, bottom) = (x(0.0), x(1.0), y(1.0), y(0.0));
            // (Writing to a string cannot fail.)
            let _ = write!(
                body,
                "<path class=grid d=\"M{px} {top}V{bottom}M{left} {py}H{right}\"/>\
                 <text x={px} y={} text-anchor=middle>{label}</text>\
                 <text x={} y={} text-anchor=end>{label}</text>",
                bottom + 15.0,
                left - 6.0,
                py + 4.0
            );
        }
        let (middle, bottom) = (x(0.5), y(0.0) + 33.0);
        let _ = write!(
            body,
            "<text x={middle} y={bottom} text-anchor=middle>{across}</text>\
             <text transform=\"translate(11 {}) rotate(-90)\" text-anchor=middle>{up}</text>",
            y(0.5)
        );
        Self { body }
    }

    /// A line through points.
    pub fn line(mut self, class: &str, points: impl Iterator<Item = (f64, f64)>) -> Self {
        let path: Vec<String> = points.map(|(px, py)| format!("{:.2} {:.2}", x(px), y(py))).collect();
        let _ = write!(self.body, "<path class={class} d=\"M{}\"/>", path.join("L"));
        self
    }

    /// A point with an interval upwards.
    pub fn point(mut self, (px, py): (f64, f64), [low, high]: [f64; 2]) -> Self {
        let (at, top, bottom) = (x(px), y(high), y(low));
        let _ = write!(
            self.body,
            "<path class=whisker d=\"M{at:.2} {top:.2}V{bottom:.2}\"/><circle class=dot cx={at:.2} cy={:.2} r=3.5 />",
            y(py)
        );
        self
    }

    /// The picture; `told` says it to those who do not see it.
    pub fn svg(self, told: &str) -> String {
        let (width, height) = (LEFT + SIZE + 16.0, TOP + SIZE + BELOW);
        format!("<svg viewBox=\"0 0 {width} {height}\" role=img aria-label=\"{told}\">{}</svg>", self.body)
    }
}
