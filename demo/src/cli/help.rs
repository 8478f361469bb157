//! Help by task: `-h` has the options that most runs need, `--help` all of them, under what they are for. Man pages and completions
//! are made of the same.

use crate::error::{CliError, Result};
use crate::output;
use clap::{Arg, Command};
use std::path::{Path, PathBuf};

/// What options are for, in any command.
const TASKS: &[(&str, &[&str])] = &[
    (
        "Data",
        &[
            "test",
            "split",
            "target",
            "format",
            "header",
            "encoding",
            "skip",
            "skip_end",
            "decimal",
            "dates",
            "schema",
            "label",
            "positive",
            "missing",
            "scale",
            "encode",
            "cross",
            "categorical",
            "hash",
            "ignore",
            "known",
            "group",
            "group_hidden",
            "split_by",
            "split_group",
            "na",
            "weight",
            "class_weight",
            "valid",
            "held_out",
            "query",
            "id",
            "score",
            "state",
            "memory",
            "stream",
            "buffer",
        ],
    ),
    (
        "Method",
        &[
            "method",
            "methods",
            "set",
            "preset",
            "constraint",
            "objective",
            "start",
            "model",
            "average",
            "init",
            "fpr",
            "want",
            "bounds",
            "rival",
        ],
    ),
    ("Length", &["passes", "steps", "seconds", "seed", "patience", "folds", "repeats"]),
    (
        "Decisions",
        &[
            "cost_fp",
            "cost_fn",
            "prevalence",
            "threshold",
            "cluster",
            "certify",
            "recheck",
            "apply",
            "calibrate",
            "keep",
            "metric",
            "require",
            "reliability",
            "reported",
            "like",
        ],
    ),
    (
        "Output",
        &[
            "every",
            "save",
            "save_every",
            "out",
            "numeric",
            "int8",
            "resume",
            "json",
            "scores",
            "curves",
            "train",
            "top",
            "svg",
            "explain",
        ],
    ),
    ("Many runs", &["seeds", "grid", "csv", "plot"]),
    ("Device", &["device", "threads", "precision"]),
];

/// What most runs need, of commands with many options, in a few words where their first sentence has more.
const COMMON: &[(&str, &str)] = &[
    ("test", ""),
    ("split", "Train on this share of the rows, and test on the others"),
    ("valid", "Rows to choose the step and the threshold on: a share, or a file"),
    ("label", "Label column, by name or by number from 1 (-1 is the last)"),
    ("positive", "Label value that counts as positive"),
    ("schema", "What is known of the columns, as `look --schema` writes it"),
    ("ignore", ""),
    ("split_by", "Column of numbers or dates whose last rows are held out"),
    ("method", "Method [default: cross-entropy]; `undercurve methods` lists them"),
    ("methods", "Methods, with commas between them [default: models are searched]"),
    ("want", ""),
    ("set", ""),
    ("model", "linear, mlp:WIDTHS or mlp-tanh:WIDTHS [default: linear]"),
    ("threshold", "fpr<=A, precision>=P, recall>=R, alerts<=K, f1, costs:FP:FN"),
    ("metric", ""),
    ("seed", ""),
    ("folds", ""),
    ("held_out", ""),
    ("group", "Columns whose values make groups"),
    ("constraint", ""),
    ("out", ""),
    ("json", "Print JSON"),
];

/// Options that `-h` shows all of.
const FEW: usize = 16;

/// Characters of an option in `-h`.
const WIDE: usize = 70;

/// The first sentence of a text, without what it says of defaults, and of a long one its beginning.
fn first_sentence(text: &str) -> &str {
    let end = [". ", "; ", ", where", " [default", " ("].iter().filter_map(|mark| text.find(mark)).min();
    let sentence = &text[..end.unwrap_or(text.len())];
    let part = || [", ", ": "].iter().filter_map(|mark| sentence.find(mark)).filter(|&at| at > 12).min();
    if sentence.len() <= WIDE { sentence } else { &sentence[..part().unwrap_or(sentence.len())] }
}

/// An option below its heading; `-h` has a sentence of it, and where there are `many`, if it is common.
fn arg(arg: Arg, many: bool) -> Arg {
    let id = arg.get_id().as_str().to_string();
    let heading = TASKS.iter().find(|(_, ids)| ids.contains(&id.as_str())).map(|task| task.0);
    let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let positional = arg.is_positional();
    let common = COMMON.iter().find(|(name, _)| *name == id).filter(|_| many);
    let short = common.map(|common| common.1).filter(|text| !text.is_empty()).unwrap_or_else(|| first_sentence(&text));
    // (What clap knows of defaults it adds by itself.)
    let own =
        if arg.get_default_values().is_empty() { short } else { short.split(" [default").next().unwrap_or(short) };
    let short = own.to_string();
    let arg = if positional { arg } else { arg.help_heading(heading) };
    arg.help(short).long_help(text).hide_short_help(many && !positional && common.is_none())
}

/// The command with help by task.
pub fn by_task(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|of| of.get_name().to_string()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, subcommand))
}

fn subcommand(command: Command) -> Command {
    let name = command.get_name().to_string();
    let options = command.get_arguments().filter(|arg| !arg.is_positional()).count();
    let many = options > FEW;
    let command = command.mut_args(|of| arg(of, many));
    let Some(text) = command.get_after_help().map(ToString::to_string) else { return command };
    let examples: Vec<&str> = text.lines().skip_while(|line| *line != "Examples:" && *line != "Example:").collect();
    let few = examples.iter().take_while(|line| !line.is_empty()).take(4).copied().collect::<Vec<_>>().join("\n");
    let more = if many {
        format!("All {options} options: `undercurve {name} --help`")
    } else {
        format!("More: `undercurve {name} --help`")
    };
    command.after_help(if few.is_empty() { more.clone() } else { format!("{few}\n\n{more}") }).after_long_help(text)
}

/// Options of `man`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undercurve man ~/.local/share/man/man1")]
pub struct Man {
    /// The folder they go to
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes a page for the program and for each command.
pub fn man(Man { folder }: Man, command: &Command) -> Result<()> {
    if !folder.is_dir() {
        let text = format!("{}: is no folder; `mkdir -p {0}` makes it", folder.display());
        return Err(CliError::input(text));
    }
    let mut command = command.clone();
    command.build();
    let pages: Vec<&Command> = command.get_subcommands().filter(|of| of.get_name() != "help").collect();
    write_page(&folder, &command, "undercurve")?;
    for page in &pages {
        write_page(&folder, page, &format!("undercurve-{}", page.get_name()))?;
    }
    output::line(format!("{}: {} pages; `man -l {0}/undercurve.1` shows the first", folder.display(), pages.len() + 1))
}

fn write_page(folder: &Path, command: &Command, name: &str) -> Result<()> {
    let path = folder.join(format!("{name}.1"));
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text).map_err(|error| CliError::file(&path, &error))?;
    output::check_target(&path)?;
    output::write_atomic(&path, &text)
}
