//! Sums over pairs (positive, other) that the objectives share.

pub mod brute;
