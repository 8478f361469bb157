//! A file that is read more than once, by parts; of what comes through a pipe, a copy.

use crate::args::data::DataPlan;
use crate::error::{CliError, Result};
use crate::run::stop::stopped;
use crate::{input, output};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use undercurve::data::{DataError, DataErrorKind, Encoding, Preparation, RawTable, ReadOptions, TableParts};

/// Rows of a part.
const ROWS: usize = 1 << 15;
/// Bytes that are read at once.
const PIECE: usize = 1 << 18;

/// Where rows come from, as often as they are asked for.
pub struct Source {
    path: PathBuf,
    copy: Option<PipeCopy>,
    /// Length and time of the last change.
    state: Option<(u64, Option<SystemTime>)>,
}

/// The copy of what came through a pipe, gone with it.
struct PipeCopy {
    file: File,
    /// Where it is, if it still has a name.
    path: Option<PathBuf>,
}

impl Drop for PipeCopy {
    fn drop(&mut self) {
        self.path.iter().for_each(|path| _ = fs::remove_file(path));
    }
}

impl Source {
    /// A file, or a copy of a pipe in the folder for temporary files.
    pub fn new(path: &Path) -> Result<Self> {
        let about = |path: &Path| fs::metadata(path).map_err(|error| CliError::file(path, &error));
        let piped = path == Path::new("-") || !about(path)?.is_file();
        let copy = if piped { Some(copied(path)?) } else { None };
        let state = if piped { None } else { Some(about(path)?).map(|about| (about.len(), about.modified().ok())) };
        Ok(Self { path: path.to_owned(), copy, state })
    }

    /// How errors call it.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn open(&self, options: &mut ReadOptions) -> Result<Box<dyn io::Read>> {
        let Some(copy) = &self.copy else {
            self.unchanged()?;
            return input::open(&self.path, options);
        };
        let failed = |error: io::Error| CliError::file(&self.path, &error);
        let mut file = copy.file.try_clone().map_err(failed)?;
        file.rewind().map_err(failed)?;
        input::open_file(file, &self.path, options)
    }

    /// Refuses a file that is another than it was.
    pub fn unchanged(&self) -> Result<()> {
        let Some(state) = self.state else { return Ok(()) };
        let about = fs::metadata(&self.path).map_err(|error| CliError::file(&self.path, &error))?;
        if (about.len(), about.modified().ok()) == state { Ok(()) } else { Err(self.changed()) }
    }

    /// What is said of a file that is.
    pub fn changed(&self) -> CliError {
        CliError::input(format!(
            "{}: changed while it was read; train again, on a copy if it is still being written",
            self.name()
        ))
    }

    /// Calls `take` with one part of the rows after the other, until it says false; false where it was stopped by a signal.
    pub fn each(&self, options: &ReadOptions, mut take: impl FnMut(RawTable) -> Result<bool>) -> Result<bool> {
        let mut options = options.clone();
        #[cfg(feature = "parquet")]
        if self.copy.is_none() && input::parquet::is_parquet(&self.path) {
            self.unchanged()?;
            let mut whole = true;
            input::parquet::each(&self.path, &options, ROWS, |part| {
                whole = stopped().is_none();
                Ok(whole && take(part)?)
            })?;
            self.unchanged()?;
            return Ok(whole);
        }
        let mut reader = self.open(&mut options)?;
        let mut parts = TableParts::new(&options, ROWS, &self.name());
        let mut piece = vec![0; PIECE];
        loop {
            if stopped().is_some() {
                return Ok(false);
            }
            let part = match reader.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => parts.push(&piece[..read]).map_err(told)?,
                Err(error) if error.kind() == ErrorKind::Interrupted => None,
                Err(error) => return Err(CliError::file(&self.path, &error)),
            };
            if let Some(part) = part
                && !take(part)?
            {
                return Ok(true);
            }
        }
        if let Some(part) = parts.finish().map_err(told)? {
            take(part)?;
        }
        self.unchanged()?;
        Ok(true)
    }
}

/// What is wrong with the text.
fn told(error: DataError) -> CliError {
    match error.kind {
        DataErrorKind::Core(undercurve::Error::Unsupported { .. }) => {
            CliError::input(format!("{}: LIBSVM rows, which are not read in parts; train without --stream", error.file))
        }
        _ => error.into(),
    }
}

/// Copies a pipe to a file without a name, where the system has such.
fn copied(path: &Path) -> Result<PipeCopy> {
    let folder = std::env::temp_dir();
    let place = folder.join(format!("undercurve-stream-{}", std::process::id()));
    let failed = |error: io::Error| {
        CliError::input(format!(
            "{}: {} (TMPDIR names a folder for the copy of a pipe)",
            place.display(),
            crate::error::plain(&error)
        ))
    };
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&place).map_err(failed)?;
    let removed = cfg!(unix) && fs::remove_file(&place).is_ok();
    let mut copy = PipeCopy { file, path: (!removed).then(|| place.clone()) };
    let mut from: Box<dyn io::Read> = match path == Path::new("-") {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(path).map_err(|error| CliError::file(path, &error))?),
    };
    let (mut piece, mut all) = (vec![0; PIECE], 0_u64);
    loop {
        if let Some(code) = stopped() {
            return Err(CliError::Interrupted(code));
        }
        match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => {
                io::Write::write_all(&mut copy.file, &piece[..read]).map_err(failed)?;
                all += read as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(CliError::file(path, &error)),
        }
    }
    let (name, folder) = (path.display(), folder.display());
    output::note(format_args!(
        "{name}: {} MB were copied to {folder}, to be read more than once",
        all.div_ceil(1_000_000)
    ));
    Ok(copy)
}

/// How rows are read for a preparation: as those that it was made of.
pub fn reads_again(plan: &DataPlan, preparation: &Preparation) -> ReadOptions {
    let reads = input::reads_of(plan);
    let encoding = if reads.encoding == Encoding::Utf8 { preparation.encoding() } else { reads.encoding };
    ReadOptions {
        label: preparation.label_column().map(str::to_string),
        na: preparation.na().to_vec(),
        texts: preparation.texts(),
        columns: preparation.known(),
        encoding,
        ..reads
    }
}
