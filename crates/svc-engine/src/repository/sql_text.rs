//! SQL text that a program passes.

use std::borrow::Cow;

/// SQL text: a `&'static str`, such as a literal or a constant, or text wrapped in
/// [`AssertSqlSafe`].
///
/// svc sends the text unchanged. A `String` is not accepted, because it may contain values of
/// clients.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not accepted as SQL, because it may contain values of clients",
    label = "not a `&'static str`",
    note = "write the SQL as a literal or a constant, with `$1`, `$2` and so on for values",
    note = "if no part of the text comes from a client, wrap it: `svc::db::AssertSqlSafe(text)`"
)]
pub trait SqlText {
    /// Returns the text.
    #[doc(hidden)]
    fn into_text(self) -> Cow<'static, str>;
}

impl SqlText for &'static str {
    fn into_text(self) -> Cow<'static, str> {
        Cow::Borrowed(self)
    }
}

/// SQL text built at run time, such as a `String`. No part of it may come from a client.
///
/// svc neither checks nor escapes the text, so a value of a client in it allows SQL injection. Pass
/// values as parameters instead.
///
/// ```
/// use svc::db::AssertSqlSafe;
/// use svc::prelude::*;
///
/// let tables = ["tb_user", "tb_post"].map(|table| format!("CREATE TABLE IF NOT EXISTS {table} (id uuid);"));
/// let options = AppOptions::new().setup_sql(AssertSqlSafe(tables.concat()));
/// ```
///
/// It is like `AssertSqlSafe` of sqlx, which is a different type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssertSqlSafe<T>(
    /// The text.
    pub T,
);

impl<T: Into<String>> SqlText for AssertSqlSafe<T> {
    fn into_text(self) -> Cow<'static, str> {
        Cow::Owned(self.0.into())
    }
}
