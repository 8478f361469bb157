//! WebAssembly bindings of undercurve.
