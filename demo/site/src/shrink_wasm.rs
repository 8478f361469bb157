//! After the linker: a call that ends in a panic becomes the instruction that stops the module.
//!
//! The modules have no way to print a panic's text and place, so what prepares them is dead weight at every bounds check.
//! The check itself stays, and a failed one traps as before. The places themselves (file, line and column) are blanked
//! where nothing else speaks of them, since zeros take no room in a download.

use crate::contents;
use std::collections::{HashMap, HashSet};
use walrus::ir::{Const, Instr, InstrSeq, Unreachable, Value, Visitor, VisitorMut, dfs_in_order, dfs_pre_order_mut};
use walrus::{ConstExpr, DataKind, ElementItems, ExportItem, FunctionBuilder, FunctionId, FunctionKind, Module};

/// Names of functions of `core` and `alloc` that only make a text and stop.
const PANICS: [&str; 9] = [
    "slice_index_fail",
    "slice_error_fail",
    "len_mismatch_fail",
    "unwrap_failed",
    "expect_failed",
    "assert_failed",
    "handle_alloc_error",
    "capacity_overflow",
    "raw_vec::handle_error",
];

/// What no run comes to: sines and cosines of more than a million radians. Angles here are a few turns at most.
const NEVER: &str = "rem_pio2_large";

/// Whether a call of it stops the module, by its name: `core::panicking::panic`, `core[c5930c85a12de822]::panicking::panic` or mangled.
fn is_panic(name: &str) -> bool {
    let all_of_core = name.starts_with("core") && name.contains("::panicking::") || name.contains("4core9panicking");
    all_of_core || PANICS.iter().any(|part| name.contains(part)) || name.contains(NEVER)
}

/// Rewrites the calls and drops what nothing uses any more.
pub fn trap_at_panics(module: &mut Module) {
    let panics: HashSet<FunctionId> = module
        .funcs
        .iter()
        .filter(|function| function.name.as_deref().is_some_and(is_panic))
        .map(|function| function.id())
        .collect();
    let mut calls = Calls { panics, places: HashSet::new() };
    for (_, function) in module.funcs.iter_local_mut() {
        let entry = function.entry_block();
        dfs_pre_order_mut(&mut calls, function, entry);
    }
    drop_formatting(module);
    walrus::passes::gc::run(module);
    blank_places(module, &calls.places);
}

/// Whether a function formats a value, by its name: it takes a `Formatter`, or writes for one.
fn is_formatting(name: &str) -> bool {
    let plain: String = contents::plain(name);
    ["core::fmt::", "core::str::count::"].iter().any(|part| plain.contains(part))
}

/// Where nothing formats any more, empties the places of the table from which panics would have called what does. (Only `core::fmt`
/// makes a `Formatter`.)
fn drop_formatting(module: &mut Module) {
    let is_formatting =
        |module: &Module, id: FunctionId| module.funcs.get(id).name.as_deref().is_some_and(is_formatting);
    let mut listed = Vec::new();
    for elements in module.elements.iter() {
        if let ElementItems::Functions(ids) = &elements.items {
            listed.extend(ids.iter().copied());
        }
    }
    let exported = module.exports.iter().filter_map(|export| match export.item {
        ExportItem::Function(id) => Some(id),
        _ => None,
    });
    let mut rest: Vec<FunctionId> = exported.chain(module.start).collect();
    rest.extend(listed.iter().copied().filter(|&id| !is_formatting(module, id)));
    let mut live: HashSet<FunctionId> = rest.iter().copied().collect();
    while let Some(id) = rest.pop() {
        let FunctionKind::Local(function) = &module.funcs.get(id).kind else { continue };
        let mut called = Called(Vec::new());
        dfs_in_order(&mut called, function, function.entry_block());
        rest.extend(called.0.into_iter().filter(|&id| live.insert(id)));
    }
    if live.iter().any(|&id| is_formatting(module, id)) {
        return;
    }
    let mut builder = FunctionBuilder::new(&mut module.types, &[], &[]);
    builder.func_body().unreachable();
    let stop = builder.finish(Vec::new(), &mut module.funcs);
    let dead: HashSet<FunctionId> = listed.into_iter().filter(|&id| is_formatting(module, id)).collect();
    for elements in module.elements.iter_mut() {
        if let ElementItems::Functions(ids) = &mut elements.items {
            ids.iter_mut().filter(|id| dead.contains(id)).for_each(|id| *id = stop);
        }
    }
}

/// The functions that code calls or refers to.
struct Called(Vec<FunctionId>);

impl Visitor<'_> for Called {
    fn visit_function_id(&mut self, id: &FunctionId) {
        self.0.push(*id);
    }
}

struct Calls {
    panics: HashSet<FunctionId>,
    /// Addresses of the places that were last arguments of such calls.
    places: HashSet<u32>,
}

