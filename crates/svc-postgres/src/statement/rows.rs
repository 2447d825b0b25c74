//! Rows as bytes.

#[cfg(feature = "sqlx")]
use sqlx::postgres::PgRow;
#[cfg(feature = "sqlx")]
use sqlx::{Row as _, ValueRef as _};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

/// The bytes of a value of any type.
pub(crate) struct Raw<'a>(pub(crate) &'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Receives the rows of a read as they arrive.
pub trait RowSink: Send {
    fn row(&mut self, row: Row);

    /// Discards the rows so far, as the statement is run again.
    fn restart(&mut self);
}

impl RowSink for Vec<Row> {
    fn row(&mut self, row: Row) {
        self.push(row);
    }

    fn restart(&mut self) {
        self.clear();
    }
}

/// Keeps the first row.
impl RowSink for Option<Row> {
    fn row(&mut self, row: Row) {
        self.get_or_insert(row);
    }

    fn restart(&mut self) {
        *self = None;
    }
}

/// The bytes of a value, in PostgreSQL's binary format; `None` for null.
#[inline]
pub fn cell(row: &Row, column: usize) -> Option<&[u8]> {
    let value: Option<Raw<'_>> = row.try_get(column).ok()?;
    value.map(|Raw(bytes)| bytes)
}

/// The rows of one statement, in PostgreSQL's binary format.
#[derive(Debug)]
pub enum Rows {
    /// Each row is a single buffer, as received, with the range of each column.
    Read(Vec<Row>),
    /// From a transaction of sqlx.
    #[cfg(feature = "sqlx")]
    Sqlx(Vec<PgRow>),
}

impl Rows {
    pub fn len(&self) -> usize {
        match self {
            Self::Read(rows) => rows.len(),
            #[cfg(feature = "sqlx")]
            Self::Sqlx(rows) => rows.len(),
        }
    }

    /// Returns the position of a column and the name of its type; for rows of a read, if there is
    /// one.
    pub fn column(&self, name: &str) -> Option<(usize, &str)> {
        let rows = match self {
            Self::Read(rows) => rows,
            #[cfg(feature = "sqlx")]
            Self::Sqlx(_) => return None,
        };
        let columns = rows.first()?.columns();
        let index = columns.iter().position(|column| column.name() == name)?;
        Some((index, columns[index].type_().name()))
    }

    /// The bytes of a value; `None` for null.
    pub fn cell(&self, row: usize, column: usize) -> Option<&[u8]> {
        match self {
            Self::Read(rows) => cell(rows.get(row)?, column),
            #[cfg(feature = "sqlx")]
            Self::Sqlx(rows) => {
                let value = rows.get(row)?.try_get_raw(column).ok()?;
                if value.is_null() {
                    None
                } else {
                    value.as_bytes().ok()
                }
            }
        }
    }
}

impl Default for Rows {
    fn default() -> Self {
        Self::Read(Vec::new())
    }
}
