//! Exact metrics of scores and labels.
//!
//! Scores are raw, `f32` or `f64`, in any order; labels are 0 or 1 (class numbers in [`multiclass`]). Each function says how it
//! treats ties. All metrics read one descending ordering ([`rank`]) and count in integers. A call borrows its memory;
//! [`need`] says how much. Bad input (NaN, infinity, one class only, wrong lengths, a range outside [0, 1]) is an error,
//! never a NaN result.
//!
//! ```
//! use undercurve::{Scratch, metric};
//! let (scores, labels) = ([0.1_f32, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
//! let mut keys = [0; 8];
//! let scratch = Scratch { u64: &mut keys, ..Scratch::default() };
//! assert_eq!(metric::auroc(&scores, &labels, scratch), Ok(0.75));
//! ```

mod amount;
mod ap;
mod auroc;
mod cells;
#[cfg(feature = "alloc")]
mod classes;
mod confusion;
mod costs;
mod curve;
pub mod group;
mod influence;
mod interval;
mod labels;
pub mod multiclass;
mod order;
#[cfg(feature = "alloc")]
mod owned;
mod partial_auc;
mod pr;
mod probability;
mod query;
pub(crate) mod radix;
pub mod rank;
mod roc;
#[cfg(feature = "alloc")]
mod state;
mod summary;
mod top;
mod values;

pub use amount::Amount;
pub use ap::{ApTally, average_precision};
pub use auroc::{PairCounts, auroc, pair_counts};
pub use cells::{Cells, Gap, MAX_GROUPS, Rate, cells_need, pairs_of_groups};
pub(crate) use cells::{NORMAL, check_groups};
pub use confusion::Confusion;
pub use costs::{Costs, point_at_slope};
pub use influence::{Estimate, influence};
pub use interval::{Interval, interval, student};
pub(crate) use labels::check_weights;
pub use labels::{Labels, Truth};
pub use partial_auc::{FprRange, TieRule, mcclish, partial_auc, partial_auc_two_way};
pub use pr::{PrPoint, pr_curve, pr_curve_thinned, precision_at_recall, recall_at_precision};
pub use probability::{Bin, brier, calibration_error, log_loss, reliability};
pub use query::{OfQuery, QueryMean, query_mean};
pub use rank::need;
pub use roc::{RocPoint, point_at_fpr, roc_curve, roc_curve_thinned, roc_len};
pub use summary::{Summary, summary};
pub use top::{Top, TopRows, top};
pub use values::{ValueSummary, value_summary};
#[cfg(feature = "alloc")]
pub use {
    classes::{ClassSummary, OneVsRest, class_summary, log_odds},
    owned::{Comparison, Intervals, Metrics, Pair},
    state::{Bounded, Bounds, Narrowing, State, StateError},
};
