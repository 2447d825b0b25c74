//! The words of `status`.

use svc_core::ErrorCode;

/// The words that mean success; there are no others.
pub(crate) const SUCCESS: [&str; 7] = [
    "success",
    "ok",
    "new",
    "created",
    "updated",
    "deleted",
    "completed",
];

/// The meaning of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status<'a> {
    Success,
    /// The kind of failure, and the word that identifies it to programs.
    Failure(Kind, &'a str),
    /// A word without a meaning.
    Unknown,
}

/// A kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Failed,
    Validation,
    Unauthorized,
    Forbidden,
    NotFound,
    Conflict,
    Timeout,
    Noop,
    Internal,
}

/// The kinds by their prefix.
const KINDS: [(&str, Kind); 8] = [
    ("failed", Kind::Failed),
    ("validation", Kind::Validation),
    ("unauthorized", Kind::Unauthorized),
    ("forbidden", Kind::Forbidden),
    ("not_found", Kind::NotFound),
    ("conflict", Kind::Conflict),
    ("timeout", Kind::Timeout),
    ("noop", Kind::Noop),
];

impl<'a> Status<'a> {
    /// Reads a status such as `created` or `conflict:email_taken`, in any case.
    pub(crate) fn read(text: &'a str) -> Self {
        // The same characters as in the SQL of `StatusCheck`: PostgreSQL and svc must read a status
        // alike.
        let text = text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
        if SUCCESS.iter().any(|word| word.eq_ignore_ascii_case(text)) {
            return Self::Success;
        }

        let (prefix, rest) = text.split_once(':').unwrap_or((text, ""));
        let (prefix, rest) = (prefix.trim(), rest.trim());
        let Some((_, kind)) = KINDS
            .iter()
            .find(|(word, _)| word.eq_ignore_ascii_case(prefix))
        else {
            return Self::Unknown;
        };

        let kind = if *kind == Kind::Failed {
            Kind::of_suffix(rest)
        } else {
            *kind
        };

        Self::Failure(kind, if rest.is_empty() { prefix } else { rest })
    }
}

impl Kind {
    /// Returns the kind that `failed:…` names: `failed:not_found_user` is a `not_found`.
    fn of_suffix(suffix: &str) -> Self {
        let begins = |word: &str| {
            let head = suffix
                .get(..word.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(word));

            // `failed:conflicted` is no conflict, while `failed:conflict_email` is one.
            head && !suffix[word.len()..].starts_with(|next: char| next.is_ascii_alphanumeric())
        };

        let named = KINDS
            .iter()
            .find(|(word, _)| begins(word))
            .map(|(_, kind)| *kind);

        named.unwrap_or(if begins("internal") {
            Self::Internal
        } else {
            Self::Failed
        })
    }

    /// The kind with this number.
    pub(crate) fn of_number(number: i64) -> Option<Self> {
        Some(match number {
            401 => Self::Unauthorized,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            408 => Self::Timeout,
            409 => Self::Conflict,
            422 => Self::Failed,
            500 => Self::Internal,
            _ => return None,
        })
    }

    /// The word before the colon of a status.
    pub(crate) fn prefix(self) -> &'static str {
        KINDS
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("failed", |(word, _)| word)
    }

    /// The code of an Error member, which is an HTTP status.
    pub(crate) fn number(self) -> i32 {
        match self {
            Self::Failed | Self::Validation | Self::Noop => 422,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::Timeout => 408,
            Self::Internal => 500,
        }
    }

    /// The code of a GraphQL error.
    pub(crate) fn code(self) -> ErrorCode {
        match self {
            Self::Failed | Self::Validation | Self::Noop => ErrorCode::BadUserInput,
            Self::Unauthorized => ErrorCode::Unauthenticated,
            Self::Forbidden => ErrorCode::Forbidden,
            Self::NotFound => ErrorCode::NotFound,
            Self::Conflict => ErrorCode::Conflict,
            Self::Timeout => ErrorCode::Timeout,
            Self::Internal => ErrorCode::InternalServerError,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, SUCCESS, Status};

    #[test]
    fn every_prefix_has_its_code() {
        for (status, code, identifier) in [
            ("failed:", 422, "failed"),
            ("validation:name_too_long", 422, "name_too_long"),
            ("unauthorized:", 401, "unauthorized"),
            ("forbidden", 403, "forbidden"),
            ("NOT_FOUND:user", 404, "user"),
            ("conflict: email_taken ", 409, "email_taken"),
            ("timeout:payment", 408, "payment"),
            ("noop:unchanged", 422, "unchanged"),
            ("failed:out_of_stock", 422, "out_of_stock"),
            ("failed:not_found", 404, "not_found"),
            ("failed:conflict_email", 409, "conflict_email"),
            ("failed:conflicted", 422, "conflicted"),
            ("failed:internal_error", 500, "internal_error"),
        ] {
            let Status::Failure(kind, found) = Status::read(status) else {
                panic!("{status} is not a failure")
            };
            assert_eq!((kind.number(), found), (code, identifier), "{status}");
        }
    }

    #[test]
    fn only_the_listed_words_are_successes() {
        for word in SUCCESS {
            assert_eq!(Status::read(&word.to_uppercase()), Status::Success);
        }

        for word in [
            "",
            "succes",
            "created:",
            "updated:email",
            "done",
            "error",
            "true",
        ] {
            assert_eq!(Status::read(word), Status::Unknown, "{word}");
        }

        assert_eq!(Status::read("noop"), Status::Failure(Kind::Noop, "noop"));
    }
}
