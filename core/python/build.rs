//! Lets the module be linked without Python's library, which the interpreter that loads it brings.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
