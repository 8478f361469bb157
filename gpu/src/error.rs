//! What can go wrong with a device.

use std::fmt;

/// Why the device gave no answer. After an error nothing the caller lent has changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GpuError {
    /// No driver or no adapter that can compute.
    NoAdapter,
    /// Software adapters and no others, and none was asked for by name.
    OnlySoftware {
        /// Their names.
        names: Vec<String>,
    },
    /// No adapter of the name that was asked for.
    NotFound {
        /// What its name was to contain.
        part: String,
        /// The names of those that were found.
        names: Vec<String>,
    },
    /// The adapter would not open a device.
    NoDevice {
        /// Its words.
        message: String,
    },
    /// The device's limits are too small for the kernels.
    Limits {
        /// The limit.
        what: &'static str,
        /// Its least value.
        need: u64,
        /// Its value.
        got: u64,
    },
    /// More data than one buffer of this device holds.
    TooLarge {
        /// The data.
        what: &'static str,
        /// Bytes needed.
        need: u64,
        /// Bytes there can be.
        limit: u64,
    },
    /// The device was lost (driver reset, unplugged, destroyed, no answer for a minute or more).
    Lost {
        /// The driver's words.
        message: String,
    },
    /// The device refused the work or ran out of memory.
    Device {
        /// Its words.
        message: String,
    },
    /// No kernel for this.
    NoKernel {
        /// What it was.
        what: String,
    },
    /// Runs whose steps are of several shapes, which cannot go side by side.
    Mixed,
    /// A wrong input.
    Core(undercurve::Error),
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAdapter => f.write_str("no GPU adapter that can compute was found"),
            Self::OnlySoftware { names } => {
                write!(f, "the only GPU adapters found are in software, slower than the CPU: {}", names.join(", "))
            }
            Self::NotFound { part, names } => {
                write!(f, "no GPU adapter is named {part:?}; there are: {}", names.join(", "))
            }
            Self::NoDevice { message } => write!(f, "the GPU adapter opened no device: {message}"),
            Self::Limits { what, need, got } => write!(f, "the GPU's limit {what} is {got}, but {need} is needed"),
            Self::TooLarge { what, need, limit } => {
                write!(f, "{what}: {need} bytes, but a buffer of this GPU holds {limit}")
            }
            Self::Lost { message } => write!(f, "the GPU was lost: {message}"),
            Self::Device { message } => write!(f, "the GPU refused: {message}"),
            Self::NoKernel { what } => write!(f, "the GPU has no kernel for {what}"),
            Self::Mixed => f.write_str("runs of several models, batches or rules cannot go side by side on the GPU"),
            Self::Core(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for GpuError {}

impl From<undercurve::Error> for GpuError {
    fn from(error: undercurve::Error) -> Self {
        Self::Core(error)
    }
}
