//! Lists of origins, and other lists between commas.

use axum::http::Uri;

use super::Kind;

/// A list of origins, separated by commas.
pub(crate) struct Origins;

impl Kind<Vec<String>> for Origins {
    fn parse(&self, text: &str) -> Result<Vec<String>, String> {
        let origins = items(text).map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect::<Vec<_>>();
        if origins.iter().all(|origin| is_origin(origin)) {
            return Ok(origins);
        }
        Err(format!("it must be {}", Kind::<Vec<String>>::allowed(self)))
    }

    fn allowed(&self) -> String {
        "a list of origins such as https://app.example.com, separated by commas".to_owned()
    }

    fn shown(&self, value: &Vec<String>) -> String {
        if value.is_empty() { "none".to_owned() } else { value.join(", ") }
    }
}

/// The items of a list, which commas separate.
pub(crate) fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// Whether this is what a browser sends as an `Origin`: a scheme, a host and perhaps a port.
pub(crate) fn is_origin(text: &str) -> bool {
    if text == "*" {
        return true;
    }
    let is_bare = text.split_once("://").is_some_and(|(_, rest)| !rest.contains(['/', '?', '#', '@', '*']));
    is_bare && text.parse::<Uri>().is_ok_and(|uri| uri.authority().is_some())
}
