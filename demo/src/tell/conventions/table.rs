//! Every convention: what is measured, by which programs, and what it makes of scores.

use super::steps::{Join, Ranked, Steps, area, auroc, even, outside, pr, totals, toward};

/// False-positive rates that partial areas usually end at.
const ENDS: [f64; 9] = [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.3, 0.5];

/// A number, what it is of, and the programs and calls that give it.
pub(super) struct Convention {
    pub what: String,
    pub of: Vec<(&'static str, String)>,
    pub value: f64,
}

const SKLEARN: &str = "scikit-learn";
const METRICS: &str = "torchmetrics";

/// In 32 bits.
fn single(x: f64) -> f64 {
    f64::from(x as f32)
}

/// Every convention, and what it makes of these scores.
pub(super) fn conventions(scores: &[f64], labels: &[u8], weights: &[f64]) -> Vec<Convention> {
    let ranked = Ranked::new(scores, labels, weights);
    let mut all = All(Vec::new());
    let (steps, classes) = (ranked.exact(), ranked.classes());
    let runs = runs(&steps);
    all.of_roc(&ranked, [&steps, &runs, &classes]);
    all.of_pr(&ranked, [&steps, &runs, &classes]);
    all.of_part(&steps);
    if scores.iter().all(|score| (0.0..=1.0).contains(score)) {
        all.at_thresholds(&ranked);
    } else {
        // (It takes these for logits.)
        all.0.iter_mut().for_each(|one| one.of.retain(|(name, _)| *name != METRICS));
        all.of_logits(&ranked);
    }
    all.0
}

struct All(Vec<Convention>);

impl All {
    fn add(&mut self, what: &str, value: f64, of: &[(&'static str, &str)]) {
        let of = of.iter().map(|&(program, call)| (program, call.to_string())).collect();
        self.0.push(Convention { what: what.to_string(), of, value });
    }

    /// Of different scores, of runs of them, and of classes.
    fn of_roc(&mut self, ranked: &Ranked, [steps, runs, classes]: [&Steps; 3]) {
        let half = auroc(steps);
        self.add(
            "AUROC: of a positive and a negative the positive scores higher, a tie counts half",
            half,
            &[
                (SKLEARN, "roc_auc_score(y, s)"),
                (METRICS, "binary_auroc(s, y)"),
                ("torcheval", "binary_auroc(s, y)"),
                ("LightGBM", "auc"),
                ("XGBoost", "auc"),
                ("CatBoost", "AUC"),
                ("Spark", "areaUnderROC with numBins=0"),
                ("ROCR", "auc"),
                ("MLmetrics", "AUC"),
                ("undercurve", "auroc"),
            ],
        );
        self.add(
            "AUROC, turned round where the positives score lower in the median",
            toward(ranked, half),
            &[("pROC", "auc(roc(y, s))")],
        );
        self.add("twice AUROC less 1 (Gini, Somers' D)", 2.0 * half - 1.0, &[("CatBoost", "NormalizedGini")]);
        self.add("AUROC with the labels the other way round", 1.0 - half, &[(SKLEARN, "roc_auc_score(1 - y, s)")]);
        self.add(
            "AUROC of classes cut at .5, which is balanced accuracy",
            auroc(classes),
            &[(SKLEARN, "roc_auc_score(y, s >= .5)")],
        );
        self.add("AUROC at some 1,000 scores", auroc(runs), &[("Spark", "areaUnderROC")]);
    }

    fn of_pr(&mut self, ranked: &Ranked, [steps, runs, classes]: [&Steps; 3]) {
        self.add(
            "AP: the precision at each different score times the recall it adds",
            pr(steps, Join::Steps),
            &[
                (SKLEARN, "average_precision_score(y, s)"),
                (METRICS, "binary_average_precision(s, y)"),
                ("torcheval", "binary_auprc(s, y)"),
                ("LightGBM", "average_precision"),
                ("undercurve", "ap"),
            ],
        );
        self.add(
            "PR curve, straight lines from precision 1 at recall 0",
            pr(steps, Join::LinesFrom(Some(1.0))),
            &[(SKLEARN, "auc(recall, precision)"), ("CatBoost", "PRAUC")],
        );
        self.add(
            "PR curve, straight lines from its first point's precision",
            pr(steps, Join::LinesFrom(None)),
            &[("Spark", "areaUnderPR with numBins=0")],
        );
        self.add(
            "PR curve at some 1,000 scores, straight lines from its first point's precision",
            pr(runs, Join::LinesFrom(None)),
            &[("Spark", "areaUnderPR")],
        );
        self.add(
            "PR curve, straight lines between its points, nothing before the first",
            pr(steps, Join::LinesWithoutFirst),
            &[("MLmetrics", "PRAUC")],
        );
        self.add("PR curve by Davis and Goadrich", pr(steps, Join::Proportion), &[("XGBoost", "aucpr")]);
        self.add(
            "AP, ties in the order of the rows",
            pr(&ranked.each(false), Join::Steps),
            &[("NumPy", "argsort(-s, kind=\"stable\")")],
        );
        self.add(
            "AP in 32 bits, ties from the last row to the first, as by falling names",
            pr(&ranked.map(single).each(true), Join::Steps),
            &[("trec_eval", "map")],
        );
        self.add(
            "AP of the negatives",
            pr(&ranked.turned().exact(), Join::Steps),
            &[(SKLEARN, "average_precision_score(1 - y, -s)")],
        );
        self.add(
            "AP of classes cut at .5",
            pr(classes, Join::Steps),
            &[(SKLEARN, "average_precision_score(y, s >= .5)")],
        );
    }

    fn of_part(&mut self, steps: &Steps) {
        for end in ENDS {
            let (bare, chance) = (area(steps, end), end * end / 2.0);
            let what = format!("partial AUC over FPR 0 to {end}");
            self.add(
                &format!("{what}, the bare area"),
                bare,
                &[
                    ("pROC", &*format!("auc(roc(y, s), partial.auc=c(1, {}))", 1.0 - end)),
                    ("ROCR", &*format!("auc, fpr.stop={end}")),
                ],
            );
            self.add(&format!("{what}, over its width"), bare / end, &[("undercurve", &*format!("pauc:0:{end}"))]);
            self.add(
                &format!("{what}, after McClish"),
                0.5 * (1.0 + (bare - chance) / (end - chance)),
                &[
                    (SKLEARN, &*format!("roc_auc_score(y, s, max_fpr={end})")),
                    (METRICS, &*format!("binary_auroc(s, y, max_fpr={end})")),
                    ("undercurve", &*format!("mcclish:{end}")),
                ],
            );
        }
    }

    /// Of scores from 0 to 1.
    fn at_thresholds(&mut self, ranked: &Ranked) {
        let narrow = ranked.map(single);
        let [keras, torch, river] =
            [narrow.at(&outside(200), false), narrow.at(&even(100), true), ranked.at(&outside(10), false)];
        self.add("AUROC at 200 thresholds from 0 to 1", auroc(&keras), &[("Keras", "AUC()")]);
        self.add(
            "AUROC at 100 thresholds from 0 to 1",
            auroc(&torch),
            &[
                (METRICS, "binary_auroc(s, y, thresholds=100)"),
                ("torcheval", "binary_binned_auroc(s, y, threshold=100)"),
            ],
        );
        self.add("AUROC at 10 thresholds from 0 to 1", auroc(&river), &[("river", "ROCAUC")]);
        self.add(
            "PR curve at 200 thresholds from 0 to 1, by Davis and Goadrich",
            pr(&keras, Join::Proportion),
            &[("Keras", "AUC(curve=\"PR\")")],
        );
        self.add(
            "AP at 100 thresholds from 0 to 1",
            pr(&torch, Join::Steps),
            &[
                (METRICS, "binary_average_precision(s, y, thresholds=100)"),
                ("torcheval", "binary_binned_auprc(s, y, threshold=100)"),
            ],
        );
    }

    /// Of others.
    fn of_logits(&mut self, ranked: &Ranked) {
        // (In 32 bits large scores become equal.)
        let sigmoids = ranked.map(|score| single(1.0 / single(1.0 + single((-single(score)).exp())))).exact();
        let what = "sigmoids in 32 bits, where a score is outside [0, 1]";
        self.add(&format!("AUROC of {what}"), auroc(&sigmoids), &[(METRICS, "binary_auroc(s.float(), y)")]);
        self.add(
            &format!("AP of {what}"),
            pr(&sigmoids, Join::Steps),
            &[(METRICS, "binary_average_precision(s.float(), y)")],
        );
    }
}

/// Some 1,000 runs of different scores, from 2,000 on.
fn runs(steps: &[[f64; 2]]) -> Steps {
    steps.chunks((steps.len() / 1000).max(1)).map(totals).collect()
}
