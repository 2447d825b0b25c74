//! The codes of findings about registered operations.

use std::str::FromStr;

/// The kind of a finding, by its name in messages, in `--ignore` and in comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// The size of a page is a variable.
    PageVariable,
    /// A page is larger than the service allows.
    PageTooLarge,
    /// The service rejects the operation.
    Rejected,
    /// The depth or the cost is near its limit.
    NearLimit,
    /// The operation has no name.
    Anonymous,
    /// The operation uses a deprecated element of the schema.
    Deprecated,
    /// The operation costs more than the baseline allows.
    CostGrowth,
}

impl Code {
    const ALL: [Self; 7] = [
        Self::PageVariable,
        Self::PageTooLarge,
        Self::Rejected,
        Self::NearLimit,
        Self::Anonymous,
        Self::Deprecated,
        Self::CostGrowth,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::PageVariable => "page-variable",
            Self::PageTooLarge => "page-too-large",
            Self::Rejected => "rejected",
            Self::NearLimit => "near-limit",
            Self::Anonymous => "anonymous",
            Self::Deprecated => "deprecated",
            Self::CostGrowth => "cost-growth",
        }
    }
}

impl FromStr for Code {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|code| code.as_str() == text);
        found.ok_or_else(|| {
            let codes = Self::ALL.map(Self::as_str);
            format!("the codes are {}", codes.join(", "))
        })
    }
}
