//! Catalog rows as tuples.

use tokio_postgres::types::FromSql;
use tokio_postgres::{Error, Row};

/// A type that a row's columns are read into, in order.
pub trait FromRow: Sized {
    /// # Errors
    /// When a column is missing or has another type.
    fn from_row(row: &Row) -> Result<Self, Error>;
}

macro_rules! from_row {
    ($($ty:ident $index:literal),+) => {
        impl<$($ty: for<'a> FromSql<'a>),+> FromRow for ($($ty,)+) {
            fn from_row(row: &Row) -> Result<Self, Error> {
                Ok(($(row.try_get::<_, $ty>($index)?,)+))
            }
        }
    };
}

from_row!(A 0);
from_row!(A 0, B 1);
from_row!(A 0, B 1, C 2);
from_row!(A 0, B 1, C 2, D 3);
from_row!(A 0, B 1, C 2, D 3, E 4);
from_row!(A 0, B 1, C 2, D 3, E 4, F 5);
from_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
from_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
from_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
from_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12);
from_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15, Q 16, R 17, S 18, T 19);
