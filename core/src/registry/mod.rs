//! Every method by name: its parts, its parameters with ranges and defaults, and its publication.
//!
//! The command line, the page, the packages and the documentation read this one table. A method's entry is at the end of its file,
//! with the function that makes the method from settings; they are listed here.

pub(crate) mod entry;
#[cfg(feature = "alloc")]
mod json;
mod nearest;
pub(crate) mod optimizers;
pub(crate) mod params;
mod preset;
pub(crate) mod settings;

pub use crate::algorithm::OPTIMIZERS;
pub use entry::{Kind, Optimizer, Source};
pub use nearest::nearest;
pub use params::{Auto, Domain, Param};
pub use preset::{PRESETS, Preset, preset};
pub use settings::{Scope, SettingError, Settings};

use crate::algorithm::{self, AnyAlgorithm};
use crate::error::{Error, Result};
use crate::estimator::*;
use crate::features::{COMPACT, MINIMAL};
use crate::finite_sum::*;
use crate::surrogate::AnySurrogate;
use entry::{Entry, Metric};
use params::text;

/// A method: an objective in score space, joined with an algorithm in parameter space by its parameters; or a finite sum.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Name on the command line.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What it optimises, in one sentence.
    pub about: &'static str,
    /// What it looks at in a step.
    pub kind: Kind,
    /// Its parameters, in the order they are shown.
    pub params: &'static [Param],
    /// The settings of its paper where they are others than the defaults: the preset `paper`.
    pub paper: &'static [(&'static str, &'static str)],
    /// Where it comes from.
    pub source: Source,
    /// Its files, from the repository's root.
    pub files: &'static [&'static str],
    metric: Metric,
    feature: Option<&'static str>,
    make: Make,
    /// Its form for several classes.
    several: Option<&'static Method>,
}

/// What makes a method of its settings.
#[derive(Clone, Copy, Debug)]
enum Make {
    /// Its estimator; the algorithm is the step rule of its settings.
    Estimator(fn(&Settings<'_>) -> Result<AnyEstimator>),
    /// Its algorithm on a finite sum of so many examples, each at most so smooth.
    Sum(fn(&Settings<'_>, usize, f64) -> Result<AnySum>),
    /// Nothing: this build lists it only.
    Listed,
}

impl Method {
    /// An entry with what makes it. A build with `compact` leaves out the texts that are for people and the parameters of
    /// methods that it only lists, and without `every-method` the papers' settings.
    const fn of(entry: Entry, make: Make) -> Self {
        let Entry { name, title, about, kind, metric, params, paper, source, files } = entry;
        let listed = COMPACT && matches!(make, Make::Listed);
        Self {
            name,
            title: text(title),
            about: text(about),
            kind,
            params: if listed { &[] } else { params },
            paper: if MINIMAL { &[] } else { paper },
            source: Source { paper: text(source.paper), part: text(source.part) },
            files: if COMPACT { &[] } else { files },
            metric,
            feature: None,
            make,
            several: None,
        }
    }

    /// In builds with a feature alone; `compact` does not say it.
    const fn under(self, feature: &'static str) -> Self {
        Self { feature: if COMPACT { None } else { Some(feature) }, ..self }
    }

    /// With a form for several classes.
    const fn with_classes(self, several: &'static Self) -> Self {
        Self { several: Some(several), ..self }
    }

    /// The form of it that trains several classes at once, if it has one: with parameters of its own.
    #[must_use]
    pub const fn of_classes(&self) -> Option<&'static Self> {
        self.several
    }

    /// Whether it minimises a finite sum by algorithms of its own, instead of joining an estimator and an algorithm. A
    /// linear model's rows are then meant to have unit length.
    #[must_use]
    pub const fn is_finite_sum(&self) -> bool {
        matches!(self.kind, Kind::FiniteSum)
    }

    /// Whether it looks at the whole data at every step.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        matches!(self.kind, Kind::Whole)
    }

    /// The metric that it trains for, by its name in [`Figures`](crate::trainer::Figures::get): `ap`, `pauc` of the run's range,
    /// or `auroc`, also for likelihoods and losses of single rows. (Of several classes `hand-till`, of numbers `rmse`.)
    #[must_use]
    pub const fn metric(&self) -> &'static str {
        self.metric.name()
    }

    /// The feature of builds that have it, `None` where all have; also in builds with `compact`.
    #[must_use]
    pub const fn feature(&self) -> Option<&'static str> {
        self.feature
    }

    /// Whether this build can train it; without the feature `every-method` some are listed only.
    #[must_use]
    pub const fn is_built(&self) -> bool {
        !matches!(self.make, Make::Listed)
    }

