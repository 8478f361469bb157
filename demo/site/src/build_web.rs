//! Builds the wasm package and the page from a checkout, with nothing installed but Rust and Node.
//!
//! cargo ─► undercurve_wasm.wasm ─► wasm-bindgen (linked in, no separate tool) ─► wasm/js/pkg ─► npm, Vite ─► demo/web/dist
//!
//! The package's modules are the same crate with different features; the registry's texts go beside them as JavaScript.

use crate::contents::{self, Contents};
use crate::{output, shrink_wasm};
use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Instant, SystemTime};
use undercurve::checkpoint::CheckpointError;
use undercurve::estimator::Estimator;
use undercurve::registry::{Domain, Kind, METHODS, Method, PRESETS, class_methods};
use undercurve::surrogate::SURROGATE_NAMES;
use undercurve::trainer::TrainerError;
use undercurve::{CODES, Error};

const TARGET: &str = "wasm32-unknown-unknown";

/// The folders of a checkout that the build reads and writes.
pub struct Checkout {
    root: PathBuf,
}

impl Checkout {
    /// The checkout around the current folder, or the one cargo runs this program from.
    pub fn find() -> Result<Self> {
        let here = std::env::current_dir().context("the current folder cannot be read")?;
        let cargo = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let starts = cargo.iter().chain([&here]);
        starts
            .flat_map(|start| start.ancestors())
            .find(|folder| folder.join("wasm/Cargo.toml").is_file() && folder.join("demo/web/package.json").is_file())
            .map(|root| Self { root: root.to_path_buf() })
            .ok_or_else(|| anyhow!("the page is built from the sources: run this inside a checkout of undercurve"))
    }

    /// The built page.
    pub fn dist(&self) -> PathBuf {
        self.web().join("dist")
    }

    /// The sources of the page.
    pub fn web(&self) -> PathBuf {
        self.root.join("demo/web")
    }

    /// Where the generated half of the wasm package lies.
    fn package(&self) -> PathBuf {
        self.root.join("wasm/js/pkg")
    }
}

/// One line per step: what it does now, then what came of it.
fn step<T>(what: &str, work: impl FnOnce() -> Result<(T, String)>) -> Result<T> {
    output::part(format_args!("  {what:<22}"));
    let start = Instant::now();
    let result = work();
    match &result {
        Ok((_, note)) => output::line(format_args!("{note} ({:.1} s)", start.elapsed().as_secs_f64())),
        Err(_) => output::line("failed"),
    }
    result.map(|made| made.0)
}

/// Runs a tool quietly. When it fails, its own words are shown and the error is one line.
fn quiet(command: &mut Command, name: &str) -> Result<Output> {
    let said = match command.output() {
        Ok(said) => said,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!("`{name}` was not found on the PATH"),
        Err(error) => return Err(error).with_context(|| format!("`{name}` could not be started")),
    };
    if said.status.success() {
        return Ok(said);
    }
    output::tell(b"\n");
    output::tell(&said.stdout);
    output::tell(&said.stderr);
    bail!("`{name}` failed ({})", said.status)
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// `npm` or `npx`; on Windows they are scripts and need their ending.
pub fn node_tool(name: &str) -> Command {
    if cfg!(windows) { Command::new(format!("{name}.cmd")) } else { Command::new(name) }
}

/// Where the page is built.
#[derive(Clone, Copy)]
pub enum Page<'a> {
    /// In the checkout.
    Here,
    /// In a folder, compressed, to be found at this address.
    Packed(&'a Path, Option<&'a str>),
}

/// A folder for a page: one that is not there yet, or is empty.
pub fn new_folder(folder: &Path) -> Result<PathBuf> {
    let named = || folder.display().to_string();
    fs::create_dir_all(folder).with_context(named)?;
    if fs::read_dir(folder).with_context(named)?.next().is_some() {
        bail!("{}: the folder is not empty; name a new one", named());
    }
    folder.canonicalize().with_context(named)
}

