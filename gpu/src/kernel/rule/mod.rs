//! Step rules on the device: one file each beside its text, listed once. One without a kernel is not in the list.

macro_rules! rules {
    ($($file:ident,)*) => {
        $(mod $file;)*

        /// All of them, in the order of the tests.
        pub(crate) static RULES: &[Rule] = &[$($file::RULE),*];
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

/// What an engine has to know of a rule.
pub(crate) struct Rule {
    pub name: &'static str,
    pub text: &'static str,
    /// Points that it keeps, and numbers besides for each parameter, in tests.
    pub points: u32,
    pub slots: u32,
    /// Whether second moments never fall.
    pub rising: bool,
}

/// The rule of this name.
pub(crate) fn by_name(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|of| of.name == name)
}
