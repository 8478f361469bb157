//! What makes held-out rows easier than new ones: copies of training rows, a column that is the label, and an order in time that random
//! splits ignore.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use undercurve::Real;
use undercurve::data::{Dataset, Options, RawTable, Reading, Rows, Targets};

/// Rows of each class that a column has to tell apart before it is suspected.
const FEWEST: usize = 10;
/// Share of copies that is worth a word: with few different values some rows are alike by themselves.
const COPIES: f64 = 0.01;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leaks {
    /// Rows that have the features and the label of an earlier one, in numbers that are not few for the data.
    pub copies: usize,
    pub rows: usize,
    /// Columns each of which tells the classes apart without an error.
    pub labels: Vec<String>,
    /// Columns of dates.
    pub dates: Vec<String>,
}

impl Leaks {
    /// Looks at prepared rows of two classes and at how their table was read. O(n) for each column.
    pub fn of<T: Real>(table: &RawTable, options: &Options, data: &Dataset<T>) -> Self {
        let copies = copies(data);
        let copies = if copies as f64 >= COPIES * data.len() as f64 { copies } else { 0 };
        let by_time = options.split_by.is_some();
        let dates = |(name, reading): (&str, Reading)| {
            let kept = reading == Reading::Dates && !options.ignore.iter().any(|other| other == name);
            (kept && !by_time).then(|| name.to_string())
        };
        let dates = table.readings().into_iter().filter_map(dates).collect();
        let mut labels: Vec<String> = labels(data).iter().map(|name| column_of(table, name)).collect();
        labels.dedup();
        Self { copies, rows: data.len(), labels, dates }
    }

    /// A sentence for each, with the way out.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for name in &self.labels {
            notes.push(format!(
                "column \"{name}\" alone tells the classes apart without an error; if it is the label in other words, or known only \
                 afterwards, --ignore it"
            ));
        }
        if self.copies > 0 {
            notes.push(format!(
                "{} of {} rows are copies of others: where one is held out and the other trained on, it is no test; leave copies out, or keep \
                 rows of one origin together by --split-group",
                self.copies, self.rows
            ));
        }
        for name in &self.dates {
            notes.push(format!(
                "column \"{name}\" has dates: in random folds later rows help to tell earlier ones; `train --split 0.7 --split-by {name}` holds \
                 out the last"
            ));
        }
        notes
    }
}

