//! The golden runs, for every processor that can be had: prints a line a run, asserts nothing. `bits.py` builds it and compares.
//!
//! Each line is that of `tests/golden/bits.txt`, then a hash of the saved run, and `resumes otherwise` where the run that was saved half
//! way did not come to the same bytes. With names, the numbers of these runs by field, in bits. With `--part NAME CALLS`, that run
//! alone, from the saved bytes on standard input (none: from its start), so many calls further; its saved bytes in hexadecimal.
#![cfg_attr(target_os = "none", no_std, no_main)]

extern crate alloc;

#[cfg(target_os = "none")]
mod bare;
#[cfg_attr(target_os = "none", allow(dead_code, reason = "a program without arguments runs them whole"))]
mod runs;

use alloc::string::String;

/// A line a run, and first whether the product of two f32 is right in f64: some emulators have it wrong.
fn lines(say: &mut dyn FnMut(String)) {
    let (a, b) = core::hint::black_box((0.1_f32, 1.3_f32));
    let right = (f64::from(a) * f64::from(b)).to_bits() == 0x3fc0_a3d7_0428_f5c0;
    say(String::from(if right { "products are right" } else { "products are wrong" }));
    runs::every(&mut runs::Task::Whole(&|_| true, &mut |run| {
        let (saved, resumes) = run.saved();
        say(alloc::format!("{} | {saved:016x}{}", run.line(), if resumes { "" } else { " resumes otherwise" }));
    }));
}

/// In a WebAssembly module, whose host takes the text.
#[cfg(target_family = "wasm")]
mod module {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        fn say(text: *const u8, bytes: usize);
    }

    #[unsafe(no_mangle)]
    extern "C" fn golden() {
        // SAFETY: the host reads the text, which lives until it returns.
        super::lines(&mut |line| unsafe { say(line.as_ptr(), line.len()) });
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::io::Result<()> {
    use runs::Task;
    use std::io::{Read, Write};
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout().lock();
    let mut done = Ok(());
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => lines(&mut |line| done = writeln!(out, "{line}").and_then(|()| out.flush())),
        ["--part", name, calls] => {
            let mut saved = Vec::new();
            std::io::stdin().read_to_end(&mut saved)?;
            let mut task = Task::Part(name, saved, calls.parse().expect("a number of calls"));
            runs::every(&mut task);
            let Task::Part(_, saved, _) = task else { return Ok(()) };
            saved.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
        }
        ref names => runs::every(&mut Task::Whole(&|name| names.contains(&name), &mut |run| {
            for (field, words) in run.fields.as_deref().unwrap_or_default() {
                let words: String = words.iter().map(|word| format!(" {word:x}")).collect();
                done = writeln!(out, "{}: {field}{words}", run.name);
            }
        })),
    }
    done
}
