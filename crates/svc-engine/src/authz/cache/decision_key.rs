//! The keys of cached decisions.

use async_graphql::Value;
use sha2::{Digest as _, Sha256};

use crate::authz::OperationType;
use svc_core::value_bytes;

/// The key of a decision: the digest of an encoding that includes the type and the length of each
/// part, so that different requests have different encodings. Clients control the length of
/// arguments, so the key must have a fixed length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DecisionKey([u8; 32]);

/// The initial buffer size in bytes, sufficient for most keys.
const USUAL: usize = 128;

impl DecisionKey {
    /// The key of a principal's request.
    pub(super) fn new<'a>(
        principal: &str,
        kind: OperationType,
        name: &str,
        arguments: impl IntoIterator<Item = (&'a str, &'a Value)>,
    ) -> Self {
        let mut bytes = Vec::with_capacity(USUAL);
        for part in [principal, kind.as_str(), name] {
            value_bytes::text(&mut bytes, b'p', part);
        }

        for (name, value) in arguments {
            value_bytes::text(&mut bytes, b'k', name);
            value_bytes::value(&mut bytes, value);
        }

        Self(Sha256::digest(&bytes).into())
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::value;

    use super::DecisionKey;
    use crate::authz::OperationType;

    #[test]
    fn distinct_requests_have_distinct_keys() {
        let one = value!(1);
        let key = |principal, kind, name, arguments: &[&str]| {
            let arguments = arguments.iter().map(|name| (*name, &one));
            DecisionKey::new(principal, kind, name, arguments)
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
