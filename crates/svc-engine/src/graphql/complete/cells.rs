//! The values of one row, either a row of a result or a record inside one, in PostgreSQL's binary
//! format.

use std::sync::Arc;

use tokio_postgres::Row;

use svc_postgres::{DbError, Oid, Rows, cell};

/// The values of a row by position; null is `None`.
#[derive(Debug, Clone)]
pub(crate) enum Cells<'a> {
    /// One row of a statement's result.
    Nth(&'a Rows, usize),
    Row(&'a Row),
    /// The values of a record, in the received format.
    Narrow(Reader<'a>),
    /// The values of a record with too many to search it for each lookup.
    Wide(Arc<[Option<&'a [u8]>]>),
}

/// The maximum number of values in a record that is searched again for each lookup.
const NARROW: usize = 16;

impl<'a> Cells<'a> {
    /// Returns a value as [`get`](Self::get) does, without a call for a row of a result.
    #[inline(always)]
    pub(crate) fn get_inlined(&self, column: usize) -> Option<&'a [u8]> {
        match self {
            Self::Row(row) => cell(row, column),
            _ => self.get(column),
        }
    }

    pub(crate) fn get(&self, column: usize) -> Option<&'a [u8]> {
        match self {
            Self::Nth(rows, row) => rows.cell(*row, column),
            Self::Row(row) => cell(row, column),
            // `record` has compared the types, so they are only passed over here.
            Self::Narrow(values) => values.clone().typed_values().nth(column)??,
            Self::Wide(values) => values.get(column).copied().flatten(),
        }
    }

    /// Reads the values of a record (`record_send` in PostgreSQL): their number, then the type,
    /// length and bytes of each.
    ///
    /// # Errors
    /// [`Outdated`] if its values do not have these types.
    pub(crate) fn record(bytes: &'a [u8], types: &[Oid]) -> Result<Self, Outdated> {
        let mut values = Reader(bytes);
        let count = values.int().and_then(|count| usize::try_from(count).ok());
        if count != Some(types.len()) {
            return Err(Outdated);
        }

        // All types are compared before the first value is used: after a change of the view, values
        // of other columns could otherwise be sent.
        let mut found = values.clone();

        // A lookup passes all values before it, so a long record would take quadratic time.
        if types.len() > NARROW {
            let values = types
                .iter()
                .map(|ty| found.typed_value(*ty))
                .collect::<Option<_>>();
            return Ok(Self::Wide(values.ok_or(Outdated)?));
        }

        if types.iter().all(|ty| found.typed_value(*ty).is_some()) {
            Ok(Self::Narrow(values))
        } else {
            Err(Outdated)
        }
    }
}

/// A record that does not match its statement: the view has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outdated;

impl From<Outdated> for DbError {
    fn from(_: Outdated) -> Self {
        Self::Changed
    }
}

/// A list in PostgreSQL's binary format (`array_send`): its dimensions, then the length and bytes
/// of each element.
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

        // `array_send` writes an empty array with zero dimensions and without a count.
        if dimensions != 1 {
            return None;
        }

        let (count, _) = (bytes.int()?, bytes.int()?);

        Some(Self {
            count: usize::try_from(count).ok()?,
            elements: bytes.0,
        })
    }

    /// Returns the values of each record; `types` are the types of its values.
    pub(crate) fn iter(self, types: &[Oid]) -> impl Iterator<Item = Result<Cells<'a>, Outdated>> {
        self.values()
            .map(move |value| Cells::record(value.ok_or(Outdated)?, types))
    }

    /// Returns the bytes of each element.
    pub(crate) fn values(self) -> impl Iterator<Item = Option<&'a [u8]>> {
        let mut bytes = Reader(self.elements);
        (0..self.count).map_while(move |_| bytes.value())
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn int(&mut self) -> Option<i32> {
        let (int, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(i32::from_be_bytes(*int))
    }

    /// Reads a length and that many bytes; a negative length is null.
    fn value(&mut self) -> Option<Option<&'a [u8]>> {
        let Ok(length) = usize::try_from(self.int()?) else {
            return Some(None);
        };
        let (value, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(Some(value))
    }

    /// Reads a type and a value; `None` if the type differs from `ty` or the bytes are truncated.
    fn typed_value(&mut self, ty: Oid) -> Option<Option<&'a [u8]>> {
        if self.int()?.cast_unsigned() != ty {
            None
        } else {
            self.value()
        }
    }

    /// Reads pairs of type and value; `None` where the bytes are truncated.
    fn typed_values(mut self) -> impl Iterator<Item = Option<Option<&'a [u8]>>> {
        std::iter::repeat_with(move || {
            self.int()?;
            self.value()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Cells, Records};

    #[test]
    fn records_have_their_values_however_many() {
        for count in [0, 1, 2, super::NARROW, super::NARROW + 1, 100] {
            let mut record = i32::try_from(count).unwrap().to_be_bytes().to_vec();
            for value in 0..count {
                let null = value % 3 == 2;
                record.extend([0, 0, 0, 25]);
                record.extend(if null { -1i32 } else { 1 }.to_be_bytes());
                record.extend((!null).then_some(value as u8));
            }

            let types = vec![25; count];
            let cells = Cells::record(&record, &types).unwrap();
            for value in 0..count {
                let expected = (value % 3 != 2).then_some([value as u8]);
                assert_eq!(
                    cells.get(value),
                    expected.as_ref().map(|value| &value[..]),
                    "{value} of {count}"
                );
            }

            assert_eq!(cells.get(count), None);
            assert!(Cells::record(&record, &[&types[..], &[25]].concat()).is_err());

            for other in 0..count {
                let mut types = types.clone();
                types[other] = 23;
                assert!(
                    Cells::record(&record, &types).is_err(),
                    "{other} of {count}"
                );
            }

            if count > 0 {
                assert!(Cells::record(&record[..record.len() - 1], &types).is_err());
                assert!(Cells::record(&record, &types[1..]).is_err());
            }
        }
    }

    #[test]
    fn truncated_bytes_are_errors() {
        let record = [
            &2i32.to_be_bytes()[..],
            &[0, 0, 0, 25, 0, 0, 0, 1, b'a'],
            &[0, 0, 0, 25, 255, 255, 255, 255],
        ];

        let record = record.concat();
        let cells = Cells::record(&record, &[25, 25]).unwrap();
        assert_eq!(
            (cells.get(0), cells.get(1), cells.get(2)),
            (Some(&b"a"[..]), None, None)
        );
        for end in 0..record.len() {
            assert!(Cells::record(&record[..end], &[25, 25]).is_err(), "{end}");
        }

        let list = [&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 8, 249, 0, 0, 0, 1, 0, 0, 0, 1][..]].concat();
        assert_eq!(Records::new(&list).iter(&[]).count(), 0);

        assert_eq!(
            Records::new(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 249])
                .values()
                .count(),
            0
        );
    }
}
