//! What a WebAssembly module is made of: bytes of code by source folder, from the names of its functions, and of second and later
//! copies of generic functions.

use std::collections::{HashMap, HashSet};

/// Source folders of the packages of this project, by crate.
const OURS: [(&str, &str); 3] =
    [("undercurve", "core/src"), ("undercurve_wasm", "wasm/src"), ("undercurve_gpu", "gpu/src")];
/// Crates that come with Rust.
const RUST: [&str; 6] = ["core", "alloc", "std", "compiler_builtins", "hashbrown", "dlmalloc"];
/// What has less than this share of the code is listed together.
const LEAST: f64 = 0.01;

/// The functions of a module, by name and bytes, and the bytes of its data.
#[derive(Debug, Default, PartialEq)]
pub struct Contents {
    functions: Vec<(String, usize)>,
    data: usize,
}

/// Reads a module from its start on.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }
    fn number(&mut self) -> Option<usize> {
        let (mut value, mut shift) = (0usize, 0);
        loop {
            let byte = self.byte()?;
            value |= usize::from(byte & 127).checked_shl(shift)?;
            shift += 7;
            if byte < 128 {
                return Some(value);
            }
        }
    }
    fn part(&mut self) -> Option<Reader<'a>> {
        let count = self.number()?;
        Some(Reader(self.take(count)?))
    }
    fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.part()?.0).into_owned())
    }
    fn limits(&mut self) -> Option<()> {
        let flags = self.number()?;
        self.number()?;
        if flags & 1 == 1 {
            self.number()?;
        }
        Some(())
    }
    /// An import; whether it is a function.
    fn import(&mut self) -> Option<bool> {
        self.part()?;
        self.part()?;
        let kind = self.byte()?;
        match kind {
            0 => _ = self.number()?,
            1 => {
                self.byte()?;
                self.limits()?;
            }
            2 => self.limits()?,
            _ => _ = self.take(2)?,
        }
        Some(kind == 0)
    }
}

/// The sections of a module: their numbers, where they begin and end, and what is in them.
fn sections(module: &[u8]) -> Option<Vec<(u8, std::ops::Range<usize>, Reader<'_>)>> {
    let mut rest = Reader(module.get(8..)?);
    let mut found = Vec::new();
    while !rest.0.is_empty() {
        let start = module.len() - rest.0.len();
        let (id, part) = (rest.byte()?, rest.part()?);
        found.push((id, start..module.len() - rest.0.len(), part));
    }
    Some(found)
}

/// Whether a section is the one with the names of the functions; what is left of it then.
fn names_of<'a>(id: u8, mut part: Reader<'a>) -> Option<Reader<'a>> {
    (id == 0 && part.text()? == "name").then_some(part)
}

/// What a module with names is made of; `None` where it has none.
pub fn contents(module: &[u8]) -> Option<Contents> {
    let (mut imported, mut sizes, mut names, mut data) = (0, Vec::new(), HashMap::<usize, String>::new(), 0);
    for (id, _, mut part) in sections(module)? {
        match id {
            2 => {
                for _ in 0..part.number()? {
                    imported += usize::from(part.import()?);
                }
            }
            10 => {
                for _ in 0..part.number()? {
                    sizes.push(part.part()?.0.len());
                }
            }
            11 => data = part.0.len(),
            _ => {
                let Some(mut rest) = names_of(id, part) else { continue };
                while !rest.0.is_empty() {
                    let (kind, mut part) = (rest.byte()?, rest.part()?);
                    for _ in 0..if kind == 1 { part.number()? } else { 0 } {
                        let at = part.number()?;
                        names.insert(at, part.text()?);
                    }
                }
            }
        }
    }
    if names.is_empty() {
        return None;
    }
    let mut name = |at: usize| plain(&names.remove(&(imported + at)).unwrap_or_default());
    let functions = sizes.into_iter().enumerate().map(|(at, bytes)| (name(at), bytes)).collect();
    Some(Contents { functions, data })
}

