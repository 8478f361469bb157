"""Which engines load an exported model of numbers alone (`undercurve export MODEL FILE.onnx --numeric`), and whether they score as `predict` does.

    cargo build --release -p undercurve-demo
    nice python3 tests/peers/hosts.py target/release/undercurve FOLDER [ROWS]

FOLDER gets what the engines are installed into (pip, npm and cargo fetch the versions below, 3 GB with what cargo builds; candle needs protoc, the compiler of protocol
buffers), and the second run finds it there. 24 models of made tables; ROWS (42,000) new rows each, not those of training. For each engine and model the largest
difference of a score from predict's over max(1, |score|), or why there is none; then, over all models, of the probabilities, how many rows get another class, and, of several classes,
how far the AUROC of one class against the others is from that of predict's scores.
"""

import csv
import io
import json
import os
import re
import subprocess
import sys

PIP = ["numpy==2.4.6", "onnxruntime==1.32.0", "openvino==2026.4.1"]
NPM = {"onnxruntime-node": "1.30.0", "onnxruntime-web": "1.30.0"}
TENSORFLOW = ["tensorflow-cpu==2.21.0", "onnx2tf==1.28.8", "onnx==1.19.1", "onnx-graphsurgeon==0.5.8", "psutil==7.1.3", "ai-edge-litert==2.0.3", "tf-keras==2.21.0", "sng4onnx==1.0.4"]
BURN = {"burn": "0.22.0", "burn-onnx": "0.22.0"}
CARGO = {"tract-onnx": "0.23.9", "rten": "0.27.0", "rten-tensor": "0.27.0", "candle-core": "0.11.1", "candle-onnx": "0.11.1"}

