//! Thinning a curve for drawing.

use crate::error::{Error, Result};

/// The smallest number of points a thinned curve may be given.
const FEWEST: usize = 4;

/// Writes a thinned curve into `out`.
///
/// The curve runs along `place` in [0, 1], which never decreases. The first and last point stay; in between, [0, 1] is
/// cut into equal cells, and of each cell the points of least and greatest `height` stay, in the order of the curve.
pub(super) struct Thinner<'a, P> {
    out: &'a mut [P],
    len: usize,
    cells: usize,
    cell: usize,
    seen: usize,
    least: Option<(f64, usize, P)>,
    greatest: Option<(f64, usize, P)>,
    last: Option<P>,
}

/// Checks the length of the output of a thinned curve.
pub(super) fn check_out<P>(out: &[P]) -> Result<()> {
    if out.len() < FEWEST {
        return Err(Error::Length { what: "out", need: FEWEST, got: out.len() });
    }
    Ok(())
}

impl<'a, P: Copy> Thinner<'a, P> {
    /// `out` has passed [`check_out`].
    pub(super) fn new(out: &'a mut [P]) -> Self {
        let cells = (out.len() - 2) / 2;
        Self { out, len: 0, cells, cell: 0, seen: 0, least: None, greatest: None, last: None }
    }

    pub(super) fn push(&mut self, place: f64, height: f64, point: P) {
        // The last point is held back until it is known to be the last; so its height and place ride along.
        self.seen += 1;
        if self.seen == 1 {
            self.write(point);
            return;
        }
        let cell = ((place * self.cells as f64) as usize).min(self.cells - 1);
        if cell != self.cell {
            self.flush();
            self.cell = cell;
        }
        let entry = (height, self.seen, point);
        if self.least.is_none_or(|least| height < least.0) {
            self.least = Some(entry);
        }
        if self.greatest.is_none_or(|greatest| height > greatest.0) {
            self.greatest = Some(entry);
        }
        self.last = Some(point);
    }

    fn write(&mut self, point: P) {
        self.out[self.len] = point;
        self.len += 1;
    }

    /// Writes the kept points of the finished cell; the number of the last one.
    fn flush(&mut self) -> usize {
        let (Some(a), Some(b)) = (self.least.take(), self.greatest.take()) else {
            return 0;
        };
        let (first, second) = if a.1 <= b.1 { (a, b) } else { (b, a) };
        self.write(first.2);
        if second.1 != first.1 {
            self.write(second.2);
        }
        second.1
    }

    /// Writes what is held back; the number of points written.
    pub(super) fn finish(mut self) -> usize {
        let written = self.flush();
        if let Some(last) = self.last
            && written != self.seen
        {
            self.write(last);
        }
        self.len
    }
}
