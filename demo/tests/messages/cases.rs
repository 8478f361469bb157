//! Messages, a command that gets each, and the command that takes its way out.

use std::fmt::Write as _;

pub struct Case {
    /// As the source has it, `…` for what is filled in.
    pub message: &'static str,
    pub bad: &'static str,
    pub good: &'static str,
}

const fn of(message: &'static str, bad: &'static str, good: &'static str) -> Case {
    Case { message, bad, good }
}

/// Two columns of numbers that tell the label a little; `extra` is one more cell of each row.
fn table(header: &str, extra: impl Fn(usize) -> String) -> String {
    let mut text = format!("{header}\n");
    for k in 0..80_usize {
        let (a, b) = (k * 37 % 53, k * k % 17);
        let more = extra(k);
        let _ = writeln!(text, "{a},{b},{more}{}", usize::from((a + 2 * b + k % 11) % 60 > 34));
    }
    text
}

/// A decision file.
fn decision(version: u32, rule: &str) -> String {
    format!(
        "{{\"undercurve_decision\": {version}, \"rule\": \"{rule}\", \"threshold\": 22, \"chosen_on\": \"scores.csv\", \"rows\": 80, \
         \"true_positives\": 39, \"false_positives\": 7, \"true_negatives\": 34, \"false_negatives\": 0, \"label\": \"label\", \
         \"score\": \"score\", \"positive\": null, \"cluster\": null}}"
    )
}

