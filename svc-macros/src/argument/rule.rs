//! Rules on the values of arguments and of fields of input objects: `length`, `range`, `pattern`,
//! `not_null`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::ParseStream;
use syn::{Lit, LitStr, Token, Type, parenthesized};

use crate::keys;
use crate::krate::Crate;
use crate::types;

/// A rule.
pub(crate) enum Rule {
    NotNull,
    Length(Bounds),
    Range(Bounds),
    Pattern(LitStr),
}

/// `1..=80`.
pub(crate) struct Bounds {
    min: Option<Number>,
    max: Option<Number>,
    /// Whether the upper bound is exclusive.
    is_open: bool,
}

/// A number as written, without suffix or underscores, and as a double.
struct Number {
    digits: String,
    value: f64,
}

impl Rule {
    /// Reads the rule after its key.
    pub(crate) fn read(key: &Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(match key.to_string().as_str() {
            "not_null" => {
                keys::flag(key, input)?;
                Self::NotNull
            }
            "length" => {
                Self::Length(Bounds::read(key, input, "length(1..=80)")?.whole(key.span())?)
            }
            "range" => Self::Range(Bounds::read(key, input, "range(0..=100)")?),
            _ => Self::Pattern(pattern(keys::string(key, input)?)?),
        })
    }

    /// The `InputRule` for a value of a type.
    pub(crate) fn meta(&self, krate: &Crate, ty: &TokenStream, at: &Type) -> TokenStream {
        let option = |number: Option<TokenStream>| match number {
            Some(number) => quote!(::core::option::Option::Some(#number)),
            None => quote!(::core::option::Option::None),
        };

        let span = types::span(at);
        match self {
            Self::NotNull => quote_spanned!(span=> #krate::InputRule::not_null::<#ty>()),
            Self::Length(Bounds { min, max, .. }) => {
                let whole = |number: &Number| number.digits.parse::<u32>().ok();

                // `whole` has rejected other numbers when the rule was read.
                let min = min.as_ref().and_then(whole).unwrap_or(0);
                let max = option(max.as_ref().and_then(whole).map(|max| quote!(#max)));
                quote_spanned!(span=> #krate::InputRule::length::<#ty>(#min, #max))
            }
            Self::Range(Bounds { min, max, is_open }) => {
                let digits = |number: &Number| {
                    // As text, because a double would round the bounds of a `Decimal`.
                    let digits = &number.digits;
                    quote!(#digits)
                };
                let (min, max) = (
                    option(min.as_ref().map(digits)),
                    option(max.as_ref().map(digits)),
                );
                quote_spanned!(span=> #krate::InputRule::range::<#ty>(#min, #max, #is_open))
            }
            Self::Pattern(pattern) => {
                quote_spanned!(span=> #krate::InputRule::pattern::<#ty>(#pattern))
            }
        }
    }
}

impl Bounds {
    fn read(key: &Ident, input: ParseStream<'_>, shape: &str) -> syn::Result<Self> {
        if !input.peek(syn::token::Paren) {
            return Err(syn::Error::new(
                key.span(),
                format!("`{key}` needs its bounds; write `{shape}`"),
            ));
        }

        let content;
        parenthesized!(content in input);
        let wrong =
            |span: Span| syn::Error::new(span, format!("not bounds of numbers; write `{shape}`"));
        let span = content.span();
        let min = Number::read(&content)?;

        // `..=` is tried first, because `..` also matches its beginning.
        let is_closed = content.parse::<Option<Token![..=]>>()?.is_some();

        if !is_closed && content.parse::<Option<Token![..]>>()?.is_none() {
            return Err(wrong(content.span()));
        }

        let max = Number::read(&content)?;
        if !content.is_empty() || (is_closed && max.is_none()) || (min.is_none() && max.is_none()) {
            return Err(wrong(span));
        }

        if let (Some(min), Some(max)) = (&min, &max)
            && (min.value > max.value || (!is_closed && min.value >= max.value))
        {
            let message = format!(
                "no value is in these bounds; write the smaller number first, as in `{shape}`"
            );
            return Err(syn::Error::new(span, message));
        }

        Ok(Self {
            min,
            is_open: !is_closed && max.is_some(),
            max,
        })
    }

    /// The bounds of a length, with an inclusive upper bound.
    fn whole(self, span: Span) -> syn::Result<Self> {
        let whole = |number: &Number| number.digits.parse::<u32>().ok();
        if [&self.min, &self.max]
            .into_iter()
            .flatten()
            .any(|number| whole(number).is_none())
        {
            return Err(syn::Error::new(
                span,
                "a length is a whole number that is not negative, such as `80`",
            ));
        }

        // The library only has inclusive bounds of lengths.
        let max = match self.max {
            Some(max) if self.is_open => {
                let most = whole(&max).unwrap_or(1).saturating_sub(1);
                Some(Number {
                    digits: most.to_string(),
                    value: f64::from(most),
                })
            }
            max => max,
        };

        Ok(Self {
            max,
            is_open: false,
            ..self
        })
    }
}

impl Number {
    /// Reads a number, if there is one.
    fn read(input: ParseStream<'_>) -> syn::Result<Option<Self>> {
        if input.is_empty() || input.peek(Token![..]) {
            return Ok(None);
        }

        let is_negative = input.parse::<Option<Token![-]>>()?.is_some();
        let literal: Lit = input.parse()?;
        let digits = match &literal {
            Lit::Int(int) if int.suffix().is_empty() => int.base10_digits().to_owned(),
            Lit::Float(float) if float.suffix().is_empty() => float.base10_digits().to_owned(),
            _ => {
                return Err(syn::Error::new(
                    literal.span(),
                    "a bound is a number without a suffix, such as `80`",
                ));
            }
        };

        // A `Decimal` holds every number of 28 digits, but not every one of 29.
        let count = digits.bytes().filter(u8::is_ascii_digit).count();
        let value = digits
            .parse::<f64>()
            .ok()
            .filter(|_| count <= 28 && !digits.contains(['e', 'E']));
        let Some(value) = value else {
            return Err(syn::Error::new(
                literal.span(),
                "a bound has at most 28 digits and no exponent",
            ));
        };

        Ok(Some(match is_negative {
            true => Self {
                digits: format!("-{digits}"),
                value: -value,
            },
            false => Self { digits, value },
        }))
    }
}

/// A regular expression, rejected if it does not parse.
#[cfg(feature = "patterns")]
fn pattern(pattern: LitStr) -> syn::Result<LitStr> {
    // The syntax is enough here; the program compiles the expression with `regex` when it starts.
    match regex_syntax::parse(&pattern.value()) {
        Ok(_) => Ok(pattern),
        Err(error) => {
            // The whole error is a drawing of several lines with the expression in it.
            let why = match &error {
                regex_syntax::Error::Parse(error) => error.kind().to_string(),
                regex_syntax::Error::Translate(error) => error.kind().to_string(),
                error => error.to_string(),
            };
            let message = format!(
                "not a regular expression: {why}; see https://docs.rs/regex/latest/regex/#syntax"
            );
            Err(syn::Error::new(pattern.span(), message))
        }
    }
}

#[cfg(not(feature = "patterns"))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "the same face as with the feature, which gives it back"
)]
fn pattern(pattern: LitStr) -> syn::Result<LitStr> {
    Err(syn::Error::new(
        pattern.span(),
        "patterns need the feature `patterns` of svc",
    ))
}
