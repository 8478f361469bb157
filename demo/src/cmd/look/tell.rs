//! What was found, for people, for programs, and as a file to edit.

use super::find::{As, Column, Found, Label};
use crate::args::data::DataPlan;
use crate::error::Result;
use crate::output;
use crate::tell::text::{cut, shell, stem, wrap};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use undercurve::data::{DateOrder, Decimal, Encoding, SplitBy};

/// Characters of a column's name, and of how it is read.
const NAME: usize = 20;
const READ: usize = 24;

pub struct Told<'a> {
    pub found: &'a Found,
    pub file: &'a Path,
    pub data: &'a DataPlan,
}

impl Told<'_> {
    /// For people.
    pub fn lines(&self, new: Option<&Path>) -> Result<()> {
        let Found { rows, columns, label, .. } = self.found;
        let say = |text: String| output::line(wrap(&text, 2));
        say(format!("{}: {rows} rows, {} columns", self.file.display(), self.found.width))?;
        match (label, &self.found.no_label) {
            (Some(label), _) => say(label.told())?,
            (None, Some((why, two))) => {
                say(format!("label: {why}"))?;
                if !two.is_empty() {
                    say(format!("  columns of two values: {}", two.join(", ")))?;
                }
            }
            (None, None) => {}
        }
        output::line(format!("\n{:NAME$}  {:READ$}  {:>7}  examples", "column", "read as", "missing"))?;
        for column in columns {
            let read = match (&column.left_out, self.is_label(column)) {
                (_, true) => "the label".to_string(),
                (Some(_), _) => "left out".to_string(),
                _ => column.read_as(),
            };
            let examples: Vec<String> = column.examples.iter().map(|cell| cut(cell, 20)).collect();
            let (name, read) = (cut(&column.name, NAME), cut(&read, READ));
            let line = format!("{name:NAME$}  {read:READ$}  {:>7}  {}", column.missing, examples.join("  "));
            output::line(cut(line.trim_end(), 80))?;
        }
        let said = self.said();
        if !said.is_empty() {
            output::line("")?;
        }
        said.into_iter().try_for_each(|(what, text)| say(format!("{what}: {text}")))?;
        if let Some(path) = new {
            say(format!("\n{}: written; edit it, and look again", path.display()))?;
        }
        say(format!("\nNext: {}", self.next()))
    }

    fn is_label(&self, column: &Column) -> bool {
        self.found.label.as_ref().is_some_and(|label| label.column == column.name)
    }

    /// What is to be said, and of what kind it is.
    fn said(&self) -> Vec<(&'static str, String)> {
        let Found { columns, label, rows, copies, contradictions, .. } = self.found;
        let mut all = Vec::new();
        let named = |name: &String| format!("\"{name}\"");
        for column in columns.iter().filter(|column| column.left_out.is_none()) {
            all.extend(column.doubt.iter().map(|doubt| ("doubtful", doubt.clone())));
        }
        all.extend(self.found.notes.iter().map(|note| ("note", note.clone())));
        for column in columns.iter().filter(|column| self.found.away.contains(&column.name)) {
            let (name, auroc) = (named(&column.name), column.auroc.unwrap_or(f64::NAN));
            let what = if auroc >= 1.0 { "tells the label without error" } else { "ranks the label almost perfectly" };
            all.push((
                "gives the label away?",
                format!(
                    "{name} alone {what} (AUROC {auroc:.4}). Is it known when the model has to decide? If not: --ignore {}",
                    shell(&column.name)
                ),
            ));
        }
        if *copies > 0 {
            let split = if label.is_some() && *contradictions > 0 {
                format!(", {contradictions} of them with another label")
            } else {
                String::new()
            };
            all.push(("copies", format!("{copies} of {rows} rows are equal to another in all features{split}; a split may put them on both sides")));
        }
        if let Some(name) = &self.found.time {
            all.push((
                "time",
                format!("{} may order the rows; to test on the last ones: --split-by {}", named(name), shell(name)),
            ));
        }
        if let Some(name) = &self.found.together {
            all.push((
                "groups",
                format!(
                    "values of {} recur; to keep its rows together: --split-group {name}; for intervals and promises of whole ones: \
                     `metrics` and `decide` with --cluster {name}",
                    named(name),
                    name = shell(name)
                ),
            ));
        }
        if let Some(Label { positives, rows, .. }) = label
            && let few @ ..50 = *positives.min(&(rows - positives))
        {
            all.push(("few", format!("{few} rows of the rarer class: differences between methods will be noise")));
        }
        all
    }

    /// What was typed about how the file is read, for the next command.
    fn carried(&self) -> Vec<String> {
        let (options, layout) = (&self.data.options, self.data.layout);
        let list =
            |name: &str, all: &[String]| (!all.is_empty()).then(|| format!("--{name} {}", shell(&all.join(","))));
        let word = |name: &str, word: Option<&str>| word.map(|word| format!("--{name} {word}"));
        let all = [
            options.positive.as_ref().map(|positive| format!("--positive {}", shell(positive))),
            list("na", &self.data.na),
            list("categorical", &options.categorical),
            list("weight", options.weight.as_slice()),
            word("encoding", (layout.encoding == Encoding::Latin1).then_some("latin1")),
            (layout.skip > 0).then(|| format!("--skip {}", layout.skip)),
            (layout.skip_end > 0).then(|| format!("--skip-end {}", layout.skip_end)),
            word("header", layout.header.map(|there| if there { "yes" } else { "no" })),
            word("decimal", layout.decimal.map(decimal)),
            word("dates", layout.dates.map(order)),
        ];
        all.into_iter().flatten().collect()
    }

    /// The next command.
    fn next(&self) -> String {
        let Found { columns, label, no_label, away, .. } = self.found;
        let file = shell(&self.file.display().to_string());
        let Some(label) = label else {
            if columns.is_empty() {
                let model = shell(&format!("{}.model", stem(self.file)));
                return format!("undercurve train {file} --split 0.75 --valid 0.2 --out {model}");
            }
            let carried = self.carried().iter().map(|option| format!(" {option}")).collect::<String>();
            let named = self.data.options.label.as_ref().filter(|_| self.found.is_of_many);
            return match (named, no_label.iter().flat_map(|(_, two)| two).next()) {
                (Some(named), _) => {
                    format!("undercurve look {file} --label {} --positive VALUE{carried}", shell(named))
                }
                (None, Some(name)) => format!("undercurve look {file} --label {}{carried}", shell(name)),
                (None, None) => format!("undercurve look {file} --label COLUMN{carried}"),
            };
        };
        let open: Vec<&str> = columns
            .iter()
            .filter(|column| column.doubt.is_some() && column.left_out.is_none())
            .map(|column| column.name.as_str())
            .collect();
        let mut options = match &self.data.schema {
            Some(schema) => vec![format!("--schema {}", shell(&schema.file.display().to_string()))],
            None => [vec![format!("--label {}", shell(&label.column))], self.carried()].concat(),
        };
        if let (Some(_), false) = (&self.data.schema, open.is_empty()) {
            let (open, options) = (open.join(", "), options.join(" "));
            return format!("answer for {open} in the schema, then: undercurve look {file} {options}");
        }
        // (A schema that is written now says what is ignored, and asks about what gives the label away.)
        let ignored: Vec<&str> = self.data.ignore.iter().chain(away).map(String::as_str).collect();
        if self.data.schema.is_none() && !ignored.is_empty() {
            options.push(format!("--ignore {}", shell(&ignored.join(","))));
        }
        if !open.is_empty() {
            options.push(format!("--schema {}", shell(&format!("{}.schema", stem(self.file)))));
            return format!("undercurve look {file} {}", options.join(" "));
        }
        match (&self.data.options.split_by, &self.found.time, &self.found.together) {
            (Some(SplitBy::Order(name)), ..) | (None, Some(name), _) => {
                options.push(format!("--split-by {}", shell(name)))
            }
            (Some(SplitBy::Group(name)), ..) | (None, None, Some(name)) => {
                options.push(format!("--split-group {}", shell(name)));
            }
            _ => {}
        }
        let (options, model) = (options.join(" "), shell(&format!("{}.model", stem(self.file))));
        format!("undercurve train {file} {options} --split 0.75 --valid 0.2 --out {model}")
    }

    /// For programs.
    pub fn object(&self) -> Value {
        let Found { rows, columns, label, no_label, copies, contradictions, .. } = self.found;
        let each = columns.iter().map(|column| {
            json!({
                "name": column.name, "as": word(column), "read": column.read_as(), "missing": column.missing,
                "distinct": column.distinct, "examples": column.examples, "doubt": column.doubt,
                "left_out": column.left_out, "auroc": column.auroc, "label": self.is_label(column),
                "decimal": column.notation.decimal.map(decimal), "order": column.notation.dates.map(order),
                "percent": column.notation.percent,
            })
        });
        json!({
            "file": self.file.display().to_string(), "rows": rows,
            "label": label.as_ref().map(|label| json!({
                "column": label.column, "positive": label.positive, "positives": label.positives, "rows": label.rows,
                "without": label.without,
            })),
            "no_label": no_label.as_ref().map(|(why, two)| json!({"why": why, "two_values": two})),
            "columns": each.collect::<Vec<_>>(),
            "notes": self.found.notes, "gives_away": self.found.away, "copies": copies,
            "contradictions": contradictions, "split_by": self.found.time, "split_group": self.found.together,
            "next": self.next(),
        })
    }

    /// As a file to edit.
    pub fn schema(&self) -> String {
        let mut text = format!(
            "# How `undercurve` reads {}. Edit it: `undercurve train DATA --schema FILE` obeys it.\n\
             # as: number, date, category or ignore. decimal: point or comma. order (of dates): day, month or year.\n\n",
            self.file.display()
        );
        // (Writing to a string cannot fail.)
        let mut add = |line: String| _ = writeln!(text, "{line}");
        match &self.found.label {
            Some(label) => {
                add(format!("label = {}", quoted(&label.column)));
                add(format!("positive = {}  # {} of {} rows", quoted(&label.positive), label.positives, label.rows));
            }
            None => add("# label = \"…\"  # the column that a model is to tell".to_string()),
        }
        if self.data.layout.encoding == Encoding::Latin1 {
            add("encoding = \"latin1\"".to_string());
        }
        if self.data.layout.skip > 0 {
            add(format!("skip = {}", self.data.layout.skip));
        }
        if self.data.layout.skip_end > 0 {
            add(format!("skip-end = {}", self.data.layout.skip_end));
        }
        if let Some(header) = self.data.layout.header {
            add(format!("header = \"{}\"", if header { "yes" } else { "no" }));
        }
        let na: Vec<String> = self.data.na.iter().map(|text| quoted(text)).collect();
        add(format!("na = [{}]  # spellings of a missing value besides the usual ones", na.join(", ")));
        if let Some(name) = &self.found.time {
            add(format!("# split-by = {}  # tests on the last rows", quoted(name)));
        }
        if let Some(name) = &self.found.together {
            add(format!("# split-group = {}  # keeps rows of one value together", quoted(name)));
        }
        add("\n[columns]".to_string());
        // (What says which numbers are limits goes with its column.)
        let limits = |column: &Column| {
            let name = &column.name;
            let of = name.strip_suffix("=(below)").or(name.strip_suffix("=(above)"));
            of.is_some_and(|of| self.found.columns.iter().any(|column| column.name == of))
        };
        for column in self.found.columns.iter().filter(|column| !self.is_label(column) && !limits(column)) {
            let mut fields = vec![format!("as = \"{}\"", word(column))];
            fields.extend(column.notation.decimal.map(|mark| format!("decimal = \"{}\"", decimal(mark))));
            fields.extend(column.notation.dates.map(|which| format!("order = \"{}\"", order(which))));
            let (doubt, away) = (column.doubt.as_ref(), self.found.away.contains(&column.name));
            let away = away.then(|| "gives the label away? If so: ignore".to_string());
            let examples = format!("as in {}", column.examples.join("  "));
            let why = column.left_out.clone().or(doubt.map(|doubt| format!("ANSWER: {doubt}"))).or(away);
            let why = why.unwrap_or(if column.examples.is_empty() { String::new() } else { examples });
            let why = if why.is_empty() { why } else { format!("  # {}", cut(&why, 200)) };
            add(format!("{} = {{ {} }}{why}", quoted(&column.name), fields.join(", ")));
        }
        text
    }
}

impl Label {
    fn told(&self) -> String {
        let Self { column, positive, positives, rows, without } = self;
        let share = 100.0 * *positives as f64 / *rows as f64;
        let rest = if *without > 0 { format!("; {without} rows have none and are left out") } else { String::new() };
        format!("label \"{column}\": \"{positive}\" is positive, {positives} of {rows} rows ({share:.1} %){rest}")
    }
}

fn decimal(mark: Decimal) -> &'static str {
    if mark == Decimal::Comma { "comma" } else { "point" }
}

fn order(which: DateOrder) -> &'static str {
    match which {
        DateOrder::Day => "day",
        DateOrder::Month => "month",
        DateOrder::Year => "year",
    }
}

/// A column in the words of a schema.
fn word(column: &Column) -> &'static str {
    match column.read {
        _ if column.left_out.is_some() => "ignore",
        As::Dates => "date",
        As::Numbers => "number",
        // (What is doubtful is no text.)
        As::Categories if column.is_of_dates => "date",
        As::Categories if column.doubt.is_some() => "number",
        As::Categories => "category",
        As::Empty => "ignore",
    }
}

/// A string of TOML, whose escapes are those of JSON.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
