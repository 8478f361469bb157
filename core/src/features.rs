//! The features of this build, each condition once. Code behind an `if` on one of these is left out of builds without it.

/// Other methods of the registry than those of a first download.
pub(crate) const EVERY: bool = cfg!(feature = "more-methods");
/// Small code rather than fast.
pub(crate) const COMPACT: bool = cfg!(feature = "compact");
/// The first download: small, with the methods of batches alone.
pub(crate) const MINIMAL: bool = COMPACT && !EVERY;
/// Small code for programs without an allocator, so for small flash: loops in the plainest form that gives the bits.
pub(crate) const SMALL: bool = COMPACT && !ALLOC;
/// Rows that come and go.
pub(crate) const STREAM: bool = cfg!(feature = "stream");
/// Exact sums over whole data, of estimators and for reports.
pub(crate) const EXACT: bool = !COMPACT || cfg!(feature = "exact-methods");
/// Memory of its own.
pub(crate) const ALLOC: bool = cfg!(feature = "alloc");
/// Rows are sorted where their scores spread over many magnitudes. The smallest programs, which hold few, do without.
pub(crate) const SORTS: bool = !COMPACT && ALLOC;
/// More than two classes.
pub(crate) const MULTICLASS: bool = cfg!(feature = "multiclass");
