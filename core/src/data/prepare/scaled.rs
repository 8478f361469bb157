//! The preparation of columns that the caller has scaled.

use super::super::Kind;
use super::super::dataset::MAX_CLASSES;
use super::super::parse::Encoding;
use super::super::scale::{Affine, Scale};
use super::labels::{LabelRule, Positive, Rule};
use super::options::Missing;
use super::role::{Column, Layout, Role};
use super::{Kinds, Preparation};
use crate::error::Error;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

impl Preparation {
    /// Of `cols` columns of numbers that the caller has scaled, so that a model trained on them reads tables of the same columns.
    ///
    /// `names` are the columns of such a table; without names it reads LIBSVM rows. `maps` are of [`Scale::Standard`] and [`Scale::Robust`] and empty
    /// otherwise: x of column k becomes (x − shift)/divisor, or 0 for the divisor 0. `label` is the column of the labels, where a
    /// table has it, and `classes` are what is written there: of the negatives and the positives, or of three classes and more.
    ///
    /// # Errors
    /// `Param` (`scale`: by rank; `names`: two alike, or the label among them; `classes`: fewer than two, two alike, or more than [`MAX_CLASSES`]), `Length` of `names` or `maps`, `NonFinite` in `maps`.
    pub fn of_scaled(
        names: &[String],
        cols: usize,
        scale: Scale,
        maps: &[(f64, f64)],
        label: Option<String>,
        classes: &[String],
    ) -> Result<Self, Error> {
        let different = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len() == names.len();
        if !different(names) || label.as_ref().is_some_and(|label| names.contains(label)) {
            return Err(Error::Param { what: "names" });
        }
        if !names.is_empty() {
            crate::error::exact_len("names", cols, names.len())?;
        }
        if scale == Scale::Rank {
            return Err(Error::Param { what: "scale" });
        }
        crate::error::exact_len("maps", if scale.by_column() { cols } else { 0 }, maps.len())?;
        if let Some(at) = maps.iter().position(|(shift, divisor)| !shift.is_finite() || !divisor.is_finite()) {
            return Err(Error::NonFinite { what: "maps", at });
        }
        let rule = match classes {
            _ if !different(classes) => return Err(Error::Param { what: "classes" }),
            [negative, positive] => Rule::Binary(Positive::one(positive.clone(), Some(negative.clone()))),
            [_, _, _, ..] if classes.len() <= MAX_CLASSES => Rule::Classes(classes.to_vec()),
            _ => return Err(Error::Param { what: "classes" }),
        };
        let maps: Vec<Affine> = maps.iter().map(|&(shift, divisor)| Affine { shift, divisor }).collect();
        let layout = if names.is_empty() {
            Layout::Numbered { cols, maps }
        } else {
            let map = |at: usize| maps.get(at).copied().unwrap_or(Affine::IDENTITY);
            let column = |(at, name): (usize, &String)| Column {
                name: name.clone(),
                role: Role::Number { mean: map(at).shift, map: map(at), missing: None },
            };
            Layout::Named(names.iter().enumerate().map(column).collect())
        };
        // (What they are in a table is not known.)
        let of = if names.is_empty() { Vec::new() } else { alloc::vec![Kind::Unknown; cols + 1] };
        let kinds = Kinds { of, trims: false };
        Ok(Self {
            layout,
            scale,
            missing: Missing::Refuse,
            na: Vec::new(),
            label: LabelRule { column: label, rule },
            groups: None,
            weight: None,
            split_by: None,
            notations: Vec::new(),
            kinds,
            encoding: Encoding::Utf8,
            crosses: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Preparation, Scale};
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn made(names: &str, cols: usize, scale: Scale, maps: &[(f64, f64)], classes: &str) -> Result<Preparation, Error> {
        let split = |names: &str| names.split_whitespace().map(ToString::to_string).collect::<Vec<String>>();
        Preparation::of_scaled(&split(names), cols, scale, maps, Some("y".to_string()), &split(classes))
    }

    #[test]
    fn what_fits_together_is_made_and_nothing_else() {
        let maps = [(1.0, 2.0), (0.0, 0.0)];
        let known = made("a b", 2, Scale::Standard, &maps, "no yes").unwrap();
        assert_eq!((known.cols(), known.positive(), known.negative()), (2, Some("yes"), Some("no")));
        assert_eq!(made("", 2, Scale::Unit, &[], "0 1 2").unwrap().classes().len(), 3);
        let refused = |result: Result<Preparation, Error>| result.unwrap_err();
        assert_eq!(refused(made("a a", 2, Scale::None, &[], "0 1")), Error::Param { what: "names" });
        assert_eq!(refused(made("a y", 2, Scale::None, &[], "0 1")), Error::Param { what: "names" });
        assert_eq!(refused(made("a", 2, Scale::None, &[], "0 1")), Error::Length { what: "names", need: 2, got: 1 });
        assert_eq!(
            refused(made("a b", 2, Scale::Standard, &maps[1..], "0 1")),
            Error::Length { what: "maps", need: 2, got: 1 }
        );
        assert_eq!(refused(made("a b", 2, Scale::Unit, &maps, "0 1")), Error::Length { what: "maps", need: 0, got: 2 });
        assert_eq!(
            refused(made("a", 1, Scale::Standard, &[(f64::NAN, 1.0)], "0 1")),
            Error::NonFinite { what: "maps", at: 0 }
        );
        assert_eq!(refused(made("a", 1, Scale::Rank, &[], "0 1")), Error::Param { what: "scale" });
        assert_eq!(refused(made("a", 1, Scale::None, &[], "0")), Error::Param { what: "classes" });
        assert_eq!(refused(made("a", 1, Scale::None, &[], "1 1")), Error::Param { what: "classes" });
    }
}