/// Builds everything that is missing or old: target, wasm package, the page's dependencies, and the page if `page` is set.
pub fn build(checkout: &Checkout, page: Option<Page<'_>>) -> Result<()> {
    step("node", check_node)?;
    step("wasm target", ensure_target)?;
    step("wasm package", || build_package(checkout))?;
    step("page dependencies", || install(checkout))?;
    step("inline entry", || {
        quiet(Command::new("node").arg("inline.mjs").current_dir(checkout.web()), "node inline.mjs")?;
        let size = fs::metadata(checkout.package().join("inline.js")).context("inline.js")?.len();
        Ok(((), format!("{} in wasm/js/pkg/inline.js", kilobytes(size))))
    })?;
    let Some(page) = page else { return Ok(()) };
    step("page", || {
        let mut vite = node_tool("npm");
        vite.args(["run", "--silent", "build"]).current_dir(checkout.web());
        let (built, named) = match page {
            Page::Here => (checkout.dist(), "demo/web/dist".to_owned()),
            Page::Packed(folder, address) => {
                vite.args(["--", "--mode", "packed", "--outDir"])
                    .arg(folder)
                    .env("PAGE_URL", address.unwrap_or_default());
                (folder.to_path_buf(), folder.display().to_string())
            }
        };
        quiet(&mut vite, "npm run build")?;
        Ok(((), format!("{} in {named}", kilobytes(folder_size(&built)))))
    })
}

fn check_node() -> Result<((), String)> {
    let output = quiet(Command::new("node").arg("--version"), "node")
        .context("the page needs Node 20.19 or newer (https://nodejs.org)")?;
    let version = String::from_utf8_lossy(&output.stdout).trim().trim_start_matches('v').to_owned();
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if (major, minor) < (20, 19) {
        bail!("the page needs Node 20.19 or newer, and this is {version}");
    }
    Ok(((), version))
}

fn ensure_target() -> Result<((), String)> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = quiet(Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]), "rustc")?;
    if Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir() {
        return Ok(((), "present".into()));
    }
    quiet(Command::new("rustup").args(["target", "add", TARGET]), "rustup target add wasm32-unknown-unknown")
        .with_context(|| format!("this Rust cannot build for {TARGET}"))?;
    Ok(((), "added".into()))
}

/// The modules of the package: the feature that makes one, and its name. Two are made at a time, one of each list; those of a list
/// share what they are made of.
const MODULES: [&[(&str, &str)]; 2] = [
    &[
        ("train", "undercurve"),
        ("pairs", "undercurve_pairs"),
        ("whole", "undercurve_whole"),
        ("sums", "undercurve_sums"),
        ("groups", "undercurve_groups"),
    ],
    &[
        ("webgpu", "undercurve_webgpu"),
        ("files", "undercurve_files"),
        ("exact", "undercurve_exact"),
        ("objective", "undercurve_objective"),
        ("judge", "undercurve_judge"),
        ("decide", "undercurve_decide"),
    ],
];

fn modules() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    MODULES.into_iter().flatten()
}

/// When a file, or the newest in a folder, was written; `None` where one is missing.
fn written(path: &Path) -> Option<SystemTime> {
    let Ok(entries) = fs::read_dir(path) else { return fs::metadata(path).ok()?.modified().ok() };
    entries.flatten().try_fold(SystemTime::UNIX_EPOCH, |last, entry| Some(last.max(written(&entry.path())?)))
}

/// Whether the package was made since the last change of its sources and of this program.
fn is_made(checkout: &Checkout) -> bool {
    let sources = [
        "core/src",
        "core/Cargo.toml",
        "core/search",
        "gpu/src",
        "gpu/Cargo.toml",
        "wasm/src",
        "wasm/Cargo.toml",
        "Cargo.toml",
        "Cargo.lock",
    ];
    let sources = sources.iter().map(|source| checkout.root.join(source)).chain(std::env::current_exe().ok());
    let changed =
        sources.map(|source| written(&source)).collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max());
    let made = written(&checkout.package().join(MADE));
    let there = modules().all(|module| checkout.package().join(format!("{}_bg.wasm", module.1)).is_file());
    there && changed.is_some() && made > changed
}

