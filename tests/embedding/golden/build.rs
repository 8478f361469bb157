//! The linker script, for the machines without a system.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if of("OS") != "none" {
        return;
    }
    // QEMU's mps2-an386 and virt.
    let (code, memory) = match of("ARCH").as_str() {
        "arm" => ("ORIGIN = 0x00000000, LENGTH = 4M", "ORIGIN = 0x21000000, LENGTH = 16M"),
        _ => ("ORIGIN = 0x80000000, LENGTH = 16M", "ORIGIN = 0x81000000, LENGTH = 64M"),
    };
    let script = format!(
        "MEMORY {{\n  CODE (rx) : {code}\n  RAM (rwx) : {memory}\n}}\nENTRY(reset)\n\
         SECTIONS {{\n  .text : {{ KEEP(*(.vectors)) *(.text .text.*) *(.rodata .rodata.*) }} > CODE\n  \
         .data : {{ *(.data .data.* .sdata .sdata.*) }} > RAM AT > CODE\n  .bss : {{ *(.bss .bss.* .sbss .sbss.*) }} > RAM\n  \
         heap_start = ALIGN(16);\n  /DISCARD/ : {{ *(.ARM.exidx .ARM.exidx.*) *(.eh_frame*) }}\n}}\n\
         stack_top = ORIGIN(RAM) + LENGTH(RAM);\nheap_end = stack_top - 1M;\n\
         ASSERT(SIZEOF(.data) == 0, \"nothing copies .data\")\n"
    );
    let path = std::path::Path::new(&std::env::var("OUT_DIR").unwrap_or_default()).join("link.ld");
    std::fs::write(&path, script).expect("a folder to write to");
    println!("cargo::rustc-link-arg=-T{}", path.display());
}
