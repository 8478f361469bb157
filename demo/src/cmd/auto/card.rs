//! The card: one HTML file without scripts and without anything from elsewhere.

use super::Plan;
use super::draw::Plot;
use super::outcome::Outcome;
use crate::cmd::look::find::{As, Column, Found};
use std::fmt::Write as _;

const STYLE: &str = "\
:root{--paper:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--mark:#0b62b8;--warn:#8a4b00;--tint:#f3f6f9}
@media(prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e6e9ec;--soft:#9aa4ae;--line:#39424b;--mark:#6cb2f5;--warn:#f0b060;--tint:#1d2226}}
*{box-sizing:border-box}html{color-scheme:light dark}
body{margin:0 auto;max-width:68rem;padding:1.5rem 1.25rem 3rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2.25rem 0 .5rem}
p{margin:.4rem 0}.soft{color:var(--soft)}.warn{color:var(--warn)}
.said{border-left:4px solid var(--mark);background:var(--tint);padding:.6rem .9rem;margin:1rem 0}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.35rem .7rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;color:var(--soft);font-size:.88rem}td.n,th.n{text-align:right;white-space:nowrap}td.name{overflow-wrap:anywhere;min-width:7rem}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:1rem}
figure{margin:0}figcaption{font-weight:600;font-size:.95rem}svg{width:100%;height:auto;max-width:24rem;display:block}
svg text{fill:var(--soft);font:11px system-ui,sans-serif}svg path{fill:none}.grid{stroke:var(--line);stroke-width:1}
.curve{stroke:var(--mark);stroke-width:2;stroke-linejoin:round}.chance{stroke:var(--soft);stroke-width:1;stroke-dasharray:4 4}
.whisker{stroke:var(--mark);stroke-width:1.5}.dot{fill:var(--mark)}
.bar{display:block;height:.7rem;background:var(--mark);min-width:1px}
@media(max-width:34rem){body{padding:1rem .8rem 2rem}th,td{font-size:.84rem;padding-right:.45rem}td.n,th.n{white-space:normal}td.name{min-width:5.5rem}}
.plots{margin-top:1.25rem}ul{padding-left:1.2rem;margin:.4rem 0}li{margin:.25rem 0}code{font:.92em ui-monospace,monospace;overflow-wrap:anywhere}";

/// Text of a file between tags or in an attribute.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

/// The page. (Writing to a string cannot fail.)
pub fn html(plan: &Plan, found: &Found, outcome: &Outcome) -> String {
    let name = plan.file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let label = found.label.as_ref().map_or("", |label| label.column.as_str());
    let mut page = format!(
        "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width,initial-scale=1\">\
         <title>{0}: model card</title><style>{STYLE}</style>\n<main><h1>{0}: a model of “{1}”</h1>\n",
        plain(&name),
        plain(label)
    );
    head(&mut page, plan, found, outcome);
    figures(&mut page, outcome);
    compared(&mut page, plan, outcome);
    importances(&mut page, plan, outcome);
    columns(&mut page, found);
    unknown(&mut page, plan, found, outcome);
    page.push_str("</main></html>\n");
    page
}

fn head(page: &mut String, plan: &Plan, found: &Found, outcome: &Outcome) {
    if let Some(label) = &found.label {
        let share = 100.0 * label.positives as f64 / label.rows as f64;
        let without = if label.without > 0 {
            format!(" {} rows without a label were left out.", label.without)
        } else {
            String::new()
        };
        let _ = writeln!(
            page,
            "<p class=soft>“{}” is positive: {} of {} rows ({share:.1} %).{without} The model is trained on all of them.</p>",
            plain(&label.positive),
            label.positives,
            label.rows
        );
    }
    let _ = writeln!(page, "<p class=said>{}</p>", plain(&outcome.verdict));
    if let Some(warning) = outcome.warning() {
        let _ = writeln!(page, "<p class=\"said warn\">{}</p>", plain(&warning));
    }
    for name in &found.away {
        let _ = writeln!(
            page,
            "<p class=\"said warn\">“{}” alone ranks the label almost perfectly. If it is not known when the model has to decide, \
             all figures here are wrong; <code>--ignore</code> leaves it out.</p>",
            plain(name)
        );
    }
    let split = match &plan.data.options.split_by {
        Some(undercurve::data::SplitBy::Order(by)) => format!("each of later rows by “{}”", plain(by)),
        Some(undercurve::data::SplitBy::Group(by)) => format!("whole groups of “{}”", plain(by)),
        _ => "drawn by class".to_string(),
    };
    let _ = writeln!(page, "<p class=soft>Folds: {split}. Seed {}.</p>", plan.seed);
}