/// Written when everything else of the package is.
const MADE: &str = "contents.md";

fn build_package(checkout: &Checkout) -> Result<((), String)> {
    if is_made(checkout) {
        return Ok(((), "present".into()));
    }
    let out = checkout.package();
    fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    // (What an earlier release made is none of this one.)
    for entry in fs::read_dir(&out).context("wasm/js/pkg")?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let stem = name.split('.').next().unwrap_or_default().trim_end_matches("_bg");
        if stem.starts_with("undercurve") && !modules().any(|module| module.1 == stem) {
            fs::remove_file(entry.path()).context(name)?;
        }
    }
    // (One thread is busy with a module for most of its time. Each cargo wants a folder of its own.)
    let apart = target_folder(checkout).join("apart");
    let [first, second] = MODULES;
    let build = |modules: &[_], folder: Option<&Path>| {
        modules.iter().map(|module| build_module(checkout, module, folder)).collect::<Result<Vec<_>>>()
    };
    let made = std::thread::scope(|scope| {
        let second = scope.spawn(|| build(second, Some(&apart)));
        let mut made = build(first, None)?;
        made.extend(second.join().map_err(|_| anyhow!("a builder failed"))??);
        anyhow::Ok(made)
    })?;
    let mut sizes = Vec::new();
    for (feature, name) in modules() {
        let file = format!("{name}_bg.wasm");
        let bytes = fs::read(out.join(&file)).context(file)?;
        sizes.push(format!("{feature} {}", kilobytes(gzip_len(&bytes)?)));
    }
    let list = |methods: Vec<String>| methods.join(",\n");
    let two = list(METHODS.iter().map(Method::to_json).collect());
    let several = list(class_methods().map(Method::to_json).collect());
    let head = "// Every method with its parameters, written from the registry.\n";
    let lists = format!("{head}export const METHODS = [{two}];\nexport const CLASS_METHODS = [{several}];\n");
    fs::write(out.join("methods.js"), lists).context("methods.js")?;
    fs::write(out.join("names.d.ts"), names()).context("names.d.ts")?;
    fs::write(out.join("codes.js"), codes()).context("codes.js")?;
    fs::write(out.join("homes.js"), homes()).context("homes.js")?;
    let head = "# What each module is made of\n\nBytes of code by the folder, or the crate, where it was written.\n\n";
    fs::write(out.join(MADE), format!("{head}{}", made.concat())).context(MADE)?;
    Ok(((), format!("{} gzip", sizes.join(", "))))
}

/// The module of each method that the first one has not, and the methods whose objectives are in the module of exact sums.
fn homes() -> String {
    let home = |method: &Method| match method.feature()? {
        "sum-methods" => Some("sums"),
        "group-methods" => Some("groups"),
        _ => Some("whole"),
    };
    let lines = METHODS.iter().filter_map(|method| Some(format!("  \"{}\": \"{}\",\n", method.name, home(method)?)));
    let exact = METHODS.iter().filter(|method| method.feature() == Some("exact-methods")).map(|method| method.name);
    format!(
        "// Which module has a method, written from the registry.\nexport const HOMES = {{\n{}}};\nexport const EXACT = {};\n",
        lines.collect::<String>(),
        Value::from_iter(exact)
    )
}

