//! The command line of undercurve.
fn main() {}
