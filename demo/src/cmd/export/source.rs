//! A model as a source file of its own in C, JavaScript or Rust: `score(row)`, with the bits of `predict`.
//!
//! ```text
//! row of doubles ─► x: fill in, pieces, ranks, (x − shift)/divisor, products, 2-norm, in doubles ─► layers, in the model's precision ─► score
//! ```
//!
//! Statements are the same text in all three languages; helpers are written in each. Numbers are the shortest decimals that are read
//! back to the same bits, those of f32 as the doubles that they are. Sums have the order of `core/src/model/dense.rs`: of one output eight
//! partial sums, of several one each; nothing is contracted. `tanh` has other bits in every library, and rows that are stored sparse are summed
//! in another order, so such models are none of it. With weights as bytes ([`Int8`]) a weight is the product of its byte and its unit's scale, in
//! the model's precision: scores have the bits of the model of these.
//!
//! As floats (`--numeric`) everything is f32, as in the numeric graph: a row has floats, numbers far from 0 less an origin. No routine for
//! doubles is linked, which a small processor has not; the score is near that of `predict`, not its bits.

use super::int8::Int8;
use crate::export::Exported;
use std::fmt::Write as _;
use undercurve::data::{Missing, Scale, Source};

/// More columns than these may be stored sparse.
const MOST: usize = 1024;

const C: &str = "\
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize(\"fp-contract=off\")
#endif
#include <math.h>

