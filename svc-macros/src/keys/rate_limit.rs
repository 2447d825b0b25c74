//! `rate_limit = "5/min"`: how often a client may run a root field.

use proc_macro2::Ident;
use syn::LitStr;
use syn::parse::ParseStream;

use crate::keys;

/// The units of windows, in seconds.
const UNITS: [(&str, u64); 9] = [
    ("s", 1),
    ("sec", 1),
    ("second", 1),
    // Not a month: no window is longer than a day.
    ("m", 60),
    ("min", 60),
    ("minute", 60),
    ("h", 3_600),
    ("hour", 3_600),
    ("day", 86_400),
];
/// The highest count of a limit, and the longest window in seconds.
const MAX_VALUES: [u64; 2] = [50_000_000, 86_400];

/// How often a client may run a root field in a window of seconds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RateLimit {
    pub(crate) count: u64,
    pub(crate) window: u64,
}

impl RateLimit {
    /// Reads the value of a key.
    pub(crate) fn read(key: &Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        let text = keys::string(key, input)?;
        Self::parse(&text.value())
            .map_err(|message| syn::Error::new_spanned::<&LitStr, _>(&text, message))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let parts = || {
            let (count, window) = text.split_once('/')?;
            let window = window.trim();
            let (number, unit) =
                window.split_at(window.find(|letter: char| !letter.is_ascii_digit())?);
            let seconds = UNITS
                .iter()
                .find(|(name, _)| *name == unit.trim())
                .map(|(_, seconds)| *seconds)?;
            let times = if number.is_empty() {
                1
            } else {
                number.parse().ok()?
            };

            Some(Self {
                count: count.trim().parse().ok()?,
                window: seconds.checked_mul(times)?,
            })
        };

        let shape = "`\"5/s\"`, `\"5/min\"`, `\"100/15min\"`, `\"100/h\"` or `\"1000/day\"`";
        let limit =
            parts().ok_or_else(|| format!("`{text}` is not a rate limit; write {shape}"))?;
        for ((what, value), most) in [("times", limit.count), ("seconds", limit.window)]
            .into_iter()
            .zip(MAX_VALUES)
        {
            if !(1..=most).contains(&value) {
                return Err(format!(
                    "a rate limit is for 1 to {most} {what}; `{text}` is for {value}"
                ));
            }
        }

        Ok(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::RateLimit;

    #[test]
    fn rate_limit_texts_are_parsed() {
        for (text, count, window) in [
            ("5/min", 5, 60),
            ("1/s", 1, 1),
            ("100/15min", 100, 900),
            (" 7 / 2 hour ", 7, 7_200),
            ("9/day", 9, 86_400),
        ] {
            assert_eq!(
                RateLimit::parse(text),
                Ok(RateLimit { count, window }),
                "{text}"
            );
        }

        for bad in [
            "", "5", "5/", "5/60", "/min", "-1/min", "5/month", "5/min/s", "0/min", "5/0s",
            "5/2day", "1e3/h",
        ] {
            assert!(RateLimit::parse(bad).is_err(), "{bad}");
        }
    }
}