# Each engine reads lines of: model, file of rows, columns, file of outputs. It writes score and then probability there, as f32, or ERROR: and why not.
NODE = """
const { readFileSync, writeFileSync } = require("node:fs");
(async () => {
  const ort = require(process.argv[2]);
  for (const line of readFileSync(0, "utf8").trim().split("\\n")) {
    const [model, rows, columns, out] = line.split("\\t");
    try {
      const bytes = readFileSync(rows), x = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
      const session = await ort.InferenceSession.create(new Uint8Array(readFileSync(model)));
      const found = await session.run({ x: new ort.Tensor("float32", x, [x.length / columns, +columns]) });
      writeFileSync(out, Buffer.concat(["score", "probability"].filter((name) => found[name]).map((name) => Buffer.from(new Float32Array(found[name].data).buffer))));
    } catch (error) {
      writeFileSync(out, `ERROR: ${error.message ?? error}`);
    }
  }
})();
"""
PYTHON = """
import sys, numpy
def onnxruntime(model, x):
    import onnxruntime
    return onnxruntime.InferenceSession(model).run(None, {"x": x})
def openvino(model, x):
    import openvino
    found = openvino.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})({"x": x})  # (Else bfloat16, where the processor has it.)
    return [found[k] for k in range(len(found))]
def tensorflow(model, x):
    import contextlib, io, onnx2tf, tensorflow
    folder = model + ".tf"
    with contextlib.redirect_stdout(io.StringIO()):
        onnx2tf.convert(input_onnx_file_path=model, output_folder_path=folder, not_use_onnxsim=True, non_verbose=True)
    found = tensorflow.saved_model.load(folder).signatures["serving_default"](x=tensorflow.constant(x))
    found = [one.numpy() for one in found.values()]
    if len(found) == 2:  # (By no name: the probability is from 0 to 1, and found from the score.)
        found.sort(key=lambda one: (one.min() >= 0) and (one.max() <= 1))
    return found
for line in sys.stdin:
    model, rows, columns, out = line.rstrip("\\n").split("\\t")
    try:
        found = globals()[sys.argv[1]](model, numpy.fromfile(rows, numpy.float32).reshape(-1, int(columns)))
        data = b"".join(one.astype(numpy.float32).tobytes() for one in found)
    except Exception as error:
        data = f"ERROR: {error}".encode()
    open(out, "wb").write(data)
"""
RUST = """
use std::collections::HashMap;
use std::error::Error;
use rten_tensor::AsView;
use std::fs;
use tract_onnx::prelude::*;
type Found = Result<Vec<f32>, Box<dyn Error>>;
fn tract(model: &str, x: &[f32], columns: usize) -> Found {
    let rows = x.len() / columns;
    let plan = tract_onnx::onnx().model_for_path(model)?.with_input_fact(0, f32::fact([rows, columns]).into())?.into_optimized()?.into_runnable()?;
    let found = plan.run(tvec!(Tensor::from_shape(&[rows, columns], x)?.into()))?;
    Ok(found.iter().map(|one| Ok(one.to_plain_array_view::<f32>()?.iter().copied().collect::<Vec<_>>())).collect::<TractResult<Vec<_>>>()?.concat())
}
fn rten(model: &str, x: &[f32], columns: usize) -> Found {
    let model = rten::Model::load_file(model)?;
    let x = rten_tensor::NdTensor::from_data([x.len() / columns, columns], x.to_vec());
    let found = model.run(vec![(model.node_id("x")?, x.into())], model.output_ids(), None)?;
    let mut all = Vec::new();
    for one in found {
        let one: rten_tensor::Tensor<f32> = one.try_into()?;
        all.extend(one.to_vec());
    }
    Ok(all)
}
fn candle(model: &str, x: &[f32], columns: usize) -> Found {
    let model = candle_onnx::read_file(model)?;
    let x = candle_core::Tensor::from_slice(x, (x.len() / columns, columns), &candle_core::Device::Cpu)?;
    let found = candle_onnx::simple_eval(&model, HashMap::from([("x".to_string(), x)]))?;
    let mut all = Vec::new();
    for name in ["score", "probability"] {
        if let Some(one) = found.get(name) {
            all.extend(one.flatten_all()?.to_vec1::<f32>()?);
        }
    }
    Ok(all)
}
fn main() -> Result<(), Box<dyn Error>> {
    let run = match std::env::args().nth(1).as_deref() {
        Some("tract") => tract,
        Some("rten") => rten,
        _ => candle,
    };
    for line in std::io::stdin().lines() {
        let line = line?;
        let [model, rows, columns, out] = line.split('\\t').collect::<Vec<_>>()[..] else { panic!() };
        let x: Vec<f32> = fs::read(rows)?.chunks_exact(4).map(|x| f32::from_le_bytes(x.try_into().unwrap())).collect();
        let data = match std::panic::catch_unwind(|| run(model, &x, columns.parse().unwrap())) {
            Ok(Ok(found)) => found.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Ok(Err(error)) => format!("ERROR: {error:?}").into_bytes(),
            Err(_) => b"ERROR: panics".to_vec(),
        };
        fs::write(out, data)?;
    }
    Ok(())
}
"""

