//! After the linker: a call that ends in a panic becomes the instruction that stops the module.
//!
//! The modules have no way to print a panic's text and place, so what prepares them is dead weight at every bounds check.
//! The check itself stays, and a failed one traps as before.

use std::collections::HashSet;
use walrus::ir::{Instr, InstrSeq, Unreachable, VisitorMut, dfs_pre_order_mut};
use walrus::{FunctionId, Module};

/// Parts of the names of functions that only make a text and stop, mangled or not.
const PANICS: [&str; 7] = [
    "core::panicking::",
    "4core9panicking",
    "slice_index_fail",
    "len_mismatch_fail",
    "slice_error_fail",
    "unwrap_failed",
    "expect_failed",
];

/// Rewrites the calls and drops what nothing uses any more.
pub fn trap_at_panics(module: &mut Module) {
    let is_panic = |name: &str| PANICS.iter().any(|part| name.contains(part));
    let panics: HashSet<FunctionId> = module
        .funcs
        .iter()
        .filter(|function| function.name.as_deref().is_some_and(is_panic))
        .map(|function| function.id())
        .collect();
    let mut calls = Calls { panics };
    for (_, function) in module.funcs.iter_local_mut() {
        let entry = function.entry_block();
        dfs_pre_order_mut(&mut calls, function, entry);
    }
    walrus::passes::gc::run(module);
}

struct Calls {
    panics: HashSet<FunctionId>,
}

impl VisitorMut for Calls {
    fn start_instr_seq_mut(&mut self, sequence: &mut InstrSeq) {
        let is_panic = |instr: &Instr| matches!(instr, Instr::Call(call) if self.panics.contains(&call.func));
        let Some(mut at) = sequence.instrs.iter().position(|(instr, _)| is_panic(instr)) else { return };
        let place = sequence.instrs[at].1;
        // Its arguments, where making them does nothing else; the others stay on the stack, which the end of the
        // sequence discards.
        while at > 0 && matches!(sequence.instrs[at - 1].0, Instr::Const(_) | Instr::LocalGet(_)) {
            at -= 1;
        }
        sequence.instrs.truncate(at);
        sequence.instrs.push((Unreachable {}.into(), place));
    }
}