/// The column of the table that a feature comes from: its own name, or what stands before a category.
fn column_of(table: &RawTable, feature: &str) -> String {
    let is_own = |name: &String| {
        feature.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    table.columns().into_iter().filter(is_own).max_by_key(String::len).unwrap_or_else(|| feature.to_string())
}

/// Rows that are, with their label, as one before them.
fn copies<T: Real>(data: &Dataset<T>) -> usize {
    let labels = data.labels();
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::with_capacity(data.len());
    let same = |a: usize, b: usize| match data.rows() {
        Rows::Dense { data: x, cols, .. } => x[a * cols..(a + 1) * cols] == x[b * cols..(b + 1) * cols],
        Rows::Csr { ptr, col, val, .. } => {
            let (a, b) = (ptr[a]..ptr[a + 1], ptr[b]..ptr[b + 1]);
            col[a.clone()] == col[b.clone()] && val[a] == val[b]
        }
    };
    let mut count = 0;
    for row in 0..data.len().min(labels.len()) {
        let mut hasher = DefaultHasher::new();
        labels[row].hash(&mut hasher);
        match data.rows() {
            Rows::Dense { data: x, cols, .. } => {
                x[row * cols..(row + 1) * cols].iter().for_each(|value| value.key().hash(&mut hasher));
            }
            Rows::Csr { ptr, col, val, .. } => {
                let range = ptr[row]..ptr[row + 1];
                col[range.clone()].hash(&mut hasher);
                val[range].iter().for_each(|value| value.key().hash(&mut hasher));
            }
        }
        let others = seen.entry(hasher.finish()).or_default();
        match others.iter().any(|&other| labels[other] == labels[row] && same(other, row)) {
            true => count += 1,
            false => others.push(row),
        }
    }
    count
}

/// Columns whose values of one class all lie above those of the other.
fn labels<T: Real>(data: &Dataset<T>) -> Vec<String> {
    let (Targets::Binary(labels), cols) = (data.targets(), data.cols()) else { return Vec::new() };
    let positives = labels.iter().filter(|&&label| label == 1).count();
    let counts = [labels.len() - positives, positives];
    if counts[0].min(counts[1]) < FEWEST {
        return Vec::new();
    }
    // Least and greatest of each class.
    let mut ends = vec![[[f64::INFINITY, f64::NEG_INFINITY]; 2]; cols];
    let see = |[least, most]: &mut [f64; 2], value: f64| (*least, *most) = (least.min(value), most.max(value));
    match data.rows() {
        Rows::Dense { data: x, .. } => {
            for (row, &label) in x.chunks_exact(cols).zip(labels.iter()) {
                let of = ends.iter_mut().map(|ends| &mut ends[usize::from(label)]);
                of.zip(row).for_each(|(ends, value)| see(ends, value.f64()));
            }
        }
        Rows::Csr { ptr, col, val, .. } => {
            let mut stored = vec![[0; 2]; cols];
            for (row, &label) in labels.iter().enumerate() {
                for at in ptr[row]..ptr[row + 1] {
                    let (column, class) = (col[at] as usize, usize::from(label));
                    see(&mut ends[column][class], val[at].f64());
                    stored[column][class] += 1;
                }
            }
            for (ends, stored) in ends.iter_mut().zip(stored) {
                (0..2).filter(|&class| stored[class] < counts[class]).for_each(|class| see(&mut ends[class], 0.0));
            }
        }
    }
    let apart = |[negative, positive]: [[f64; 2]; 2]| negative[1] < positive[0] || positive[1] < negative[0];
    (0..cols).filter(|&at| apart(ends[at])).map(|at| data.column_name(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::Leaks;
    use undercurve::data::{Format, Options, Preparation, RawTable};

    fn leaks(text: &str) -> Leaks {
        let table = RawTable::parse(text.as_bytes(), Format::Csv, "t.csv").unwrap();
        let options = Options { label: Some("label".to_string()), ..Options::default() };
        let data = Preparation::fit(&table, &options).unwrap().apply::<f32>(&table).unwrap();
        Leaks::of(&table, &options, &data)
    }

    /// A row of noise, with what else it has.
    fn rows(more: impl Fn(usize) -> String, head: &str) -> String {
        let line = |row: usize| format!("{},{},{}{}\n", row * 7919 % 1009, row % 3 % 2, row * 31 % 17, more(row));
        format!("a,label,b{head}\n{}", (0..120).map(line).collect::<String>())
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        assert_eq!(leaks(&rows(|_| String::new(), "")), Leaks { rows: 120, ..Leaks::default() });
    }

    #[test]
    fn labels_copies_and_dates_are_found() {
        let code = leaks(&rows(|row| format!(",{}", 5 + 2 * (row % 3 % 2) + row % 2), ",code"));
        assert_eq!(code.labels, ["code"]);
        let turned = leaks(&rows(|row| format!(",{}", if row % 3 % 2 == 1 { "closed" } else { "open" }), ",state"));
        assert_eq!(turned.labels, ["state"]);
        let text = rows(|_| String::new(), "");
        let copied: Vec<&str> = text.lines().chain(text.lines().skip(1).take(30)).collect();
        assert_eq!(leaks(&copied.join("\n")).copies, 30);
        let date = |row: usize| format!(",2024-{:02}-{:02}", 1 + row % 12, 1 + row % 28);
        let dated = leaks(&rows(date, ",day"));
        assert_eq!(dated.dates, ["day"]);
        assert!(dated.notes()[0].contains("--split-by day"));
    }
}
