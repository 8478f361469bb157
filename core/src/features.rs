//! The features of this build, each condition once. Code behind an `if` on one of these is left out of builds without it.

/// Every method of the registry, and not only those of a first download.
pub(crate) const EVERY: bool = cfg!(feature = "every-method");
/// Small code rather than fast.
pub(crate) const COMPACT: bool = cfg!(feature = "compact");
/// The first download: small, with the methods of batches alone.
pub(crate) const MINIMAL: bool = COMPACT && !EVERY;
/// Small code for programs without an allocator, so for small flash: loops in the plainest form that gives the bits.
pub(crate) const SMALL: bool = COMPACT && !ALLOC;
/// Rows that come and go.
pub(crate) const STREAM: bool = cfg!(feature = "stream");
/// Memory of its own.
pub(crate) const ALLOC: bool = cfg!(feature = "alloc");
/// More than two classes.
pub(crate) const MULTICLASS: bool = cfg!(feature = "multiclass");
