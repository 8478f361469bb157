//! Generic code that most programs use, compiled here once for builds of the dev profile: at its level of optimisation the compiler
//! takes from a library what that has compiled, and each program would compile it again. Nothing is called.

use crate::data::{Dataset, Preparation, RawTable};
use crate::metric::{FprRange, Metrics, Truth};
use crate::pairs::{Sum, Sums};
use crate::surrogate::{AnySurrogate, SquaredHinge};
use crate::trainer::{Config, Predictor, Trainer, TrainerError};
use alloc::sync::Arc;
use alloc::vec::Vec;

macro_rules! shared {
    ($($T:ident),*) => { $(
        /// All of it in one precision.
        #[doc(hidden)]
        pub fn $T(config: &Config, table: &RawTable, of: &Preparation, bytes: &[u8]) -> Result<f64, TrainerError> {
            let data: Arc<Dataset<$T>> = Arc::new(of.apply(table).map_err(|_| crate::Error::OneClass)?);
            let mut trainer = Trainer::new(config, data.clone(), Some(data.clone()))?;
            trainer.step()?;
            trainer.run()?;
            trainer.sum()?;
            let mut trainer = Trainer::<$T>::load(&trainer.save(), data.clone(), None)?;
            let mut scores: Vec<$T> = Vec::new();
            trainer.score(data.rows(), &mut scores)?;
            Predictor::<$T>::load(bytes)?.evaluate(&data)?;
            let (mut metrics, truth) = (Metrics::new(), Truth::new(data.labels(), &[])?);
            let summary = metrics.summary(&scores, &truth, FprRange::FULL)?;
            metrics.summary(&scores, data.labels(), FprRange::FULL)?;
            metrics.intervals(&scores, data.truth(), FprRange::FULL)?;
            let mut grad = scores.clone();
            let hinge = AnySurrogate::SquaredHinge(SquaredHinge::new(1.0)?);
            let value = Sums::new().sum(Sum::Ap, &scores, truth, hinge, &mut grad)?;
            Ok(summary.auroc + value)
        }
    )* };
}

shared!(f32, f64);
