//! A model as an ONNX graph, its preparation inside.
//!
//! ```text
//! columns ─► one-hot of categories, pieces and ranks of numbers ─► concat ─► fill in ─► (x − shift)/divisor ─► products ─► layers ─► score ─► probability, class
//!            double up to here                                                  └► the model's precision
//! ```
//!
//! Operators of opset 13, and `OneHotEncoder` of ai.onnx.ml 3. As numbers alone ([`Exported::numeric`]) everything is f32: one input x, categories by
//! their place, no class. Such a graph has no string, no double, and no operator beyond those that small engines know (so `Not(Equal(x, x))`,
//! not `IsNaN`, and `Min` of what is negated, not `Max`).

use super::proto::{Message, element};
use super::{Exported, Layer, Link, json};
use std::format;
use std::string::{String, ToString as _};
use std::vec;
use std::vec::Vec;
use undercurve::data::{Knot, Missing, Piece, Scale, Source};
use undercurve::decision::{Beta, Calibration, Platt, Pool};

const OUTPUTS: [&str; 3] = ["score", "probability", "class"];

/// The graph under construction. Names of inner tensors begin with a word that no column is called by.
#[derive(Default)]
struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    /// Element type of the model's own numbers, and of those before it and of probabilities.
    real: i64,
    wide: i64,
}

/// An input or output of the graph: rows, or rows × columns.
fn info(name: &str, elem_type: i64, columns: Option<usize>, doc: &str) -> Message {
    let shape = Message::default().message(1, &Message::default().text(2, "rows"));
    let shape = match columns {
        Some(count) => shape.message(1, &Message::default().number(1, count as i64)),
        None => shape,
    };
    let tensor = Message::default().number(1, elem_type).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor)).text(3, doc)
}

fn integer(name: &str, i: i64) -> Message {
    let message = Message::default().text(1, name);
    if i == 0 { message.number(20, 2) } else { message.number(3, i).number(20, 2) }
}

fn integers(name: &str, all: &[i64]) -> Message {
    all.iter().fold(Message::default().text(1, name), |message, &i| message.number(8, i)).number(20, 7)
}

impl Graph {
    /// A node with one output, whose name is returned.
    fn node(&mut self, op: &str, inputs: &[&str], attributes: Vec<Message>) -> String {
        let output = format!("undercurve/{}", self.nodes.len());
        self.named(op, inputs, &output, attributes);
        output
    }

    fn named(&mut self, op: &str, inputs: &[&str], output: &str, attributes: Vec<Message>) {
        let node = Message::default().each(1, inputs).text(2, output);
        let node = node.text(3, &format!("{op}_{}", self.nodes.len())).text(4, op).each(5, attributes);
        self.nodes.push(node.text(7, if op == "OneHotEncoder" { "ai.onnx.ml" } else { "" }));
    }

    fn tensor(&mut self, dims: &[usize], data_type: i64, raw: &[u8], strings: &[Vec<u8>]) -> String {
        let name = format!("undercurve/constant_{}", self.constants.len());
        let tensor = Message::default().numbers(1, dims).number(2, data_type).each(6, strings).text(8, &name);
        self.constants.push(if raw.is_empty() { tensor } else { tensor.bytes(9, raw) });
        name
    }

    fn numbers(&mut self, dims: &[usize], data_type: i64, values: impl Iterator<Item = f64>) -> String {
        let raw: Vec<u8> = match data_type {
            element::FLOAT => values.flat_map(|x| (x as f32).to_le_bytes()).collect(),
            element::INT64 => values.flat_map(|x| (x as i64).to_le_bytes()).collect(),
            _ => values.flat_map(f64::to_le_bytes).collect(),
        };
        self.tensor(dims, data_type, &raw, &[])
    }

    fn cast(&mut self, from: &str, to: i64) -> String {
        self.node("Cast", &[from], vec![integer("to", to)])
    }

    /// Constants of the type that columns are prepared in.
    fn wide(&mut self, dims: &[usize], values: impl IntoIterator<Item = f64>) -> String {
        self.numbers(dims, self.wide, values.into_iter())
    }

    fn numeric(&self) -> bool {
        self.wide == element::FLOAT
    }

    /// Where a number is missing.
    fn gone(&mut self, x: &str) -> String {
        let there = self.node("Equal", &[x, x], Vec::new());
        self.node("Not", &[&there], Vec::new())
    }

