//! The header `Forwarded` (RFC 7239), and addresses in headers.

use std::net::{IpAddr, SocketAddr};

/// An address, with or without a port and brackets.
pub(super) fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .unwrap_or(text);
    let address = bare
        .parse()
        .ok()
        .or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()));

    address.map(|address: IpAddr| address.to_canonical())
}

/// The address of each element's `for`, from the left; `None` for an element without `for` or with
/// a hidden address (`unknown`, `_name`). After an unclosed quotation mark, elements cannot be
/// separated, so the rest is one element.
pub(super) fn addresses(text: &str) -> Vec<Option<IpAddr>> {
    split(text, ',').into_iter().map(element).collect()
}

fn element(element: &str) -> Option<IpAddr> {
    let mut found = None;
    for pair in split(element, ';') {
        let Some((name, value)) = pair.split_once('=') else {
            continue;
        };

        if name.trim().eq_ignore_ascii_case("for") {
            // A second `for` in an element is not allowed, and one of the two may come from the
            // client.
            if found.is_some() {
                return None;
            }

            let value = value.trim();
            found = Some(
                value
                    .strip_prefix('"')
                    .and_then(|value| value.strip_suffix('"'))
                    .unwrap_or(value),
            );
        }
    }

    address(found?)
}

/// Splits at separators outside of quotation marks.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            // In a quoted string, a backslash takes the meaning from the next character, also from
            // a quotation mark (RFC 9110, section 5.6.4).
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            other if other == separator && !quoted => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }

    parts.push(&text[start..]);

    parts
}

#[cfg(test)]
mod tests {
    use super::addresses;

    fn read(text: &str) -> String {
        let shown = |address: Option<std::net::IpAddr>| {
            address.map_or("-".to_owned(), |address| address.to_string())
        };
        addresses(text)
            .into_iter()
            .map(shown)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn each_element_names_one_address() {
        assert_eq!(
            read("for=192.0.2.60;proto=http;by=203.0.113.43"),
            "192.0.2.60"
        );
        assert_eq!(
            read("For=\"[2001:db8:cafe::17]:4711\", for=192.0.2.43:80"),
            "2001:db8:cafe::17 192.0.2.43"
        );

        assert_eq!(
            read("for=\"[::ffff:192.0.2.1]\", for=\"192.0.2.2\""),
            "192.0.2.1 192.0.2.2"
        );
    }

    #[test]
    fn hidden_and_forged_elements_name_no_address() {
        assert_eq!(
            read("for=unknown, for=_hidden, proto=http, , for"),
            "- - - - -"
        );
        assert_eq!(read("for=\"192.0.2.1, for=192.0.2.2"), "-");
        assert_eq!(read("for=192.0.2.1;for=192.0.2.2"), "-");

        assert_eq!(
            read("for=\"a\\\", for=192.0.2.2\", for=192.0.2.3"),
            "- 192.0.2.3"
        );
    }
}
