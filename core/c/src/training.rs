//! Runs and models, by number.

use crate::error::{BUG, CHOICE, CONFIG, Failure, HANDLE, MEMORY, Result, guard, unknown};
use crate::memory::{Plain, apart, input, output, place, text};
use crate::system::Mutex;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::DerefMut;
use undercurve::data::{Dataset, Rows};
use undercurve::model::Model;
use undercurve::registry;
use undercurve::trainer::{Config, ModelSpec, Predictor, Trainer};

/// What a number stands for.
enum Object {
    Trainer(Box<Trainer<f32>>),
    Predictor(Box<Predictor<f32>>),
}

/// All there is; numbers come once.
struct Table {
    last: u32,
    objects: BTreeMap<u32, Arc<Mutex<Object>>>,
}

static TABLE: Mutex<Table> = Mutex::new(Table { last: 0, objects: BTreeMap::new() });

fn table() -> Result<impl DerefMut<Target = Table>> {
    TABLE.lock().ok_or_else(|| Failure::new(BUG, "a bug of this library ended its runs"))
}

fn keep(object: Object) -> Result<u32> {
    let mut table = table()?;
    let next = table.last.checked_add(1).ok_or_else(|| Failure::new(HANDLE, "no numbers are left"))?;
    table.last = next;
    table.objects.insert(next, Arc::new(Mutex::new(object)));
    Ok(next)
}

fn with<U>(handle: u32, body: impl FnOnce(&mut Object) -> Result<U>) -> Result<U> {
    let found = table()?.objects.get(&handle).cloned();
    let object = found.ok_or_else(|| Failure::new(HANDLE, format_args!("there is no run or model {handle}")))?;
    // (What a bug left half done is not used again.)
    let mut object = object.lock().ok_or_else(|| Failure::new(BUG, "a bug of this library ended this run"))?;
    body(&mut object)
}

fn with_trainer<U>(handle: u32, body: impl FnOnce(&mut Trainer<f32>) -> Result<U>) -> Result<U> {
    with(handle, |object| match object {
        Object::Trainer(trainer) => body(trainer),
        Object::Predictor(_) => Err(Failure::new(HANDLE, format_args!("{handle} is a model and no run"))),
    })
}

/// A table of dense rows as it comes, copied once.
///
/// # Safety
/// As [`input`].
unsafe fn dataset(
    x: *const f32,
    rows: usize,
    cols: usize,
    labels: *const u8,
    weights: *const f64,
) -> Result<Arc<Dataset<f32>>> {
    // (Else no length of `x` would bound the rows.)
    if cols == 0 {
        return Err(undercurve::Error::Param { what: "columns" }.into());
    }
    let cells = cells(rows, cols)?;
    let weighted = if weights.is_null() { 0 } else { rows };
    // SAFETY: as the caller promises.
    let (x, labels, weights) =
        unsafe { (input("x", x, cells)?, input("labels", labels, rows)?, input("weights", weights, weighted)?) };
    let data = Dataset::dense(copied(x)?, copied(labels)?, cols)?;
    Ok(Arc::new(if weighted > 0 { data.with_weights(copied(weights)?)? } else { data }))
}

fn copied<T: Plain>(from: &[T]) -> Result<Vec<T>> {
    let mut to = Vec::new();
    let bytes = size_of_val(from);
    to.try_reserve_exact(from.len()).map_err(|_| Failure::new(MEMORY, format_args!("no memory for {bytes} bytes")))?;
    to.extend_from_slice(from);
    Ok(to)
}

fn cells(rows: usize, cols: usize) -> Result<usize> {
    rows.checked_mul(cols).ok_or(undercurve::Error::Overflow { what: "rows × columns" }.into())
}