/// The files that the commands name.
pub fn files() -> Vec<(&'static str, Vec<u8>)> {
    let good = table("a,b,label", |_| String::new());
    let with =
        |name: &str, cell: &dyn Fn(usize) -> String| table(&format!("a,b,{name},label"), |k| format!("{},", cell(k)));
    let scored = |label: &dyn Fn(usize) -> String| {
        let rows: Vec<String> = (0..80).map(|k| format!("{},{}", label(k), k * 37 % 53)).collect();
        format!("label,score\n{}\n", rows.join("\n"))
    };
    let bit = |k: usize| usize::from(k * 37 % 53 + k % 11 > 30).to_string();
    let svm: String = good
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .fold(String::new(), |text, row| text + &format!("{} 1:{} 2:{}\n", row[2], row[0], row[1]));
    let text = |text: String| text.into_bytes();
    let mut files = vec![
        ("empty.csv", Vec::new()),
        ("header.csv", text("a,b,label\n".into())),
        ("latin.csv", good.replace("a,b", "\u{e4},b").chars().map(|c| c as u8).collect()),
        ("ragged.csv", text(format!("{good}1,2\n"))),
        ("quote.csv", text(format!("{good}1,\"2,0\n"))),
        ("twice.csv", text(good.replace("a,b", "a,a"))),
        ("outcome.csv", text(good.replace("label", "outcome"))),
        ("gap.csv", text(format!("{good},2,0\n3,,1\n"))),
        ("word.csv", text(format!("{good}none known,2,0\n3,4,1\n"))),
        ("inf.csv", text(format!("{good}inf,2,0\n3,4,1\n"))),
        ("points.csv", text(with("x", &|k| format!("{}.{:03}", k % 9 + 1, k * 7)).replace(',', ";"))),
        ("marks.csv", text(with("x", &|k| format!("{k}{}5", [".", "~"][k % 2])).replace(',', ";").replace('~', ","))),
        ("comma.csv", text(with("x", &|k| format!("\"{k},5\"")))),
        ("other.csv", text(with("x", &|k| format!("\"{k},5\"")).replacen("\n37,", "\n37.5,", 1))),
        ("days.csv", text(with("x", &|k| format!("0{}/0{}/2024", k % 9 + 1, k % 8 + 1)))),
        ("short.csv", text(with("x", &|k| format!("0{}/0{}/24", k % 9 + 1, k % 8 + 1)))),
        ("orders.csv", text(with("x", &|k| ["23/04/2022", "05/26/2022"][k % 2].into()))),
        ("percent.csv", text(with("x", &|k| [format!("{k}%"), format!("0.{k}")][k % 2].clone()))),
        ("money.csv", text(with("x", &|k| format!("{}{k}", ["$", "€"][k % 2])))),
        ("limits.csv", text(with("x", &|k| format!("{}{}.5", ["", "", "<"][k % 3], k * 7 % 60)))),
        ("plain.csv", text(with("x", &|k| format!("{}.5", k * 7 % 60)))),
        ("shares.csv", text(with("x", &|k| format!("{}%", k * 7 % 90)))),
        (
            "three.csv",
            text(good.replace(",1\n", ",late\n").replace("0,0,0", "0,0,early").replace("37,1,0", "37,1,soon")),
        ),
        ("one.csv", text(good.lines().filter(|line| !line.ends_with(",1")).collect::<Vec<_>>().join("\n"))),
        ("bare.csv", text("label\n0\n1\n".into())),
        ("unlabelled.csv", text(format!("{good}1,2,\n"))),
        ("ids.csv", text(with("id", &|k| format!("c{:x}", k * 7919)))),
        ("two-ids.csv", text(table("a,b,id,other,label", |k| format!("c{:x},d{:x},", k * 7919, k * 31)))),
        ("unsure.csv", text(good.replace("0,0,0", "0,0,NA").replace(",1\n", ",1\n5,5,NA\n"))),
        ("same.csv", text(good.replacen(",1\n", ",1.0\n", 9))),
        ("cases.csv", text(good.replace(",0\n", ",no\n").replacen(",1\n", ",yes\n", 9).replace(",1\n", ",Yes\n"))),
        ("clocks.csv", text(with("x", &|k| [format!("{}:30", k % 9), format!("{}:30:00", k % 9)][k % 2].clone()))),
        ("dates-for-numbers.csv", text(with("x", &|k| format!("2024-{:02}-{:02}", k / 28 + 1, k % 28 + 1)))),
        ("last.csv", text(scored(&bit).replacen(",37", ",-inf", 1))),
        ("none.csv", text(with("x", &|_| String::new()))),
        ("answers.csv", text(with("q", &|k| if k % 7 == 0 { "99".into() } else { (k % 6 + 1).to_string() }))),
        ("spelt.csv", text(with("g", &|k| ["p", "P", "q"][k % 3].into()))),
        ("units.csv", text(with("w", &|k| format!("{} kg", k % 9)))),
        ("months.csv", text(with("m", &|k| format!("2024-{:02}", k % 12 + 1)))),
        ("days-as-numbers.csv", text(with("d", &|k| format!("2024{:02}{:02}", k % 12 + 1, k % 28 + 1)))),
        ("away.csv", text(with("told", &|k| ((k * 37 % 53 + 2 * (k * k % 17) + k % 11) % 60).to_string()))),
        ("codes.csv", text(with("code", &|k| (10_000 + k * 7 % 20 * 4099 % 8011).to_string()))),
        (
            "never.csv",
            text(with("end", &|k| if k % 9 == 0 { "9999-12-31".into() } else { format!("2024-05-{:02}", k % 28 + 1) })),
        ),
        ("signs.csv", text(with("x", &|k| format!("{}/{}", k % 5, k % 3)))),
        ("group.csv", text(with("g", &|k| ["p", "q"][k % 2].into()))),
        ("alone.csv", text(with("g", &|_| "p".into()))),
        ("new.csv", text(with("g", &|k| ["p", "q", "r"][k % 3].into()))),
        ("weight.csv", text(with("w", &|k| (k % 3 + 1).to_string()))),
        ("minus.csv", text(with("w", &|k| if k == 5 { "-1".into() } else { "1".into() }))),
        ("query.csv", text(with("q", &|k| (k / 20).to_string()))),
        ("copies.csv", text(format!("{good}{}", &good[10..]))),
        ("dates.csv", text(with("day", &|k| format!("2024-{:02}-{:02}", k / 28 + 1, k % 28 + 1)))),
        ("scores.csv", text(scored(&bit))),
        ("words.csv", text(scored(&|k| ["good", "bad"][usize::from(bit(k) == "1")].into()))),
        ("stray.csv", text(scored(&bit).replacen(",37", ",high", 1))),
        ("good.svm", text(svm.clone())),
        ("zero.svm", text(svm.replacen("1:", "0:", 1))),
        ("again.svm", text(svm.replacen(" 2:", " 1:", 1))),
        ("order.svm", text(svm.replacen(" 1:", " 3:", 1))),
        ("large.svm", text(svm.replacen(" 2:", " 4000000000:", 1))),
        ("token.svm", text(svm.replacen(" 2:", " two:", 1))),
        ("label.svm", text(format!("yes{}", &svm[1..]))),
        ("zip.csv", b"PK\x03\x04\x14\0\0\0".to_vec()),
        ("cut.csv.gz", vec![0x1f, 0x8b, 8, 0, 0, 0]),
        ("table.parquet", b"PAR1\x15\x04".to_vec()),
        ("damaged.csv.gz", [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0xff; 40]].concat()),
        ("cut.csv.zst", vec![0x28, 0xb5, 0x2f, 0xfd, 0x20]),
        ("holes.csv", text("label,score,g\n1,3,p\n0,2,\n1,1,q\n0,0,p\n1,2,q\n0,1,p\n".to_string())),
        ("leak.csv", text(table("a,b,code,label", |_| "~".into()).replace("~0", "4,0").replace("~1", "9,1"))),
        ("lone.csv", text(good.replace(",1\n", ",late\n").replacen("37,1,0", "37,1,soon", 1))),
        ("good3.csv", text(good.replace(",1\n", ",late\n").replace(",0\n", ",early\n"))),
        ("other3.csv", text(good.replace(",1\n", ",never\n"))),
        ("query.svm", text(svm.replacen(" 1:", " qid:1 1:", 1))),
        ("wide.svm", text(svm.replace("\n", " 9:1\n"))),
        ("huge.csv", text(with("x", &|k| format!("{}1e300", ["-", ""][k % 2])))),
        ("wrong.toml", text("[train]\nstep = 5\n".into())),
        ("right.toml", text("[train]\nsteps = 5\n".into())),
        ("one.svm", text("1 1:0.5\n1 1:0.2\n".into())),
        ("many.csv", text((0..2400).fold("x,label\n".into(), |all, k| format!("{all}{},c{}\n", k % 7, k % 1100)))),
        ("gone.csv", text((0..9).fold("a,b,label\n".into(), |all, k| format!("{all}{k},{},\n", k * 3)))),
        ("blanks.csv", text(scored(&bit).replace(',', " "))),
        ("list.toml", text("[train]\nsteps = { a = 1 }\n".into())),
        ("quiet.toml", text("quiet = \"yes\"\n".into())),
        ("loud.toml", text("quiet = false\n".into())),
        ("few.csv", text(good.lines().take(61).collect::<Vec<_>>().join("\n"))),
        ("backwards.csv", text(scored(&|k| (1 - usize::from(bit(k) == "1")).to_string()))),
        (
            "clusters.csv",
            text(
                (0..80).fold("label,score,c\n".into(), |all, k| format!("{all}{},{},{}\n", bit(k), k * 37 % 53, k / 4)),
            ),
        ),
        (
            "onesided.csv",
            text((0..80).fold("a,b,g,label\n".into(), |all, k| {
                format!("{all}{k},{},{},{}\n", k * k % 17, ["p", "q"][k % 2], if k % 2 == 0 { k % 4 / 2 } else { 0 })
            })),
        ),
        ("rule.json", text(decision(1, "some"))),
        ("right.json", text(decision(1, "fpr<=0.2"))),
        ("format.json", text(decision(99, "fpr<=0.2"))),
        ("gaps.csv", text(scored(&bit).replacen(",37", ",", 1))),
    ];
    files.push(("good.csv", text(good)));
    files
}