typedef REAL real;
static inline double filled(double x, double mean) { return x == x ? x : mean; }
static inline double missing(double x) { return x == x ? 0 : 1; }
static inline double is(double x, double place) { return x == place ? 1 : 0; }
static inline double step(double x, double low, double high) { return x >= low && x < high ? 1 : 0; }
static inline double clip(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
static inline double rank(double x, const double *at, const double *value, int count) {
    int k = 0;
    while (k < count && at[k] < x) k++;
    if (k == 0 || k == count) return value[k ? k - 1 : 0];
    return value[k - 1] + (x - at[k - 1]) / (at[k] - at[k - 1]) * (value[k] - value[k - 1]);
}
static inline void unit(double *x, int count) {
    double most = 0, square = 0;
    for (int k = 0; k < count; k++) most = fabs(x[k]) > most ? fabs(x[k]) : most;
    if (most == 0) return;
    for (int k = 0; k < count; k++) x[k] /= most, square += x[k] * x[k];
    for (int k = 0; k < count; k++) x[k] /= sqrt(square);
}
static void layer(const real *from, int inputs, const WEIGHT *weights, SCALES const real *bias, int outputs, real *to) {
    for (int o = 0; o < outputs; o++) {
        real s[8] = {0};
        if (outputs > 1) s[0] = bias[o];
        for (int k = 0; k < inputs; k++) s[outputs > 1 ? 0 : k % 8] += from[k] * (weights[k * outputs + o] TIMES);
        to[o] = outputs > 1 ? s[0] : bias[0] + (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])));
    }
}
static inline void relu(real *h, int count) {
    for (int k = 0; k < count; k++) h[k] = h[k] > 0 ? h[k] : 0;
}
";
const JAVASCRIPT: &str = "\
const round = ROUND;
const filled = (x, mean) => (Number.isNaN(x) ? mean : x);
const missing = (x) => (Number.isNaN(x) ? 1 : 0);
const is = (x, place) => (x === place ? 1 : 0);
const step = (x, low, high) => (x >= low && x < high ? 1 : 0);
const clip = (x, low, high) => (x < low ? low : x > high ? high : x);
function rank(x, at, value, count) {
  let k = 0;
  while (k < count && at[k] < x) k++;
  if (k === 0 || k === count) return value[k ? k - 1 : 0];
  return value[k - 1] + ((x - at[k - 1]) / (at[k] - at[k - 1])) * (value[k] - value[k - 1]);
}
function unit(x) {
  const most = x.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  if (most === 0) return;
  let square = 0;
  for (let k = 0; k < x.length; k++) square += (x[k] /= most) * x[k];
  for (let k = 0; k < x.length; k++) x[k] /= Math.sqrt(square);
}
function layer(from, weights, bias) {
  return bias.map((start, o) => {
    const s = [bias.length > 1 ? start : 0, 0, 0, 0, 0, 0, 0, 0];
    from.forEach((x, k) => {
      const to = bias.length > 1 ? 0 : k % 8;
      s[to] = round(s[to] + round(x * weights[k * bias.length + o]));
    });
    if (bias.length > 1) return s[0];
    const add = (a, b) => round(a + b);
    return add(start, add(add(add(s[0], s[4]), add(s[2], s[6])), add(add(s[1], s[5]), add(s[3], s[7]))));
  });
}
const relu = (h) => h.map((x) => (x > 0 ? x : 0));
";
const RUST: &str = "\
#![allow(clippy::all, clippy::pedantic, dead_code, unused_parens)]
type Real = REAL;
fn filled(x: f64, mean: f64) -> f64 { if x.is_nan() { mean } else { x } }
fn missing(x: f64) -> f64 { if x.is_nan() { 1.0 } else { 0.0 } }
fn is(x: f64, place: f64) -> f64 { if x == place { 1.0 } else { 0.0 } }
fn step(x: f64, low: f64, high: f64) -> f64 { if x >= low && x < high { 1.0 } else { 0.0 } }
fn clip(x: f64, low: f64, high: f64) -> f64 { if x < low { low } else if x > high { high } else { x } }
fn rank(x: f64, at: &[f64], value: &[f64], count: usize) -> f64 {
    let k = at.partition_point(|&at| at < x);
    if k == 0 || k == count { return value[k.saturating_sub(1)] }
    value[k - 1] + (x - at[k - 1]) / (at[k] - at[k - 1]) * (value[k] - value[k - 1])
}
fn layer(from: &[Real], weights: &[WEIGHT], SCALES bias: &[Real], to: &mut [Real]) {
    let outputs = bias.len();
    for (o, to) in to.iter_mut().enumerate() {
        let mut s = [0.0; 8];
        if outputs > 1 { s[0] = bias[o] }
        for (k, x) in from.iter().enumerate() { s[if outputs > 1 { 0 } else { k % 8 }] += x * (weights[k * outputs + o] TIMES) }
        *to = if outputs > 1 { s[0] } else { bias[0] + (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))) };
    }
}
fn relu(h: &mut [Real]) { for x in h { *x = if *x > 0.0 { *x } else { 0.0 } } }
";
/// (Only where it is wanted: Rust's core has no square root yet.)
const RUST_UNIT: &str = "\
fn unit(x: &mut [f64]) {
    let most = x.iter().fold(0.0f64, |most, x| if x.abs() > most { x.abs() } else { most });
    if most == 0.0 { return }
    let mut square = 0.0;
    for x in x.iter_mut() { *x /= most; square += *x * *x }
    for x in x.iter_mut() { *x /= square.sqrt() }
}
";

#[derive(Clone, Copy, PartialEq)]
pub enum To {
    C,
    JavaScript,
    Rust,
}

/// What a list holds: doubles, numbers of the model, or whole ones from −127 to 127.
#[derive(Clone, Copy)]
enum Kind {
    Double,
    Real,
    Byte,
}

/// Finite: beyond the largest number nothing is.
fn number(x: f64) -> String {
    format!("{:e}", x.clamp(f64::MIN, f64::MAX))
}

fn list(values: impl IntoIterator<Item = f64>) -> String {
    values.into_iter().map(number).collect::<Vec<_>>().join(", ")
}

impl To {
    /// A number in a statement. (C computes with one that is not marked in doubles.)
    fn number(self, x: f64, floats: bool) -> String {
        let most = f64::from(f32::MAX);
        match floats {
            true => number(f64::from(x.clamp(-most, most) as f32)) + if self == Self::C { "f" } else { "" },
            false => number(x),
        }
    }

