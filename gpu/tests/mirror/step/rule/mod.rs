//! Step rules: a file each.

macro_rules! rules {
    ($($file:ident,)*) => {
        $(mod $file;)*

        static RULES: &[(&str, Rule)] = &[$((stringify!($file), $file::rule)),*];
    };
}

rules! {
    sgd,
    momentum,
    adam,
    amsgrad,
    adagrad,
    ppd_sg,
    ppd_adagrad,
    pesg,
    dca,
}

/// Moves an entry along its gradient.
pub type Rule = fn(Entry<'_>, f32);

/// An entry of the iterate, and what its rule reads and moves.
pub struct Entry<'a> {
    /// Its place in the state, that of its mean or reference, and that of its first slot.
    pub k: usize,
    pub mean: usize,
    pub first: usize,
    /// From one slot to the next.
    pub length: usize,
    /// Whether it is minimised over.
    pub descends: bool,
    pub numbers: &'a [f32; 24],
    pub pace: [f32; 2],
    pub state: &'a mut [f32],
}

/// The rule of a name, which is its file's.
pub fn by_name(name: &str) -> Rule {
    let of = RULES.iter().find(|(file, _)| file.replace('_', "-") == name);
    of.unwrap_or_else(|| panic!("no mirror of the rule {name}")).1
}
