//! What becomes of a column of a table.

use super::super::scale::Affine;
use super::knots::{Knot, sound};
use super::piece::Piece;
use crate::checkpoint::{Coded, Reader};
use alloc::string::String;
use alloc::vec::Vec;

/// Columns of sparse rows that may be categories, and products at most: as many as [`ColumnStats`](super::ColumnStats) tells apart in one column.
pub(super) const MOST_COLUMNS: usize = 1 << 16;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub name: String,
    pub role: Role,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Role {
    /// `missing` is the map of the column that says where a number was missing, if it exists.
    Number { mean: f64, map: Affine, missing: Option<Affine> },
    /// A column of numbers as pieces with a map each.
    Pieces { mean: f64, pieces: Vec<Piece>, maps: Vec<Affine>, missing: Option<Affine> },
    /// A column of numbers as ranks, with what stands for a missing one.
    Ranked { fill: f64, knots: Vec<Knot>, missing: Option<Affine> },
    /// Sorted categories with a map each; `missing` is the map of the category of missing values, if it exists.
    Category { values: Vec<String>, maps: Vec<Affine>, missing: Option<Affine> },
}

impl Coded for Column {
    fn write(&self, out: &mut Vec<u8>) {
        self.name.write(out);
        match &self.role {
            Role::Number { mean, map, missing } => {
                out.push(if missing.is_some() { 2 } else { 0 });
                mean.write(out);
                map.write(out);
                missing.iter().for_each(|map| map.write(out));
            }
            Role::Pieces { mean, pieces, maps, missing } => {
                out.push(3);
                mean.write(out);
                pieces.write(out);
                maps.write(out);
                missing.write(out);
            }
            Role::Ranked { fill, knots, missing } => {
                out.push(4);
                fill.write(out);
                knots.write(out);
                missing.write(out);
            }
            Role::Category { values, maps, missing } => {
                out.push(1);
                values.write(out);
                maps.write(out);
                missing.write(out);
            }
        }
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let name = from.value()?;
        let role = match from.byte()? {
            0 => Role::Number { mean: from.value()?, map: from.value()?, missing: None },
            1 => Role::Category { values: from.value()?, maps: from.value()?, missing: from.value()? },
            2 => Role::Number { mean: from.value()?, map: from.value()?, missing: Some(from.value()?) },
            3 => {
                let (mean, pieces, maps): (_, Vec<Piece>, Vec<Affine>) = (from.value()?, from.value()?, from.value()?);
                if pieces.len() != maps.len() {
                    return None;
                }
                Role::Pieces { mean, pieces, maps, missing: from.value()? }
            }
            4 => {
                let (fill, knots): (_, Vec<Knot>) = (from.value()?, from.value()?);
                if !sound(&knots) {
                    return None;
                }
                Role::Ranked { fill, knots, missing: from.value()? }
            }
            _ => return None,
        };
        Some(Self { name, role })
    }
}

impl Role {
    pub fn width(&self) -> usize {
        match self {
            Self::Number { missing, .. } | Self::Ranked { missing, .. } => 1 + usize::from(missing.is_some()),
            Self::Pieces { pieces, missing, .. } => pieces.len() + usize::from(missing.is_some()),
            Self::Category { values, missing, .. } => values.len() + usize::from(missing.is_some()),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Layout {
    /// A table with named columns.
    Named(Vec<Column>),
    /// LIBSVM rows or arrays; `maps` has one entry a column where the scaling is by column, and is empty otherwise.
    Numbered { cols: usize, maps: Vec<Affine> },
}
