//! Errors of the core as JavaScript throws them: `UndercurveError` of `wasm/js/error.js`, with a number and a place.

#[cfg(any(feature = "more", feature = "files", feature = "webgpu"))]
use alloc::string::ToString;
use undercurve::Error;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen(raw_module = "../error.js")]
extern "C" {
    /// What is thrown; a row or a column that is not known is NaN, an argument that is not known is empty.
    fn failed(code: u32, argument: &str, row: f64, column: f64, text: &str) -> JsValue;
    /// The same for errors whose text JavaScript has: of what, where, and the two numbers of a length.
    fn refused(code: u32, what: &str, at: f64, need: f64, got: f64) -> JsValue;
}

/// What a call throws instead of answering.
pub struct Failure(JsValue);

/// No row, or no column.
const NOWHERE: usize = usize::MAX;

/// (Once, not at every place where an error may come from.)
#[inline(never)]
fn thrown(code: u16, argument: &str, row: usize, column: usize, text: &str) -> Failure {
    let place = |at: usize| if at == NOWHERE { f64::NAN } else { at as f64 };
    Failure(failed(code.into(), argument, place(row), place(column), text))
}

impl Failure {
    /// Of an argument of JavaScript, with a number of `CODES`.
    pub fn new(code: u16, argument: &'static str, text: &str) -> Self {
        thrown(code, argument, NOWHERE, NOWHERE, text)
    }
}

/// (Without formatting, which would be a tenth of the smaller modules.)
impl From<Error> for Failure {
    #[inline(never)]
    fn from(error: Error) -> Self {
        let at = |row: usize| row as f64;
        let (what, row, need, got) = match error {
            Error::Length { what, need, got } => (what, f64::NAN, at(need), at(got)),
            Error::Index { what, at: row, len } => (what, at(row), at(len), 0.0),
            Error::NonFinite { what, at: row } => (what, at(row), 0.0, 0.0),
            Error::Label { at: row } | Error::Weight { at: row } => ("", at(row), 0.0, 0.0),
            Error::Empty { what }
            | Error::Overflow { what }
            | Error::Param { what }
            | Error::Unreachable { what }
            | Error::Unpromised { what, .. }
            | Error::Unsupported { what } => (what, f64::NAN, 0.0, 0.0),
            _ => ("", f64::NAN, 0.0, 0.0),
        };
        Self(refused(error.code().into(), what, row, need, got))
    }
}

#[cfg(any(feature = "train", feature = "files"))]
impl From<undercurve::trainer::TrainerError> for Failure {
    #[inline(never)]
    fn from(error: undercurve::trainer::TrainerError) -> Self {
        use undercurve::trainer::TrainerError;
        let code = error.code();
        match error {
            TrainerError::Core(error) => error.into(),
            TrainerError::Checkpoint(error) => error.into(),
            TrainerError::Config(text) => Self::new(code, "", &text),
            TrainerError::NotBuilt { method } => Self(refused(code.into(), method, f64::NAN, 0.0, 0.0)),
            _ => Self::new(code, "", ""),
        }
    }
}

#[cfg(any(feature = "train", feature = "files", feature = "objective", feature = "exact"))]
impl From<undercurve::checkpoint::CheckpointError> for Failure {
    #[inline(never)]
    fn from(error: undercurve::checkpoint::CheckpointError) -> Self {
        use undercurve::checkpoint::CheckpointError;
        let (what, need) = match error {
            CheckpointError::Mismatch(what) => (what, 0),
            CheckpointError::Version(format) => ("", format),
            _ => ("", 0),
        };
        Self(refused(error.code().into(), what, f64::NAN, need.into(), 0.0))
    }
}

#[cfg(feature = "files")]
impl From<undercurve::data::DataError> for Failure {
    fn from(error: undercurve::data::DataError) -> Self {
        let place = |at: u32| if at > 0 { at as usize } else { NOWHERE };
        thrown(error.code(), "", place(error.line), place(error.column), &error.to_string())
    }
}

#[cfg(feature = "more")]
impl From<undercurve::judge::JudgeError> for Failure {
    fn from(error: undercurve::judge::JudgeError) -> Self {
        Self::new(error.code(), "", &error.to_string())
    }
}

#[cfg(feature = "webgpu")]
impl From<undercurve_gpu::GpuError> for Failure {
    fn from(error: undercurve_gpu::GpuError) -> Self {
        Self::new(205, "backend", &error.to_string())
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}
