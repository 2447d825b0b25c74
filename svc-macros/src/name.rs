//! GraphQL names, SQL names, and conversions between cases.

use proc_macro2::Ident;
use syn::LitStr;

use crate::errors::Errors;

/// Reports a `name = "…"` that GraphQL does not allow.
pub(crate) fn check_given(name: &LitStr, errors: &mut Errors) {
    let text = name.value();
    if let Err(why) = graphql(&text) {
        errors.at(
            name,
            format!("`{text}` {why}; take another name, of letters, digits and `_`"),
        );
    }
}

/// Checks a name; the error completes a sentence that starts with the name.
pub(crate) fn graphql(name: &str) -> Result<(), &'static str> {
    if name.starts_with("__") {
        return Err("begins with `__`, which GraphQL keeps for itself");
    }
    if is_identifier(name, "_") {
        Ok(())
    } else {
        Err("is not a valid GraphQL name")
    }
}

/// Reports a `sql_source` that is not the name of a view or table.
pub(crate) fn check_source(source: &LitStr, errors: &mut Errors) {
    let text = source.value();
    if text.is_empty() {
        errors.at(
            source,
            "`sql_source` is empty; name a view, as in `sql_source = \"v_user\"`, or leave the key \
             out",
        );
    } else if !is_path(&text) {
        errors.at(
            source,
            format!(
                "`{text}` is not the name of a view; write `view` or `schema.view`, with letters, \
                 digits, `_` and `$`"
            ),
        );
    }
}

/// Reports a `function` that is not the name of a function.
pub(crate) fn check_function(function: &LitStr, errors: &mut Errors) {
    let text = function.value();
    if !is_path(&text) {
        errors.at(
            function,
            format!(
                "`{text}` is not the name of a function; \
                 write `function` or `schema.function`, with letters, digits, `_` and `$`"
            ),
        );
    }
}

/// Reports a table that is not the name of a table.
pub(crate) fn check_table(key: &Ident, table: &LitStr, errors: &mut Errors) {
    let text = table.value();
    if !is_path(&text) {
        errors.at(
            table,
            format!(
                "`{text}` is not the name of a table; write `{key} = \"table\"` or \
                 `\"schema.table\"`, with letters, digits, `_` and `$`"
            ),
        );
    }
}

/// Reports a `channel` that is empty, has a NUL byte, or is so long that PostgreSQL would truncate
/// it.
pub(crate) fn check_channel(channel: &LitStr, errors: &mut Errors) {
    let text = channel.value();
    if text.is_empty() || text.len() > 63 || text.contains('\0') {
        errors.at(
            channel,
            "a channel has a name of 1 to 63 bytes, such as `channel = \"post_changed\"`",
        );
    }
}

/// `name` or `schema.name`.
fn is_path(text: &str) -> bool {
    // PostgreSQL has no queries across databases, so there is no third part.
    text.split('.').count() <= 2 && text.split('.').all(|part| is_identifier(part, "_$"))
}

fn is_identifier(text: &str, also: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || also.contains(c))
}

/// `InReview` becomes `IN_REVIEW`, `HTTPError` becomes `HTTP_ERROR`, `V2` stays.
pub(crate) fn screaming_snake(camel: &str) -> String {
    words(camel).to_uppercase()
}

/// `ById` becomes `by_id`.
pub(crate) fn snake(camel: &str) -> String {
    words(camel).to_lowercase()
}

fn words(camel: &str) -> String {
    let chars: Vec<char> = camel.chars().collect();
    let mut out = String::with_capacity(camel.len() + 4);
    for (index, &c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| chars[index]);
        let ends_acronym = chars.get(index + 1).is_some_and(|next| next.is_lowercase());

        // A capital within an acronym starts a word only if a lower-case letter follows:
        // `HTTP_ERROR`.
        let starts_word = before.is_some_and(|b| {
            b.is_lowercase() || b.is_numeric() || (b.is_uppercase() && ends_acronym)
        });
        if c.is_uppercase() && starts_word {
            out.push('_');
        }
        out.push(c);
    }

    out
}

#[cfg(test)]
mod tests {
    use super::{graphql, screaming_snake, snake};

    #[test]
    fn variants_become_enum_values() {
        for (variant, value) in [
            ("InReview", "IN_REVIEW"),
            ("HTTPError", "HTTP_ERROR"),
            ("V2", "V2"),
            ("Admin", "ADMIN"),
            ("A1B", "A1_B"),
            ("Already_Split", "ALREADY_SPLIT"),
            ("OAuth2Token", "O_AUTH2_TOKEN"),
            ("X", "X"),
        ] {
            assert_eq!(screaming_snake(variant), value);
        }

        assert_eq!(snake("ByEmailAddress"), "by_email_address");
    }

    #[test]
    fn graphql_names_are_ascii_identifiers() {
        for good in ["a", "_a", "A1", "createdAt"] {
            assert!(graphql(good).is_ok(), "{good}");
        }
        for bad in ["", "1a", "a-b", "größe", "__typename", "a b"] {
            assert!(graphql(bad).is_err(), "{bad}");
        }
    }
}