# burn's importer writes a model as a program, which cargo builds.
BUILD = r"""
use std::panic::catch_unwind;
fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    let (mut modules, mut arms) = (String::new(), String::new());
    for (k, model) in std::env::var("MODELS").unwrap().lines().enumerate() {
        println!("cargo::rerun-if-changed={model}");
        let make = || burn_onnx::ModelGen::new().input(model).out_dir(&format!("m{k}")).run_from_script();
        let name = std::path::Path::new(model).file_stem().unwrap().to_str().unwrap();
        if catch_unwind(make).is_ok() {
            modules += &format!("mod m{k} {{ include!(\"{out}/m{k}/{name}.rs\"); }}\n");
            arms += &format!("\"{model}\" => m{k}::Model::default().forward(x).numbers(),\n");
        }
    }
    println!("cargo::rerun-if-env-changed=MODELS");
    std::fs::write(format!("{out}/all.rs"), format!(
        "{modules}fn run(model: &str, x: Tensor<2>) -> Vec<f32> {{ match model {{ {arms} _ => panic!(\"not imported\") }} }}")).unwrap();
}
"""
BURNED = r"""
#![allow(dead_code)]
use burn::tensor::Tensor;
use std::fs;
include!(concat!(env!("OUT_DIR"), "/all.rs"));
trait Numbers {
    fn numbers(self) -> Vec<f32>;
}
impl Numbers for Tensor<2> {
    fn numbers(self) -> Vec<f32> {
        self.into_data().try_to_vec().unwrap()
    }
}
impl Numbers for (Tensor<2>, Tensor<2>) {
    fn numbers(self) -> Vec<f32> {
        [self.0.numbers(), self.1.numbers()].concat()
    }
}
fn main() {
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let [model, rows, columns, out] = line.split('\t').collect::<Vec<_>>()[..] else { panic!() };
        let x: Vec<f32> = fs::read(rows).unwrap().chunks_exact(4).map(|x| f32::from_le_bytes(x.try_into().unwrap())).collect();
        let columns: usize = columns.parse().unwrap();
        let found = std::panic::catch_unwind(|| {
            let x = burn::tensor::TensorData::new(x.clone(), [x.len() / columns, columns]);
            run(model, Tensor::from_data(x, &Default::default()))
        });
        let data = match found {
            Ok(found) => found.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Err(why) => format!("ERROR: {}", why.downcast_ref::<String>().map_or("panics", |text| text)).into_bytes(),
        };
        fs::write(out, data).unwrap();
    }
}
"""

# Core ML predicts on macOS alone; elsewhere its model is built, for a fixed number of rows, and its specification checked.
CORE = ["coremltools==9.0", "onnx==1.23.2", "onnx2coreml==1.1.0"]
COREML = """
import logging, sys, warnings
import onnx, onnx2coreml
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
for path in sys.argv[1:]:
    model = onnx.load(path)
    for value in [*model.graph.input, *model.graph.output]:
        value.type.tensor_type.shape.dim[0].dim_value = 7
    try:
        spec = onnx2coreml.convert(model, compute_precision="fp32").get_spec()
        print(spec.WhichOneof("Type"), [one.name for one in spec.description.output])
    except Exception as error:
        print("ERROR", type(error).__name__, " ".join(str(error).split())[:150])
"""

PLAIN, MIXED, THREE, SPARSE = "plain.csv", "mixed.csv", "three.csv", "sparse.svm"
MODELS = {
    "linear": [PLAIN, "--method", "ce"],
    "linear, soap": [PLAIN, "--method", "soap"],
    "linear, soap, Platt": [PLAIN, "--method", "soap", "--valid", "0.3"],
    "linear, f64": [PLAIN, "--method", "soap", "--precision", "f64"],
    "linear, robust": [PLAIN, "--method", "ce", "--scale", "robust"],
    "linear, beta": [PLAIN, "--method", "soap", "--valid", "0.3", "--calibrate", "beta"],
    "linear, isotonic": [PLAIN, "--method", "soap", "--valid", "0.3", "--calibrate", "isotonic"],
    "mlp": [PLAIN, "--method", "ce", "--model", "mlp:16"],
    "mlp, f64, Platt": [PLAIN, "--method", "soap", "--model", "mlp:16", "--valid", "0.3", "--precision", "f64"],
    "mlp, tanh": [PLAIN, "--method", "ce", "--model", "mlp-tanh:8,4"],
    "mean of three networks": [PLAIN, "--method", "ce", "--model", "mlp:8", "--average", "3"],
    "splines": [PLAIN, "--method", "ce", "--encode", "splines:5"],
    "splines, mlp, unscaled": [PLAIN, "--method", "ce", "--model", "mlp:6", "--encode", "splines:12", "--scale", "none", "--ignore", "far"],
    "bins": [PLAIN, "--method", "ce", "--encode", "bins:4"],
    "products": [PLAIN, "--method", "ce", "--cross", "a*b,c*far"],
    "products, mlp, unit": [PLAIN, "--method", "ce", "--model", "mlp:4", "--scale", "unit", "--cross", "a*b"],
    "rank": [PLAIN, "--method", "ce", "--scale", "rank"],
    "rank, splines": [PLAIN, "--method", "ce", "--scale", "rank", "--encode", "splines:3"],
    "missing, categories, dates": [MIXED, "--method", "ce", "--missing", "impute"],
    "missing, categories, dates, mlp": [MIXED, "--method", "soap", "--model", "mlp:8", "--missing", "impute"],
    "sparse": [SPARSE, "--method", "ce"],
    "sparse, mlp, standard": [SPARSE, "--method", "ce", "--model", "mlp:8", "--scale", "standard"],
    "three classes": [THREE, "--method", "ce"],
    "three classes, mlp, categories": ["mixed3.csv", "--method", "ce", "--model", "mlp:5", "--missing", "impute"],
}