fn figures(page: &mut String, outcome: &Outcome) {
    page.push_str("<h2>On held-out rows</h2><div class=wide><table><tr><th>Figure<th class=n>Value<th class=n>95 % interval</tr>\n");
    for figure in &outcome.figures {
        let interval = figure.ours.interval.map_or("–".to_string(), |[low, high]| format!("{low:.4} to {high:.4}"));
        let beside = outcome.beside_text(figure).map_or(String::new(), |text| format!("<br>{}", plain(&text)));
        let _ = writeln!(
            page,
            "<tr><td>{}{beside}<td class=n>{:.4}<td class=n>{interval}</tr>",
            figure.name, figure.ours.value
        );
    }
    let _ = writeln!(page, "</table></div><p>{}.</p><div class=plots>", plain(&outcome.threshold_text()));
    let value = |key: &str| {
        outcome.figures.iter().find(|figure| figure.key == key).map_or(f64::NAN, |figure| figure.ours.value)
    };
    let roc = Plot::new("false-positive rate", "recall")
        .line("chance", [(0.0, 0.0), (1.0, 1.0)].into_iter())
        .line("curve", outcome.roc.iter().map(|point| (point.fpr, point.tpr)));
    let share = outcome.positives as f64 / outcome.rows as f64;
    let pr = Plot::new("recall", "precision")
        .line("chance", [(0.0, share), (1.0, share)].into_iter())
        .line("curve", outcome.pr.iter().map(|point| (point.recall, point.precision)));
    let mut add = |title: &str, told: String, plot: Plot| {
        let _ = writeln!(page, "<figure><figcaption>{title}</figcaption>{}</figure>", plot.svg(&told));
    };
    add("ROC curve", format!("ROC curve, area {:.4}", value("auroc")), roc);
    add("Precision and recall", format!("Precision-recall curve, average precision {:.4}", value("ap")), pr);
    if !outcome.bins.is_empty() {
        let plot =
            Plot::new("probability said", "share that came true").line("chance", [(0.0, 0.0), (1.0, 1.0)].into_iter());
        let plot = outcome.bins.iter().fold(plot, |plot, bin| {
            let (low, high) = bin.interval();
            plot.point((bin.mean, bin.share()), [low, high])
        });
        add("Reliability", "Share of positives by tenths of the rows, beside the probability said".to_string(), plot);
    }
    page.push_str("</div>\n");
}

fn compared(page: &mut String, plan: &Plan, outcome: &Outcome) {
    let _ = writeln!(
        page,
        "<h2>What was tried, over the folds</h2><div class=wide><table><tr><th>Model, as options of <code>train</code><th class=n>Mean {} ± sd<th class=n>Ahead of the first<th class=n>95 % interval</tr>",
        called(plan.metric)
    );
    for (at, row) in outcome.tried.iter().enumerate() {
        let ahead = match row.ahead {
            Some([mean, low, high]) => format!("<td class=n>{mean:+.4}<td class=n>{low:+.4} to {high:+.4}"),
            None if row.dropped => format!("<td class=n>–<td class=n>dropped after {} folds", row.values.len()),
            None => "<td class=n>–<td class=n>–".to_string(),
        };
        let name = plain(&row.name);
        let name = if at == outcome.taken { format!("<b>{name}</b> (taken)") } else { name };
        let options = plain(&row.options);
        let _ = writeln!(
            page,
            "<tr><td>{name}<br><code>{options}</code><td class=n>{:.4} ± {:.4}{ahead}</tr>",
            row.mean, row.sd
        );
    }
    page.push_str(
        "</table></div>\n<p class=soft>Each interval is of one model by itself; of several, one may be ahead by luck. Boosted trees are often ahead \
         where columns act together strongly. Scores of LightGBM, with the labels, are judged by <code>undercurve metrics scores.csv</code> \
         and decided by <code>undercurve decide scores.csv --threshold \"fpr&lt;=0.05\"</code>.</p>\n",
    );
}

