//! The C library as C programs see it: the header, the examples, and calls that are wrong.

use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::{env, fs, ptr};
use undercurve::checkpoint::SavedModel;
use undercurve::data::{self, Dataset, Format, RawTable};
use undercurve::measure::{Groups, Metric, Needs, Ranked, Rows, TABLE};
use undercurve::metric::{Confusion, Metrics, Pair, Truth};
use undercurve::pairs::{Grade, Sum, Sums};
use undercurve::surrogate::AnySurrogate;
use undercurve::trainer::{Config, Predictor, Trainer};
use undercurve_c as _;
use undercurve_tests::{python_package, skipped};

mod hostile;

use hostile::{
    uc_abi_version, uc_decide_f64, uc_last_error, uc_metrics_need, uc_model_load, uc_pairs_f32, uc_pairs_need_f32,
    uc_params, uc_release, uc_score, uc_threshold, uc_trainer_model, uc_trainer_new, uc_trainer_steps,
};

unsafe extern "C" {
    fn uc_metric_f64(
        name: *const u8,
        s: *const f64,
        y: *const u8,
        w: *const f64,
        c: *const u32,
        q: *const u32,
        g: *const u32,
        n: usize,
        v: *mut f64,
    ) -> i32;
    fn uc_compare_f64(
        name: *const u8,
        a: *const f64,
        b: *const f64,
        y: *const u8,
        w: *const f64,
        c: *const u32,
        n: usize,
        v: *mut f64,
    ) -> i32;
}

const HEADER: &str = include_str!("../include/undercurve.h");
const HERE: &str = env!("CARGO_MANIFEST_DIR");

fn message() -> String {
    let mut text = [0; 300];
    // SAFETY: its own size.
    let length = unsafe { uc_last_error(text.as_mut_ptr(), text.len()) };
    String::from_utf8(text[..length.min(299)].to_vec()).unwrap()
}

/// Where the library that this program was built with lies.
fn built() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// The names of the functions that the header declares.
fn declared() -> Vec<String> {
    let code: String = HEADER.split("/*").map(|part| part.split_once("*/").map_or(part, |(_, code)| code)).collect();
    let mut names: Vec<String> = code
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '('))
        .filter_map(|word| word.split_once('(').map(|(name, _)| name.to_owned()))
        .filter(|name| name.starts_with("uc_"))
        .collect();
    names.sort();
    names
}

/// The names of the functions that the sources export, for all targets.
fn exported() -> Vec<String> {
    let mut names = Vec::new();
    for file in ["lib.rs", "error.rs", "stateless.rs", "training.rs"] {
        let source = fs::read_to_string(Path::new(HERE).join("src").join(file)).unwrap();
        let words = source.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        names.extend(words.filter(|word| word.starts_with("uc_")).map(str::to_owned));
    }
    names.sort();
    names.dedup();
    names
}

#[test]
fn header_declares_what_is_exported() {
    assert_eq!(declared(), exported());
    // SAFETY: it takes nothing.
    let version = unsafe { uc_abi_version() };
    assert!(HEADER.contains(&format!("#define UC_ABI_VERSION {version}\n")));
    for (code, name, _) in undercurve::CODES.iter().filter(|entry| entry.0 < 100 || (111..=122).contains(&entry.0)) {
        assert!(HEADER.lines().any(|line| line.split_whitespace().nth(2) == Some(&code.to_string())), "{code} {name}");
    }
    let library = built().join("libundercurve_c.so");
    if !library.exists() {
        return skipped("no ELF library of the C interface");
    }
    let Ok(told) = Command::new("nm").args(["-D", "--defined-only"]).arg(&library).output() else {
        return skipped("no nm to list the names of the C library");
    };
    let told = String::from_utf8(told.stdout).unwrap();
    let mut names: Vec<&str> = told.lines().filter_map(|line| line.rsplit(' ').next()).collect();
    names.retain(|name| name.starts_with("uc_"));
    names.sort_unstable();
    let wasm = ["uc_alloc", "uc_free"];
    assert_eq!(names, declared().iter().filter(|name| !wasm.contains(&name.as_str())).collect::<Vec<_>>());
}

