//! What the objectives of a family have in common.

pub mod gates;
pub mod moments;
pub mod pairs;
pub mod points;
pub mod softmax;
