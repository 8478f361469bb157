//! What a method of the worst groups comes to: the mean loss of the worst share of them (CVaR), that of each, and what plain
//! cross-entropy comes to on the same rows.

use crate::error::Result;
use crate::tell::scores;
use serde_json::{Value, json};
use std::sync::Arc;
use undercurve::Real;
use undercurve::data::Dataset;
use undercurve::trainer::{BlockLoss, Config, Length, Predictor, Risks, Trainer};

/// Of one part of the rows, by the run's model and by cross-entropy.
struct Part {
    name: &'static str,
    own: Risks,
    plain: Option<Risks>,
}

/// Of all parts.
pub struct Told {
    parts: Vec<Part>,
    groups: Vec<String>,
    passes: f64,
}

/// A model trained by the method `ce` at its defaults: the same rows, model, seed and passes.
fn cross_entropy<T: Real>(trainer: &Trainer<T>) -> Result<Predictor<T>> {
    let of = trainer.config();
    let config = Config {
        method: "ce".to_string(),
        settings: Vec::new(),
        constraints: Vec::new(),
        length: Length::Passes(trainer.pass()),
        ..of.clone()
    };
    let mut plain = Trainer::<T>::new(&config, Arc::clone(trainer.train_data()), None)?;
    while plain.step()?.is_some() {}
    Ok(plain.predictor())
}

impl Told {
    /// Of the rows of a run, for a method of the worst groups; `None` of others. With `plain` trains cross-entropy beside it.
    pub fn of<T: Real>(
        trainer: &Trainer<T>,
        model: &mut Predictor<T>,
        valid: Option<&Dataset<T>>,
        plain: bool,
    ) -> Result<Option<Self>> {
        let (train, test) = (trainer.train_data(), trainer.test_data());
        let of = |model: &mut Predictor<T>, data: &Dataset<T>| -> Result<Option<Risks>> {
            Ok(trainer.risks(&scores(model, data)?, data)?)
        };
        if of(model, train)?.is_none() {
            return Ok(None);
        }
        let mut other = if plain { Some(cross_entropy(trainer)?) } else { None };
        let mut parts = Vec::new();
        for (name, data) in [("train", Some(&**train)), ("valid", valid), ("test", test.map(|data| &**data))] {
            let Some(data) = data else { continue };
            let Some(own) = of(model, data)? else { continue };
            let plain = other.as_mut().map_or(Ok(None), |other| of(other, data))?;
            parts.push(Part { name, own, plain });
        }
        Ok(Some(Self { parts, groups: train.group_names().to_vec(), passes: trainer.pass() }))
    }

    fn name(&self, block: &BlockLoss) -> String {
        let group = self.groups.get(block.group as usize).map_or("all", |name| name);
        match block.label {
            Some(label) => format!("{group}, {}", if label == 1 { "positive" } else { "negative" }),
            None => group.to_string(),
        }
    }

    /// For people: CVaR of every part, and every group or cell of the last.
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        for Part { name, own, plain } in &self.parts {
            let of =
                if own.blocks.iter().any(|block| block.label.is_some()) { "cells (group, label)" } else { "groups" };
            let most = worst(own).map_or_else(String::new, |w| format!(", the worst {} {:.4}", self.name(w), w.loss));
            let plain = plain.as_ref().map_or_else(String::new, |plain| {
                let most = worst(plain).map_or_else(String::new, |w| format!(", {} {:.4}", self.name(w), w.loss));
                format!("; by cross-entropy {:.4}{most}", plain.cvar)
            });
            let (share, count) = (100.0 * own.share, own.blocks.len());
            lines.push(format!(
                "{name}: CVaR {:.4}, mean loss of the worst {share} % of {count} {of}{most}{plain}",
                own.cvar
            ));
        }
        let Some(Part { name, own, plain }) = self.parts.last() else { return lines.join("\n") };
        let width = own.blocks.iter().map(|block| self.name(block).chars().count()).max().unwrap_or(0);
        let (head, other) = ("", if plain.is_some() { "  cross-entropy" } else { "" });
        lines.push(format!("{head:width$} {:>8}    loss{other}  ({name})", "rows"));
        for block in &own.blocks {
            let other = plain.as_ref().and_then(|plain| same(plain, block));
            let other = other.map_or_else(String::new, |other| format!("{:>15.4}", other.loss));
            lines.push(format!("{:width$} {:>8} {:>7.4}{other}", self.name(block), block.rows, block.loss));
        }
        if plain.is_some() {
            let passes = self.passes;
            lines.push(format!(
                "Cross-entropy: method ce at its defaults, the same rows, model, seed and {passes:.1} passes"
            ));
        }
        lines.join("\n")
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let of = |risks: &Risks| {
            let block = |block: &BlockLoss| {
                let group = self.groups.get(block.group as usize);
                json!({"group": group, "label": block.label, "rows": block.rows, "loss": block.loss})
            };
            json!({
                "cvar": risks.cvar, "share": risks.share, "worst": worst(risks).map(block),
                "blocks": Value::from_iter(risks.blocks.iter().map(block)),
            })
        };
        let mut object = json!({});
        for Part { name, own, plain } in &self.parts {
            object[name] = of(own);
            object[name]["cross_entropy"] = plain.as_ref().map_or(Value::Null, of);
        }
        object
    }
}

/// The block of the largest loss.
fn worst(risks: &Risks) -> Option<&BlockLoss> {
    risks.blocks.iter().max_by(|a, b| a.loss.total_cmp(&b.loss))
}

/// The same block of other risks.
fn same<'a>(risks: &'a Risks, of: &BlockLoss) -> Option<&'a BlockLoss> {
    risks.blocks.iter().find(|block| (block.group, block.label) == (of.group, of.label))
}