    /// Checks `(name, value)` pairs against the method's parameters.
    ///
    /// # Errors
    /// [`SettingError`], for the first pair that does not fit.
    pub fn settings<'a>(&self, pairs: &'a [(&'a str, &'a str)]) -> Result<Settings<'a>, SettingError> {
        Settings::of(self.params, pairs)
    }

    /// The loss of the margin that it sums over pairs, with its own defaults where the settings are silent (which may be others
    /// than those of [`SURROGATES`](crate::surrogate::SURROGATES)).
    ///
    /// # Errors
    /// `Param` for a method without one.
    ///
    /// ```
    /// use undercurve::registry::method;
    /// let soap = method("soap").unwrap();
    /// let loss = soap.surrogate(&soap.settings(&[("surrogate", "sigmoid")]).unwrap())?;
    /// assert_eq!(loss, undercurve::surrogate::AnySurrogate::by_name("sigmoid", 2.0)?);
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    pub fn surrogate(&self, settings: &Settings<'_>) -> Result<AnySurrogate<f64>> {
        crate::estimator::surrogate(settings)
    }

    /// Its estimator.
    ///
    /// # Errors
    /// `Param` for values that do not go together; `Unsupported` for a finite sum, and for what this build only lists.
    pub fn estimator(&self, settings: &Settings<'_>) -> Result<AnyEstimator> {
        match self.make {
            Make::Estimator(make) => make(settings),
            Make::Sum(_) | Make::Listed => Err(Error::Unsupported { what: text("an estimator of a finite sum") }),
        }
    }

    /// Its estimator and the algorithm that follows its gradients over [`Scope::steps`] steps.
    ///
    /// # Errors
    /// As [`estimator`](Self::estimator).
    pub fn parts(&self, settings: &Settings<'_>) -> Result<(AnyEstimator, AnyAlgorithm)> {
        let estimator = self.estimator(settings)?;
        let ascent = estimator.aux().1;
        Ok((estimator, algorithm::from_settings(settings, ascent)?))
    }

    /// Its algorithm on a finite sum of `n` examples, each at most `smooth`-smooth.
    ///
    /// # Errors
    /// `Param`; `Unsupported` for a method that is none.
    pub fn finite_sum(&self, settings: &Settings<'_>, n: usize, smooth: f64) -> Result<AnySum> {
        match self.make {
            Make::Sum(make) => make(settings, n, smooth),
            Make::Estimator(_) | Make::Listed => Err(Error::Unsupported { what: text("a finite sum of scores") }),
        }
    }
}

/// A method of batches, by its estimator, the function that makes it of settings and its entry.
macro_rules! scored {
    ($Name:ident, $make:path, $entry:path) => {
        Method::of($entry, Make::Estimator(|settings| Ok(AnyEstimator::$Name($make(settings)?))))
    };
}

/// A method that only builds with a feature have, by what makes it there.
macro_rules! listed {
    ($feature:literal, $entry:path, $make:expr) => {{
        #[allow(unused_variables)]
        let make = Make::Listed;
        #[cfg(feature = $feature)]
        let make = $make;
        Method::of($entry, make).under($feature)
    }};
}

/// A method with an exact estimator over the whole data.
macro_rules! exact {
    ($Name:ident, $make:path, $entry:path) => {
        listed!("exact-methods", $entry, Make::Estimator(|settings| Ok(AnyEstimator::$Name($make(settings)?))))
    };
}

/// A method with an estimator of a range of ranks.
macro_rules! ranged {
    ($Name:ident, $make:path, $entry:path) => {
        listed!("range-methods", $entry, Make::Estimator(|settings| Ok(AnyEstimator::$Name($make(settings)?))))
    };
}

/// A method with an estimator of more than one term.
macro_rules! termed {
    ($Name:ident, $make:path, $entry:path) => {
        listed!("term-methods", $entry, Make::Estimator(|settings| Ok(AnyEstimator::$Name($make(settings)?))))
    };
}

/// A method on cells, by what makes its estimator.
macro_rules! celled {
    ($make:path, $entry:path) => {
        listed!("group-methods", $entry, Make::Estimator($make))
    };
}

/// A method on a finite sum.
macro_rules! summed {
    ($Name:ident, $make:path, $entry:path) => {
        listed!("sum-methods", $entry, Make::Sum(|settings, n, smooth| Ok(AnySum::$Name($make(settings, n, smooth)?))))
    };
}

/// A method of two classes, with its form for several where the build has it.
macro_rules! both {
    ($two:expr, $Name:ident, $make:path, $entry:path) => {{
        let method = $two;
        #[cfg(feature = "multiclass")]
        let method = {
            static SEVERAL: Method = scored!($Name, $make, $entry);
            method.with_classes(&SEVERAL)
        };
        method
    }};
}

