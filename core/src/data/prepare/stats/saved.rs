//! The bytes of a column's statistics.

use super::{Counts, DIFFERENT, Numbers, Seen, Stat, Texts};
use crate::checkpoint::{Coded, Reader};
use crate::real::Real;
use alloc::string::String;
use alloc::vec::Vec;

impl Coded for Stat {
    fn write(&self, out: &mut Vec<u8>) {
        self.name.write(out);
        self.told.write(out);
        self.kind.write(out);
        self.missing.write(out);
        match &self.seen {
            Seen::Nothing => out.push(0),
            Seen::Numbers(Numbers { sum, squares, whole, low, counts }) => {
                out.push(1);
                sum.write(out);
                squares.write(out);
                whole.write(out);
                low.write(out);
                counts.bits.write(out);
                counts.cells.len().write(out);
                let mut before = 0;
                for &(key, count) in &counts.cells {
                    (key - before).write(out);
                    count.write(out);
                    before = key;
                }
            }
            Seen::Texts(Texts { counts, more }) => {
                out.push(2);
                more.write(out);
                counts.len().write(out);
                for (text, count) in counts {
                    text.write(out);
                    count.write(out);
                }
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (name, told, kind, missing) = (from.value()?, from.value()?, from.value()?, from.value()?);
        let seen = match from.byte()? {
            0 => Seen::Nothing,
            1 => {
                let (sum, squares, whole, low) = (from.value()?, from.value()?, from.value()?, from.value()?);
                let bits = from.value().filter(|&bits: &u32| bits < u64::BITS)?;
                let cells: Vec<(u64, u64)> = from.value()?;
                let mut counts = Counts { bits, cells };
                let mut before = 0_u64;
                for (at, cell) in counts.cells.iter_mut().enumerate() {
                    let key = before.checked_add(cell.0)?;
                    if !is_key(key) || (at > 0 && key >> bits == before >> bits) {
                        return None;
                    }
                    (cell.0, before) = (key, key);
                }
                let first = counts.cells.first()?.0;
                let sound = is_key(low) && low <= first && low >> bits == first >> bits;
                (sound && counts.cells.len() <= DIFFERENT).then_some(Seen::Numbers(Numbers {
                    sum,
                    squares,
                    whole,
                    low,
                    counts,
                }))?
            }
            2 => {
                let more = from.value()?;
                let list: Vec<(String, u64)> = from.value()?;
                let sound = !list.is_empty() && list.len() <= DIFFERENT && list.windows(2).all(|of| of[0].0 < of[1].0);
                sound.then(|| Seen::Texts(Texts { counts: list.into_iter().collect(), more }))?
            }
            _ => return None,
        };
        Some(Self { name, told, kind, missing, seen })
    }
}

fn is_key(key: u64) -> bool {
    let x = f64::of_key(key);
    x.is_finite() && x.key() == key
}