def engines(folder):
    """A command for each, with its version."""
    at = lambda *names: os.path.join(folder, *names)
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    if not os.path.exists(at("python")):
        subprocess.run([sys.executable, "-m", "venv", at("python")], **quiet)
        subprocess.run([at("python", "bin", "pip"), "install", "--quiet", *PIP], **quiet)
    if not os.path.exists(at("tensorflow")):
        subprocess.run([sys.executable, "-m", "venv", at("tensorflow")], **quiet)
        subprocess.run([at("tensorflow", "bin", "pip"), "install", "--quiet", *TENSORFLOW], **quiet)
    os.makedirs(at("rust", "src"), exist_ok=True)
    open(at("package.json"), "w").write(json.dumps({"dependencies": NPM}))
    subprocess.run(["npm", "install", "--silent", "--ignore-scripts", "--prefix", folder], **quiet)
    manifest = '[package]\nname = "hosts"\nedition = "2024"\n[dependencies]\n' + "".join(f'{name} = "={of}"\n' for name, of in CARGO.items())
    for name, text in [("Cargo.toml", manifest + "[workspace]\n"), ("src/main.rs", RUST), ("../host.py", PYTHON), ("../host.cjs", NODE)]:
        path = at("rust", name)
        if not os.path.exists(path) or open(path).read() != text:  # (Else cargo would build it again.)
            open(path, "w").write(text)
    subprocess.run(["cargo", "build", "--quiet", "--release", "--manifest-path", at("rust", "Cargo.toml")], **quiet)
    versions = {**dict(one.split("==") for one in [*PIP, *TENSORFLOW]), **NPM, **CARGO, **BURN}
    of = lambda name, package, *command: (f"{name} {versions[package]}", command)
    rust = at("rust", "target", "release", "hosts")
    python = at("python", "bin", "python")
    return [
        of("onnxruntime", "onnxruntime", python, at("host.py"), "onnxruntime"),
        of("onnxruntime-node", "onnxruntime-node", "node", at("host.cjs"), "onnxruntime-node"),
        of("onnxruntime-web (wasm)", "onnxruntime-web", "node", at("host.cjs"), "onnxruntime-web"),
        of("OpenVINO", "openvino", python, at("host.py"), "openvino"),
        of("tract", "tract-onnx", rust, "tract"),
        of("rten", "rten", rust, "rten"),
        of("candle", "candle-onnx", rust, "candle"),
        of("burn", "burn-onnx", at("burn", "target", "release", "burned")),
        (f"TensorFlow {versions['tensorflow-cpu']} (onnx2tf {versions['onnx2tf']})", (at("tensorflow", "bin", "python"), at("host.py"), "tensorflow")),
    ]


def burn(folder, models):
    """Builds the program of all models that burn imports; of one whose program does not compile, what the compiler says."""
    at = lambda *names: os.path.join(folder, "burn", *names)
    os.makedirs(at("src"), exist_ok=True)
    manifest = f"""[package]
name = "burned"
edition = "2024"
[dependencies]
burn = {{ version = "={BURN['burn']}", default-features = false, features = ["std", "flex"] }}
burn-store = {{ version = "={BURN['burn']}", default-features = false, features = ["std"] }}
[build-dependencies]
burn-onnx = "={BURN['burn-onnx']}"
[workspace]
"""
    for name, text in [("Cargo.toml", manifest), ("build.rs", BUILD), ("src/main.rs", BURNED)]:
        open(at(name), "w").write(text)
    command = ["cargo", "build", "--quiet", "--release", "--manifest-path", at("Cargo.toml")]
    subprocess.run(command, env={**os.environ, "MODELS": "\n".join(models)}, check=True, stdout=subprocess.DEVNULL)