/// The numbers of errors with their names, and the texts of those that cross as numbers, with names in braces for what differs.
fn codes() -> String {
    const PLACES: [(usize, &str); 3] = [(70_001, "{at}"), (70_002, "{need}"), (70_003, "{got}")];
    let ([(at, _), (need, _), (got, _)], what) = (PLACES, "{what}");
    let core = [
        Error::Length { what, need, got },
        Error::NonFinite { what, at },
        Error::Label { at },
        Error::Weight { at },
        Error::Index { what, at, len: need },
        Error::OneClass,
        Error::Empty { what },
        Error::Overflow { what },
        Error::Param { what },
        Error::Unreachable { what },
        Error::Unsupported { what },
        Error::Unpromised { more: None, what },
    ];
    let saved = CheckpointError::each(u16::MAX, what);
    let core = core.iter().map(|error| (error.code(), error.to_string()));
    let absent = TrainerError::NotBuilt { method: what };
    let saved = saved.iter().map(|error| (error.code(), error.to_string().replace(&u16::MAX.to_string(), PLACES[1].1)));
    let texts = core.chain(saved).chain([(absent.code(), absent.to_string())]).map(|(code, text)| {
        let text = PLACES.iter().fold(text, |text, (number, name)| text.replace(&number.to_string(), name));
        (code, text)
    });
    let object = |lines: Vec<(u16, String)>| {
        let lines = lines.iter().map(|(code, text)| format!("  {code}: {},\n", Value::from(text.as_str())));
        format!("{{\n{}}};\n", lines.collect::<String>())
    };
    let names = CODES.iter().map(|(code, name, _)| (*code, (*name).to_owned()));
    let head = "// The numbers of errors, and what they say, written from the core.\n";
    format!("{head}export const CODES = {}export const TEXTS = {}", object(names.collect()), object(texts.collect()))
}

/// Builds the module of a feature; what it is made of.
pub fn module(checkout: &Checkout, feature: &str) -> Result<String> {
    let module = modules().find(|module| module.0 == feature).with_context(|| {
        format!(
            "no module \"{feature}\"; there are {}",
            modules().map(|module| module.0).collect::<Vec<_>>().join(", ")
        )
    })?;
    fs::create_dir_all(checkout.package()).context("wasm/js/pkg")?;
    let made = built(checkout, module, None)?;
    let bytes = fs::read(checkout.package().join(format!("{}_bg.wasm", module.1))).context(module.1)?;
    let (table, functions) = (made.table(&format!("{}_bg.wasm", module.1)), made.largest());
    Ok(format!("{table}{functions}\n{} gzip", kilobytes(gzip_len(&bytes)?)))
}

/// Words as a TypeScript union.
fn union<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" | ")
}

/// What a parameter may be, in TypeScript.
fn value_type(domain: Domain) -> String {
    match domain {
        Domain::Number { .. } | Domain::Count { .. } => "number".to_owned(),
        Domain::Choice(words) => union(words.iter().copied()),
        Domain::CountOr { word, .. } | Domain::NumberOr { word, .. } => format!("number | \"{word}\""),
    }
}

/// Whether a method's objective can be had without its algorithm.
fn is_objective(method: &Method) -> bool {
    let estimator = || method.settings(&[]).ok().and_then(|settings| method.estimator(&settings).ok());
    matches!(method.kind, Kind::Batches | Kind::Whole)
        && estimator().is_some_and(|estimator| Estimator::<f64>::terms(&estimator) == 1)
}

/// The names of the registry as types.
fn names() -> String {
    let settings = |name: &str, methods: &[&Method]| {
        let of = |method: &&Method| {
            let params = method.params.iter().map(|param| format!("\"{}\"?: {}", param.name, value_type(param.domain)));
            format!("  \"{}\": {{ {} }};\n", method.name, params.collect::<Vec<_>>().join("; "))
        };
        format!("export interface {name} {{\n{}}}\n", methods.iter().map(of).collect::<String>())
    };
    let (two, several): (Vec<&Method>, Vec<&Method>) = (METHODS.iter().collect(), class_methods().collect());
    let objectives = two.iter().filter(|method| is_objective(method)).map(|method| method.name);
    format!(
        "// The names of methods, of their settings, of presets and of losses, written from the registry.\n{}{}export interface Presets {{\n{}}}\n\
         export type ObjectiveName = {};\n\
         export type LossName = {};\n",
        settings("MethodSettings", &two),
        settings("ClassMethodSettings", &several),
        PRESETS
            .iter()
            .map(|of| format!("  /** {} */\n  \"{}\": \"{}\";\n", of.about, of.name, of.method))
            .collect::<String>(),
        union(objectives),
        union(SURROGATE_NAMES.iter().copied()),
    )
}