/// The exact methods alone: what uses no others need not link them.
pub const EXACT_METHODS: [Method; 4] = [
    exact!(Exact, Exact::ap_of, exact::AP),
    exact!(Exact, Exact::auc_of, exact::AUC),
    exact!(Exact, Exact::pauc_of, exact::PAUC),
    exact!(CrossEntropyExact, CrossEntropyExact::from_settings, ce_exact::ENTRY),
];

/// Every method. With the feature `compact` without titles, sentences, sources and files, and those that are not built
/// without parameters.
pub static METHODS: &[Method] = &[
    scored!(Soap, Soap::from_settings, soap::ENTRY),
    scored!(AucPairwise, AucPairwise::from_settings, auc_pairwise::ENTRY),
    EXACT_METHODS[0],
    EXACT_METHODS[1],
    EXACT_METHODS[2],
    ranged!(PaucThreshold, PaucThreshold::from_settings, pauc_threshold::ENTRY),
    termed!(PaucDual, PaucDual::from_settings, pauc_dual::AGD),
    termed!(PaucDual, PaucDual::from_settings, pauc_dual::DCA),
    termed!(PaucDual, PaucDual::from_settings, pauc_dual::PROXIMAL_DCA),
    ranged!(PaucMinibatch, PaucMinibatch::from_settings, pauc_minibatch::ENTRY),
    ranged!(PaucDro, PaucDro::sopa, pauc_dro::SOPA),
    ranged!(PaucDro, PaucDro::sopa_s, pauc_dro::SOPA_S),
    ranged!(PaucDro, PaucDro::sota_s, pauc_dro::SOTA_S),
    ranged!(PaucTight, PaucTight::from_settings, pauc_tight::ENTRY),
    termed!(Sorr, Sorr::from_settings, sorr::ENTRY),
    both!(
        scored!(CrossEntropy, CrossEntropy::plain, cross_entropy::PLAIN),
        Softmax,
        SoftmaxCrossEntropy::from_settings,
        softmax::ENTRY
    ),
    scored!(CrossEntropy, CrossEntropy::balanced, cross_entropy::BALANCED),
    EXACT_METHODS[3],
    both!(
        scored!(AucMinMax, AucMinMax::from_settings, auc_min_max::PPD_SG),
        AucMulticlass,
        AucMulticlass::from_settings,
        auc_multiclass::PPD_SG
    ),
    both!(
        scored!(AucMinMax, AucMinMax::from_settings, auc_min_max::PPD_ADAGRAD),
        AucMulticlass,
        AucMulticlass::from_settings,
        auc_multiclass::PPD_ADAGRAD
    ),
    scored!(AucMinMax, AucMinMax::from_settings, auc_min_max::PGA),
    scored!(AucMinMax, AucMinMax::from_settings, auc_min_max::OAUC),
    scored!(AucMargin, AucMargin::from_settings, auc_margin::ENTRY),
    celled!(fcco::make::smoothed, fcco::SONEX),
    celled!(fcco::make::smoothed, fcco::ALEXR2),
    celled!(fcco::make::squared, fcco::SOX),
    celled!(fcco::make::squared, fcco::MSVR),
    celled!(fcco::make::hinge, fcco::SONX),
    celled!(fcco::make::multipliers, fcco::LAGRANGE),
    celled!(fcco::make::multipliers, fcco::ICPPAC),
    celled!(fcco::make::weights, fcco::OOA),
    scored!(Focal, Focal::from_settings, focal::ENTRY),
    scored!(ClassBalanced, ClassBalanced::from_settings, class_balanced::ENTRY),
    scored!(Ldam, Ldam::from_settings, ldam::ENTRY),
    scored!(SmoothAp, SmoothAp::from_settings, smooth_ap::ENTRY),
    scored!(FastAp, FastAp::from_settings, fast_ap::ENTRY),
    scored!(MinMaxAp, MinMaxAp::from_settings, min_max_ap::ENTRY),
    summed!(AiSarah, AiSarah::from_settings, ai_sarah::ENTRY),
    summed!(Theoretical, TheoreticalAiSarah::from_settings, theoretical_ai_sarah::ENTRY),
    summed!(Bounded, BoundedAiSarah::from_settings, bounded_ai_sarah::ENTRY),
    summed!(Sarah, Sarah::from_settings, sarah::ENTRY),
    summed!(Sarah, Sarah::plus_from_settings, sarah::PLUS),
    summed!(Svrg, Svrg::from_settings, svrg::ENTRY),
    summed!(Momentum, MomentumSum::from_settings, momentum::ENTRY),
    summed!(Adam, AdamSum::from_settings, adam::ENTRY),
];

/// Every method that trains several classes at once, in its form for them: with the name of the method of two classes, and
/// parameters of its own.
pub fn class_methods() -> impl Iterator<Item = &'static Method> {
    METHODS.iter().filter_map(Method::of_classes)
}

/// The method of a name.
#[must_use]
pub fn method(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}
