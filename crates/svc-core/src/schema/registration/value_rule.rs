//! Compiled rules on values from clients.

use std::cmp::Ordering;
use std::fmt;

use async_graphql::Value;
use rust_decimal::Decimal;

use super::InputRule;

/// A rule on a value, parsed.
#[derive(Debug)]
pub enum ValueRule {
    NotNull,
    Length {
        min: u32,
        max: Option<u32>,
    },
    Range {
        min: Option<Decimal>,
        max: Option<Decimal>,
        is_open: bool,
    },
    #[cfg(feature = "patterns")]
    Pattern(regex::Regex),
}

impl ValueRule {
    /// Parses a rule.
    ///
    /// # Errors
    /// If a number or pattern is invalid, which the macros already reject.
    pub fn read(rule: &InputRule) -> Result<Self, String> {
        let number = |text: &str| {
            text.parse::<Decimal>()
                .map_err(|error| format!("`{text}`: {error}"))
        };

        Ok(match *rule {
            InputRule::NotNull => Self::NotNull,
            InputRule::Length { min, max } => Self::Length { min, max },
            InputRule::Range { min, max, is_open } => Self::Range {
                min: min.map(number).transpose()?,
                max: max.map(number).transpose()?,
                is_open,
            },
            #[cfg(feature = "patterns")]
            InputRule::Pattern(pattern) => {
                Self::Pattern(regex::Regex::new(pattern).map_err(|error| error.to_string())?)
            }
            #[cfg(not(feature = "patterns"))]
            InputRule::Pattern(pattern) => {
                return Err(format!("`{pattern}` needs the feature `patterns`"));
            }
        })
    }

    /// Whether the rule applies to the items of a list instead of the list.
    pub fn is_of_items(&self) -> bool {
        !matches!(self, Self::NotNull | Self::Length { .. })
    }

    /// Whether a value conforms to the rule. Null only violates the rule against null.
    pub fn holds(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::NotNull, value) => *value != Value::Null,
            (_, Value::Null) => true,
            (Self::Length { min, max }, value) => {
                let length = match value {
                    // Characters, as `varchar(n)` counts them.
                    Value::String(text) => text.chars().count(),
                    Value::List(items) => items.len(),
                    _ => return true,
                };
                let fits = |most: &u32| u32::try_from(length).is_ok_and(|length| length <= *most);

                // A length beyond 32 bits exceeds every minimum.
                u32::try_from(length).map_or(true, |length| length >= *min)
                    && max.as_ref().is_none_or(fits)
            }
            (Self::Range { min, max, is_open }, value) => {
                let is_above = |min: &Decimal| compare(value, min).is_some_and(Ordering::is_ge);
                let is_below = |max: &Decimal| {
                    compare(value, max).is_some_and(|order| {
                        if *is_open {
                            order.is_lt()
                        } else {
                            order.is_le()
                        }
                    })
                };

                min.as_ref().is_none_or(is_above) && max.as_ref().is_none_or(is_below)
            }
            #[cfg(feature = "patterns")]
            (Self::Pattern(pattern), Value::String(text)) => pattern.is_match(text),
            #[cfg(feature = "patterns")]
            (Self::Pattern(_), _) => true,
        }
    }
}

/// Compares a number with a bound. A number with more digits than a decimal can hold is far enough
/// from the bound for a comparison of doubles.
fn compare(value: &Value, bound: &Decimal) -> Option<Ordering> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };

    match text
        // `parse` rejects an exponent, which a number in JSON may have.
        .parse::<Decimal>()
        .or_else(|_| Decimal::from_scientific(&text))
    {
        Ok(number) => Some(number.cmp(bound)),
        Err(_) => text
            .parse::<f64>()
            .ok()?
            .partial_cmp(&bound.to_string().parse::<f64>().ok()?),
    }
}

/// The rule as shown to clients in the schema and in errors.
impl fmt::Display for ValueRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNull => f.write_str("may be left out, but not null"),
            Self::Length { min, max: None } => write!(f, "has a length of at least {min}"),
            Self::Length {
                min: 0,
                max: Some(max),
            } => write!(f, "has a length of at most {max}"),
            Self::Length {
                min,
                max: Some(max),
            } if min == max => write!(f, "has a length of {min}"),
            Self::Length {
                min,
                max: Some(max),
            } => write!(f, "has a length of {min} to {max}"),
            Self::Range { min, max, is_open } => {
                f.write_str("is")?;
                if let Some(min) = min {
                    write!(f, " at least {min}")?;
                }

                if min.is_some() && max.is_some() {
                    f.write_str(" and")?;
                }

                match max {
                    Some(max) if *is_open => write!(f, " less than {max}"),
                    Some(max) => write!(f, " at most {max}"),
                    None => Ok(()),
                }
            }
            #[cfg(feature = "patterns")]
            Self::Pattern(pattern) => write!(f, "matches `{pattern}`"),
        }
    }
}
