//! Errors of the core as JavaScript throws them: `UndercurveError` of `wasm/js/error.js`, with a number and a place.

use alloc::string::ToString;
use undercurve::Error;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen(raw_module = "../error.js")]
extern "C" {
    /// What is thrown; a row or a column that is not known is NaN, an argument that is not known is empty.
    fn failed(code: u32, argument: &str, row: f64, column: f64, text: &str) -> JsValue;
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

impl From<Error> for Failure {
    #[inline(never)]
    fn from(error: Error) -> Self {
        let (argument, row) = match error {
            Error::Length { what, .. } | Error::Empty { what } | Error::Param { what } => (what, NOWHERE),
            Error::NonFinite { what, at } | Error::Index { what, at, .. } => (what, at),
            Error::Label { at } => ("", at),
            _ => ("", NOWHERE),
        };
        thrown(error.code(), argument, row, NOWHERE, &error.to_string())
    }
}

#[cfg(any(feature = "train", feature = "files"))]
impl From<undercurve::trainer::TrainerError> for Failure {
    #[inline(never)]
    fn from(error: undercurve::trainer::TrainerError) -> Self {
        match error {
            undercurve::trainer::TrainerError::Core(error) => error.into(),
            error => Self::new(error.code(), "", &error.to_string()),
        }
    }
}

#[cfg(any(feature = "train", feature = "files", feature = "objective"))]
impl From<undercurve::checkpoint::CheckpointError> for Failure {
    #[inline(never)]
    fn from(error: undercurve::checkpoint::CheckpointError) -> Self {
        Self::new(error.code(), "bytes", &error.to_string())
    }
}

#[cfg(feature = "files")]
impl From<undercurve::data::DataError> for Failure {
    fn from(error: undercurve::data::DataError) -> Self {
        let place = |at: u32| if at > 0 { at as usize } else { NOWHERE };
        thrown(error.code(), "", place(error.line), place(error.column), &error.to_string())
    }
}

#[cfg(feature = "full")]
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