    /// The encoded columns, before they are scaled: the inputs with their categories spread out.
    fn encoded(&mut self, model: &Exported<'_>, origins: &[f64]) -> String {
        let (wide, numeric) = (self.wide, self.numeric());
        let columns = model.sources.len();
        if numeric || columns == 0 {
            let columns = if columns == 0 { model.features.len() } else { columns };
            let doc = "the columns of training in their order; NaN where one is missing";
            self.inputs.push(info("x", wide, Some(columns), doc));
            if model.sources.is_empty() {
                return "x".into();
            }
        }
        let mut parts = Vec::new();
        for (at, ((name, source), &origin)) in model.sources.iter().zip(origins).enumerate() {
            let input = self.input(at, name, source);
            let missing = match source {
                Source::Category { missing, .. } => *missing && numeric,
                Source::Number { missing, .. } | Source::Pieces { missing, .. } | Source::Ranked { missing, .. } => {
                    *missing
                }
                _ => false,
            };
            let gone = missing.then(|| self.gone(&input));
            let mean = |mean: f64| (model.preparation.missing() == Missing::Impute).then_some(mean - origin);
            parts.push(match source {
                Source::Category { values, missing } => self.category(&input, values, *missing),
                Source::Pieces { mean: of, pieces, .. } => self.pieces(&input, mean(*of), pieces, origin),
                Source::Ranked { mean: of, knots, .. } => self.rank(&input, mean(*of), knots, origin),
                _ => input,
            });
            parts.extend(gone.map(|gone| self.cast(&gone, wide)));
        }
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        self.node("Concat", &parts, vec![integer("axis", 1)])
    }

    /// The cells of a column: of x, or an input of their own.
    fn input(&mut self, at: usize, name: &str, source: &Source<'_>) -> String {
        if self.numeric() {
            let place = self.numbers(&[1], element::INT64, [at as f64].into_iter());
            return self.node("Gather", &["x", &place], vec![integer("axis", 1)]);
        }
        let name = if OUTPUTS.contains(&name) { format!("column {name}") } else { name.to_string() };
        let (kind, doc) = if source.is_category() {
            (element::STRING, "a category as it is written; empty where it is missing")
        } else {
            (self.wide, "a number (a date: days since 1970-01-01); NaN where it is missing")
        };
        self.inputs.push(info(&name, kind, Some(1), doc));
        name
    }

    fn category(&mut self, x: &str, values: &[String], missing: bool) -> String {
        if self.numeric() {
            let places = self.wide(&[values.len()], (0..values.len()).map(|k| k as f64));
            let ones = self.node("Equal", &[x, &places], Vec::new());
            return self.cast(&ones, self.wide);
        }
        let strings: Vec<Vec<u8>> =
            values.iter().map(|text| text.clone().into_bytes()).chain(missing.then(Vec::new)).collect();
        let width = strings.len();
        let categories = Message::default().text(1, "cats_strings").each(9, strings).number(20, 8);
        let ones = self.node("OneHotEncoder", &[x], vec![categories, integer("zeros", 1)]);
        let shape = self.numbers(&[2], element::INT64, [-1.0, width as f64].into_iter());
        let flat = self.node("Reshape", &[&ones, &shape], Vec::new());
        self.cast(&flat, self.wide)
    }

    /// A number, which is this where it is missing.
    fn filled(&mut self, x: &str, mean: Option<f64>) -> String {
        let Some(mean) = mean else { return x.to_string() };
        let gone = self.gone(x);
        let mean = self.one(mean);
        self.node("Where", &[&gone, &mean, x], Vec::new())
    }

    /// Of every line, from a start over a width, the part that x has come times its rise, together.
    fn lines(&mut self, x: &str, lines: &[[f64; 3]], first: f64) -> String {
        let mut column = |dims: &[usize], at: usize| self.wide(dims, lines.iter().map(move |line| line[at]));
        let (start, width, rise) = (column(&[lines.len()], 0), column(&[lines.len()], 1), column(&[lines.len(), 1], 2));
        let [none, all] = [0.0, 1.0].map(|x| self.scalar(x));
        let x = self.node("Sub", &[x, &start], Vec::new());
        let x = self.node("Div", &[&x, &width], Vec::new());
        let x = self.node("Clip", &[&x, &none, &all], Vec::new());
        let x = self.node("MatMul", &[&x, &rise], Vec::new());
        let first = self.one(first);
        self.node("Add", &[&x, &first], Vec::new())
    }

