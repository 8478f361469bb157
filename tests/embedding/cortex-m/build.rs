//! The linker script, for the machine without a system.

fn main() {
    println!("cargo::rerun-if-changed=link.ld");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg=-T{folder}/link.ld");
    }
}