    /// The statement that divides x by its 2-norm.
    fn unit(self) -> &'static str {
        match self {
            Self::C => "    unit(x, sizeof x / sizeof *x);\n",
            Self::JavaScript => "    unit(x);\n",
            Self::Rust => "    unit(&mut x);\n",
        }
    }

    /// A constant list.
    fn constant(self, name: &str, kind: Kind, values: &[f64], floats: bool) -> String {
        let held = |&x: &f64| if floats { f64::from(x as f32) } else { x };
        let of = match kind {
            Kind::Byte => values.iter().map(|&x| (x as i8).to_string()).collect::<Vec<_>>().join(", "),
            Kind::Double | Kind::Real => list(values.iter().map(held)),
        };
        match self {
            Self::C => {
                format!("static const {} {name}[] = {{{of}}};\n", ["double", "real", "signed char"][kind as usize])
            }
            Self::JavaScript => format!("const {name} = [{of}];\n"),
            Self::Rust => {
                format!("static {name}: [{}; {}] = [{of}];\n", ["f64", "Real", "i8"][kind as usize], values.len())
            }
        }
    }
}

/// Why a model has no source.
fn none(model: &Exported<'_>) -> Option<&'static str> {
    if model.layers[model.layers.len() - 1].outputs > 1 {
        Some("of several classes")
    } else if model.activation == Some("tanh") {
        Some("with tanh, which has other bits in every library")
    } else if model.sources.is_empty() {
        Some("of rows without names of columns")
    } else if model.features.len() > MOST {
        Some("of more than 1024 encoded columns, which are summed as they are stored")
    } else {
        None
    }
}

/// What x is, by statements, and the lists that they read.
fn features(model: &Exported<'_>, to: To, floats: bool) -> (String, String) {
    let (mut lists, mut body, mut at) = (String::new(), String::new(), 0);
    let number = |x: f64| to.number(x, floats);
    let mut put = |body: &mut String, of: &str, origin: f64| {
        let feature = &model.features[at];
        let text = match (feature.shift - origin, feature.divisor) {
            (_, 0.0) => number(0.0),
            (0.0, 1.0) => of.to_string(),
            (shift, divisor) => format!("({of} - {}) / {}", number(shift), number(divisor)),
        };
        let _ = writeln!(body, "    x[{at}] = {text};");
        at += 1;
    };
    let impute = model.preparation.missing() == Missing::Impute;
    let filled = |k: usize, mean: f64| {
        if impute { format!("filled(row[{k}], {})", number(mean)) } else { format!("row[{k}]") }
    };
    let origins = if floats { model.origins() } else { vec![0.0; model.sources.len()] };
    for (k, ((_, source), origin)) in model.sources.iter().zip(origins).enumerate() {
        let gone = match source {
            Source::Number { mean, missing } => {
                put(&mut body, &filled(k, *mean - origin), origin);
                *missing
            }
            Source::Pieces { mean, pieces, missing } => {
                for piece in *pieces {
                    let (of, moved) = if piece.step { ("step", 0.0) } else { ("clip", origin) };
                    let ends = [piece.low, piece.high].map(|end| number(end - origin)).join(", ");
                    put(&mut body, &format!("{of}({}, {ends})", filled(k, *mean - origin)), moved);
                }
                *missing
            }
            Source::Ranked { mean, knots, missing } => {
                let (at, value): (Vec<f64>, Vec<f64>) = knots.iter().map(|knot| (knot.at - origin, knot.rank)).unzip();
                lists += &to.constant(&format!("AT{k}"), Kind::Double, &at, floats);
                lists += &to.constant(&format!("RANK{k}"), Kind::Double, &value, floats);
                let lent = if to == To::Rust { "&" } else { "" };
                let of = format!("rank({}, {lent}AT{k}, {lent}RANK{k}, {})", filled(k, *mean - origin), knots.len());
                put(&mut body, &of, 0.0);
                *missing
            }
            Source::Category { values, missing } => {
                (0..values.len())
                    .for_each(|place| put(&mut body, &format!("is(row[{k}], {})", number(place as f64)), 0.0));
                *missing
            }
            _ => false,
        };
        if gone {
            put(&mut body, &format!("missing(row[{k}])"), 0.0);
        }
    }
    let product = |[left, right]: &[usize; 2]| format!("x[{left}] * x[{right}]");
    model.preparation.crosses().iter().for_each(|pair| put(&mut body, &product(pair), 0.0));
    if model.preparation.scale() == Scale::Unit {
        body += to.unit();
    }
    (lists, body)
}

/// The score of x, layer by layer.
fn layers(model: &Exported<'_>, int8: Option<&Int8>, to: To, floats: bool) -> (String, String) {
    let (mut lists, mut body) = (String::new(), String::new());
    for (k, layer) in model.layers.iter().enumerate() {
        lists += &to.constant(&format!("W{k}"), int8.map_or(Kind::Real, |_| Kind::Byte), &layer.weights, floats);
        lists += &to.constant(&format!("B{k}"), Kind::Real, &layer.bias, floats);
        let mut scales = String::new();
        if let Some(int8) = int8 {
            lists += &to.constant(&format!("S{k}"), Kind::Real, &int8.scales[k], floats);
            scales = if to == To::Rust { format!(" &S{k},") } else { format!(" S{k},") };
        }
        let (inputs, outputs, next) = (layer.inputs, layer.outputs, k + 1);
        let (call, relu) = match to {
            To::C => (
                format!(
                    "    real h{next}[{outputs}];\n    layer(h{k}, {inputs}, W{k},{scales} B{k}, {outputs}, h{next});\n"
                ),
                format!("    relu(h{next}, {outputs});\n"),
            ),
            To::JavaScript => {
                (format!("    let h{next} = layer(h{k}, W{k}, B{k});\n"), format!("    h{next} = relu(h{next});\n"))
            }
            To::Rust => (
                format!(
                    "    let mut h{next} = [0.0; {outputs}];\n    layer(&h{k}, &W{k},{scales} &B{k}, &mut h{next});\n"
                ),
                format!("    relu(&mut h{next});\n"),
            ),
        };
        body += &call;
        if next < model.layers.len() {
            body += &relu;
        }
    }
    (lists, body)
}

/// What a row has, as comments.
fn head(model: &Exported<'_>, int8: Option<&Int8>, floats: bool) -> String {
    let bits = match (int8, floats) {
        (None, false) => ", with the bits of `undercurve predict`",
        (_, true) => ", near that of `undercurve predict`",
        _ => "",
    };
    let of = if floats { "floats" } else { "doubles" };
    let mut text = format!("// {} by {}: score(row){bits}. A row has, as {of}:\n", model.spec, model.method);
    let origins = model.origins();
    for (k, (name, source)) in model.sources.iter().enumerate() {
        let of = match source {
            Source::Category { values, .. } => format!("the place, from 0, in {}", serde_json::json!(values)),
            _ if floats && origins[k] != 0.0 => {
                format!("a number (a date: days since 1970-01-01) less {}, before it becomes a float", origins[k])
            }
            _ => "a number (a date: days since 1970-01-01)".into(),
        };
        // (These end a line, and with it a comment.)
        let line = format!("// {k} {}: {of}", serde_json::json!(name)).replace(['\u{2028}', '\u{2029}', '\u{85}'], " ");
        text += &(line + "\n");
    }
    text += match model.preparation.missing() {
        Missing::Impute => "// NaN is a missing value, and -1 another category.\n",
        Missing::Refuse => "// -1 is another category; the score of a row with NaN is NaN.\n",
    };
    text + int8.map_or("", |int8| &int8.told)
}

/// The file's bytes, or why there are none.
pub fn write(model: &Exported<'_>, int8: Option<&Int8>, to: To, floats: bool) -> Result<Vec<u8>, &'static str> {
    if let Some(why) = none(model) {
        return Err(why);
    }
    let (columns, width, mut text) = (model.sources.len(), model.features.len(), head(model, int8, floats));
    let real =
        if model.real_bytes == 8 && !floats { ["double", "f64", "(x) => x"] } else { ["float", "f32", "Math.fround"] };
    let [byte, scales, times] = match (to, int8) {
        (To::C, Some(_)) => ["signed char", "const real *scales, ", " * scales[o]"],
        (To::Rust, Some(_)) => ["i8", "scales: &[Real], ", " as Real * scales[o]"],
        _ => [if to == To::C { "real" } else { "Real" }, "", ""],
    };
    let helpers = match to {
        To::C => C.replace("REAL", real[0]),
        To::JavaScript => JAVASCRIPT.replace("ROUND", real[2]),
        To::Rust => RUST.replace("REAL", real[1]),
    };
    text += &helpers.replace("WEIGHT", byte).replace("SCALES ", scales).replace(" TIMES", times);
    if to == To::Rust && model.preparation.scale() == Scale::Unit {
        text += RUST_UNIT;
    }
    if let Some(threshold) = model.threshold {
        let [no, yes] = model.names.each_ref().map(|name| serde_json::json!(name));
        text += &format!("// From this score up a row is {yes}, below {no}.\n")
            .replace(['\u{2028}', '\u{2029}', '\u{85}'], " ");
        let at = to.number(threshold, floats);
        text += &match to {
            To::C => format!("#define THRESHOLD {at}\n"),
            To::JavaScript => format!("export const THRESHOLD = {at};\n"),
            To::Rust => format!("pub const THRESHOLD: f64 = {at};\n"),
        };
    }
    let ((prepared, x), (weights, h)) = (features(model, to, floats), layers(model, int8, to, floats));
    text += &(prepared + &weights);
    let (refuse, last) = (model.preparation.missing() == Missing::Refuse, model.layers.len());
    let (open, refused, rounded) = match to {
        To::C => (
            format!("double score(const double row[{columns}]) {{\n    double x[{width}];\n"),
            format!("    for (int k = 0; k < {columns}; k++) if (row[k] != row[k]) return row[k];\n"),
            format!("    real h0[{width}];\n    for (int k = 0; k < {width}; k++) h0[k] = (real)x[k];\n"),
        ),
        To::JavaScript => (
            format!("export function score(row) {{\n    const x = new Array({width}).fill(0);\n"),
            "    if (row.some(Number.isNaN)) return NaN;\n".into(),
            "    const h0 = x.map((x) => round(x));\n".into(),
        ),
        To::Rust => (
            format!("pub fn score(row: &[f64; {columns}]) -> f64 {{\n    let mut x = [0.0f64; {width}];\n"),
            "    if row.iter().any(|x| x.is_nan()) { return f64::NAN }\n".into(),
            "    let h0 = x.map(|x| x as Real);\n".into(),
        ),
    };
    text += &(open + if refuse { &refused } else { "" } + &x + &rounded + &h);
    text += &match to {
        To::Rust if model.real_bytes == 4 && !floats => format!("    f64::from(h{last}[0])\n}}\n"),
        To::Rust => format!("    h{last}[0]\n}}\n"),
        _ => format!("    return h{last}[0];\n}}\n"),
    };
    Ok(if floats { in_floats(&text, to) } else { text }.into_bytes())
}

/// The same text, computing in floats. (Comments speak of other programs, and names of columns stand there alone.)
fn in_floats(text: &str, to: To) -> String {
    let words = match to {
        To::C => [("double", "float"), ("fabs(", "fabsf("), ("sqrt(", "sqrtf(")],
        _ => [("f64", "f32"), ("0.0f64", "0.0f32"), ("x as Real", "x")],
    };
    let line = |line: &str| match line.starts_with("//") {
        true => line.to_string(),
        false => words.iter().fold(line.to_string(), |line, (of, by)| line.replace(of, by)),
    };
    text.lines().map(|one| line(one) + "\n").collect()
}
