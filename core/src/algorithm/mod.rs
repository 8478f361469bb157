//! Parameter space: one file per published algorithm.