    /// The rank of a number less its origin.
    fn rank(&mut self, x: &str, mean: Option<f64>, knots: &[Knot], origin: f64) -> String {
        let x = self.filled(x, mean);
        let line = |k: &[Knot]| [k[0].at - origin, k[1].at - k[0].at, k[1].rank - k[0].rank];
        let lines: Vec<[f64; 3]> = knots.windows(2).map(line).collect();
        self.lines(&x, &lines, knots[0].rank)
    }

    /// The pieces of a number less its origin.
    fn pieces(&mut self, x: &str, mean: Option<f64>, pieces: &[Piece], origin: f64) -> String {
        let x = self.filled(x, mean);
        // (All pieces of a column are of one kind.)
        let step = pieces[0].step;
        let sign = if step { 1.0 } else { -1.0 };
        let lows = self.wide(&[pieces.len()], pieces.iter().map(|piece| sign * (piece.low - origin)));
        let highs = self.wide(&[pieces.len()], pieces.iter().map(|piece| piece.high - origin));
        if !step {
            let x = self.node("Neg", &[&x], Vec::new());
            let x = self.node("Min", &[&x, &lows], Vec::new());
            let x = self.node("Neg", &[&x], Vec::new());
            return self.node("Min", &[&x, &highs], Vec::new());
        }
        let from = self.node("GreaterOrEqual", &[&x, &lows], Vec::new());
        let below = self.node("Less", &[&x, &highs], Vec::new());
        let inside = self.node("And", &[&from, &below], Vec::new());
        let inside = self.cast(&inside, self.wide);
        match mean {
            Some(_) => inside,
            None => {
                let gone = self.gone(&x);
                self.node("Where", &[&gone, &x, &inside], Vec::new())
            }
        }
    }

    /// (x − shift)/divisor.
    fn scaled(&mut self, x: &str, maps: &[(f64, f64)]) -> String {
        let shifts = self.wide(&[maps.len()], maps.iter().map(|map| map.0));
        let mut x = self.node("Sub", &[x, &shifts], Vec::new());
        if self.numeric() {
            let rest = self.wide(&[maps.len()], maps.iter().map(|map| map.0 - f64::from(map.0 as f32)));
            x = self.node("Sub", &[&x, &rest], Vec::new());
        }
        // Where the divisor is 0 the model sees 0.
        let divisors = maps.iter().map(|map| if map.1 == 0.0 { f64::INFINITY } else { map.1 });
        let divisors = self.wide(&[maps.len()], divisors);
        self.node("Div", &[&x, &divisors], Vec::new())
    }

    /// With the products of columns behind the columns.
    fn crossed(&mut self, x: String, model: &Exported<'_>) -> String {
        let crosses = model.preparation.crosses();
        if crosses.is_empty() {
            return x;
        }
        let [left, right] = [0, 1].map(|side| {
            let places = self.numbers(&[crosses.len()], element::INT64, crosses.iter().map(|pair| pair[side] as f64));
            self.node("Gather", &[&x, &places], vec![integer("axis", 1)])
        });
        let products = self.node("Mul", &[&left, &right], Vec::new());
        let maps = &model.features[model.features.len() - crosses.len()..];
        let products = self.scaled(&products, &maps.iter().map(|f| (f.shift, f.divisor)).collect::<Vec<_>>());
        self.node("Concat", &[&x, &products], vec![integer("axis", 1)])
    }

