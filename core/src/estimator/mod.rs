//! Score space: one file per published objective.
