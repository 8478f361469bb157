//! Small inputs that once failed, in `../shared/cases`: what comes of each. A file there that this test does not name fails it.

mod common;

use common::{Folder, run};
use std::collections::BTreeSet;
use std::fs;
use undercurve_tests::{shared, skipped};

/// What is said of a file on a command line, on whichever stream: all of these, and of `!` none. Codes of exit are 0 where nothing begins with "error:".
const CASES: &[(&str, &str, &[&str])] = &[
    ("blank-after-colon.svm", "train FILE --steps 20", &["rows ("]),
    (
        "clusters.csv",
        "metrics FILE --label label --score score --cluster patient",
        &["300 rows, 80 positive", "auroc  0.7045"],
    ),
    (
        "codes-exponent.csv",
        "train FILE --label late --steps 5",
        &["as 1E5, in column \"plate\" were read as numbers; --categorical plate"],
    ),
    ("codes-exponent.csv", "train FILE --label late --steps 5 --categorical plate --out model", &["3 columns"]),
    ("columns-twice.csv", "train FILE --label recid --steps 5", &["\"priors_count.2\" had a name", "4 columns"]),
    ("columns-twice.csv", "train FILE --label recid --steps 5 --ignore priors_count.2", &["3 columns"]),
    (
        "group-missing.csv",
        "metrics FILE --label label --score score --group sex",
        &["error: ", "each row needs its group"],
    ),
    ("group-missing.csv", "train FILE --label label --group sex --method sonex --steps 5", &["(missing)"]),
    (
        "label-case.csv",
        "train FILE --label label --steps 5",
        &["error: ", "--positive YES,Yes,yes names all spellings"],
    ),
    ("label-case.csv", "train FILE --label label --steps 5 --positive Yes", &["error: ", "(--positive Yes,YES,yes)"]),
    ("label-case.csv", "train FILE --label label --steps 5 --positive YES,Yes,yes", &["120 rows (39 positive)"]),
    (
        "label-none-binary.csv",
        "train FILE --label complication --steps 5",
        &["120 rows (39 positive)", "\"Bleeding\" counts as positive", "!left out"],
    ),
    ("label-plus-minus.csv", "train FILE --label decision --steps 5", &["60 rows (28 positive)", "!left out"]),
    ("label-plus-minus.csv", "look FILE --label decision", &["\"-\" is positive, 28 of 60 rows"]),
    ("preamble.csv", "train FILE --label loan_status --steps 5", &["error: ", "(--skip 1 begins with this one)"]),
    ("preamble.csv", "train FILE --label loan_status --steps 5 --skip 1", &["60 rows (19 positive)"]),
    (
        "ranking-perfect.csv",
        "metrics FILE --label label --score score",
        &["auroc  1.000000  [0.9458", "ap     1.000000  [0.8986"],
    ),
    (
        "row-names.tsv",
        "train FILE --label outcome --steps 5",
        &["column \"rownames\"", "60 rows (24 positive), 3 columns"],
    ),
    (
        "time-of-day.csv",
        "train FILE --label late --steps 5",
        &["times of the day in column \"start\" were read as days", "2 columns"],
    ),
];

#[test]
fn what_once_failed_is_right() {
    let Some(cases) = shared().map(|shared| shared.join("cases")).filter(|cases| cases.is_dir()) else {
        return skipped("../shared/cases is not there");
    };
    let there: BTreeSet<String> =
        fs::read_dir(&cases).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let named: BTreeSet<String> = CASES.iter().map(|case| case.0.to_string()).collect();
    assert_eq!(there, named);
    let folder = Folder::new("cases");
    let mut wrong = Vec::new();
    for (file, command, said) in CASES {
        folder.write(file, fs::read(cases.join(file)).unwrap());
        let args: Vec<&str> = command.split(' ').map(|word| if word == "FILE" { file } else { word }).collect();
        let done = run(&folder.0, &args);
        let text = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        let holds = |part: &&str| match part.strip_prefix('!') {
            Some(part) => !text.contains(part),
            None => text.contains(part),
        };
        let code = if said.contains(&"error: ") { 2 } else { 0 };
        if done.status.code() != Some(code) || !said.iter().all(holds) {
            wrong.push(format!("{file}: {command}: {:?} {text}", done.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A blank behind a colon is none of the number's.
#[test]
fn a_blank_behind_a_colon_changes_nothing() {
    let folder = Folder::new("cases-blank");
    let rows = |blank: &str| -> String {
        (0..40).map(|k| format!("{} 1:{} 7:{blank}.{}\n", k * k % 3 % 2, k % 7, 10 + k)).collect()
    };
    let scores = ["", " "].map(|blank| {
        folder.write("d.svm", rows(blank));
        let trained = run(&folder.0, &["train", "d.svm", "--method", "ce", "--steps", "20", "--out", "m"]);
        assert!(trained.status.success(), "{trained:?}");
        run(&folder.0, &["predict", "m", "d.svm"]).stdout
    });
    assert!(scores[0] == scores[1] && scores[0].len() > 100);
}
