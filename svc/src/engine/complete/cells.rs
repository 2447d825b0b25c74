//! The values of one row: a row of the answer, or a record inside one, in PostgreSQL's binary format.

use std::sync::Arc;

use crate::db::Rows;

/// The values of a row by position; a value that is null is `None`.
#[derive(Debug, Clone)]
pub(crate) enum Cells<'a> {
    Row(&'a Rows, usize),
    Record(Arc<[Option<&'a [u8]>]>),
}

impl<'a> Cells<'a> {
    pub(crate) fn get(&self, column: usize) -> Option<&'a [u8]> {
        match self {
            Self::Row(rows, row) => rows.cell(*row, column),
            Self::Record(cells) => cells.get(column).copied().flatten(),
        }
    }

    /// The values of a record (`record_send` in PostgreSQL): their number, then of each the type, the length and
    /// the bytes.
    pub(crate) fn record(bytes: &'a [u8]) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let count = usize::try_from(bytes.int()?).ok()?;
        let cells = (0..count).map(|_| {
            bytes.int()?;
            bytes.value()
        });
        Some(Self::Record(cells.collect::<Option<Arc<[_]>>>()?))
    }
}

/// A list in PostgreSQL's binary format (`array_send`): its dimensions, then of each element the length and the bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Records<'a> {
    count: usize,
    elements: &'a [u8],
}

impl<'a> Records<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self::read(bytes).unwrap_or_default()
    }

    fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let (dimensions, _, _) = (bytes.int()?, bytes.int()?, bytes.int()?);
        if dimensions != 1 {
            return None;
        }
        let (count, _) = (bytes.int()?, bytes.int()?);
        Some(Self { count: usize::try_from(count).ok()?, elements: bytes.0 })
    }

    /// The values of each record.
    pub(crate) fn iter(self) -> impl Iterator<Item = Cells<'a>> {
        self.values().filter_map(|value| value.and_then(Cells::record))
    }

    /// The bytes of each element.
    pub(crate) fn values(self) -> impl Iterator<Item = Option<&'a [u8]>> {
        let mut bytes = Reader(self.elements);
        (0..self.count).map_while(move |_| bytes.value())
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn int(&mut self) -> Option<i32> {
        let (int, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(i32::from_be_bytes(*int))
    }

    /// A length and as many bytes; a negative length is null.
    fn value(&mut self) -> Option<Option<&'a [u8]>> {
        let Ok(length) = usize::try_from(self.int()?) else { return Some(None) };
        let (value, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::{Cells, Records};

    #[test]
    fn bytes_that_are_cut_short_give_nothing() {
        let record = [&2i32.to_be_bytes()[..], &[0, 0, 0, 25, 0, 0, 0, 1, b'a'], &[0, 0, 0, 25, 255, 255, 255, 255]];
        let record = record.concat();
        let cells = Cells::record(&record).unwrap();
        assert_eq!((cells.get(0), cells.get(1), cells.get(2)), (Some(&b"a"[..]), None, None));
        for end in 0..record.len() {
            assert!(Cells::record(&record[..end]).is_none(), "{end}");
        }
        let list = [&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 8, 249, 0, 0, 0, 1, 0, 0, 0, 1][..]].concat();
        assert_eq!(Records::new(&list).iter().count(), 0);
        assert_eq!(Records::new(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 249]).values().count(), 0);
    }
}
