//! Colours.

use super::ScalarError;
use super::form::text_newtype;

text_newtype! {
    /// A colour in the [hexadecimal notation](https://www.w3.org/TR/css-color-4/#hex-notation) of
    /// CSS.
    ///
    /// `#rgb`, `#rgba`, `#rrggbb` and `#rrggbbaa` are read. Canonical is `#rrggbb`, or `#rrggbbaa`
    /// when it was given with an alpha channel, in lower case.
    ///
    /// ```
    /// use svc::scalar::Color;
    ///
    /// let color: Color = "#0AF".parse()?;
    /// assert_eq!(color.as_str(), "#00aaff");
    /// assert_eq!(color.rgba(), [0, 170, 255, 255]);
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    Color,
    canonical = canonical,
    description = "A colour as `#rrggbb` or `#rrggbbaa`.",
    specified_by = "https://www.w3.org/TR/css-color-4/#hex-notation"
}

impl Color {
    /// Returns red, green, blue and alpha.
    #[must_use]
    pub fn rgba(&self) -> [u8; 4] {
        let digits = &self.as_str()[1..];
        [0, 2, 4, 6].map(|at| {
            digits
                .get(at..at + 2)
                .and_then(|pair| u8::from_str_radix(pair, 16).ok())
                // A colour without digits for alpha is opaque.
                .unwrap_or(255)
        })
    }
}

fn canonical(text: &str) -> Result<String, ScalarError> {
    let digits = text
        .strip_prefix('#')
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));

    // CSS Color 4, section 5.2: each digit of a short form means two equal ones.
    let repeat = match digits.map_or(0, str::len) {
        3 | 4 => 2,
        6 | 8 => 1,
        _ => {
            return Err(ScalarError::new(
                "expected a colour as `#rgb`, `#rrggbb` or `#rrggbbaa` (CSS Color 4)",
                text,
            ));
        }
    };

    let lower = digits
        .unwrap_or_default()
        .chars()
        .map(|digit| digit.to_ascii_lowercase());

    Ok(std::iter::once('#')
        .chain(lower.flat_map(|digit| std::iter::repeat_n(digit, repeat)))
        .collect())
}