    /// What the model sees.
    fn features(&mut self, model: &Exported<'_>) -> String {
        let columns = model.features.len() - model.preparation.crosses().len();
        // Of each encoded column what is filled in, and how far the number in the graph is from that of the table.
        let origins = if model.numeric { model.origins() } else { vec![0.0; model.sources.len()] };
        let mut x = self.encoded(model, &origins);
        let mut fills = Vec::with_capacity(columns);
        for ((_, source), &origin) in model.sources.iter().zip(&origins) {
            let from = fills.len();
            fills.resize(from + source.width(), (0.0, 0.0));
            match source {
                Source::Number { mean, .. } => fills[from] = (mean - origin, origin),
                Source::Pieces { pieces, .. } if !pieces[0].step => fills[from..][..pieces.len()].fill((0.0, origin)),
                _ => {}
            }
        }
        if model.preparation.missing() == Missing::Impute && !fills.is_empty() {
            let gone = self.gone(&x);
            let means = self.wide(&[columns], fills.iter().map(|fill| fill.0));
            x = self.node("Where", &[&gone, &means, &x], Vec::new());
        }
        let scale = model.preparation.scale();
        if matches!(scale, Scale::Standard | Scale::Robust | Scale::Rank) {
            let origin = fills.iter().map(|fill| fill.1).chain(std::iter::repeat(0.0));
            let maps = model.features[..columns].iter().zip(origin).map(|(f, origin)| (f.shift - origin, f.divisor));
            x = self.scaled(&x, &maps.collect::<Vec<_>>());
        } else if fills.iter().any(|fill| fill.1 != 0.0) {
            let origins = self.wide(&[columns], fills.iter().map(|fill| fill.1));
            x = self.node("Add", &[&x, &origins], Vec::new());
        }
        x = self.crossed(x, model);
        match scale {
            Scale::None | Scale::Standard | Scale::Robust | Scale::Rank => {}
            Scale::Unit => {
                let squares = self.node("Mul", &[&x, &x], Vec::new());
                let axis = self.numbers(&[1], element::INT64, [1.0].into_iter());
                let sum = self.node("ReduceSum", &[&squares, &axis], vec![integer("keepdims", 1)]);
                let length = self.node("Sqrt", &[&sum], Vec::new());
                let [zero, one] = [0.0, 1.0].map(|x| self.one(x));
                let empty = self.node("Equal", &[&length, &zero], Vec::new());
                let divisor = self.node("Where", &[&empty, &one, &length], Vec::new());
                x = self.node("Div", &[&x, &divisor], Vec::new());
            }
        }
        if self.real == self.wide { x } else { self.cast(&x, self.real) }
    }

    fn layer(&mut self, x: &str, layer: &Layer, output: Option<&str>) -> String {
        let weights = self.numbers(&[layer.inputs, layer.outputs], self.real, layer.weights.iter().copied());
        let bias = self.numbers(&[layer.outputs], self.real, layer.bias.iter().copied());
        match output {
            Some(output) => {
                self.named("Gemm", &[x, &weights, &bias], output, Vec::new());
                output.into()
            }
            None => self.node("Gemm", &[x, &weights, &bias], Vec::new()),
        }
    }

    fn output(&mut self, name: &str, elem_type: i64, columns: Option<usize>, doc: &str) {
        self.outputs.push(info(name, elem_type, columns, doc));
    }

    /// The probability of a score by calibration.
    fn calibrated(&mut self, calibration: &Calibration) {
        let score = if self.real == self.wide { "score".into() } else { self.cast("score", self.wide) };
        let sure = match calibration {
            Calibration::Platt(curve) => self.platt(&score, curve),
            Calibration::Beta(beta) => self.beta(&score, beta),
            Calibration::Isotonic(pools) => self.isotonic(&score, pools),
        };
        if self.real == self.wide {
            self.named("Identity", &[&sure], "probability", Vec::new());
        } else {
            let float = self.real;
            let sure = self.cast(&sure, float);
            self.named("Identity", &[&sure], "probability", Vec::new());
        }
    }

    /// One number, to be broadcast over rows.
    fn one(&mut self, x: f64) -> String {
        self.wide(&[1], [x])
    }

    /// A number without dimensions, as an end of `Clip`.
    fn scalar(&mut self, x: f64) -> String {
        self.wide(&[], [x])
    }

    fn platt(&mut self, score: &str, curve: &Platt) -> String {
        let [slope, offset] = [curve.slope, curve.offset].map(|x| self.one(x));
        let x = self.node("Mul", &[score, &slope], Vec::new());
        let x = self.node("Add", &[&x, &offset], Vec::new());
        let x = self.node("Sigmoid", &[&x], Vec::new());
        let [least, most] = [curve.least, curve.most].map(|end| self.scalar(end));
        self.node("Clip", &[&x, &least, &most], Vec::new())
    }

    fn beta(&mut self, score: &str, beta: &Beta) -> String {
        let curve = beta.curve;
        let [slope, offset, low, high, shift] =
            [curve.slope, curve.offset, beta.low, beta.high, beta.offset].map(|x| self.one(x));
        let [none, least, most] = [0.0, curve.least, curve.most].map(|x| self.scalar(x));
        let one = self.one(1.0);
        let z = self.node("Mul", &[score, &slope], Vec::new());
        let z = self.node("Add", &[&z, &offset], Vec::new());
        // (ln σ(z) = min(z, 0) − ln(1 + e^−|z|), and −ln(1 − σ(z)) = z − ln σ(z).)
        let small = self.node("Abs", &[&z], Vec::new());
        let small = self.node("Neg", &[&small], Vec::new());
        let small = self.node("Exp", &[&small], Vec::new());
        let small = self.node("Add", &[&small, &one], Vec::new());
        let small = self.node("Log", &[&small], Vec::new());
        let below = self.node("Min", &[&z, &none], Vec::new());
        let below = self.node("Sub", &[&below, &small], Vec::new());
        let above = self.node("Sub", &[&z, &below], Vec::new());
        let below = self.node("Mul", &[&below, &low], Vec::new());
        let above = self.node("Mul", &[&above, &high], Vec::new());
        let x = self.node("Add", &[&below, &above], Vec::new());
        let x = self.node("Add", &[&x, &shift], Vec::new());
        let x = self.node("Sigmoid", &[&x], Vec::new());
        self.node("Clip", &[&x, &least, &most], Vec::new())
    }

