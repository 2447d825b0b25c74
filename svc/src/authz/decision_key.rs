//! The questions that kept decisions answer.

use async_graphql::Value;
use sha2::{Digest as _, Sha256};

use super::OperationType;
use crate::value_bytes;

/// A question: the digest of its bytes, of which each part has its type and its length, so that no two questions have the
/// same. Clients decide how long arguments are, so what is kept must not be as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DecisionKey([u8; 32]);

/// The bytes that most questions have room in.
const USUAL: usize = 128;

impl DecisionKey {
    /// The key of what a principal asks; `None` where an argument has no such form.
    pub(super) fn new<'a>(
        principal: &str,
        kind: OperationType,
        name: &str,
        arguments: impl IntoIterator<Item = (&'a str, &'a Value)>,
    ) -> Option<Self> {
        let mut bytes = Vec::with_capacity(USUAL);
        for part in [principal, kind.as_str(), name] {
            value_bytes::text(&mut bytes, b'p', part);
        }
        for (name, value) in arguments {
            value_bytes::text(&mut bytes, b'k', name);
            value_bytes::value(&mut bytes, value)?;
        }
        Some(Self(Sha256::digest(&bytes).into()))
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::value;

    use super::DecisionKey;
    use crate::authz::OperationType;

    #[test]
    fn no_two_questions_have_the_same_bytes() {
        let one = value!(1);
        let key = |principal, kind, name, arguments: &[&str]| {
            let arguments = arguments.iter().map(|name| (*name, &one));
            DecisionKey::new(principal, kind, name, arguments).unwrap()
        };
        let keys = [
            key("ada", OperationType::Query, "note", &[]),
            key("ada", OperationType::Query, "note", &["id"]),
            key("ada", OperationType::Query, "note", &["id", "to"]),
            key("ada", OperationType::Query, "noteid", &[]),
            key("ada", OperationType::Mutation, "note", &[]),
            key("ada", OperationType::Field, "note", &[]),
            key("adaquery", OperationType::Query, "note", &[]),
            key("", OperationType::Query, "note", &[]),
        ];
        for (index, one) in keys.iter().enumerate() {
            assert!(!keys[index + 1..].contains(one), "{one:?}");
        }
    }
}
