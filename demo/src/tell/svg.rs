//! Pictures as text.

use std::fmt::{Arguments, Write as _};

/// Colours of text.
pub const INK: &str = "#1b1e23";
pub const SOFT: &str = "#5c636d";

/// A picture that is being drawn.
pub struct Svg(String);

impl Svg {
    /// A white page.
    pub fn new(width: f64, height: f64) -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        ))
    }

    /// Adds an element. (Writing to a string cannot fail.)
    pub fn line(&mut self, element: Arguments<'_>) {
        let _ = writeln!(self.0, "{element}");
    }

    /// Adds text.
    pub fn text(&mut self, (x, y): (f64, f64), text: &str, style: &str) {
        self.line(format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{}</text>", escaped(text)));
    }

    /// The file.
    pub fn finish(self) -> String {
        self.0 + "</svg>\n"
    }
}

/// Text inside a picture.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
        out
    })
}
