//! `--config FILE`: long options of a command from a TOML file, below those that are typed.

use crate::error::{CliError, Result, plain};
use crate::tell::text::likely;
use clap::{ArgAction, Command};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The file that is named, if one is.
fn named(args: &[OsString]) -> Option<PathBuf> {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        match text.strip_prefix("--config") {
            Some("") => return args.next().map(PathBuf::from),
            Some(rest) if rest.starts_with('=') => return Some(rest[1..].into()),
            _ if text == "--" => return None,
            _ => {}
        }
    }
    None
}

/// The arguments with those of the file behind the name of the command.
pub fn expand(args: Vec<OsString>, program: &Command) -> Result<Vec<OsString>> {
    let Some(file) = named(&args) else { return Ok(args) };
    let of = |arg: &OsString| program.find_subcommand(arg);
    let Some((at, command)) = args.iter().enumerate().skip(1).find_map(|(at, arg)| Some((at, of(arg)?))) else {
        return Ok(args);
    };
    let text = std::fs::read_to_string(&file)
        .map_err(|error| CliError::input(format!("--config {}: {}", file.display(), plain(&error))))?;
    let table: Table = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(0, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        CliError::input(format!("{}:{line}: {}", file.display(), error.message().replace('\n', " ")))
    })?;
    let mut added = Vec::new();
    for (key, value) in &table {
        match value {
            // What is under the name of a command is of that alone.
            Value::Table(own) if program.find_subcommand(key).is_some() => {
                if key == command.get_name() {
                    own.iter()
                        .try_for_each(|(key, value)| add(&mut added, [program, command], &args, (key, value), &file))?;
                }
            }
            value => add(&mut added, [program, command], &args, (key, value), &file)?,
        }
    }
    let mut all = args;
    all.splice(at + 1..at + 1, added);
    Ok(all)
}

fn add(
    added: &mut Vec<OsString>,
    [program, command]: [&Command; 2],
    typed: &[OsString],
    (key, value): (&str, &Value),
    file: &Path,
) -> Result<()> {
    let longs: Vec<&str> = command.get_arguments().filter_map(|arg| arg.get_long()).collect();
    let wrong = |what: String| CliError::input(format!("{}: {what}", file.display()));
    let plain = key.replace('_', "-");
    let of_all = program.get_arguments().filter(|arg| arg.is_global_set());
    let Some(arg) = command.get_arguments().chain(of_all).find(|arg| arg.get_long() == Some(plain.as_str())) else {
        let meant = likely(&plain, &longs).map_or_else(String::new, |name| format!("; did you mean {name}?"));
        let name = command.get_name();
        return Err(wrong(format!("{key}: `undercurve {name}` has no option --{plain}{meant}")));
    };
    let long = format!("--{plain}");
    let is_typed = typed.iter().any(|arg| {
        let arg = arg.to_string_lossy();
        arg == long.as_str() || arg.strip_prefix(long.as_str()).is_some_and(|rest| rest.starts_with('='))
    });
    let many = matches!(arg.get_action(), ArgAction::Append);
    if is_typed && !many {
        return Ok(());
    }
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(x) => Ok(x.to_string()),
        Value::Float(x) => Ok(x.to_string()),
        Value::Boolean(x) => Ok(x.to_string()),
        _ => Err(wrong(format!("{key}: expected a text, a number, true, or a list of them"))),
    };
    let values = match (value, arg.get_action()) {
        (Value::Boolean(true), ArgAction::SetTrue) => {
            added.push(long.into());
            return Ok(());
        }
        (Value::Boolean(false), ArgAction::SetTrue) => return Ok(()),
        (_, ArgAction::SetTrue) => return Err(wrong(format!("{key}: expected true or false"))),
        (Value::Array(items), _) => {
            let texts = items.iter().map(text).collect::<Result<Vec<_>>>()?;
            if arg.get_value_delimiter().is_some() { vec![texts.join(",")] } else { texts }
        }
        // set = { lr = 0.1 } is --set lr=0.1.
        (Value::Table(items), ArgAction::Append) => {
            items.iter().map(|(name, value)| Ok(format!("{name}={}", text(value)?))).collect::<Result<Vec<_>>>()?
        }
        (value, _) => vec![text(value)?],
    };
    added.extend(values.into_iter().map(|value| OsString::from(format!("{long}={value}"))));
    Ok(())
}