/// The rows of examples/train.c.
fn example() -> (Vec<f32>, Vec<u8>) {
    let mut random = 1_u32;
    let labels: Vec<u8> = (0..200).map(|row| u8::from(row % 10 == 0)).collect();
    let x = (0..600).map(|k: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) as f32 / 65536.0 + if labels[k / 3] == 1 && k.is_multiple_of(3) { 0.5 } else { 0.0 }
    });
    (x.collect(), labels)
}

/// What examples/train.c prints, in Rust: the same bits.
fn expected() -> String {
    let (x, labels) = example();
    let settings = [("lr", "0.02"), ("steps", "300"), ("pretrain", "100")];
    let settings = settings.map(|(name, value)| (name.into(), value.into())).into();
    let data = Arc::new(Dataset::dense(x, labels.clone(), 3).unwrap());
    let mut trainer =
        Trainer::<f32>::new(&Config { method: "soap".into(), settings, ..Config::default() }, data.clone(), None)
            .unwrap();
    while trainer.step().unwrap().is_some() {}
    let (mut scores, mut grad) = ([0.0_f32; 200], [0.0_f32; 200]);
    trainer.score(data.rows(), &mut scores).unwrap();
    let ap = Metrics::new().average_precision(&scores, &labels[..]).unwrap();
    let loss = AnySurrogate::by_name("squared-hinge", 1.0).unwrap();
    let value = Sums::new().with_grade(Grade::Full).ap(&scores, &labels, loss, &mut grad).unwrap();
    let bytes = grad.iter().flat_map(|slope| slope.to_le_bytes());
    let hash = bytes.fold(2_166_136_261_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    assert!(ap > 0.5 && value < 0.0);
    // (measure.py expects it of the wasm module.)
    assert_eq!(hash, 0xb2eb_bff8);
    format!("gradient {hash:08x}")
}

fn run(command: &mut Command) -> String {
    let done = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(done.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// An example, compiled by a compiler with options and linked with the static library.
fn compiled(compiler: &str, source: &str, options: &[&str]) -> PathBuf {
    let name = format!("{}-{compiler}{}", source.replace(['.', '/'], "-"), options.concat().replace([',', '='], "-"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let library = fs::read_dir(built()).unwrap().map(|file| file.unwrap().path());
    let mut libraries: Vec<PathBuf> = library
        .filter(|path| path.extension().is_some_and(|end| end == "a"))
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("libundercurve_c"))
        .collect();
    // (The one that was built with this program is the latest.)
    libraries.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    let library = libraries.pop().expect("a static library beside the test");
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-I"]).arg(Path::new(HERE).join("include"));
    command.args(options).arg("-o").arg(&program).arg(Path::new(HERE).join("examples").join(source));
    run(command.arg(library).args(["-lpthread", "-ldl", "-lm"]));
    program
}

fn have(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|done| done.status.success())
}

#[test]
fn examples_give_the_same_bits() {
    if !cfg!(target_os = "linux") || !have("gcc") || !have("g++") {
        return skipped("no gcc and g++ for the examples in C");
    }
    let rust = expected();
    let metrics = "auroc 0.625 ap 0.833333 pauc 0.5 loss 0.5625 slope -1.5\nfrom 0.225 up: 2 right alerts, 1 wrong\n";
    for options in [&["-std=c99"][..], &["-std=c11", "-fsanitize=address,undefined"]] {
        let told = run(Command::new(compiled("gcc", "train.c", options)).env("ASAN_OPTIONS", "detect_leaks=1"));
        assert!(told.contains(&rust), "{told}{rust}");
    }
    for options in [&["-std=c++11"][..], &["-std=c++17", "-fsanitize=address,undefined"]] {
        let told = run(Command::new(compiled("g++", "metrics.cpp", options)).env("ASAN_OPTIONS", "detect_leaks=1"));
        assert_eq!(told, metrics);
    }
    if !have("valgrind") {
        return skipped("no valgrind for the examples in C");
    }
    for program in [compiled("gcc", "train.c", &["-std=c99"]), compiled("g++", "metrics.cpp", &["-std=c++11"])] {
        run(Command::new("valgrind").args(["-q", "--error-exitcode=9", "--leak-check=full"]).arg(program));
    }
}

/// Every rule decides as in Rust, with weights and clusters too, and a model tells the threshold that it decides by.
#[test]
fn decisions_are_those_of_rust() {
    let scores: Vec<f64> = (0..400).map(|row| f64::from(row * 7 % 400)).collect();
    let labels: Vec<u8> = scores.iter().map(|score| u8::from(*score >= 250.0)).collect();
    let weights: Vec<f64> = (0..400).map(|row| f64::from(1 + row % 3)).collect();
    let clusters: Vec<u32> = (0..400).map(|row| row / 2).collect();
    // SAFETY: it takes a number.
    let mut scratch = vec![0_u64; unsafe { uc_metrics_need(400) } / 8 + 1];
    let mut decide = |rule: &str, weights: &[f64], clusters: &[u32]| {
        let (rule, mut told) = (std::ffi::CString::new(rule).unwrap(), [0.0; 5]);
        let weights = if weights.is_empty() { ptr::null() } else { weights.as_ptr() };
        let clusters = if clusters.is_empty() { ptr::null() } else { clusters.as_ptr() };
        let (room, out) = (8 * scratch.len(), told.as_mut_ptr());
        let (rule, scores, labels) = (rule.as_ptr().cast(), scores.as_ptr(), labels.as_ptr());
        // SAFETY: arrays of 400, or NULL.
        let code =
            unsafe { uc_decide_f64(rule, scores, labels, weights, clusters, 400, scratch.as_mut_ptr(), room, out) };
        (code, told)
    };
    for text in ["fpr<=0.05", "recall>=0.8@90%", "precision>=0.9@90%", "alerts<=20", "mcc", "costs:1:5", "33"] {
        for (weights, clusters) in [(&[][..], &[][..]), (&weights[..], &[][..]), (&[][..], &clusters[..])] {
            let truth = Truth::new(&labels, weights).unwrap();
            let of = Some(clusters).filter(|of| !of.is_empty());
            let found = Metrics::new().decide_in(&scores, truth, of, text.parse().unwrap()).unwrap();
            let Confusion { true_positives, false_positives, true_negatives, false_negatives } = found.counts;
            let want = [found.threshold, true_positives, false_positives, true_negatives, false_negatives];
            assert_eq!(decide(text, weights, clusters), (0, want), "{text}");
        }
    }
    assert_eq!(decide("recall>=0.99@99.9%", &[], &[]).0, 12);
    assert_eq!(decide("best", &[], &[]).0, 206);
    assert!(message().starts_with("rule: expected fpr<=A"), "{}", message());
    let saved = include_bytes!("../../../tests/golden/decided.uc");
    let want = SavedModel::from_bytes(saved).unwrap().threshold;
    let (mut model, mut threshold) = (0, 0.0);
    // SAFETY: bytes of this length, and places of one.
    unsafe {
        assert_eq!(uc_model_load(saved.as_ptr(), saved.len(), &mut model), 0);
        assert_eq!(uc_threshold(model, &mut threshold), 0);
        assert_eq!(uc_release(model), 0);
    }
    assert_eq!(Some(threshold), want);
}

/// The program of README.md, as it stands there, makes a model that Rust and Python score by with its bits, from a file and from an array of C; and what a
/// wrong name and another range of partial AUC come to.
#[test]
fn program_of_the_readme() {
    let readme = include_str!("../README.md");
    let source = readme.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program in C");
    assert!(source.lines().count() <= 20);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("readme.c"), source).unwrap();
    if !cfg!(target_os = "linux") || !have("gcc") || !have("xxd") {
        return skipped("no gcc and xxd for the program of the C library's README");
    }
    run(Command::new(compiled("gcc", folder.join("readme.c").to_str().unwrap(), &["-std=c99"])).current_dir(&folder));
    let saved = fs::read(folder.join("c.model")).unwrap();
    let (x, mut scores) = ([0.0_f32, 3.0, 1.0, 5.0, 7.0, 3.0], [0.0_f32; 3]);
    Predictor::load(&saved).unwrap().score(data::Rows::dense(&x, 2).unwrap(), &mut scores).unwrap();
    let words = scores.map(|score| score.to_string()).join(" ");
    // An array of C.
    let array = run(Command::new("xxd").args(["-i", "c.model"]).current_dir(&folder));
    let main = r#"
#include <stdio.h>
#include <undercurve.h>
int main(void) {
    const float x[] = {0, 3, 1, 5, 7, 3};
    float scores[3];
    uint32_t model;
    if (uc_model_load(c_model, c_model_len, &model) || uc_score(model, x, 3, 2, scores, 3)) return 1;
    for (int k = 0; k < 3; k++) printf("%08x\n", ((unsigned *)(void *)scores)[k]);
    return 0;
}"#;
    fs::write(folder.join("array.c"), array + main).unwrap();
    let told = run(&mut Command::new(compiled("gcc", folder.join("array.c").to_str().unwrap(), &["-std=c99"])));
    assert_eq!(told, scores.map(|score| format!("{:08x}\n", score.to_bits())).concat());
    // Python.
    let package = python_package(folder.to_str().unwrap());
    let (Some(package), Some(python)) = (package, env::var_os("UNDERCURVE_PYTHON")) else {
        return skipped("no Python package beside the test of the C library, or UNDERCURVE_PYTHON names no Python");
    };
    let text = "import undercurve; print(*undercurve.load('c.model').scores([[0, 3], [1, 5], [7, 3]]))";
    let told = run(Command::new(python).args(["-c", text]).env("PYTHONPATH", package).current_dir(&folder));
    let parse = |text: &str| text.split_whitespace().map(|word| word.parse().unwrap()).collect::<Vec<f32>>();
    assert_eq!(parse(&told), parse(&words));
}

/// What a run is configured by: the nearest of names, and the range of partial AUC.
#[test]
fn names_and_ranges() {
    let (x, labels) = example();
    let made = |method: &std::ffi::CStr, settings: &std::ffi::CStr| {
        let (mut run, mut left, mut count, mut params) = (0, 0, 0, [0.0_f32; 4]);
        let [method, model, settings] = [method, c"linear", settings].map(|text| text.as_ptr().cast());
        // SAFETY: arrays of these lengths, texts that end, and places of one.
        unsafe {
            let code =
                uc_trainer_new(x.as_ptr(), 200, 3, labels.as_ptr(), ptr::null(), method, model, settings, 1, &mut run);
            if code != 0 {
                return Err((code, message()));
            }
            assert_eq!(
                (uc_trainer_steps(run, u64::MAX, &mut left), uc_params(run, params.as_mut_ptr(), 4, &mut count)),
                (0, 0)
            );
            assert_eq!(uc_release(run), 0);
        }
        Ok(params)
    };
    let wrong = |text: &str| Err((121, text.to_string()));
    assert_eq!(made(c"saop", c""), wrong("no method \"saop\"; did you mean soap?"));
    assert_eq!(made(c"soap", c"gama = 1"), wrong("no setting of soap \"gama\"; did you mean gamma?"));
    assert!(made(c"best", c"").unwrap_err().1.starts_with("no method \"best\"; there are "));
    assert_eq!(made(c"pauc-exact", c"fpr = 3"), wrong("fpr = \"3\": expected LO:HI"));
    assert_eq!(made(c"pauc-exact", c"fpr = .3:.1"), wrong("fpr 0.3:0.1: expected 0 <= LO < HI <= 1"));
    let (usual, narrow, wide) =
        (made(c"pauc-exact", c""), made(c"pauc-exact", c"fpr = 0:0.05"), made(c"pauc-exact", c"fpr = 0 : 0.5"));
    assert_eq!(usual, narrow);
    assert_ne!(usual, wide);
    let config = Config { method: "pauc-exact".into(), fpr: (0.0, 0.5), ..Config::default() };
    let mut trainer =
        Trainer::<f32>::new(&config, Arc::new(Dataset::dense(x.clone(), labels.clone(), 3).unwrap()), None).unwrap();
    while trainer.step().unwrap().is_some() {}
    assert_eq!(wide.unwrap()[..], *trainer.params());
    let loss = |name: &std::ffi::CStr| {
        let mut bytes = 0;
        // SAFETY: a text that ends, and a place of one.
        (unsafe { uc_pairs_need_f32(0, name.as_ptr().cast(), 1.0, 4, 2, 0, &mut bytes) }, message())
    };
    assert_eq!(loss(c"hing"), (9, "no loss \"hing\"; did you mean hinge?".into()));
}

/// The model file of each language is read here, and that of here is the one that the others read. `UNDERCURVE_BLESS=doors` writes it.
#[test]
fn model_files_of_every_language() {
    let golden = |name: &str| Path::new(HERE).join("../../tests/golden/doors").join(name);
    let text = fs::read_to_string(golden("rows.csv")).unwrap();
    let rows: Vec<Vec<f32>> =
        text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    let x: Vec<f32> = rows.iter().flat_map(|row| &row[..2]).copied().collect();
    let labels: Vec<u8> = rows.iter().map(|row| row[2] as u8).collect();
    let (mut run, mut left, mut count, mut saved) = (0, 0, 0, vec![0; 4096]);
    // SAFETY: arrays of these lengths, texts that end, and places of one.
    unsafe {
        let [method, model, none] = [c"ce", c"linear", c""].map(|text| text.as_ptr().cast());
        let weights = ptr::null();
        let made =
            uc_trainer_new(x.as_ptr(), rows.len(), 2, labels.as_ptr(), weights, method, model, none, 1, &mut run);
        assert_eq!((made, uc_trainer_steps(run, 30, &mut left)), (0, 0), "{}", message());
        assert_eq!(uc_trainer_model(run, saved.as_mut_ptr(), saved.len(), &mut count), 0);
        assert_eq!(uc_release(run), 0);
    }
    if env::var("UNDERCURVE_BLESS").is_ok_and(|what| what == "doors") {
        fs::write(golden("c.uc"), &saved[..count]).unwrap();
    }
    assert_eq!(saved[..count], fs::read(golden("c.uc")).unwrap());
    let scores = fs::read_to_string(golden("scores.csv")).unwrap();
    let lines: Vec<Vec<&str>> = scores.lines().map(|line| line.split(',').collect()).collect();
    let table = RawTable::parse(text.as_bytes(), Format::Auto, "rows.csv").unwrap();
    for (at, name) in lines[0].iter().enumerate() {
        let saved = fs::read(golden(&format!("{name}.uc"))).unwrap();
        // (C has arrays as the model sees them.)
        let preparation = SavedModel::from_bytes(&saved).unwrap().preparation;
        let data = preparation.apply_unlabelled::<f32>(&table).unwrap();
        let undercurve::data::Rows::Dense { data: x, cols, .. } = data.rows() else { unreachable!() };
        let (mut model, mut found) = (0, vec![0.0f32; rows.len()]);
        // SAFETY: the same.
        unsafe {
            assert_eq!(uc_model_load(saved.as_ptr(), saved.len(), &mut model), 0);
            assert_eq!(uc_score(model, x.as_ptr(), rows.len(), cols, found.as_mut_ptr(), rows.len()), 0);
            assert_eq!(uc_release(model), 0);
        }
        let want: Vec<f32> = lines[1..].iter().map(|line| line[at].parse().unwrap()).collect();
        assert_eq!(found, want, "{name}");
    }
}

/// Sequences of wrong calls: codes, and nothing written that should not be. `cargo run -p undercurve-c --example hostile` runs
/// more of them, and one by its number.
#[test]
fn hostile_calls() {
    let long = env::var_os("UNDERCURVE_LONG").is_some();
    let mut hostile = hostile::Hostile::new();
    for number in 0..if long { 1_000_000 } else { 10_000 } {
        let run = panic::catch_unwind(AssertUnwindSafe(|| hostile.sequence(number)));
        if let Err(found) = run {
            eprintln!("sequence {number}");
            panic::resume_unwind(found);
        }
    }
    let counts = &hostile.counts;
    let (fine, refused, codes) = (counts.fine, counts.refused, &counts.codes);
    assert!(fine.min(refused) > counts.sequences / 2, "{fine} calls were fine and {refused} refused");
    assert!(codes.len() >= 15 && (201..=207).all(|code| codes.contains(&code)), "{codes:?}");
    // SAFETY: it takes a number.
    assert_eq!(unsafe { uc_release(0) }, 207);
    assert_eq!(message(), "there is no run or model 0");
}

/// Runs with exactly the memory that is asked for and no less, with the bits of the core's own `f32` sums.
#[test]
fn exact_memory_and_bits() {
    let (x, labels) = example();
    let (mut fits, mut refused) = (0, 0);
    for n in [4, 30, 200] {
        let (scores, y) = (&x[..n], &labels[..n]);
        let positives = y.iter().filter(|&&label| label == 1).count();
        for (loss, name) in [("hinge", c"hinge"), ("sigmoid", c"sigmoid"), ("logistic", c"logistic")] {
            for (kind, sum) in [(0, Sum::Auc), (1, Sum::Ap), (2, Sum::Pauc { fpr: (0.0, 0.3), tpr: 0.0 })] {
                let (mut bytes, mut value, mut grad) = (0, 0.0, vec![0.0_f32; n]);
                let mut call = |spare: usize| {
                    // SAFETY: arrays of these lengths.
                    unsafe {
                        let name = name.as_ptr().cast();
                        assert_eq!(uc_pairs_need_f32(kind, name, 1.0, n, positives, 0, &mut bytes), 0);
                        let mut scratch = vec![0_u64; bytes / 8 + 1];
                        let (s, labels, none) = (scores.as_ptr(), y.as_ptr(), ptr::null());
                        uc_pairs_f32(
                            kind,
                            0.0,
                            0.3,
                            0.0,
                            name,
                            1.0,
                            s,
                            labels,
                            none,
                            n,
                            scratch.as_mut_ptr(),
                            bytes - spare,
                            &mut value,
                            grad.as_mut_ptr(),
                        )
                    }
                };
                refused += u32::from(kind < 2 && call(1) == 1);
                fits += u32::from(call(0) == 0);
                let mut own = vec![0.0_f32; n];
                let truth = undercurve::metric::Truth::new(y, &[]).unwrap();
                let any = AnySurrogate::by_name(loss, 1.0).unwrap();
                let core = Sums::new().sum(sum, scores, truth, any, &mut own).unwrap();
                assert_eq!((value.to_bits(), &grad), (core.to_bits(), &own), "{loss} {kind} {n}");
            }
        }
    }
    assert_eq!((fits, refused), (27, 18));
    // SAFETY: it takes a number.
    assert_eq!(unsafe { uc_metrics_need(usize::MAX) }, usize::MAX);
}

/// Metrics by name and differences are those of Rust, whatever is named.
#[test]
fn metrics_by_name_are_those_of_rust() {
    let scores: Vec<f64> = (0..300).map(|row| f64::from(row * 7 % 300) / 300.0).collect();
    let other: Vec<f64> = scores.iter().map(|score| score * score * 7.0 % 1.0).collect();
    let labels: Vec<u8> = (0..300).map(|row| u8::from(row * 7 % 300 + row % 90 > 200)).collect();
    let weights: Vec<f64> = (0..300).map(|row| f64::from(1 + row % 3)).collect();
    let of: Vec<u32> = (0..300).map(|row| row / 60).collect();
    let names = TABLE.iter().map(|entry| match entry.name {
        "mcclish" => "mcclish:0.1".into(),
        "pauc2" => "pauc2:0.5:0.2".into(),
        name @ ("precision-at" | "recall-at" | "lift-at") => format!("{name}:10%"),
        name @ ("precision-at-recall" | "recall-at-precision" | "cvar") => format!("{name}:0.5"),
        name if entry.needs == Needs::Threshold => format!("{name}:0.5"),
        name => name.into(),
    });
    for name in names {
        let metric: Metric = name.parse().unwrap();
        let weighed = metric.entry().weights;
        let truth = Truth::new(&labels, if weighed { &weights } else { &[] }).unwrap().clustered(&of).unwrap();
        let rows = Rows {
            queries: Some(Ranked { of: &of, gains: &[] }),
            groups: Some(Groups { of: &of, count: 5 }),
            ..Rows::new(&scores, truth)
        };
        let want = rows.find(&metric, &mut Metrics::new()).unwrap();
        let (text, mut found) = (std::ffi::CString::new(&*name).unwrap(), [0.0; 6]);
        let weights = if weighed { weights.as_ptr() } else { ptr::null() };
        let (text, of, out) = (text.as_ptr().cast(), of.as_ptr(), found.as_mut_ptr());
        // SAFETY: arrays of 300, or NULL.
        let code = unsafe { uc_metric_f64(text, scores.as_ptr(), labels.as_ptr(), weights, of, of, of, 300, out) };
        assert_eq!((code, found[0]), (0, want.value.unwrap()), "{name}");
        assert_eq!(
            want.interval.map(|ends| [ends.low, ends.high]),
            Some([found[1], found[2]]).filter(|x| !x[0].is_nan())
        );
        // SAFETY: the same.
        let code = unsafe {
            uc_compare_f64(text, scores.as_ptr(), other.as_ptr(), labels.as_ptr(), weights, of, 300, found.as_mut_ptr())
        };
        if metric.entry().is_compared() {
            let pair = Pair::new([&scores, &other], truth).unwrap();
            let want = metric.compare(&pair, rows.fpr).unwrap();
            assert_eq!((code, found[0], found[1], found[2]), (0, want.values[0], want.values[1], want.difference));
            assert_eq!(want.p, Some(found[5]));
        } else {
            assert_eq!(code, 206, "{name}: {}", message());
        }
    }
    let (mut found, none) = ([0.0; 3], ptr::null());
    // SAFETY: the same.
    let mut metric = |name: &std::ffi::CStr| unsafe {
        let (scores, labels) = (scores.as_ptr(), labels.as_ptr());
        uc_metric_f64(name.as_ptr().cast(), scores, labels, ptr::null(), none, none, none, 300, found.as_mut_ptr())
    };
    assert_eq!(metric(c"aup"), 206);
    assert_eq!(message(), "no metric \"aup\"; did you mean ap?");
    assert_eq!(metric(c"quality"), 206);
    assert!(message().starts_with("no metric \"quality\"; there are auroc, ap, pauc, "), "{}", message());
    assert_eq!(metric(c"ndcg"), 206);
    assert_eq!(message(), "name: ndcg: is of queries");
}