fn importances(page: &mut String, plan: &Plan, outcome: &Outcome) {
    if outcome.importances.is_empty() {
        return;
    }
    let most = outcome.importances[0].loss.max(f64::MIN_POSITIVE);
    let _ = writeln!(
        page,
        "<h2>What the model reads</h2><p class=soft>The {} that is lost on the rows of a fold when a column is shuffled. Columns \
         that tell the same share it.</p><div class=wide><table><tr><th>Column<th class=n>Loss ± sd<th style=\"width:40%\"></tr>",
        called(plan.metric)
    );
    for one in outcome.importances.iter().take(20) {
        let width = 100.0 * (one.loss / most).clamp(0.0, 1.0);
        let _ = writeln!(
            page,
            "<tr><td class=name>{}<td class=n>{:.4} ± {:.4}<td><span class=bar style=\"width:{width:.1}%\"></span></tr>",
            plain(&one.column),
            one.loss,
            one.sd
        );
    }
    page.push_str("</table></div>\n");
    if outcome.importances.len() > 20 {
        let _ = writeln!(page, "<p class=soft>{} more are in importances.csv.</p>", outcome.importances.len() - 20);
    }
}

fn columns(page: &mut String, found: &Found) {
    let label = found.label.as_ref().map_or("", |label| label.column.as_str());
    let used = |column: &&Column| column.left_out.is_none() && column.name != label;
    page.push_str("<h2>Columns</h2><div class=wide><table><tr><th>Column<th>Read as<th class=n>Missing<th class=n>Alone, AUROC</tr>\n");
    for column in found.columns.iter().filter(used).take(200) {
        let alone = column.auroc.map_or("–".to_string(), |auroc| format!("{auroc:.3}"));
        let _ = writeln!(
            page,
            "<tr><td class=name>{}<td>{}<td class=n>{}<td class=n>{alone}</tr>",
            plain(&column.name),
            plain(&column.read_as()),
            column.missing
        );
    }
    page.push_str("</table></div>\n");
    let gone: Vec<&Column> = found.columns.iter().filter(|column| column.left_out.is_some()).collect();
    if !gone.is_empty() {
        page.push_str("<p>Left out:</p><ul>\n");
        for column in gone {
            let why = column.left_out.as_deref().unwrap_or_default();
            let _ = writeln!(page, "<li>“{}”: {}</li>", plain(&column.name), plain(why));
        }
        page.push_str("</ul>\n");
    }
}

/// A metric in words.
fn called(metric: &str) -> &str {
    match metric {
        "auroc" => "AUROC",
        "ap" => "average precision",
        _ => "partial AUC",
    }
}

/// What it does not know.
fn unknown(page: &mut String, plan: &Plan, found: &Found, outcome: &Outcome) {
    let mut all = vec![
        "Rows of another time, place or kind than these: the figures are of held-out rows of the same file."
            .to_string(),
        "Why: a column that the model reads need not be a cause.".to_string(),
    ];
    if let Some(label) = &found.label {
        let share = 100.0 * label.positives as f64 / label.rows as f64;
        all.push(format!(
            "Another share of positives than {share:.1} %: precision and probabilities change with it, recall and the false-positive rate do not."
        ));
    }
    let few = outcome.positives.min(outcome.rows - outcome.positives);
    if few < 100 {
        all.push(format!("Small differences: there are {few} rows of the rarer class, which the intervals show."));
    }
    if let (Some(name), None) = (&found.time, &plan.data.options.split_by) {
        all.push(format!(
            "What comes later: rows were drawn regardless of “{}”; <code>--split-by</code> holds out later ones.",
            plain(name)
        ));
    }
    if let (Some(name), None) = (&found.together, &plan.data.options.split_by) {
        all.push(format!("New values of “{}”: rows of one value may be on both sides; <code>--split-group</code> keeps them together.", plain(name)));
    }
    if found.copies > 0 {
        let [copies, others] = [found.copies, found.contradictions];
        all.push(format!("Whether copies are errors: {copies} rows are equal to another in all features, {others} of them with another label."));
    }
    let label = found.label.as_ref().map_or("", |label| label.column.as_str());
    let categories =
        |column: &Column| column.read == As::Categories && column.left_out.is_none() && column.name != label;
    if found.columns.iter().any(categories) {
        all.push("Categories that did not occur in training: they count as none.".to_string());
    }
    let missing = found.columns.iter().filter(|column| column.missing > 0 && column.left_out.is_none()).count();
    if missing > 0 {
        all.push(format!("What is missing in {missing} columns: the mean is filled in, beside a column that says so."));
    }
    all.push("Whether it is fair: no groups were compared; <code>undercurve eval --group</code> does.".to_string());
    page.push_str("<h2>What it does not know</h2><ul>\n");
    all.iter().for_each(|text| _ = writeln!(page, "<li>{text}</li>"));
    page.push_str("</ul>\n");
}