/// Where cargo builds this checkout.
fn target_folder(checkout: &Checkout) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| checkout.root.join("target"), |folder| checkout.root.join(folder))
}

/// One module: the crate with one feature, then its JavaScript half; in cargo's folder, or another. What it is made of.
fn build_module(checkout: &Checkout, of: &(&str, &str), folder: Option<&Path>) -> Result<String> {
    Ok(built(checkout, of, folder)?.table(&format!("{}_bg.wasm", of.1)))
}

fn built(checkout: &Checkout, &(feature, name): &(&str, &str), folder: Option<&Path>) -> Result<Contents> {
    let mut build = cargo();
    if let Some(folder) = folder {
        build.env("CARGO_TARGET_DIR", folder);
    }
    build
        .args(["build", "--profile", "wasm", "--target", TARGET, "--package", "undercurve-wasm", "--lib"])
        .args(["--no-default-features", "--features", &format!("small,{feature}")])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(&checkout.root)
        // Flags meant for the host must not reach this build; ours come through the target's own variable.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        // (In parts that are built again one by one, functions are in a module more than once.)
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", wasm_flags());
    let output = quiet(&mut build, "cargo build --target wasm32-unknown-unknown")?;
    let wasm = artifact(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| anyhow!("cargo built no wasm file for undercurve-wasm"))?;
    let mut output = wasm_bindgen_cli_support::Bindgen::new()
        .input_path(&wasm)
        .web(true)?
        .typescript(true)
        .omit_default_module_path(false)
        .remove_producers_section(true)
        .out_name(name)
        .generate_output()
        .context("wasm-bindgen")?;
    shrink_wasm::trap_at_panics(output.wasm_mut());
    output.emit(checkout.package()).context("wasm-bindgen")?;
    // The names have told what is in it.
    let file = checkout.package().join(format!("{name}_bg.wasm"));
    let module = fs::read(&file).with_context(|| file.display().to_string())?;
    let made = contents::contents(&module).with_context(|| format!("{name}: a module without names"))?;
    fs::write(&file, contents::without_names(&module)).with_context(|| file.display().to_string())?;
    Ok(made)
}

/// 128-bit SIMD everywhere, never relaxed SIMD (its results differ between CPUs); and no folder of this machine in the file.
fn wasm_flags() -> String {
    let mut flags = String::from("-Ctarget-feature=+simd128");
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| home.map(|home| home.join(".cargo")));
    if let Some(cargo_home) = cargo_home.and_then(|path| path.to_str().map(str::to_owned))
        && !cargo_home.contains(char::is_whitespace)
    {
        flags.push_str(&format!(" --remap-path-prefix={cargo_home}=cargo"));
    }
    flags
}

/// The wasm file that cargo's JSON messages name.
fn artifact(messages: &str) -> Option<PathBuf> {
    let line = messages.lines().rfind(|line| line.contains("undercurve_wasm.wasm\""))?;
    let end = line.find("undercurve_wasm.wasm\"")? + "undercurve_wasm.wasm".len();
    let start = line[..end].rfind('"')? + 1;
    Some(PathBuf::from(line[start..end].replace("\\\\", "\\")))
}

/// `npm ci`, unless what it installed is newer than the lock file.
fn install(checkout: &Checkout) -> Result<((), String)> {
    let web = checkout.web();
    let installed = written(&web.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= written(&web.join("package-lock.json")) {
        return Ok(((), "present".into()));
    }
    let args: Vec<OsString> = ["ci", "--no-audit", "--no-fund", "--ignore-scripts"].map(OsString::from).into();
    quiet(node_tool("npm").args(args).current_dir(&web), "npm ci")?;
    Ok(((), "installed".into()))
}

fn folder_size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => folder_size(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

fn gzip_len(bytes: &[u8]) -> Result<u64> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len() as u64)
}

fn kilobytes(bytes: u64) -> String {
    format!("{:.1} KB", bytes as f64 / 1000.0)
}