/// A run's configuration: `settings` has `name = value` in lines, or with semicolons between; `fpr = LO:HI` is the range of partial AUC.
fn config(method: &str, model: &str, settings: &str, seed: u64) -> Result<Config> {
    let model = ModelSpec::parse(model).map_err(|error| Failure::new(CHOICE, error))?;
    let mut config = Config { method: method.into(), settings: pairs(settings)?, model, seed, ..Config::default() };
    let names = registry::METHODS.iter().map(|known| known.name);
    let known = registry::method(method).ok_or_else(|| unknown(CONFIG, "method", method, names))?;
    while let Some(at) = config.settings.iter().position(|(name, _)| name == "fpr") {
        let (_, value) = config.settings.remove(at);
        let ends =
            value.split_once(':').and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
        config.fpr = ends.ok_or_else(|| Failure::new(CONFIG, format_args!("fpr = {value:?}: expected LO:HI")))?;
    }
    let names = known.params.iter().map(|param| param.name);
    match config.settings.iter().find(|(name, _)| names.clone().all(|known| known != name)) {
        Some((name, _)) => Err(unknown(CONFIG, &format!("setting of {method}"), name, names.chain(["fpr"]))),
        None => Ok(config),
    }
}

fn pairs(text: &str) -> Result<Vec<(String, String)>> {
    let lines = text.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty());
    let pairs = lines.map(|line| match line.split_once('=') {
        Some((name, value)) => Ok((name.trim().into(), value.trim().into())),
        None => Err(Failure::new(CHOICE, format_args!("settings: expected name = value, got {line:?}"))),
    });
    pairs.collect()
}

/// A run of a method on dense rows, at its start.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uc_trainer_new(
    x: *const f32,
    rows: usize,
    cols: usize,
    labels: *const u8,
    weights: *const f64,
    method: *const u8,
    model: *const u8,
    options: *const u8,
    seed: u64,
    trainer: *mut u32,
) -> i32 {
    guard(|| {
        place("trainer", trainer, 1)?;
        // SAFETY: as the caller promises; nothing is written before these are read for the last time.
        let (config, data) = unsafe {
            let config = config(text("method", method)?, text("model", model)?, text("settings", options)?, seed)?;
            (config, dataset(x, rows, cols, labels, weights)?)
        };
        let made = keep(Object::Trainer(Box::new(Trainer::new(&config, data, None)?)))?;
        // SAFETY: the same.
        unsafe { output("trainer", trainer, 1)? }.fill(made);
        Ok(())
    })
}

/// A saved run on the rows that it was saved with.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uc_trainer_load(
    x: *const f32,
    rows: usize,
    cols: usize,
    labels: *const u8,
    weights: *const f64,
    saved: *const u8,
    size: usize,
    trainer: *mut u32,
) -> i32 {
    guard(|| {
        place("trainer", trainer, 1)?;
        // SAFETY: as the caller promises; nothing is written before these are read for the last time.
        let loaded =
            unsafe { Trainer::load(input("saved", saved, size)?, dataset(x, rows, cols, labels, weights)?, None)? };
        let made = keep(Object::Trainer(Box::new(loaded)))?;
        // SAFETY: the same.
        unsafe { output("trainer", trainer, 1)? }.fill(made);
        Ok(())
    })
}

/// So many steps, or to the end of the run; `left` is how many there are after them.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uc_trainer_steps(trainer: u32, steps: u64, left: *mut u64) -> i32 {
    guard(|| {
        place("left", left, 1)?;
        let rest = with_trainer(trainer, |trainer| {
            for _ in 0..steps {
                if trainer.step()?.is_none() {
                    break;
                }
            }
            Ok(if trainer.is_done() { 0 } else { trainer.total_steps().saturating_sub(trainer.steps_done()).max(1) })
        })?;
        // SAFETY: as the caller promises.
        unsafe { output("left", left, 1)? }.fill(rest);
        Ok(())
    })
}

/// Copies what fits as a whole, and says how much there is.
///
/// # Safety
/// As the header says.
unsafe fn copy<T: Plain>(what: &'static str, from: &[T], to: *mut T, room: usize, count: *mut usize) -> Result<()> {
    apart(&[], &[place(what, to, if to.is_null() { 0 } else { room })?, place("count", count, 1)?])?;
    if !to.is_null() && room < from.len() {
        return Err(undercurve::Error::Length { what, need: from.len(), got: room }.into());
    }
    // SAFETY: as the caller promises; the two are apart.
    unsafe {
        if !to.is_null() {
            output(what, to, from.len())?.copy_from_slice(from);
        }
        output("count", count, 1)?.fill(from.len());
    }
    Ok(())
}

/// The whole state of a run.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uc_trainer_save(trainer: u32, bytes: *mut u8, room: usize, count: *mut usize) -> i32 {
    guard(|| {
        let saved = with_trainer(trainer, |trainer| Ok(trainer.save()))?;
        // SAFETY: as the caller promises.
        unsafe { copy("bytes", &saved, bytes, room, count) }
    })
}

