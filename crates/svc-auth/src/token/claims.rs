//! The claims of a token.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::AuthError;

/// The claims of a verified token (RFC 7519, section 4).
///
/// `Debug` shows their names only.
#[derive(Clone, Default, PartialEq)]
pub struct Claims(Map<String, Value>);

impl Claims {
    /// Wraps claims that a provider has verified.
    pub fn new(claims: Map<String, Value>) -> Self {
        Self(claims)
    }

    /// Parses claims. Rejects duplicate names, as two parsers could pick different values.
    #[doc(hidden)]
    pub fn read(json: &[u8]) -> Result<Self, AuthError> {
        serde_json::from_slice(json)
            .map(|Unique(claims)| Self(claims))
            .map_err(|_| {
                AuthError::invalid("the claims are not a JSON object whose names are different")
            })
    }

    /// Returns a claim.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Returns the claim at a JSON pointer (RFC 6901), such as `/realm_access/roles`.
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        pointed(&self.0, pointer)
    }

    /// Returns a claim if it is a string.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// The subject: `sub`.
    pub fn subject(&self) -> Option<&str> {
        self.text("sub")
    }

    /// The issuer: `iss`.
    pub fn issuer(&self) -> Option<&str> {
        self.text("iss")
    }

    /// The identifier of the token: `jti`.
    pub fn token_id(&self) -> Option<&str> {
        self.text("jti").filter(|id| !id.is_empty())
    }

    /// The expiry of the token, in seconds since 1970: `exp`.
    pub fn expires_at(&self) -> Option<f64> {
        self.get("exp")?.as_f64()
    }

    /// The time of issue, in seconds since 1970: `iat`.
    pub fn issued_at(&self) -> Option<f64> {
        self.get("iat")?.as_f64()
    }

    /// All claims.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl std::fmt::Debug for Claims {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Looks up a JSON pointer in an object.
pub(crate) fn pointed<'a>(map: &'a Map<String, Value>, pointer: &str) -> Option<&'a Value> {
    // The first part is looked up here, as `Value::pointer` would need a copy of the map as a
    // value. `~1` is replaced first: `~01` means `~1` (RFC 6901, section 4).
    let mut parts = pointer.strip_prefix('/')?.splitn(2, '/');
    let first = parts.next()?.replace("~1", "/").replace("~0", "~");
    let value = map.get(&first)?;
    parts
        .next()
        .map_or(Some(value), |rest| value.pointer(&format!("/{rest}")))
}

/// An object without duplicate names.
pub(super) struct Unique(pub(super) Map<String, Value>);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Unique;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Unique, A::Error> {
                let mut map = Map::new();
                while let Some((name, value)) = entries.next_entry::<String, Value>()? {
                    if map.insert(name, value).is_some() {
                        return Err(A::Error::custom("a name comes twice"));
                    }
                }
                Ok(Unique(map))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// Converts the time of a claim; `None` if the system clock cannot represent it.
pub(crate) fn time(seconds: f64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
}