/// `m` is a model of good.csv.
pub const CASES: &[Case] = &[
    of("the file is empty", "train empty.csv --out o", "train good.csv --steps 5 --out o"),
    of("a header and no rows", "train header.csv --out o", "train good.csv --steps 5 --out o"),
    of("the text is not UTF-8", "look latin.csv", "look latin.csv --encoding latin1"),
    of("… cell…, but the first line has …", "look ragged.csv", "look good.csv"),
    of("a quoted cell never ends", "look quote.csv", "look good.csv"),
    of("not a text file (it looks like …)", "look zip.csv", "look good.csv"),
    of("the gzip data is cut off", "look cut.csv.gz", "look good.csv"),
    of(
        "which column is the label? Name it; the columns are …",
        "train outcome.csv --steps 5",
        "train outcome.csv --steps 5 --label outcome",
    ),
    of(
        "there is no column …; the columns are …",
        "train outcome.csv --label outcom --steps 5",
        "train outcome.csv --label outcome --steps 5",
    ),
    of("there is no column besides the label", "train bare.csv", "train good.csv --steps 5"),
    of("missing value in column …", "train gap.csv --steps 5 --missing refuse", "train gap.csv --steps 5"),
    of("value … is not finite", "train inf.csv --steps 5", "train inf.csv --steps 5 --na inf"),
    of(
        "value … in column … of numbers (a categorical column has to be named as one)",
        "train word.csv --steps 5",
        "train word.csv --steps 5 --na 'none known'",
    ),
    of(
        "… in column …: is that a decimal mark, or a mark between thousands? No cell tells",
        "train points.csv --steps 5",
        "train points.csv --steps 5 --decimal comma",
    ),
    of(
        "column … has decimal points and decimal commas: … and …",
        "train marks.csv --steps 5",
        "train marks.csv --steps 5 --ignore x",
    ),
    of(
        "… in column … has another decimal mark than is expected there",
        "train plain.csv --steps 5 --decimal comma",
        "train plain.csv --steps 5 --decimal point",
    ),
    of(
        "… in column …: a decimal comma, where other columns have decimal points?",
        "train other.csv --steps 5",
        "train other.csv --steps 5 --ignore x",
    ),
    of(
        "… in column …: does the day or the month come first? No cell tells",
        "train days.csv --steps 5",
        "train days.csv --steps 5 --dates month",
    ),
    of(
        "… in column …: which part is the year? No cell tells",
        "train short.csv --steps 5",
        "train short.csv --steps 5 --dates day",
    ),
    of(
        "dates of column … begin with the day and with the month: … and …",
        "train orders.csv --steps 5",
        "train orders.csv --steps 5 --ignore x",
    ),
    of(
        "column … has numbers with a percent sign and without: … and …",
        "train percent.csv --steps 5",
        "train percent.csv --steps 5 --ignore x",
    ),
    of("column … has two currencies: … and …", "train money.csv --steps 5", "train money.csv --steps 5 --ignore x"),
    of(
        "a limit, as …, in column …, where training had none",
        "eval plain.uc limits.csv --metric auroc",
        "eval plain.uc plain.csv --metric auroc",
    ),
    of(
        "… in column …, where training had … percent signs",
        "eval plain.uc shares.csv --metric auroc",
        "eval plain.uc plain.csv --metric auroc",
    ),
    of(
        "the third of more than two label values (……); correct a wrong one, or name the positive one",
        "train three.csv --steps 5",
        "train three.csv --steps 5 --positive late",
    ),
    of(
        "no label is …; the labels are …",
        "train three.csv --steps 5 --positive later",
        "train three.csv --steps 5 --positive late",
    ),
    of(
        "every label in column … is …, and two classes are needed",
        "train one.csv --steps 5",
        "train good.csv --steps 5",
    ),
    of("label …, but training knew … and …", "eval m three.csv --metric auroc", "eval m good.csv --metric auroc"),
    of(
        "all rows are in one group, …, of …; two are needed",
        "train alone.csv --group g --method ooa --steps 5",
        "train group.csv --group g --method ooa --steps 5",
    ),
    of(
        "weight … in column … is not a number of 0 or more",
        "train minus.csv --weight w --method ce --steps 5",
        "train weight.csv --weight w --method ce --steps 5",
    ),
    of(
        "groups are made of named columns, and LIBSVM has none",
        "train good.svm --group a --steps 5",
        "train group.csv --group g --method ce --steps 5",
    ),
    of(
        "weights are those of a named column, and LIBSVM has none",
        "train good.svm --weight a --method ce --steps 5",
        "train weight.csv --weight w --method ce --steps 5",
    ),
    of("index 0, but LIBSVM counts columns from 1", "train zero.svm --steps 5", "train good.svm --steps 5"),
    of("index … a second time", "train again.svm --steps 5", "train good.svm --steps 5"),
    of("index … after …; indices must ascend", "train order.svm --steps 5", "train good.svm --steps 5"),
    of("index … is above the limit of …", "train large.svm --steps 5", "train good.svm --steps 5"),
    of("… is not index:value", "train token.svm --steps 5", "train good.svm --steps 5"),
    of("label … is not a number", "train label.svm --steps 5", "train good.svm --steps 5"),
    of(
        "a table with named columns where sparse rows were trained on, or the reverse",
        "eval m good.svm --metric auroc",
        "eval m good.csv --metric auroc",
    ),
    of(
        "…: … rows have no value… in column \"…\" and are left out",
        "train unlabelled.csv --steps 5",
        "train good.csv --steps 5",
    ),
    of(
        "column \"…\" has … different … in … rows and is left out as an identifier…",
        "train ids.csv --steps 5",
        "train ids.csv --steps 5 --categorical id",
    ),
    of(
        "columns … have mostly different … in … rows and are left out as identifiers…",
        "train two-ids.csv --steps 5",
        "train two-ids.csv --steps 5 --categorical id,other",
    ),
    of(
        "--na …: … has no column \"…\"… (a text with = in it stands behind its column, as COLUMN=…)",
        "train good.csv --steps 5 --na c=9",
        "train good.csv --steps 5 --na a=9",
    ),
    of(
        "…: numbers, or no answer? --na … takes them for missing",
        "train answers.csv --steps 5",
        "train answers.csv --steps 5 --na q=99",
    ),
    of(
        "… differ by case, blanks or marks alone and are categories each; write them alike, or say --categorical …",
        "train spelt.csv --steps 5",
        "train spelt.csv --steps 5 --categorical g",
    ),
    of(
        "texts with numbers, as …, in … are no numbers here; write the number alone, or say --categorical …",
        "train units.csv --steps 5",
        "train units.csv --steps 5 --categorical w",
    ),
    of(
        "months, as …, in … are categories; write a day of each, as 2024-05-01, or say --categorical …",
        "train months.csv --steps 5",
        "train months.csv --steps 5 --categorical m",
    ),
    of(
        "numbers that look like …, as …, in … were read as numbers; --categorical … and --ignore … say otherwise",
        "train days-as-numbers.csv --steps 5",
        "train days-as-numbers.csv --steps 5 --ignore d",
    ),
    of(
        "…: … … ranks the label almost perfectly (AUROC …): if that is known when the model has to decide, say --known …, else --ignore …",
        "auto away.csv --label label --folds 2 --model linear --threads 1",
        "auto away.csv --label label --folds 2 --model linear --threads 1 --known told",
    ),
    of(
        "… alerts of … rows",
        "auto away.csv --label label --folds 2 --model linear --threads 1 --known told --want recall@1000000",
        "auto away.csv --label label --folds 2 --model linear --threads 1 --known told --want recall@5",
    ),
    of(
        "--known …: … has no such column",
        "auto away.csv --label label --folds 2 --model linear --known x9",
        "auto away.csv --label label --folds 2 --model linear --threads 1 --known told",
    ),
    of(
        "…; each row needs its group: write one, as \"none\", or leave the row out",
        "metrics holes.csv --label label --score score --group g",
        "metrics holes.csv --label label --score score",
    ),
    of(
        "numbers, as …, in … look like names and were read as numbers; --categorical … and --ignore … say otherwise",
        "train codes.csv --steps 5",
        "train codes.csv --steps 5 --categorical code",
    ),
    of(
        "days far from all others recur in …, as …: dates, or none? Leave those cells empty, or say --ignore …",
        "train never.csv --steps 5",
        "train never.csv --steps 5 --ignore end",
    ),
    of(
        "label … of column … in … rows: a class of its own, or no label?",
        "train unsure.csv --steps 5",
        "train unsure.csv --steps 5 --na NA",
    ),
    of(
        "labels … and … of column … are the same number",
        "train same.csv --steps 5",
        "train same.csv --steps 5 --categorical label --positive 1,1.0",
    ),
    of(
        "labels … differ by case or blanks alone: name all that are positive, or write them alike",
        "train cases.csv --steps 5 --positive Yes",
        "train cases.csv --steps 5 --positive Yes,yes",
    ),
    of(
        "column … has clocks with two parts and with three: … and …; are the two hours and minutes?",
        "train clocks.csv --steps 5",
        "train clocks.csv --steps 5 --ignore x",
    ),
    of("column … has …, where training had …", "predict plain.uc dates-for-numbers.csv", "predict plain.uc plain.csv"),
    of(
        "…: write it as in training, or leave it empty",
        "predict plain.uc dates-for-numbers.csv",
        "predict plain.uc plain.csv",
    ),
    of("…: write … for a row that is to be …", "metrics last.csv", "metrics scores.csv"),
    of("…: missing values were filled in, …", "train gap.csv --steps 5", "train good.csv --steps 5"),
    of(
        "…: … values of column \"…\" did not occur in training and count as none",
        "eval group.uc new.csv --metric auroc",
        "eval group.uc group.csv --metric auroc",
    ),
    of("…: the model does not read the columns ……", "predict m group.csv", "predict m good.csv"),
    of("…: no rows below the header", "predict m header.csv", "predict m good.csv"),
    of(
        "column \"…\" has dates: in random folds later rows help to tell earlier ones; `train --split 0.7 --split-by …` holds out the last",
        "compare dates.csv --metric auroc --methods auc-margin --folds 2",
        "train dates.csv --split 0.7 --split-by day --method ce --steps 5",
    ),
    of(
        "--split: expected a share above 0 and below 1",
        "train good.csv --split 2",
        "train good.csv --split 0.6 --steps 5",
    ),
    of(
        "--split-by, --split-group: nothing is split without --split or --valid SHARE",
        "train dates.csv --split-by day --steps 5",
        "train dates.csv --split-by day --split 0.6 --method ce --steps 5",
    ),
    of("--seconds: expected more than 0", "train good.csv --seconds 0", "train good.csv --seconds 0.1"),
    of(
        "--passes: expected more than 0 and less than 1e12",
        "train good.csv --passes 0",
        "train good.csv --method ce --passes 2",
    ),
    of(
        "--save-every: nothing is saved without --save",
        "train good.csv --save-every 5 --steps 5",
        "train good.csv --save-every 5 --steps 5 --save s",
    ),
    of("--… 0: expected at least 1", "train good.csv --steps 0", "train good.csv --steps 5"),
    of("--seeds 0: expected at least 1", "train good.csv --seeds 0", "train good.csv --seeds 2 --steps 5"),
    of(
        "--set: cannot be used with --method top: folds choose the method",
        "train good.csv --method top --set lr=1",
        "train good.csv --method pauc-threshold --set lr=1 --steps 5",
    ),
    of(
        "top: … by pAUC …:… on folds: …",
        "train good.csv --method top --steps 5",
        "train good.csv --method pauc-threshold --steps 5",
    ),
    of(
        "--set …: given twice",
        "train good.csv --set lr=1 --set lr=2",
        "train good.csv --method ce --set lr=1 --steps 5",
    ),
    of(
        "--set …: is varied by --grid",
        "train good.csv --set lr=1 --grid 'lr=1|2'",
        "train good.csv --grid 'lr=1|2' --steps 5",
    ),
    of(
        "…: expected a name with .svg",
        "train good.csv --grid 'lr=1|2' --steps 5 --plot p.png",
        "train good.csv --grid 'lr=1|2' --steps 5 --plot p.svg",
    ),
    of(
        "--method …: is of groups; --group names their columns",
        "train group.csv --method ooa --steps 5",
        "train group.csv --method ooa --group g --steps 5",
    ),
    of(
        "method …… has no parameter \"…\"; … has …",
        "train good.csv --set learning=1",
        "train good.csv --method ce --set lr=1 --steps 5",
    ),
    of(
        "--require: nothing is asked of this run; --constraint asks",
        "train good.csv --require --steps 5",
        "train good.csv --steps 5",
    ),
    of(
        "--… …: is the label column of …",
        "train good.csv --ignore label --steps 5",
        "train good.csv --ignore a --steps 5",
    ),
    of(
        "--weight …: is the label column of …",
        "metrics scores.csv --weight label",
        "metrics scores.csv --metric auroc",
    ),
    of(
        "--group …: is the label column of …",
        "eval m good.csv --group label",
        "eval group.uc group.csv --group g --metric auroc",
    ),
    of(
        "--metric …: is of queries; --query names their column",
        "eval query.uc query.csv --metric ndcg",
        "eval query.uc query.csv --metric ndcg --query q",
    ),
    of(
        "--metric …: is of groups; --group names their column",
        "eval group.uc group.csv --metric worst-auroc",
        "eval group.uc group.csv --metric worst-auroc --group g",
    ),
    of(
        "…: is of one score, and --score names two",
        "metrics scores.csv --score score,score --reliability",
        "metrics scores.csv --score score,score",
    ),
    of(
        "--metric …: of two scores there are …",
        "metrics scores.csv --score score,score --metric brier",
        "metrics scores.csv --score score,score --metric auroc",
    ),
    of("--score …: is the label column", "metrics scores.csv --score label", "metrics scores.csv --score score"),
    of("…:…:…: value … in column … is not a number", "metrics stray.csv", "metrics scores.csv"),
    of(
        "--folds …: expected at least 2",
        "auto good.csv --folds 1",
        "compare good.csv --metric auroc --methods auc-margin --folds 2",
    ),
    of(
        "--repeats 0: expected at least 1",
        "compare good.csv --metric auroc --repeats 0",
        "compare good.csv --metric auroc --methods auc-margin --folds 2",
    ),
    of(
        "a fold, or the rows outside it, would have no row of one class; take fewer",
        "compare dates.csv --split-by day --folds 40 --methods ce",
        "compare dates.csv --split-by day --folds 2 --methods ce",
    ),
    of(
        "there are fewer groups",
        "compare query.csv --split-group q --metric auroc --folds 9",
        "compare query.csv --split-group q --metric auroc --methods auc-margin --folds 2",
    ),
    of(
        "--weight: auto counts every row alike; `compare` and `train` take weights",
        "auto weight.csv --weight w",
        "train weight.csv --weight w --method ce --steps 5",
    ),
    of(
        "--weight, --class-weight: a file of features has no place for weights",
        "prepare weight.csv --weight w --train t",
        "prepare weight.csv --train t",
    ),
    of(
        "…: named for both --train and --test",
        "prepare good.csv --split 0.5 --train t --test t",
        "prepare good.csv --split 0.5 --train t --test u",
    ),
    of("…: is read by this command; not replaced", "prepare good.csv --train good.csv", "prepare good.csv --train t"),
    of("…: trained without --split; nothing was held out", "eval m good.csv --held-out", "eval m good.csv"),
    of("…: expected a name with .onnx, .json, .c, .js, .mjs or .rs", "export m m.txt", "export m m.json"),
    of("…: a model … has no source; .onnx and .json are for all", "export svm.uc h.c", "export svm.uc h.onnx"),
    of(
        "--int8 is of C and Rust: expected a name with .c or .rs",
        "export m m.json --int8 good.csv",
        "export m m.c --int8 good.csv",
    ),
    of(
        "--int8: its loss is measured on two classes, and this model has others",
        "export three.uc three.c --int8 three.csv",
        "export three.uc three.json",
    ),
    of(
        "--numeric is of ONNX, C and Rust: expected a name with .onnx, .c or .rs",
        "export m m.json --numeric",
        "export m m.onnx --numeric",
    ),
    of(
        "…: `undercurve …` has no option --……",
        "--config wrong.toml train good.csv",
        "--config right.toml train good.csv",
    ),
    of(
        "--explain: the columns of this model have no names; `inspect` has its coefficients",
        "predict svm.uc good.svm --explain",
        "inspect svm.uc",
    ),
    of(
        "…: … is for a model of two classes",
        "eval three.uc three.csv --threshold fpr<=0.1",
        "eval m good.csv --threshold fpr<=0.1",
    ),
    of(
        "--header yes: … is LIBSVM, which names no columns",
        "train good.svm --header yes --steps 5",
        "train good.svm --steps 5",
    ),
    of(
        "--header no: without names the columns are x1 to x…, or 1 to …, and there is no … among them",
        "train good.csv --header no --label label --steps 5",
        "train good.csv --label label --steps 5",
    ),
    of(
        "…: a Parquet file, which this build does not read; one that does: cargo install --path demo --features parquet",
        "look table.parquet",
        "look good.csv",
    ),
    of("…: is a folder", "train good.csv --steps 5 --out .", "train good.csv --steps 5 --out o"),
    of(
        "--cost-fp, --cost-fn: expected more than 0; --prevalence: a share above 0 and below 1",
        "train good.csv --cost-fp -1 --cost-fn 1",
        "train good.csv --cost-fp 1 --cost-fn 1 --steps 5",
    ),
    of("the gzip data is damaged", "look damaged.csv.gz", "look good.csv"),
    of("the zstd data is cut off or damaged", "look cut.csv.zst", "look good.csv"),
    of(
        "column \"…\" alone tells the classes apart without an error; if it is the label in other words, or known only afterwards, --ignore it",
        "compare leak.csv --metric auroc --methods auc-margin --folds 2",
        "compare leak.csv --ignore code --metric auroc --methods auc-margin --folds 2",
    ),
    of(
        "--class-weight …: …",
        "train good.csv --method ce --class-weight 1 --steps 5",
        "train good.csv --method ce --class-weight balanced --steps 5",
    ),
    of(
        "expected balanced, POS:NEG or LABEL=W,… with numbers above 0",
        "train good.csv --method ce --class-weight x --steps 5",
        "train good.csv --method ce --class-weight 2:1 --steps 5",
    ),
    of(
        "--cluster …: is the label column",
        "decide scores.csv --threshold fpr<=0.2 --cluster label --out o",
        "decide scores.csv --threshold fpr<=0.2 --out o",
    ),
    of(
        "--device …: …; use --device cpu, or --device auto for whichever can and is faster",
        "train good.csv --device gpu --method ai-sarah --steps 5",
        "train good.csv --device cpu --method ce --steps 5",
    ),
    of(
        "--explain: is of one score for each row, and this model has one for each class",
        "predict three.uc three.csv --explain",
        "predict m good.csv --explain",
    ),
    of(
        "there are … … rows",
        "compare good.csv --metric auroc --folds 60",
        "compare good.csv --metric auroc --methods auc-margin --folds 2",
    ),
    of(
        "--metric …: is not of files that are merged",
        "metrics scores.csv scores.csv --metric brier",
        "metrics scores.csv --metric auroc",
    ),
    of(
        "--metric …: is not told with --memory",
        "metrics scores.csv --memory 100M --metric brier",
        "metrics scores.csv --memory 100M --metric auroc",
    ),
    of(
        "--metric …: …:THRESHOLD, or --threshold RULE; only a model has one of its own",
        "metrics scores.csv --metric recall",
        "metrics scores.csv --metric recall:20",
    ),
    of(
        "--passes 2: … cannot be read twice",
        "metrics - --memory 100M --passes 2",
        "metrics scores.csv --memory 100M --passes 2",
    ),
    of(
        "--preset …: is of the method …",
        "train group.csv --group g --method soap --preset roc-fairness",
        "train group.csv --group g --method lagrange --preset roc-fairness --steps 5",
    ),
    of(
        "--seeds: the last seed would be above the greatest number there is",
        "train good.csv --seed 18446744073709551615 --seeds 2 --steps 5",
        "train good.csv --seed 1 --seeds 2 --steps 5",
    ),
    of("…: more than … runs", "train good.csv --seeds 99999999 --steps 5", "train good.csv --seeds 2 --steps 5"),
    of(
        "…: is written twice",
        "train good.csv --grid 'lr=1|2' --steps 5 --out w.svg --plot w.svg",
        "train good.csv --grid 'lr=1|2' --steps 5 --out w.uc --plot w.svg",
    ),
    of(
        "frontier: bounds the gaps between groups; --group names their columns",
        "frontier good.csv",
        "train good.csv --steps 5",
    ),
    of(
        "no row of class …, and every class of training is needed",
        "eval three.uc good3.csv",
        "eval three.uc three.csv",
    ),
    of("label …, but training knew the classes …", "eval three.uc other3.csv", "eval three.uc three.csv"),
    of(
        "sparse rows have no names of columns, so none that a split goes by",
        "train good.svm --split 0.5 --split-by a --method ce --steps 5",
        "train good.svm --split 0.5 --method ce --steps 5",
    ),
    of(
        "… in column … is neither a number nor a date, and the rows are to be ordered by it",
        "train group.csv --split 0.5 --split-by g --method ce --steps 5",
        "train dates.csv --split 0.5 --split-by day --method ce --steps 5",
    ),
    of(
        "queries of a named column, and LIBSVM has none; those of its rows, qid:NUMBER, are called qid",
        "eval svm.uc good.svm --metric ndcg --query q",
        "eval query.uc query.csv --metric ndcg --query q",
    ),
    of(
        "no qid:NUMBER behind the label, as in the rows before",
        "train query.svm --method ce --steps 5",
        "train good.svm --method ce --steps 5",
    ),
    of(
        "the values of column … are too large to scale",
        "train huge.csv --method ce --steps 5",
        "train huge.csv --method ce --ignore x --steps 5",
    ),
    of(
        "… (--positive), or train all of them by …",
        "train three.csv --method soap --steps 5",
        "train three.csv --method soap --positive late --steps 5",
    ),
    of(
        "…: a label other than 0 and 1 (--positive says which counts as positive in every file)",
        "metrics words.csv words.csv",
        "metrics words.csv words.csv --positive bad",
    ),
    of(
        "…:…: no row with a score and a label of 0 or 1 (--positive says which label counts as positive)",
        "metrics words.csv --memory 100M",
        "metrics words.csv --memory 100M --positive bad",
    ),
    of(
        "…: decisions are for a model of two classes",
        "decide three.uc three.csv --threshold fpr<=0.2 --out o",
        "decide m good.csv --threshold fpr<=0.2 --out o",
    ),
    of(
        "…: expected a name with .csv, .json or .svg",
        "eval m good.csv --curves c.png",
        "eval m good.csv --curves c.svg",
    ),
    of(
        "…: expected a text, a number, true, or a list of them",
        "--config list.toml train good.csv",
        "--config right.toml train good.csv",
    ),
    of("…: is not a folder", "train good.csv --steps 5 --out good.csv/o", "train good.csv --steps 5 --out o"),
    of(
        "…: is a link or a device, not an ordinary file",
        "train good.csv --steps 5 --out /dev/null",
        "train good.csv --steps 5 --out o",
    ),
    of(
        "…: is a model, whose threshold is chosen on the rows of DATA",
        "decide m --threshold fpr<=0.2 --out o",
        "decide m good.csv --threshold fpr<=0.2 --out o",
    ),
    of(
        "…: is not of files that are merged",
        "metrics scores.csv scores.csv --curves c.svg",
        "metrics scores.csv --curves c.svg",
    ),
    of(
        "…: is there and not a saved model; not replaced",
        "train good.csv --steps 5 --out plain.csv",
        "train good.csv --steps 5 --out o",
    ),
    of(
        "…: there are no probabilities; `undercurve decide --calibrate` makes some for a model, and scores from 0 to 1 of a file are some",
        "metrics scores.csv --metric brier",
        "metrics scores.csv --metric auroc",
    ),
    of(
        "…: there is no column …, which the split went by",
        "eval by.uc good.csv --held-out",
        "eval by.uc dates.csv --held-out",
    ),
    of(
        "…: … rows are of a group that training did not have, \"…\"",
        "eval fair.uc new.csv --metric auroc",
        "eval fair.uc group.csv --metric auroc",
    ),
    of("…: … values in columns beyond those of training were left out", "eval svm.uc wide.svm", "eval svm.uc good.svm"),
    of(
        "--constraint: is judged on rows without weights",
        "eval fair.uc group.csv --constraint 'gap(fpr) <= 0.5' --weight a",
        "eval fair.uc group.csv --constraint 'gap(fpr) <= 0.5'",
    ),
    of(
        "--metric …: …:THRESHOLD",
        "metrics scores.csv scores.csv --metric tpr",
        "metrics scores.csv scores.csv --metric tpr:20",
    ),
    of(
        "--out FILE: is where the model with the decision goes",
        "decide m good.csv --threshold fpr<=0.3",
        "decide m good.csv --threshold fpr<=0.3 --out o",
    ),
    of(
        "--plot: draws a grid of one or two parameters",
        "train good.csv --grid lr=.1|.2,decay=0|1,beta1=.5|.9 --steps 5 --plot p.svg",
        "train good.csv --grid lr=.1|.2,decay=0|1 --steps 5 --plot p.svg",
    ),
    of(
        "--preset …: needs --method NAME",
        "train good.csv --preset paper --steps 5",
        "train good.csv --preset paper --method soap --steps 5",
    ),
    of(
        "--threshold …: a promise needs rows that chose nothing else: --valid without --keep best and --patience, or `undercurve decide` on other rows",
        "train good.csv --steps 5 --threshold fpr<=0.3@90%",
        "train good.csv --steps 5 --valid 0.5 --threshold fpr<=0.3@90%",
    ),
    of(
        "--threshold …: there are … … rows",
        "train good.csv --steps 5 --threshold alerts<=500",
        "train good.csv --steps 5 --threshold alerts<=50",
    ),
    of(
        "--threshold …: there are … rows",
        "decide m good.csv --threshold alerts<=900 --out o",
        "decide m good.csv --threshold alerts<=9 --out o",
    ),
    of("--threshold …: …", "predict three.uc three.csv --threshold 0.3", "predict m good.csv --threshold 0.3"),
    of("--…: cannot be used with …: …", "train good.csv --seeds 2 --resume m", "train good.csv --seeds 2 --steps 5"),
    of(
        "--…: cannot be used with --average: …",
        "train good.csv --average 2 --model mlp:4 --save m --steps 5",
        "train good.csv --average 2 --model mlp:4 --steps 5",
    ),
    of(
        "--average …: is of networks (--model mlp:32); the mean of linear models is one linear model",
        "train good.csv --average 2 --steps 5",
        "train good.csv --average 2 --model mlp:4 --steps 5",
    ),
    of(
        "--average …: there are not so many seeds after …",
        "train good.csv --average 2 --model mlp:4 --seed 18446744073709551615 --steps 5",
        "train good.csv --average 2 --model mlp:4 --seed 18446744073709551614 --steps 5",
    ),
    of(
        "--…: cannot be used with --stream: …",
        "train good.csv --stream --split 0.5",
        "train good.csv --stream --steps 5",
    ),
    of(
        "--…: is of many runs, which --seeds or --grid asks for",
        "train good.csv --steps 5 --csv x.csv",
        "train good.csv --steps 5 --seeds 2 --csv x.csv",
    ),
    of("every label is …, and two classes are needed", "train one.svm --steps 5", "train good.svm --steps 5"),
    of(
        "is for classes, and labels are numbers",
        "train good.csv --target values --class-weight balanced --steps 5",
        "train good.csv --target values --steps 5",
    ),
    of(
        "label … counts as positive; --positive names another",
        "train words.csv --steps 5",
        "train words.csv --steps 5 --positive bad",
    ),
    of(
        "more than … label values, which are too many classes (is the label a number to predict?)",
        "train many.csv --target classes --method ce --steps 5",
        "train many.csv --positive c1 --method ce --steps 5",
    ),
    of(
        "step …: the batch of … rows had …, and this method compares classes; use --set sampling=stratified, or a larger batch (--set batch=…)",
        "train good.csv --method auc-margin --set sampling=uniform --set batch=1 --steps 50",
        "train good.csv --method auc-margin --steps 50",
    ),
    of("the label is missing", "train gone.csv --steps 5", "train good.csv --steps 5"),
    of(
        "… begins …, which a trial found better (--init … for the other)",
        "train good.csv --model mlp:4 --steps 20",
        "train good.csv --model mlp:4 --steps 20 --init linear",
    ),
    of("…: is a state, which is not read with --memory", "metrics s.state --memory 100M", "metrics s.state"),
    of(
        "…: is not a table of columns with tabs, semicolons or commas between them, which --memory reads alone",
        "metrics blanks.csv --memory 100M",
        "metrics scores.csv --memory 100M",
    ),
    of(
        "…: was made with another …; leave the option out to start from it",
        "train good.csv --start m --scale unit --steps 5",
        "train good.csv --start m --steps 5",
    ),
    of(
        "…: metrics of groups take no weights and are left out",
        "eval fair.uc group.csv --weight a --metric auroc",
        "eval fair.uc group.csv --metric auroc",
    ),
    of(
        "…: LIBSVM rows, which are not read in parts; train without --stream",
        "train good.svm --stream",
        "train good.svm --steps 5",
    ),
    of(
        "…: test rows of one class tell nothing",
        "train good.csv --stream --test one.csv --steps 5",
        "train good.csv --stream --test good.csv --steps 5",
    ),
    of(
        "…: hashes column \"…\" (--hash), which no export does; `undercurve predict` scores by it",
        "export hashed.uc h.json",
        "export m m.json",
    ),
    of("…; training had numbers there: mend the cell, or leave it empty", "predict m word.csv", "predict m good.csv"),
    of(
        "… (write them as in training, or leave them empty)",
        "predict plain.uc shares.csv",
        "predict plain.uc plain.csv",
    ),
    of(
        "--calibrate: is of a model and its DATA",
        "decide scores.csv --calibrate platt --out o",
        "decide m good.csv --calibrate platt --out o",
    ),
    of(
        "--certify …: has no rows of both labels in two groups",
        "frontier group.csv --group g --steps 5 --bounds 0.5 --certify onesided.csv",
        "frontier group.csv --group g --steps 5 --bounds 0.5 --certify group.csv",
    ),
    of(
        "--recheck: … is checked on independent rows without weights alone",
        "decide top.json --recheck clusters.csv --cluster c",
        "decide fair.json --recheck clusters.csv --cluster c",
    ),
    of(
        "…: takes no weights",
        "eval fair.uc group.csv --weight a --metric worst-auroc",
        "eval fair.uc group.csv --metric worst-auroc",
    ),
    of(
        "…: there are … rows",
        "metrics scores.csv --metric precision-at:500",
        "metrics scores.csv --metric precision-at:50",
    ),
    of(
        "--model …: … parameters are more than there is memory for",
        "train good.csv --model mlp:4000000,4000000 --steps 5",
        "train good.csv --model mlp:4 --steps 5",
    ),
    of(
        "--recheck: … bounds no rate that could hold or be broken",
        "decide costs.json --recheck scores.csv",
        "decide fair.json --recheck scores.csv",
    ),
    of(
        "--set …: method … has no such parameter, and both are to have it",
        "frontier group.csv --group g --set folds=3 --steps 5",
        "frontier group.csv --group g --set lr=0.1 --steps 5 --bounds 0.5",
    ),
    of(
        "--threshold …: … (…)",
        "decide scores.csv --threshold precision>=0.9@99% --out o",
        "decide scores.csv --threshold precision>=0.6@90% --out o",
    ),
    of("rule …: expected …", "decide rule.json --apply scores.csv", "decide right.json --apply scores.csv"),
    of(
        "version … of the format, and this program reads …",
        "decide format.json --apply scores.csv",
        "decide right.json --apply scores.csv",
    ),
    of("…: is no decision file: …", "decide good.csv --apply scores.csv", "decide right.json --apply scores.csv"),
    of("… is broken on …", "decide right.json --recheck backwards.csv", "decide fair.json --recheck scores.csv"),
    of(
        "…: its rows cannot tell whether … holds",
        "decide right.json --recheck scores.csv",
        "decide fair.json --recheck scores.csv",
    ),
    of(
        "…; each row needs a number as its score: mend the cell, or leave the row out",
        "decide right.json --apply gaps.csv",
        "decide right.json --apply scores.csv",
    ),
    of(
        "… of … rows are copies of others: where one is held out and the other trained on, it is no test; leave copies out, or keep rows of one origin together by --split-group",
        "compare copies.csv --metric auroc --methods auc-margin --folds 2",
        "compare plain.csv --metric auroc --methods auc-margin --folds 2",
    ),
    of("…: a model of … is printed without it)", "eval three.uc three.csv --metric auroc", "eval three.uc three.csv"),
    of(
        "…: expected true or false",
        "--config quiet.toml train good.csv --steps 5",
        "--config loud.toml train good.csv --steps 5",
    ),
    of(
        "…: is no model of two classes",
        "eval fair.uc group.csv --start three.uc --constraint 'loss(group.csv) <= old'",
        "eval fair.uc group.csv --start m --constraint 'loss(group.csv) <= old + 9'",
    ),
    of(
        "…: saved with another training data set",
        "eval split.uc few.csv --held-out",
        "eval split.uc good.csv --held-out",
    ),
    of(
        "--start: knows files whole, and not what is --held-out",
        "eval split.uc good.csv --start m --constraint 'loss(good.csv) <= old + 9' --held-out",
        "eval split.uc good.csv --start m --constraint 'loss(good.csv) <= old + 9'",
    ),
];

