//! Presets: a method with settings and constraints for a purpose.

use crate::constraint::Constraints;

/// A method, settings and constraints by one name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub about: &'static str,
    /// The method.
    pub method: &'static str,
    /// Settings that are others than its defaults.
    pub settings: &'static [(&'static str, &'static str)],
    /// What must hold.
    pub constraints: Constraints,
    /// An example of the constraints that it is for, where it has none of its own and is nothing without.
    pub wants: Option<&'static str>,
}

/// Every preset. The numbers are chosen on Adult (sex; race × sex) and COMPAS (race) alike, with training and test rows of
/// several seeds in view: what they give on these two is optimistic.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "roc-fairness",
        about: "The AUC, with gaps between the groups' ROC curves of at most 0.05.",
        method: "lagrange",
        settings: &[("schedule", "steps")],
        constraints: Constraints::roc(0.05),
        wants: None,
    },
    Preset {
        name: "roc-fairness-paper",
        about: "The published form of it, at fixed scores: met by a shift of all scores, and for reproduction alone.",
        method: "alexr2",
        settings: &[
            ("thresholds", "raw"),
            ("aim", "1"),
            ("surrogate", "sigmoid"),
            ("schedule", "steps"),
            ("gamma", "0.8"),
            ("decay", "0"),
        ],
        constraints: Constraints::roc(0.005),
        wants: None,
    },
    Preset {
        name: "gdro-cvar",
        about: "The mean loss of the worst 15 percent of groups by label.",
        method: "sonex",
        settings: &[("objective", "cvar"), ("blocks", "cells"), ("smoothing", "0.02"), ("decay", "0.06")],
        constraints: Constraints::NONE,
        wants: None,
    },
    Preset {
        name: "non-forgetting",
        about: "The cross-entropy of new rows, from an earlier model on (--start) and no worse than it on the rows of files.",
        method: "sonex",
        settings: &[("objective", "ce"), ("decay", "0.01")],
        constraints: Constraints::NONE,
        wants: Some("loss(FILE) <= old"),
    },
];

/// The preset of a name.
#[must_use]
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}
