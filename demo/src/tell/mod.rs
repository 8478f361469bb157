//! What is printed and drawn.

pub mod by_group;
pub mod constraints;
pub mod curves;
pub mod figure;
pub mod measure;
pub mod metric;
pub mod paired;
pub mod report;
pub mod risks;
pub mod signal;
pub mod table;
pub mod threshold;