/// Messages that no command here gets, and why.
pub const UNTRIED: &[(&str, &str)] = &[
    ("…: is at a threshold, as …:0.5", DOORS),
    ("…: needs the rows, and only counts are there", DOORS),
    ("…: differences of it are not tested", DOORS),
    (
        "points before three digits, as …, in … were read as decimal points; --decimal comma takes them between thousands, --decimal point says so",
        LOOKED,
    ),
    ("numbers, as … and …, in … were read as numbers; if they are versions, say --categorical …", LOOKED),
    ("--header no: … is a Parquet file, which names its columns", PARQUET),
    ("…: Parquet is read from files alone, since its end has to be read first", PARQUET),
    ("…: a Parquet file, which is read with --format auto or csv alone", PARQUET),
    ("too few rows: one of the two folds would have no row of one class", FRAMES),
    ("two columns are called …", FRAMES),
    ("column … holds …, which is neither numbers, text nor dates", PARQUET),
    ("a value of column … is two categories of training: … and …", FRAMES),
    ("categories … and … of column … are one number: it has to be read as text", FRAMES),
    ("gzip data, and this build reads plain text only", BUILDS),
    ("zstd data, and this build does not read it", BUILDS),
    ("…; training goes on on the CPU", GPU),
    ("…; training goes on on …", GPU),
    ("…; training on the CPU", GPU),
    ("…: another run is writing it", "two programs at once"),
    (
        "…: changed while it was read; train again, on a copy if it is still being written",
        "a file that changes (demo/tests/stream.rs)",
    ),
    ("…: … (TMPDIR names a folder for the copy of a pipe)", "a full disk"),
    ("…: … MB were copied to …, to be read more than once", "a pipe (demo/tests/stream.rs)"),
    (
        "…: its first rows write numbers in another way than later ones, which is not read in parts (write them alike; --decimal and --dates say how)",
        "a file of several parts (demo/tests/stream.rs)",
    ),
    ("…: more than 2^32 rows of a class", SIZE),
    ("… is too large", SIZE),
    ("… rows × … columns after encoding are too many; column … has the most categories", SIZE),
    ("… rows × … columns are too many to centre; scale = unit or none keeps them sparse", SIZE),
    ("… make more than … groups", SIZE),
    ("…: column \"…\" has more categories than features fit into memory; its rarest, of … rows, count as none", SIZE),
    ("a worker failed", "a fault of this program"),
    ("… models on …: about … s of processor time, and up to … s for the mean of … networks", "auto.rs searches"),
    ("the other … trainings take about … s, some … s with … at a time", "a minute"),
    ("--constraint …: …", FIRST),
    ("--stream: begins a run of its own", FIRST),
    ("runs under constraints are made one at a time: no --seeds, no --grid", FIRST),
    ("…: auto is for two classes", FIRST),
    ("…: compare is for two classes", FIRST),
    ("…: frontier trains new runs", FIRST),
    ("…: is for two classes; --positive names one of several", FIRST),
    ("…: column \"…\", but no row of that class", FIRST),
    ("…: no such columns", FIRST),
    ("…: a score is not a number", FIRST),
    ("…: LIBSVM, whose columns have no names", FIRST),
    ("class … has one row, and a split needs two", FIRST),
    ("…: a model without its preparation", PACKAGE),
    ("…: has no rule of a threshold", PACKAGE),
    ("…: no export of a model …", PACKAGE),
    ("…: cut off, that run is made again", EXPERIMENTS),
    ("…: not a finished run of this bench: …", EXPERIMENTS),
    ("it broke down: …", "training that ends in an error"),
];
const DOORS: &str = "the command line has its own words, which name an option";
/// Said by `look` on stdout.
const LOOKED: &str = "not tried: tests/look.rs does";
const PARQUET: &str = "a build with Parquet";
const BUILDS: &str = "other builds of the core";
const FRAMES: &str = "columns of frames, and numbers that Rust reads (tests/tests/cells.rs)";
const GPU: &str = "a GPU that fails (gpu/tests/fault.rs)";
const SIZE: &str = "gigabytes of data";
const FIRST: &str = "an earlier check refuses what is known to lead here";
const PACKAGE: &str = "files of a program that uses the library";
const EXPERIMENTS: &str = "tests/experiments keep runs in files";

/// Models that the commands name, and how they are trained.
pub const MODELS: [&str; 15] = [
    "train good.csv --method ce --steps 20 --split 0.5 --out split.uc",
    "train dates.csv --method ce --steps 20 --split 0.5 --split-by day --out by.uc",
    "train group.csv --method ce --group g --steps 20 --out fair.uc",
    "train good.csv --method ce --steps 20 --out m",
    "train plain.csv --method ce --steps 20 --out plain.uc",
    "train group.csv --method ce --steps 20 --out group.uc",
    "train query.csv --method ce --steps 20 --out query.uc",
    "train good.svm --method ce --steps 20 --out svm.uc",
    "train three.csv --target classes --method ce --steps 20 --out three.uc",
    "train group.csv --method ce --steps 20 --hash g:4 --out hashed.uc",
    "train weight.csv --weight w --method ce --steps 5 --threshold fpr<=0.3 --out weight.uc",
    "decide scores.csv --threshold alerts<=20 --out top.json",
    "decide scores.csv --threshold costs:1:1 --out costs.json",
    "decide scores.csv --threshold precision>=0.1 --out fair.json",
    "metrics scores.csv --state s.state",
];
