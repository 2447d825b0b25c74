//! The canonical forms of the library's scalars, and the texts that they refuse.

mod addresses;
mod numbers;
mod texts;
mod times;

use std::fmt::Display;
use std::str::FromStr;

use async_graphql::{InputType, ScalarType, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::ScalarError;
use crate::schema::recode_scalar;

/// Reads each text of `good` to its canonical form, which reads to itself, on every way a value
/// comes in; and refuses each of `bad` with a message that holds `rule`.
fn check<T>(good: &[(&str, &str)], rule: &str, bad: &[&str])
where
    T: FromStr<Err = ScalarError> + TryFrom<String, Error = ScalarError> + Display,
    T: Serialize + DeserializeOwned + ScalarType + InputType,
{
    for (text, canonical) in good {
        let value: T = text
            .parse()
            .unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(value.to_string(), *canonical, "{text:?}");
        assert_eq!(T::from_str(canonical).unwrap().to_string(), *canonical);
        assert_eq!(serde_json::to_value(&value).unwrap(), json!(canonical));
        assert_eq!(
            serde_json::from_value::<T>(json!(text))
                .unwrap()
                .to_string(),
            *canonical
        );

        assert_eq!(
            recode_scalar::<T>(Value::from(*text)),
            Ok(Value::from(*canonical))
        );
    }

    for text in bad {
        let Err(error) = T::try_from((*text).to_owned()) else {
            panic!("{text:?} is taken")
        };
        assert!(error.to_string().contains(rule), "{text:?}: {error}");
        assert!(serde_json::from_value::<T>(json!(text)).is_err());
        assert!(
            recode_scalar::<T>(Value::from(*text))
                .unwrap_err()
                .contains(rule)
        );
    }

    assert!(
        recode_scalar::<T>(Value::from(7))
            .unwrap_err()
            .contains("expected a string, found 7")
    );
}
