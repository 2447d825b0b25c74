//! The registered operations of a program, as it describes them.

use serde::Deserialize;

/// A registered operation, with its cost and the parts of its document that its author may want to
/// change.
#[derive(Debug, Deserialize)]
pub(crate) struct Operation {
    /// The name in the document.
    pub(crate) name: Option<String>,
    /// The file, the manifest with the id, or the beginning of the document.
    pub(crate) source: String,
    /// Whether `source` is the file with the document, so that lines are lines of this file.
    pub(crate) is_file: bool,
    pub(crate) line: u32,
    /// The SHA-256 of the text, in hexadecimal digits.
    pub(crate) hash: String,
    pub(crate) depth: u64,
    /// The complexity with the defaults of the variables.
    pub(crate) cost: u64,
    /// The complexity if all pages whose size is a variable are as large as possible.
    pub(crate) highest_cost: u64,
    /// The error that clients get even with the defaults of the variables.
    pub(crate) refusal: Option<String>,
    pub(crate) pages: Vec<PageSize>,
    pub(crate) deprecated: Vec<Deprecated>,
    /// The codes of findings that the document silences.
    pub(crate) ignored: Vec<String>,
}

impl Operation {
    /// The name for messages.
    pub(crate) fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or("anonymous")
    }
}

/// The size of a page, as a document gives it.
#[derive(Debug, Deserialize)]
pub(crate) struct PageSize {
    /// `Query.posts(limit:)`.
    pub(crate) argument: String,
    pub(crate) line: u32,
    pub(crate) variable: Option<String>,
    /// The number in the document, or the variable's default.
    pub(crate) size: Option<i64>,
}

/// The use of a deprecated element of the schema.
#[derive(Debug, Deserialize)]
pub(crate) struct Deprecated {
    /// `Post.viewCount`.
    pub(crate) element: String,
    pub(crate) reason: String,
    pub(crate) line: u32,
}

/// The limits of a program that a document can exceed.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Limits {
    pub(crate) depth: u64,
    pub(crate) complexity: u64,
    /// The largest page, in rows.
    pub(crate) max_page: u32,
    /// Whether operations above a limit are rejected.
    pub(crate) enforced: bool,
}
