//! Operations, as registered by a program.

use crate::repository::SqlText;

/// A document with one operation that a program registers; passed to `AppOptions::operations` or
/// [`OperationRegistry`](crate::OperationRegistry).
///
/// Clients name it by the SHA-256 of its text or by the operation's name, or send the text.
///
/// ```
/// use svc::Operation;
/// use svc::prelude::*;
///
/// # #[svc_type(sql_source = "v_user")]
/// # struct User { id: Uuid, name: String }
/// # #[svc::query]
/// # async fn user(id: Uuid) -> Option<User>;
/// let card = Operation::new("query UserCard($id: UUID!) { user(id: $id) { name } }")
///     .sql(r#"SELECT jsonb_build_object('name', name) AS "user" FROM tb_user WHERE id = $1"#);
/// let options = AppOptions::new().queries(queries![user]).operations([card]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "give the operation to `AppOptions::operations` or `OperationRegistry::register`"]
pub struct Operation {
    pub(super) document: String,
    pub(super) sql: Option<String>,
    /// The file it was read from.
    pub(super) file: Option<String>,
    /// The ids from manifests, which replace its own name.
    pub(super) ids: Vec<String>,
}

/// The maximum number of characters of a document shown in messages.
const SHOWN: usize = 60;

impl Operation {
    /// Creates an operation from its document, exactly as clients send or hash it; white space at
    /// the end does not matter.
    pub fn new(document: impl Into<String>) -> Self {
        Self {
            document: document.into(),
            sql: None,
            file: None,
            ids: Vec::new(),
        }
    }

    /// Creates an operation listed in a manifest. Manifests of different clients may contain
    /// different documents with the same name.
    pub(super) fn listed(document: &str, shown: String) -> Self {
        Self {
            file: Some(shown),
            ..Self::new(document)
        }
    }

    /// Sets the statement that answers the operation, instead of the functions of its fields.
    ///
    /// `$1`, `$2` and so on are the operation's variables, in the order of their declarations. The
    /// statement returns at most one row, with a column of type `jsonb` or `json` for each root
    /// field, named by the field's key in the answer. A column has the same format as `data` in a
    /// view: objects with the stored names as keys.
    ///
    /// The text is a `&'static str`, or wrapped in [`AssertSqlSafe`](crate::repository::AssertSqlSafe).
    pub fn sql(mut self, sql: impl SqlText) -> Self {
        self.sql = Some(sql.into_text().into_owned());
        self
    }

    /// Whether its name in messages is the file with its document.
    pub(super) fn is_file(&self) -> bool {
        self.file.is_some() && self.ids.is_empty()
    }

    /// Returns its name in messages: the file, or the beginning of the document.
    pub(super) fn shown(&self) -> String {
        if let Some(file) = &self.file {
            return file.clone();
        }

        let words: Vec<&str> = self.document.split_whitespace().collect();
        let line = words.join(" ");
        match line.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("`{}…`", &line[..end]),
            None => format!("`{line}`"),
        }
    }
}
