//! Objectives: a file each.

use super::{Estimated, Run};

macro_rules! objectives {
    ($($file:ident,)*) => {
        $(mod $file;)*

        static OBJECTIVES: &[(&str, Objective)] = &[$((stringify!($file), $file::estimate)),*];
    };
}

objectives! {
    soap,
    auc_pairwise,
    smooth_ap,
    cross_entropy,
    focal,
    auc_margin,
    auc_min_max,
    pauc_minibatch,
    pauc_threshold,
    sopa,
    sopa_s,
    sota_s,
    ldam,
    fast_ap,
    min_max_ap,
    pauc_dual,
    sorr,
}

/// Makes gradient and estimate of scores, and moves its state.
pub type Objective = fn(&mut Run<'_>, &[f32]) -> Estimated;

/// The objective of a name, which is its file's.
pub fn by_name(name: &str) -> Objective {
    let of = OBJECTIVES.iter().find(|(file, _)| file.replace('_', "-") == name);
    of.unwrap_or_else(|| panic!("no mirror of the objective {name}")).1
}
