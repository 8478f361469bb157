//! `--device`: what the steps of a run are computed on.

use std::fmt;

/// `--device`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `cpu`: this processor.
    Cpu,
    /// `auto`: of many runs, and of one of a large model, whichever is faster, tried on both. Never a software adapter.
    Auto,
    /// `gpu`: a hardware graphics adapter, or nothing.
    Gpu,
    /// `gpu:NAME`: the adapter whose name contains this, in hardware or in software, or nothing.
    Named(String),
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Auto => f.write_str("auto"),
            Self::Gpu => f.write_str("gpu"),
            Self::Named(name) => write!(f, "gpu:{name}"),
        }
    }
}

/// Reads `--device`.
pub fn parse(text: &str) -> Result<Choice, String> {
    match text.split_once(':') {
        None if text == "cpu" => Ok(Choice::Cpu),
        None if text == "gpu" => Ok(Choice::Gpu),
        None if text == "auto" => Ok(Choice::Auto),
        Some(("gpu", name)) if !name.trim().is_empty() => Ok(Choice::Named(name.trim().to_string())),
        _ => Err("expected cpu, auto, gpu or gpu:NAME, with a part of the adapter's name".to_string()),
    }
}