/// The model of a run alone.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uc_trainer_model(trainer: u32, bytes: *mut u8, room: usize, count: *mut usize) -> i32 {
    guard(|| {
        let saved = with_trainer(trainer, |trainer| Ok(trainer.predictor().save()))?;
        // SAFETY: as the caller promises.
        unsafe { copy("bytes", &saved, bytes, room, count) }
    })
}

/// The parameters of a run or model.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uc_params(handle: u32, params: *mut f32, room: usize, count: *mut usize) -> i32 {
    guard(|| {
        let found = with(handle, |object| {
            Ok(match object {
                Object::Trainer(trainer) => trainer.params().to_vec(),
                Object::Predictor(predictor) => predictor.params().to_vec(),
            })
        })?;
        // SAFETY: as the caller promises.
        unsafe { copy("params", &found, params, room, count) }
    })
}

/// The model of a model file, a saved run or a saved model.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uc_model_load(saved: *const u8, size: usize, model: *mut u32) -> i32 {
    guard(|| {
        place("model", model, 1)?;
        // SAFETY: as the caller promises; nothing is written before this is read for the last time.
        let loaded = Predictor::load(unsafe { input("saved", saved, size)? })?;
        let made = keep(Object::Predictor(Box::new(loaded)))?;
        // SAFETY: the same.
        unsafe { output("model", model, 1)? }.fill(made);
        Ok(())
    })
}

/// How many columns rows of it have, and how many scores a row gets.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uc_shape(handle: u32, columns: *mut usize, scores: *mut usize) -> i32 {
    guard(|| {
        apart(&[], &[place("columns", columns, 1)?, place("scores", scores, 1)?])?;
        let (inputs, heads) = with(handle, |object| {
            let model = match object {
                Object::Trainer(trainer) => trainer.model(),
                Object::Predictor(predictor) => predictor.model(),
            };
            Ok((Model::<f32>::inputs(model), Model::<f32>::heads(model)))
        })?;
        // SAFETY: as the caller promises; the two are apart.
        unsafe {
            output("columns", columns, 1)?.fill(inputs);
            output("scores", scores, 1)?.fill(heads);
        }
        Ok(())
    })
}

/// Scores of rows by a run or model.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uc_score(
    handle: u32,
    x: *const f32,
    rows: usize,
    cols: usize,
    scores: *mut f32,
    count: usize,
) -> i32 {
    guard(|| {
        let cells = cells(rows, cols)?;
        apart(&[place("x", x, cells)?], &[place("scores", scores, count)?])?;
        // SAFETY: as the caller promises; what is written is apart.
        let (x, scores) = unsafe { (input("x", x, cells)?, output("scores", scores, count)?) };
        let rows = Rows::dense(x, cols)?;
        with(handle, |object| {
            let inputs = match object {
                Object::Trainer(trainer) => Model::<f32>::inputs(trainer.model()),
                Object::Predictor(predictor) => Model::<f32>::inputs(predictor.model()),
            };
            if inputs != cols {
                return Err(undercurve::Error::Length { what: "columns", need: inputs, got: cols }.into());
            }
            match object {
                Object::Trainer(trainer) => trainer.score(rows, scores)?,
                Object::Predictor(predictor) => predictor.score(rows, scores)?,
            }
            Ok(())
        })
    })
}

/// The threshold of a model.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uc_threshold(handle: u32, threshold: *mut f64) -> i32 {
    guard(|| {
        let found = with(handle, |object| {
            Ok(match object {
                Object::Trainer(_) => None,
                Object::Predictor(predictor) => predictor.threshold(),
            })
        })?;
        // SAFETY: as the caller promises.
        unsafe { output("threshold", threshold, 1)? }.fill(found.unwrap_or(f64::NAN));
        Ok(())
    })
}

/// Frees a run or model.
#[unsafe(no_mangle)]
pub extern "C" fn uc_release(handle: u32) -> i32 {
    guard(|| {
        let found = table()?.objects.remove(&handle);
        match found {
            Some(_) => Ok(()),
            None => Err(Failure::new(HANDLE, format_args!("there is no run or model {handle}"))),
        }
    })
}