impl VisitorMut for Calls {
    fn start_instr_seq_mut(&mut self, sequence: &mut InstrSeq) {
        let stops = |instr: &Instr| matches!(instr, Instr::Call(call) if self.panics.contains(&call.func));
        for pair in sequence.instrs.windows(2) {
            if let [(Instr::Const(Const { value: Value::I32(place) }), _), (call, _)] = pair
                && stops(call)
            {
                self.places.insert(*place as u32);
            }
        }
        let Some(mut at) = sequence.instrs.iter().position(|(instr, _)| stops(instr)) else { return };
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

/// The numbers that code holds.
struct Numbers(HashSet<u32>);

impl Visitor<'_> for Numbers {
    fn visit_const(&mut self, constant: &Const) {
        if let Value::I32(value) = constant.value {
            self.0.insert(value as u32);
        }
    }
}

/// A place in memory is four words: address and length of the file's name, line, column.
const PLACE: u32 = 16;

/// Zeros for the places that nothing points to any more, and for the names of files that nothing but they pointed to.
fn blank_places(module: &mut Module, places: &HashSet<u32>) {
    let mut code = Numbers(HashSet::new());
    for (_, function) in module.funcs.iter_local() {
        dfs_in_order(&mut code, function, function.entry_block());
    }
    let data: Vec<(u32, u32)> = segments(module).flat_map(|(start, data)| words(start, data)).collect();
    let pointed: HashSet<u32> = code.0.iter().copied().chain(data.iter().map(|word| word.1)).collect();
    let mut named: HashMap<u32, (u32, u32)> = HashMap::new();
    for &place in places.difference(&pointed) {
        if let Some((name, length)) = word_at(module, place).zip(word_at(module, place + 4))
            && bytes_at(module, name, length as usize).is_some_and(|name| name.ends_with(b".rs"))
        {
            named.insert(place, (name, length));
        }
    }
    let others = data.iter().filter(|(at, _)| !named.contains_key(at)).map(|word| word.1);
    let kept: HashSet<u32> = code.0.iter().copied().chain(others).collect();
    let names = named.values().filter(|(name, _)| !kept.contains(name)).map(|(name, length)| *name..name + length);
    let blanks: Vec<_> = named.keys().map(|&place| place..place + PLACE).chain(names).collect();
    let ids: Vec<_> = module.data.iter().map(|data| data.id()).collect();
    for id in ids {
        let data = module.data.get_mut(id);
        let Some(start) = start_of(&data.kind) else { continue };
        for blank in &blanks {
            let from = blank.start.wrapping_sub(start) as usize;
            if let Some(bytes) = data.value.get_mut(from..from.saturating_add(blank.len())) {
                bytes.fill(0);
            }
        }
    }
}

fn start_of(kind: &DataKind) -> Option<u32> {
    match kind {
        DataKind::Active { offset: ConstExpr::Value(Value::I32(start)), .. } => Some(*start as u32),
        _ => None,
    }
}

fn segments(module: &Module) -> impl Iterator<Item = (u32, &[u8])> {
    module.data.iter().filter_map(|data| Some((start_of(&data.kind)?, data.value.as_slice())))
}

/// The aligned words of a segment, with their addresses.
fn words(start: u32, data: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    let first = start.next_multiple_of(4);
    let words = data.get((first - start) as usize..).unwrap_or_default().as_chunks::<4>().0;
    (first..).step_by(4).zip(words.iter().map(|word| u32::from_le_bytes(*word)))
}

fn bytes_at(module: &Module, address: u32, length: usize) -> Option<&[u8]> {
    segments(module).find_map(|(start, data)| data.get(address.checked_sub(start)? as usize..)?.get(..length))
}

fn word_at(module: &Module, address: u32) -> Option<u32> {
    Some(u32::from_le_bytes(bytes_at(module, address, 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::is_panic;

    #[test]
    fn panics_are_known_by_their_names() {
        for name in [
            "core::panicking::panic_bounds_check",
            "core[c5930c85a12de822]::panicking::panic_bounds_check",
            "core[c5930c85a12de822]::panicking::assert_failed::<u64, u64>",
            "_ZN4core9panicking9panic_fmt17h0123456789abcdefE",
            "core::slice::index::slice_index_fail",
            "alloc[3ca501edff3f0c7c]::raw_vec::handle_error",
            "libm::math::rem_pio2_large::rem_pio2_large",
        ] {
            assert!(is_panic(name), "{name}");
        }
        for name in [
            "std[a543996e6e7dbf1e]::panicking::panic_count::increase",
            "undercurve::pairs::panel::ap",
            "core::fmt::write",
            "libm::math::rem_pio2::rem_pio2",
        ] {
            assert!(!is_panic(name), "{name}");
        }
    }
}