    /// The first value, and of every rise from one pool to the next the part that the score has come.
    fn isotonic(&mut self, score: &str, pools: &[Pool]) -> String {
        let rises: Vec<[f64; 3]> = match pools {
            [_] => vec![[0.0, 1.0, 0.0]],
            pools => pools.windows(2).map(|p| [p[0].high, p[1].low - p[0].high, p[1].value - p[0].value]).collect(),
        };
        self.lines(score, &rises, pools[0].value)
    }

    /// The log-odds of each class against all others, of raw scores: s_k − ln Σ e^(s_j) over the others. (Class by class: converters to
    /// TensorFlow mix up the axes of a tensor of three.)
    fn log_odds(&mut self, logits: &str, classes: usize, output: &str) {
        let axis = self.numbers(&[1], element::INT64, [1.0].into_iter());
        let mut against = Vec::new();
        for class in 0..classes {
            let others = (0..classes).filter(|&other| other != class).map(|other| other as f64);
            let others = self.numbers(&[classes - 1], element::INT64, others);
            let others = self.node("Gather", &[logits, &others], vec![integer("axis", 1)]);
            let top = self.node("ReduceMax", &[&others], vec![integers("axes", &[1]), integer("keepdims", 1)]);
            let below = self.node("Sub", &[&others, &top], Vec::new());
            let below = self.node("Exp", &[&below], Vec::new());
            let sum = self.node("ReduceSum", &[&below, &axis], vec![integer("keepdims", 1)]);
            let sum = self.node("Log", &[&sum], Vec::new());
            against.push(self.node("Add", &[&top, &sum], Vec::new()));
        }
        let against: Vec<&str> = against.iter().map(String::as_str).collect();
        let all = self.node("Concat", &against, vec![integer("axis", 1)]);
        self.named("Sub", &[logits, &all], output, Vec::new());
    }

    /// The class of each row, where there are several or a threshold.
    fn decided(&mut self, model: &Exported<'_>, heads: usize) {
        if heads > 1 {
            let number = self.node("ArgMax", &["score"], vec![integer("axis", 1), integer("keepdims", 0)]);
            self.class(&number, "score", model.preparation.classes());
        } else if let Some(threshold) = model.threshold {
            let score = if self.real == element::DOUBLE { "score".into() } else { self.cast("score", element::DOUBLE) };
            let threshold = self.numbers(&[1], element::DOUBLE, [threshold].into_iter());
            let reached = self.node("GreaterOrEqual", &[&score, &threshold], Vec::new());
            let number = self.cast(&reached, element::INT64);
            let axis = self.numbers(&[1], element::INT64, [1.0].into_iter());
            let number = self.node("Squeeze", &[&number, &axis], Vec::new());
            self.class(&number, "score", &model.names);
        }
    }

    /// The score of a row without NaN.
    fn refused(&mut self, score: &str) {
        let gone = self.gone("x");
        let gone = self.cast(&gone, element::FLOAT);
        let axis = self.numbers(&[1], element::INT64, [1.0].into_iter());
        let count = self.node("ReduceSum", &[&gone, &axis], vec![integer("keepdims", 1)]);
        let [none, nan] = [0.5, f64::NAN].map(|x| self.one(x));
        let gone = self.node("Greater", &[&count, &none], Vec::new());
        self.named("Where", &[&gone, &nan, score], "score", Vec::new());
    }

