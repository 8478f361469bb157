//! `undercurve decide DECISION --apply`: a decision for each score of a file, as rows come.

use super::file::DecisionFile;
use crate::error::{CliError, Result, for_scores};
use crate::input::labelled::scores_of;
use crate::input::{self, Layout};
use crate::output;
use crate::tell::table;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use undercurve::data::{
    Block, Blocks, DataError, DataErrorKind, Format, Missing, Options, Preparation, RawTable, Scale,
};

/// Bytes that are read at once.
const PIECE: usize = 1 << 16;

/// Reads the column of scores, and no label.
fn scores_alone(score: &str) -> Result<Preparation> {
    let label = if score == "label" { "label of it" } else { "label" };
    let text = format!("{},{label}\n0,0\n1,1\n", table::cell(score));
    let example = RawTable::parse(text.as_bytes(), Format::Csv, "scores")?;
    let options = Options {
        label: Some(label.to_string()),
        scale: Some(Scale::None),
        missing: Missing::Refuse,
        ..Options::default()
    };
    Ok(Preparation::fit(&example, &options)?)
}

/// Writes the columns `id`, the score and the decision of each row, 1 or 0.
pub fn run(
    file: &DecisionFile,
    new: &Path,
    score: &str,
    id: &[String],
    layout: Layout,
    out: Option<&Path>,
) -> Result<()> {
    let preparation = scores_alone(score)?;
    let name = new.display().to_string();
    let mut options = input::read_options(layout, None);
    let mut reader = input::open(new, &mut options)?;
    let mut blocks = Blocks::new(&preparation, &options, id, &name);
    let mut lines = output::Lines::new(out)?;
    let head = id.iter().map(String::as_str).chain([score, "decision"]);
    lines.add(head.map(table::name).collect::<Vec<_>>().join(","))?;
    let at = file.at();
    let mut take = |block: &Block| -> Result<()> {
        let data = preparation.apply_unlabelled::<f64>(&block.table).map_err(for_scores)?;
        let scores = scores_of(&block.table, &data)?;
        for (row, &score) in scores.iter().enumerate() {
            let ids = block.kept[row * id.len()..][..id.len()].iter().map(|text| table::cell(text));
            let cells = ids.chain([score.to_string(), u8::from(score >= at).to_string()]);
            lines.add(cells.collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    };
    let mut piece = vec![0; PIECE];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => blocks.push(&piece[..read])?.map_or(Ok(()), |block| take(&block))?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(CliError::file(new, &error)),
        }
    }
    match blocks.finish() {
        Err(DataError { kind: DataErrorKind::HeaderOnly, .. }) => {
            output::note(format_args!("{name}: no rows below the header"));
        }
        rest => rest?.map_or(Ok(()), |block| take(&block))?,
    }
    lines.end()
}
