//! What the linker is told: the name by which programs ask for the shared library, a new one for each version that breaks the ABI; and that numbers of tables
//! take as few bytes as they need in the wasm module, which wasm3 wants.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo:rustc-cdylib-link-arg=--compress-relocations");
        // (Else the linker refuses that.)
        println!("cargo:rustc-cdylib-link-arg=--strip-debug");
    }
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libundercurve.so.0");
        if std::env::var_os("CARGO_FEATURE_BARE").is_some() {
            // It stays loaded, because threads call it when they end; what came compiled of Rust names a function of libgcc.
            println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
            println!("cargo:rustc-cdylib-link-arg=-lgcc_s");
        }
    }
}
