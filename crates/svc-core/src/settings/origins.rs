//! Lists of origins, and other comma-separated lists.

use axum::http::Uri;

use super::Kind;

/// A list of origins, separated by commas.
pub struct Origins;

impl Kind<Vec<String>> for Origins {
    fn parse(&self, text: &str) -> Result<Vec<String>, String> {
        // Browsers send an origin in lower case and without a path (RFC 6454).
        let origin = |origin: String| origin.trim_end_matches('/').to_ascii_lowercase();
        let origins: Option<Vec<_>> =
            items(text).map(|origins| origins.into_iter().map(origin).collect());
        let origins = origins.filter(|origins| origins.iter().all(|origin| is_origin(origin)));
        origins.ok_or_else(|| format!("it must be {}", Kind::<Vec<String>>::allowed(self)))
    }

    fn allowed(&self) -> String {
        format!("a list of origins such as https://app.example.com, {BETWEEN}")
    }

    fn shown(&self, value: &Vec<String>) -> String {
        if value.is_empty() {
            "none".to_owned()
        } else {
            value.join(", ")
        }
    }
}

/// The two ways to write a list, for messages and the book.
pub const BETWEEN: &str = "separated by commas or as a JSON list";

/// Returns the items of a list: a JSON list of texts, or comma-separated texts. `None` if it starts
/// like JSON but is not valid.
pub fn items(text: &str) -> Option<Vec<String>> {
    // An item that contains a comma can only be written in the JSON form.
    let items = match text.trim_start().starts_with('[') {
        true => serde_json::from_str::<Vec<String>>(text).ok()?,
        false => text.split(',').map(str::to_owned).collect(),
    };

    Some(
        items
            .iter()
            .map(|item| item.trim().to_owned())
            .filter(|item| !item.is_empty())
            .collect(),
    )
}

/// Whether the text is an origin as in a browser's `Origin` header: a scheme, a host and optionally
/// a port; or `*`.
pub fn is_origin(text: &str) -> bool {
    if text == "*" {
        return true;
    }

    // Origins are compared as a whole, so a `*` within one would match nothing.
    let is_bare = text
        .split_once("://")
        .is_some_and(|(_, rest)| !rest.contains(['/', '?', '#', '@', '*']));

    is_bare
        && text
            .parse::<Uri>()
            .is_ok_and(|uri| uri.authority().is_some())
}
