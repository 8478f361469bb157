//! Options about data files: what is made of their columns.

use crate::args::layout::{Layout, MISSING};
use crate::args::schema::{self, Schema};
use crate::args::{Word, words};
use crate::error::{CliError, Result};
use undercurve::Real;
use undercurve::data::{Dataset, Encode, MAX_BUCKETS, MAX_PIECES, Missing, Options, Preparation, Scale, SplitBy};

/// `--scale`.
const SCALES: &[Word<Scale>] = &[
    ("none", "As they are", Scale::None),
    (
        "standard",
        "Every column to mean 0 and deviation 1 over the training rows, but for those of 0 and 1 alone (default for CSV)",
        Scale::Standard,
    ),
    ("unit", "Every row to length 1 (default for LIBSVM)", Scale::Unit),
    ("robust", "As standard, by median and quartiles: for columns with a few values far out", Scale::Robust),
    ("rank", "Every number to its rank among the training rows; of tables with names of columns alone", Scale::Rank),
];

/// `--encode`.
fn encode(text: &str) -> std::result::Result<Encode, String> {
    let most = MAX_PIECES;
    Encode::parse(text)
        .map_err(|_| format!("expected linear, splines:K with K from 1 to {most}, or bins:K with K from 2 to {most}"))
}

/// `--cross`: two columns.
fn cross(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('*') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() => Ok((left.to_string(), right.to_string())),
        _ => Err("expected A*B, the names of two columns".to_string()),
    }
}

/// `--hash`: the column, and the binary logarithm of its buckets.
fn hash(text: &str) -> std::result::Result<(String, u8), String> {
    // (A name may have colons, too.)
    let Some((name, buckets)) = text.rsplit_once(':').filter(|(_, after)| after.bytes().all(|b| b.is_ascii_digit()))
    else {
        return Ok((text.to_string(), 8));
    };
    match buckets.parse::<u32>() {
        Ok(count) if count.is_power_of_two() && (1..=u32::from(MAX_BUCKETS)).contains(&count.ilog2()) => {
            Ok((name.to_string(), count.ilog2() as u8))
        }
        _ => Err("expected COL or COL:BUCKETS with a power of two from 2 to 65536".to_string()),
    }
}

/// How to read a data file and what to make of its columns.
#[derive(clap::Args, Clone, Debug)]
pub struct DataArgs {
    #[command(flatten)]
    layout: Layout,
    /// What is known of the columns: a file that `undercurve look --schema` wrote; other options come before it
    #[arg(long, value_name = "FILE", value_parser = schema::read)]
    schema: Option<Schema>,
    /// Label column of a CSV file, by name or by number from 1 (-1 is the last)
    /// [default: the first of label, target, class, y]
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    label: Option<String>,
    /// Label value that counts as positive, or several with commas between them [default: the larger of two numbers; of two words
    /// yes, true or positive, else the rarer]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    positive: Option<String>,
    /// Missing values: refuse, or impute the training mean with a column NAME=(missing) that says where (of a categorical column
    /// a category of its own) [default: impute]
    #[arg(long, value_name = "WHAT", hide_possible_values = true, value_parser = words(MISSING))]
    missing: Option<Missing>,
    /// Scaling, fitted on the training rows: none, standard, unit, robust (by median and quartiles) or rank
    /// [default, for every method: standard for CSV, unit for LIBSVM]
    #[arg(long, value_name = "HOW", hide_possible_values = true, value_parser = words(SCALES))]
    scale: Option<Scale>,
    /// What columns of numbers become, fitted on the training rows: linear, splines:K (straight pieces between K quantiles) or bins:K
    /// (bins of equal shares of the rows); for tables with names of columns [default: linear]
    #[arg(long, value_name = "HOW", value_parser = encode)]
    encode: Option<Encode>,
    /// Pairs of columns, with commas between them, each as A*B, whose products are columns, too: of two numbers one, of a number
    /// and a column of categories one for each category, of two of them one for each pair. Both stay features
    #[arg(long, value_name = "PAIRS", value_delimiter = ',', value_parser = cross)]
    cross: Vec<(String, String)>,
    /// Columns of numbers to take as categories, with commas between them, each as it is written; of text with mostly different
    /// values, which is left out otherwise; the label, where 1.10 and 1.1 are two classes
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    categorical: Vec<String>,
    /// Columns of categories to hash, with commas between them, each as COL or COL:BUCKETS: so many categories, a power of two from 2 to
    /// 65536 [256 without], into which its texts fall by chance, also those that training did not have
    #[arg(long, value_name = "COLS", value_delimiter = ',', value_parser = hash)]
    hash: Vec<(String, u8)>,
    /// Columns to leave out, with commas between them
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Columns whose values, together, make groups, with commas between them; `eval` then measures each and the gaps
    /// between them. They stay features
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    pub group: Vec<String>,
    /// The columns of --group are no features
    #[arg(long, requires = "group")]
    group_hidden: bool,
    /// Column of numbers or dates that --split, --valid SHARE and `eval --held-out` order rows by: the last are held out, those
    /// of one value together. It is no feature
    #[arg(long, value_name = "COL", conflicts_with = "split_group")]
    split_by: Option<String>,
    /// Column whose values keep rows together when they are split, as a patient's or a customer's do; each class about as
    /// frequent in both parts. It is no feature (--group names groups to measure)
    #[arg(long, value_name = "COL")]
    split_group: Option<String>,
    /// What stands for a missing value, with commas between them: a text, or COL=TEXT in one column. An empty cell does, and among
    /// numbers and dates ?, -, NA, N/A, #N/A, NaN, null and None, unless = is given, or COL= for one column
    #[arg(long, value_name = "TEXTS", value_delimiter = ',', allow_hyphen_values = true)]
    na: Vec<String>,
    /// Column of numbers of 0 or more that says what each row counts, in what is learned from the data, minimised and measured; no
    /// feature. Only their ratios count
    #[arg(long, value_name = "COL", conflicts_with = "group")]
    weight: Option<String>,
    /// What a row of each class counts in what is minimised, times its --weight: balanced, for classes that come to the same; of
    /// two classes POS:NEG; or LABEL=W with commas between them, others 1
    #[arg(long, value_name = "WEIGHTS", conflicts_with = "group")]
    class_weight: Option<String>,
}