    /// One of these texts for each row, by its number; none where the score is not a number, which `predict` refuses.
    fn class(&mut self, number: &str, score: &str, names: &[String]) {
        let gone = self.node("IsNaN", &[score], Vec::new());
        let gone = match names.len() {
            2 => gone,
            _ => {
                // (Of several classes a row has all or none.)
                let gone = self.cast(&gone, element::INT64);
                let gone = self.node("ReduceMax", &[&gone], vec![integers("axes", &[1]), integer("keepdims", 1)]);
                self.cast(&gone, element::BOOL)
            }
        };
        let axis = self.numbers(&[1], element::INT64, [1.0].into_iter());
        let gone = self.node("Squeeze", &[&gone, &axis], Vec::new());
        let none = self.numbers(&[], element::INT64, [names.len() as f64].into_iter());
        let number = self.node("Where", &[&gone, &none, number], Vec::new());
        let strings: Vec<Vec<u8>> = names.iter().map(|name| name.clone().into_bytes()).chain([Vec::new()]).collect();
        let names = self.tensor(&[strings.len()], element::STRING, &[], &strings);
        self.named("Gather", &[&names, &number], "class", Vec::new());
        self.output("class", element::STRING, None, "the label that is predicted");
    }
}

/// What the input of a numeric graph and its score mean, for programs: JSON in each value.
fn meaning(model: &Exported<'_>) -> Vec<(String, String)> {
    let strings = |all: &[String]| json::array(all.iter().map(|text| json::string(text)));
    let column = |((name, source), origin): (&(&str, Source<'_>), f64)| {
        let more = match source {
            Source::Category { values, .. } => ("categories", strings(values)),
            _ => ("origin", json::number(origin)),
        };
        json::object([("name", json::string(name)), more])
    };
    let columns = json::array(model.sources.iter().zip(model.origins()).map(column));
    let none = || "null".to_string();
    let (labels, threshold) =
        (model.labels().map_or_else(none, strings), model.threshold.map_or_else(none, json::number));
    [("columns", columns), ("labels", labels), ("threshold", threshold)]
        .map(|(key, value)| (key.to_string(), value))
        .into()
}

/// The file's bytes.
pub fn write(model: &Exported<'_>) -> Vec<u8> {
    let numeric = model.numeric;
    let of = |float| if float { element::FLOAT } else { element::DOUBLE };
    let real = of(numeric || model.real_bytes == 4);
    let mut graph = Graph { real, wide: of(numeric), ..Graph::default() };
    let mut x = graph.features(model);
    let (last, hidden) = model.layers.split_last().expect("a model has a layer");
    for layer in hidden {
        x = graph.layer(&x, layer, None);
        x = graph.node(if model.activation == Some("tanh") { "Tanh" } else { "Relu" }, &[&x], Vec::new());
    }
    let heads = last.outputs;
    // (Engines take a number for the larger of NaN and it, so that NaN would come out as a score.)
    let refuses = numeric && !model.sources.is_empty() && model.preparation.missing() == Missing::Refuse;
    let found = if refuses { "undercurve/score" } else { "score" };
    let raw = match heads {
        1 => graph.layer(&x, last, Some(found)),
        _ => {
            let logits = graph.layer(&x, last, None);
            graph.log_odds(&logits, heads, found);
            logits
        }
    };
    if refuses {
        graph.refused(found);
    }
    graph.output("score", real, Some(heads), model.score_is());
    match model.link {
        Some(Link::Sigmoid) => graph.named("Sigmoid", &["score"], "probability", Vec::new()),
        Some(Link::Softmax) => graph.named("Softmax", &[&raw], "probability", vec![integer("axis", 1)]),
        Some(Link::Calibrated(calibration)) => graph.calibrated(calibration),
        None => {}
    }
    if model.link.is_some() {
        graph.output("probability", real, Some(heads), "of the positive class, or of each");
    }
    if !numeric {
        graph.decided(model, heads);
    }
    let pair = |key: &str, value: &str| Message::default().text(1, key).text(2, value);
    let Graph { nodes, constants, inputs, outputs, .. } = graph;
    let graph = Message::default().each(1, nodes).text(2, "undercurve").each(5, constants);
    let graph = graph.each(11, inputs).each(12, outputs);
    let file = Message::default().number(1, 7).text(2, "undercurve").text(3, env!("CARGO_PKG_VERSION"));
    let file = file.text(6, &format!("{} by {}", model.spec, model.method)).message(7, &graph);
    let mut file = file.message(8, &Message::default().number(2, 13));
    let mut facts = model.facts.clone();
    if numeric {
        facts.extend(meaning(model));
    } else {
        file = file.message(8, &Message::default().text(1, "ai.onnx.ml").number(2, 3));
    }
    file.each(14, facts.iter().map(|(key, value)| pair(key, value))).finish()
}
