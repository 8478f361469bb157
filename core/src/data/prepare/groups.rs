//! Groups of rows: the values of one column, or of several together.

use super::super::error::{DataError, DataErrorKind};
use super::super::parse::{Content, MISSING, RawTable};
use super::columns::as_categories;
use super::table::find_column;
use super::{Missing, Options};
use crate::checkpoint::{Coded, Reader};
use crate::metric::MAX_GROUPS;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The columns that make groups, and the groups that training had.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GroupRule {
    columns: Vec<String>,
    /// In the order of their values, column by column.
    names: Vec<String>,
}

impl Coded for GroupRule {
    fn write(&self, out: &mut Vec<u8>) {
        self.columns.write(out);
        self.names.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let rule = Self { columns: from.value()?, names: from.value()? };
        (!rule.columns.is_empty() && (2..=MAX_GROUPS).contains(&rule.names.len())).then_some(rule)
    }
}

/// Which group each row is in.
pub(super) struct Groups {
    pub of: Vec<u32>,
    /// Those of training come first.
    pub names: Vec<String>,
}

impl GroupRule {
    /// The groups of some rows.
    pub fn fit(table: &RawTable, options: &Options, rows: &[u32]) -> Result<Option<Self>, DataError> {
        let columns = &options.group;
        if columns.is_empty() {
            return Ok(None);
        }
        let rule = Self { columns: columns.clone(), names: Vec::new() };
        let mut names: Vec<(Vec<u32>, String)> = Vec::new();
        rule.walk(table, options.missing, rows, |codes, name| {
            if let Err(at) = names.binary_search_by(|(other, _)| other.as_slice().cmp(codes)) {
                names.insert(at, (codes.to_vec(), name()));
            }
            names.len() <= MAX_GROUPS
        })?;
        match names.len() {
            1 => Err(table.error(DataErrorKind::OneGroup { columns: columns.clone(), name: names[0].1.clone() })),
            count if count > MAX_GROUPS => Err(table.error(DataErrorKind::ManyGroups { columns: columns.clone() })),
            _ => Ok(Some(Self { names: names.into_iter().map(|(_, name)| name).collect(), ..rule })),
        }
    }

    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The groups of some rows; those that training did not have come after its own, in the order in which they occur.
    /// `None` for a table without one of the columns.
    pub(super) fn apply(&self, table: &RawTable, missing: Missing, rows: &[u32]) -> Result<Option<Groups>, DataError> {
        let there = table.columns();
        if !self.columns.iter().all(|column| there.contains(column)) {
            return Ok(None);
        }
        let mut known: BTreeMap<String, u32> = self.names.iter().cloned().zip(0..).collect();
        let mut numbers: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        let (mut names, mut of) = (self.names.clone(), Vec::with_capacity(rows.len()));
        self.walk(table, missing, rows, |codes, name| {
            let number = numbers.get(codes).copied().unwrap_or_else(|| {
                let name = name();
                let number = *known.entry(name.clone()).or_insert_with(|| {
                    names.push(name);
                    names.len() as u32 - 1
                });
                numbers.insert(codes.to_vec(), number);
                number
            });
            of.push(number);
            names.len() <= MAX_GROUPS
        })?;
        if names.len() > MAX_GROUPS {
            return Err(table.error(DataErrorKind::ManyGroups { columns: self.columns.clone() }));
        }
        Ok(Some(Groups { of, names }))
    }

    /// Visits the rows with the codes of their values, and what makes the group's name, until `visit` says no.
    fn walk(
        &self,
        table: &RawTable,
        missing: Missing,
        rows: &[u32],
        mut visit: impl FnMut(&[u32], &mut dyn FnMut() -> String) -> bool,
    ) -> Result<(), DataError> {
        let Content::Csv { names, columns, .. } = &table.content else {
            return Err(table.error(DataErrorKind::NoGroupColumns));
        };
        let places = self.columns.iter().map(|name| find_column(table, names, name));
        let places = places.collect::<Result<Vec<usize>, _>>()?;
        if missing == Missing::Refuse {
            super::table::first_missing(table, &places, rows)?;
        }
        let cells: Vec<_> = places.iter().map(|&at| as_categories(&columns[at])).collect();
        let mut codes = Vec::with_capacity(cells.len());
        for &row in rows {
            codes.clear();
            codes.extend(cells.iter().map(|(_, codes)| codes[row as usize]));
            let mut name = || {
                let values = codes.iter().zip(&cells).map(|(&code, (values, _))| match code {
                    MISSING => "(missing)".to_string(),
                    code => quoted(&values[code as usize]),
                });
                values.collect::<Vec<_>>().join(",")
            };
            if !visit(&codes, &mut name) {
                break;
            }
        }
        Ok(())
    }
}

/// A value in a group's name: as it is, unless one could not tell where it ends.
fn quoted(value: &str) -> String {
    if value.contains([',', '"']) { alloc::format!("\"{}\"", value.replace('"', "\"\"")) } else { value.to_string() }
}