/// How data files are read, and what is made of their columns.
#[derive(Clone, Debug, Default)]
pub struct DataPlan {
    pub layout: Layout,
    /// What is known of the columns.
    pub schema: Option<Schema>,
    /// Spellings of a missing value.
    pub na: Vec<String>,
    /// Columns whose categories are hashed, with the binary logarithm of their buckets.
    pub hash: Vec<(String, u8)>,
    /// What is made of the columns.
    pub options: Options,
    /// Of that what was said, where the rest is as usual.
    pub missing: Option<Missing>,
    pub ignore: Vec<String>,
    /// Whether the columns of groups are no features.
    pub group_hidden: bool,
    /// What a row of each class counts.
    pub class_weight: Option<String>,
}

impl DataArgs {
    /// Whether splits go by a column.
    pub fn splits_by(&self) -> bool {
        self.split_by.is_some() || self.split_group.is_some()
    }

    pub fn check(self) -> DataPlan {
        let Self { layout, schema, missing, ignore, group, group_hidden, na, class_weight, hash, .. } = self;
        let known = schema.clone().unwrap_or_default();
        let (layout, missing, na) = (known.layout(layout), known.missing(missing), known.na(na));
        let options = Options {
            label: self.label,
            positive: self.positive,
            scale: self.scale,
            encode: self.encode.unwrap_or_default(),
            cross: self.cross,
            missing: missing.unwrap_or(Missing::Impute),
            categorical: self.categorical.into_iter().chain(hash.iter().map(|of| of.0.clone())).collect(),
            ignore: if group_hidden { [&*ignore, &group].concat() } else { ignore.clone() },
            group,
            split_by: self.split_by.map(SplitBy::Order).or(self.split_group.map(SplitBy::Group)),
            weight: self.weight,
            ..Options::default()
        };
        DataPlan {
            layout,
            schema,
            na,
            hash,
            options: known.options(options),
            missing,
            ignore,
            group_hidden,
            class_weight,
        }
    }
}

impl DataPlan {
    /// What a row of each class counts, where that was said, for these training rows.
    pub fn class_weights<T: Real>(&self, of: &Preparation, train: &Dataset<T>) -> Result<Vec<f64>> {
        let Some(text) = &self.class_weight else { return Ok(Vec::new()) };
        let wrong = |what: &str| CliError::input(format!("--class-weight {text}: {what}"));
        let sums = train.class_weight_sums();
        if sums.is_empty() {
            return Err(wrong("is for classes, and labels are numbers"));
        }
        if text == "balanced" {
            let all: f64 = sums.iter().sum();
            return Ok(sums.iter().map(|sum| all / (sums.len() as f64 * sum)).collect());
        }
        let number = |text: &str| text.trim().parse().ok().filter(|w: &f64| *w > 0.0 && w.is_finite());
        if let (Some((positive, negative)), 2) = (text.split_once(':'), sums.len())
            && let (Some(positive), Some(negative)) = (number(positive), number(negative))
        {
            return Ok(vec![negative, positive]);
        }
        let mut weights = vec![1.0; sums.len()];
        for part in text.split(',') {
            let expected = || wrong("expected balanced, POS:NEG or LABEL=W,… with numbers above 0");
            let (label, weight) = part.rsplit_once('=').ok_or_else(expected)?;
            let names = || of.class_names().join(", ");
            let at = of.class_of(label.trim());
            let at = at.ok_or_else(|| wrong(&format!("there is no class {label}; there are {}", names())))?;
            weights[at] = number(weight).ok_or_else(expected)?;
        }
        Ok(weights)
    }
}
