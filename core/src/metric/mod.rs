//! Exact metrics of scores and labels.
