//! On a processor without a system, in QEMU: lines go out by semihosting, memory is what the linker script leaves.

use alloc::string::String;
use core::arch::{asm, global_asm};
use linked_list_allocator::LockedHeap;

unsafe extern "C" {
    static mut heap_start: u8;
    static heap_end: u8;
}

#[global_allocator]
static HEAP: LockedHeap = LockedHeap::empty();

#[cfg(target_arch = "arm")]
mod machine {
    unsafe extern "C" {
        static stack_top: u8;
        fn reset();
    }

    /// The stack's start, where to begin, and where every fault goes.
    #[repr(C)]
    struct Vectors(&'static u8, unsafe extern "C" fn(), [extern "C" fn() -> !; 14]);
    #[used]
    #[unsafe(link_section = ".vectors")]
    static VECTORS: Vectors = Vectors(unsafe { &stack_top }, reset, [super::fault; 14]);
}

// The floating-point unit on.
#[cfg(target_arch = "arm")]
global_asm!(
    ".thumb_func",
    ".global reset",
    "reset:",
    "ldr r0, =0xE000ED88",
    "ldr r1, [r0]",
    "orr r1, r1, #0xF00000",
    "str r1, [r0]",
    "dsb",
    "isb",
    "bl begin",
    "udf #0",
);

#[cfg(target_arch = "riscv32")]
global_asm!(".section .vectors, \"ax\"", ".global reset", "reset:", "la sp, stack_top", "la t0, trap", "csrw mtvec, t0", "call begin", ".align 2", "trap:", "call fault");

fn call(operation: usize, argument: usize) {
    // SAFETY: semihosting; the debugger, here QEMU, does what is asked for.
    #[cfg(target_arch = "arm")]
    unsafe {
        asm!("bkpt #0xab", inout("r0") operation => _, in("r1") argument, options(nostack));
    }
    #[cfg(target_arch = "riscv32")]
    unsafe {
        asm!(".balign 16", ".option push", ".option norvc", "slli x0, x0, 0x1f", "ebreak", "srai x0, x0, 7", ".option pop",
            inout("a0") operation => _, in("a1") argument, options(nostack));
    }
}

fn say(mut line: String) {
    line.push_str("\n\0");
    call(4, line.as_ptr() as usize);
}

fn end() -> ! {
    call(0x18, 0x2_0026);
    #[allow(clippy::empty_loop)]
    loop {}
}

#[unsafe(no_mangle)]
extern "C" fn fault() -> ! {
    call(4, c"fault\n".as_ptr() as usize);
    end()
}

#[panic_handler]
fn panicked(why: &core::panic::PanicInfo) -> ! {
    say(alloc::format!("{why}"));
    end()
}

#[unsafe(no_mangle)]
extern "C" fn begin() -> ! {
    // SAFETY: once, and nothing else is in that memory.
    unsafe {
        let start = &raw mut heap_start;
        HEAP.lock().init(start, (&raw const heap_end).addr() - start.addr());
    }
    super::lines(&mut say);
    end()
}
