//! Samplers of batches.