/// The module without the names.
pub fn without_names(module: &[u8]) -> Vec<u8> {
    let named =
        sections(module).unwrap_or_default().into_iter().find(|(id, _, part)| names_of(*id, Reader(part.0)).is_some());
    let Some((_, range, _)) = named else { return module.to_vec() };
    [&module[..range.start], &module[range.end..]].concat()
}

/// A name without what tells crates and copies apart: hashes, and the number of a copy at the end (`name[1]`).
pub fn plain(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name.strip_suffix(']').and_then(|start| start.rsplit_once('[')).map_or(name, |(start, number)| {
        if number.len() < 8 && number.bytes().all(|byte| byte.is_ascii_digit()) { start } else { name }
    });
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        match after.split_once(']') {
            Some((hash, after)) if hash.len() > 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => rest = after,
            _ => {
                out.push('[');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    let is_hash =
        |end: &str| end.len() == 17 && end.starts_with('h') && end[1..].bytes().all(|b| b.is_ascii_hexdigit());
    if let Some((start, end)) = out.rsplit_once("::")
        && is_hash(end)
    {
        return start.to_owned();
    }
    out
}

/// The words of a name, as paths: `a::b` of `<a::b as c>::d`, then `c`.
fn paths(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
        .map(|path| path.trim_matches(':'))
        .filter(|path| path.contains("::"))
}

/// The folder or the crate that a function is from: that of the type or trait of this project that it names first.
fn source(name: &str) -> String {
    let of = |path: &str| {
        let (krate, rest) = path.split_once("::")?;
        let folder = OURS.iter().find(|ours| ours.0 == krate)?.1;
        Some(if krate == "undercurve" { format!("{folder}/{}", rest.split("::").next()?) } else { folder.to_owned() })
    };
    if let Some(ours) = paths(name).find_map(of) {
        return ours;
    }
    match paths(name).next().and_then(|path| path.split("::").next()) {
        Some(krate) if !RUST.contains(&krate) && !krate.starts_with("rustc") && krate != "__rustc" => krate.to_owned(),
        _ => "Rust's own library".to_owned(),
    }
}

/// A name without what generic parameters stand for.
fn generic(name: &str) -> &str {
    match name.rfind("::<") {
        Some(at) if name.ends_with('>') => &name[..at],
        _ => name,
    }
}

impl Contents {
    /// The functions as a table of Markdown, all copies of a generic one in a line, the largest first.
    pub fn largest(&self) -> String {
        let mut all: HashMap<&str, (usize, usize)> = HashMap::new();
        for (name, bytes) in &self.functions {
            let of = all.entry(generic(name)).or_default();
            *of = (of.0 + bytes, of.1 + 1);
        }
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by_key(|&(name, (bytes, _))| (usize::MAX - bytes, name));
        let rows = all.iter().map(|(name, (bytes, copies))| format!("| {name} | {bytes} | {copies} |\n"));
        format!("| function | bytes | copies |\n|---|---|---|\n{}", rows.collect::<String>())
    }

    /// As a table of Markdown under a heading.
    pub fn table(&self, heading: &str) -> String {
        let code: usize = self.functions.iter().map(|function| function.1).sum();
        let share = |bytes: usize| 100.0 * bytes as f64 / code as f64;
        let (mut folders, mut seen, mut copies) = (HashMap::new(), HashSet::new(), 0);
        for (name, bytes) in &self.functions {
            *folders.entry(source(name)).or_insert(0) += bytes;
            if !seen.insert(generic(name)) {
                copies += bytes;
            }
        }
        let mut folders: Vec<(String, usize)> = folders.into_iter().collect();
        folders.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let many = folders.partition_point(|folder| folder.1 as f64 >= LEAST * code as f64);
        let rest: usize = folders[many..].iter().map(|folder| folder.1).sum();
        let others = format!("{} others", folders.len() - many);
        folders.truncate(many);
        folders.push((others, rest));
        let rows = folders.iter().map(|(from, bytes)| format!("| {from} | {bytes} | {:.1} % |\n", share(*bytes)));
        format!(
            "## {heading}\n\n{code} bytes of code in {} functions, {} of data; {:.1} % of the code are second and later copies.\n\n\
             | from | bytes | of the code |\n|---|---|---|\n{}\n",
            self.functions.len(),
            self.data,
            share(copies),
            rows.collect::<String>()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{contents, generic, plain, source, without_names};

    /// A section with its length, which is below 2^14.
    fn section(id: u8, bytes: &[u8]) -> Vec<u8> {
        let length = [bytes.len() as u8 & 127 | 128, (bytes.len() >> 7) as u8];
        [&[id][..], &length, bytes].concat()
    }

    fn text(words: &str) -> Vec<u8> {
        [&[words.len() as u8][..], words.as_bytes()].concat()
    }

    #[test]
    fn a_module_is_read_from_the_names_of_its_functions() {
        // One function from outside, then four: of a folder, the same for another type, of a type of the core, of Rust's library.
        let names = [
            "js::call",
            "undercurve[0123456789abcdef]::pairs::sum::<f32>",
            "undercurve[0123456789abcdef]::pairs::sum::<f64>",
            "<undercurve[0123456789abcdef]::metric::Curve as core[fedcba9876543210]::clone::Clone>::clone",
            "core::fmt::write::h0123456789abcdef",
        ];
        let named: Vec<u8> = (0u8..).zip(names).flat_map(|(at, name)| [vec![at], text(name)].concat()).collect();
        let named = section(1, &[&[5][..], &named].concat());
        let bodies: Vec<u8> = [3u8, 5, 7, 2]
            .iter()
            .flat_map(|&nops| [vec![nops + 2, 0], vec![1; nops.into()], vec![11]].concat())
            .collect();
        let head = [
            b"\0asm\x01\0\0\0".to_vec(),
            section(1, &[1, 96, 0, 0]),
            section(2, &[&[1][..], &text("a"), &text("b"), &[0, 0]].concat()),
            section(3, &[4, 0, 0, 0, 0]),
            section(10, &[&[4][..], &bodies].concat()),
        ]
        .concat();
        let module = [head.clone(), section(0, &[text("name"), named].concat())].concat();
        let table = contents(&module).unwrap().table("some");
        let says = "## some\n\n25 bytes of code in 4 functions, 0 of data; 28.0 % of the code are second and later copies.\n\n\
             | from | bytes | of the code |\n|---|---|---|\n| core/src/pairs | 12 | 48.0 % |\n| core/src/metric | 9 | 36.0 % |\n\
             | Rust's own library | 4 | 16.0 % |\n| 0 others | 0 | 0.0 % |\n\n";
        assert_eq!(table, says);
        assert_eq!(without_names(&module), head);
        assert_eq!(contents(&head), None);
        assert_eq!(contents(&module[..module.len() - 1]), None);
    }

    #[test]
    fn names_tell_where_code_was_written() {
        for (name, from) in [
            ("undercurve::sort::heap::<u32, undercurve::pairs::order::x>", "core/src/sort"),
            ("<alloc::vec::Vec<undercurve_wasm::train::Data>>::push", "wasm/src"),
            ("core::slice::sort::heapsort::<undercurve::rng::Rng>", "core/src/rng"),
            ("<libm::math::Exp as core::fmt::Debug>::fmt", "libm"),
            ("__rustc::__rust_alloc", "Rust's own library"),
            ("memcpy", "Rust's own library"),
            ("talc::base::Talc::malloc", "talc"),
        ] {
            assert_eq!(source(name), from, "{name}");
        }
        assert_eq!(plain("a[0123456789abcdef]::b::<[u8]>::h0123456789abcdef[12]"), "a::b::<[u8]>");
        assert_eq!(plain("a::b::<[u8]>"), "a::b::<[u8]>");
        assert_eq!(generic("a::b::<[u8]>"), "a::b");
    }
}