def coreml(folder, models):
    """What became of each as a Core ML model."""
    python = os.path.join(folder, "coreml", "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(folder, "coreml")], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *CORE], check=True)
    return subprocess.run([python, "-c", COREML, *models], check=True, capture_output=True, text=True).stdout.splitlines()


def tables(rows, rng):
    """A table of so many rows for each name, as columns of text, and the signal in them."""
    normal = rng.normal(size=(rows, 4))
    numbers = {name: normal[:, k] * s + m for k, (name, s, m) in enumerate([("a", 1, 0), ("b", 30, 100), ("c", 1e-3, 2e-3), ("whole", 4, 9)])}
    numbers["whole"], numbers["far"] = np.round(numbers["whole"]), 1e6 + 300 * rng.random(rows)
    colour, days = rng.integers(0, 5, rows), rng.integers(18262, 20000, rows)
    signal = normal @ [1, -0.6, 0.8, 0.3] + 0.004 * (numbers["far"] - 1e6)
    text = lambda column: [f"{x:.7g}" if x < 1e5 else f"{x:.3f}" for x in column]
    mixed = {**{name: text(column) for name, column in numbers.items()}}
    mixed["a"] = [cell if keep else "" for cell, keep in zip(mixed["a"], rng.random(rows) > 0.1)]
    mixed["colour"] = np.array(["red", "green", "", "blue", "dark, \"blue\""])[colour].tolist()
    mixed["day"] = (np.datetime64("1970-01-01") + days).astype(str).tolist()
    more = signal + (colour == 3) + 0.001 * (days - 19000) + rng.logistic(size=rows)
    two, three = np.where(more > 1, "yes", "no"), np.digitize(more, [-0.5, 1.5]).astype(str)
    plain = {name: text(column) for name, column in numbers.items()}
    svm = [f"{'+1' if y == 'yes' else '-1'} {1 + k}:{x:.5g} 7:{z:.5g}" for y, k, x, z in zip(two, colour, more, normal[:, 1])]
    return {PLAIN: {**plain, "label": two}, THREE: {**plain, "label": three}, MIXED: {**mixed, "label": two}, "mixed3.csv": {**mixed, "label": three}, SPARSE: svm}


def write(path, table):
    with open(path, "w", newline="") as file:
        if isinstance(table, list):
            file.write("\n".join(table) + "\n")
        else:
            csv.writer(file).writerows([table, *zip(*table.values())])


def inputs(table, columns):
    """The input x, as the metadata of the graph describes it."""
    if isinstance(table, list):
        x = np.zeros((len(table), 7))
        for row, line in enumerate(table):
            for token in line.split()[1:]:
                column, value = token.split(":")
                x[row, int(column) - 1] = float(value)
        return x.astype(np.float32)
    made = []
    for of in columns:
        cells = table[of["name"]]
        if "categories" in of:
            place = {name: k for k, name in enumerate(of["categories"])} | {"": np.nan}
            made.append([place.get(cell, -1) for cell in cells])
        elif "-" in cells[0][1:]:
            made.append((np.array(cells, "datetime64[D]") - np.datetime64("1970-01-01")).astype(float) - of["origin"])
        else:
            made.append(np.array([float(cell or "nan") for cell in cells]) - of["origin"])
    return np.column_stack(made).astype(np.float32)


def auroc(scores, positive):
    """By ranks; tied scores have their mean rank."""
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2
    ranks, many = rank[place][positive].sum(), positive.sum()
    return (ranks - many * (many + 1) / 2) / (many * (len(positive) - many))


def main():
    program, folder, rows = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int((sys.argv + ["42000"])[3])
    os.makedirs(folder, exist_ok=True)
    hosts = engines(folder)
    python = os.path.join(folder, "python", "bin", "python")
    if os.environ.get("HOSTS") != folder:
        os.execve(python, [python, *sys.argv], {**os.environ, "HOSTS": folder})
    global np, onnxruntime
    import numpy as np
    import onnxruntime

    path = lambda name: os.path.join(folder, name)
    run = lambda *command: subprocess.run([program, *command], cwd=folder, check=True, capture_output=True, text=True).stdout
    made = tables(3000, np.random.default_rng(1)), tables(rows, np.random.default_rng(2))
    for name in made[0]:
        write(path(name), made[0][name])
        write(path("new-" + name), made[1][name])
    jobs, known = [], []
    for k, (name, (table, *options)) in enumerate(MODELS.items()):
        columns = [] if table == SPARSE else ["--label", "label"]
        rule = [] if name.startswith("three") else ["--threshold", "youden"]
        run("train", table, *options, *columns, *rule, "--steps", "200", "--out", f"{k}.uc")
        run("export", f"{k}.uc", f"{k}.onnx", "--numeric")
        ours = list(csv.DictReader(io.StringIO(run("predict", f"{k}.uc", "new-" + table))))
        part = lambda word: np.array([[float(row[of]) for of in ours[0] if of.split(":")[0] == word] for row in ours])
        truth = [] if table == SPARSE else np.array(made[1][table]["label"])
        meta = onnxruntime.InferenceSession(path(f"{k}.onnx")).get_modelmeta().custom_metadata_map
        x = inputs(made[1][table], json.loads(meta["columns"]))
        x.tofile(path(f"{k}.x"))
        jobs.append((path(f"{k}.onnx"), path(f"{k}.x"), str(x.shape[1])))
        known.append((part("score"), part("probability"), np.array([row["class"] for row in ours]), json.loads(meta["labels"]), json.loads(meta["threshold"]), truth))
    burn(folder, [model for model, _, _ in jobs])
    columns = []
    for name, command in hosts:
        lines = ["\t".join([*job, f"{job[0]}.out"]) for job in jobs]
        subprocess.run(command, input="\n".join(lines) + "\n", text=True, cwd=folder, check=True, capture_output=True)
        cells, right, sure, other, apart = [], 0, 0.0, 0, 0.0
        for (model, *_), (score, probability, label, labels, threshold, truth) in zip(jobs, known):
            data = open(model + ".out", "rb").read()
            if data.startswith(b"ERROR"):
                cells.append(re.sub(r"\s+", " ", data.decode())[7:120].replace("|", "/"))
                continue
            found = np.frombuffer(data, np.float32).astype(float)
            if len(found) != score.size + probability.size:
                cells.append(f"{len(found)} numbers, not {score.size + probability.size}")
                continue
            theirs, chance = found[: score.size].reshape(score.shape), found[score.size :].reshape(probability.shape)
            most = np.max(abs(theirs - score) / np.maximum(1, abs(score)))
            cells.append(f"{most:.0e}")
            right += most <= 1e-5
            sure = max(sure, np.max(abs(chance - probability), initial=0))
            at = theirs.argmax(1) if len(labels) > 2 else (theirs[:, 0] >= threshold).astype(int)
            other += np.sum(np.array(labels)[at] != label)
            for k, name_of in enumerate(labels if len(labels) > 2 else []):
                apart = max(apart, abs(auroc(theirs[:, k], truth == name_of) - auroc(score[:, k], truth == name_of)))
        columns.append([name, "---", *cells, f"{right} of {len(MODELS)}", f"{sure:.0e}", other, f"{apart:.0e}"])
    first = ["model", "---", *MODELS, "within 1e-5", "probabilities", f"other class, of {rows * len(MODELS):,} rows", "AUROC of a class of three"]
    for cells in zip(first, *columns):
        print(f"| {' | '.join(map(str, cells))} |")
    told = coreml(folder, [job[0] for job in jobs])
    print(f"\nCore ML ({', '.join(CORE)}): {sum(one.startswith('mlProgram') for one in told)} of {len(MODELS)} are built and pass its checks")
    print("".join(f"- {name}: {one}\n" for name, one in zip(MODELS, told) if not one.startswith("mlProgram")))


main()
