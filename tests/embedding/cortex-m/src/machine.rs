//! A Cortex-M4 without a system, in QEMU: prints the two figures of the program, and the bytes of stack that it took.

use core::arch::{asm, global_asm};

unsafe extern "C" {
    static stack_end: u32;
    static stack_top: u32;
    fn reset();
}

/// The stack's start, where to begin, and where every fault goes.
#[repr(C)]
struct Vectors(&'static u32, unsafe extern "C" fn(), [extern "C" fn() -> !; 14]);
#[used]
#[unsafe(link_section = ".vectors")]
static VECTORS: Vectors = Vectors(unsafe { &stack_top }, reset, [fault; 14]);

// The floating-point unit on, all of the stack painted, and off.
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
    "ldr r0, =stack_end",
    "ldr r1, =stack_top",
    "ldr r2, =0xC0FFEE11",
    "1: str r2, [r0], #4",
    "cmp r0, r1",
    "blo 1b",
    "bl begin",
    "udf #0",
);

fn call(operation: u32, argument: u32) {
    // Semihosting: the debugger, here QEMU, does what is asked for.
    unsafe { asm!("bkpt #0xab", inout("r0") operation => _, in("r1") argument, options(nostack)) };
}

fn print(number: u64) {
    let mut text = [0u8; 18];
    for (place, digit) in text.iter_mut().take(16).enumerate() {
        *digit = b"0123456789abcdef".get((number >> (60 - 4 * place)) as usize & 15).copied().unwrap_or(b'?');
    }
    if let Some(space) = text.get_mut(16) {
        *space = b' ';
    }
    call(4, text.as_ptr() as u32);
}

fn end() -> ! {
    call(0x18, 0x2_0026);
    #[allow(clippy::empty_loop)]
    loop {}
}

extern "C" fn fault() -> ! {
    call(4, c"fault".as_ptr() as u32);
    end()
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo) -> ! {
    fault()
}

#[unsafe(no_mangle)]
extern "C" fn begin() -> ! {
    if let Some(figures) = super::figures() {
        let (mut at, top) = (&raw const stack_end, &raw const stack_top);
        while at < top && unsafe { at.read_volatile() } == 0xC0FF_EE11 {
            at = at.wrapping_add(1);
        }
        figures.into_iter().for_each(print);
        print((top as usize - at as usize) as u64);
    }
    end()
}
