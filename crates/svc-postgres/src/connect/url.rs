//! Splits a database URL by libpq's rules. No message quotes a text that may be part of a password.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Why a database URL cannot be used. The text contains nothing from the URL except the names of
/// supported parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadUrl(pub(super) Cow<'static, str>);

impl BadUrl {
    pub(super) fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self(text.into())
    }
}

/// The parameters of a URL, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) pairs: Vec<(String, String)>,
    /// Whether the names of the parameters may be part of a password.
    pub(super) is_doubtful: bool,
}

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Parameters whose values may contain an unescaped `@`.
const MAY_HOLD_AT: [&str; 3] = ["user", "password", "sslpassword"];

/// The error for a password with special URL characters: they end the host early, and an `@`
/// follows.
pub(super) const MISPLACED: &str = "it has an `@` after the host; in the user and the password write `/` as %2F, `?` \
    as %3F and `@` as %40, and elsewhere `@` as %40";

/// Splits a URL into its parameters.
///
/// # Errors
/// When it is malformed.
pub(super) fn split(url: &str) -> Result<Split, BadUrl> {
    let Some(rest) = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme)) else {
        return Err(BadUrl::new(
            "it must be a URL such as postgres://user:password@localhost:5432/name",
        ));
    };

    if rest.contains(|char: char| char.is_whitespace() || char.is_control()) {
        return Err(BadUrl::new(
            "it has a space or a control character; write a space as %20",
        ));
    }

    let (authority, tail) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
    let (login, hosts) = match authority.split_once('@') {
        Some((login, hosts)) => (Some(login), hosts),
        None => (None, authority),
    };

    if hosts.contains('@') {
        return Err(BadUrl::new(
            "it has more than one `@` before the host; in the user and the password write it as %40",
        ));
    }

    let strays = query.split('&').any(holds_stray_at);
    let in_place = query.split('&').any(holds_at_in_place);
    if path.contains('@') || in_place || (login.is_none() && strays) {
        return Err(BadUrl::new(MISPLACED));
    }

    let mut pairs = Vec::new();
    push_login(login, &mut pairs)?;
    push_hosts(hosts, &mut pairs)?;

    if let Some(name) = path.strip_prefix('/').filter(|name| !name.is_empty()) {
        pairs.push((
            "dbname".to_owned(),
            decoded(name, "the name of the database")?,
        ));
    }

    push_query(query, &mut pairs)?;

    Ok(Split {
        pairs,
        is_doubtful: strays,
    })
}

fn holds_stray_at(pair: &str) -> bool {
    let name = pair.split_once('=').map_or(pair, |(name, _)| name);
    pair.contains('@') && !MAY_HOLD_AT.contains(&name)
}

/// Whether the parameter would show, as a place, a text that may be part of a password.
fn holds_at_in_place(pair: &str) -> bool {
    pair.split_once('=')
        .is_some_and(|(name, value)| ["host", "dbname"].contains(&name) && value.contains('@'))
}

fn push_login(login: Option<&str>, pairs: &mut Vec<(String, String)>) -> Result<(), BadUrl> {
    let Some(login) = login else { return Ok(()) };
    let (user, password) = login
        .split_once(':')
        .map_or((login, None), |(user, password)| (user, Some(password)));
    if !user.is_empty() {
        pairs.push(("user".to_owned(), decoded(user, "the user")?));
    }

    if let Some(password) = password.filter(|password| !password.is_empty()) {
        pairs.push(("password".to_owned(), decoded(password, "the password")?));
    }

    Ok(())
}

fn push_hosts(text: &str, pairs: &mut Vec<(String, String)>) -> Result<(), BadUrl> {
    let (mut hosts, mut ports) = (Vec::new(), Vec::new());
    for part in text.split(',') {
        let (host, port) = host_and_port(part)?;
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(BadUrl::new(
                "its port is not a number; in the user and the password write `:` as %3A, `/` as %2F, `?` as %3F and \
                 `@` as %40",
            ));
        }
        hosts.push(decoded(host, "the host")?);
        ports.push(port);
    }

    for (name, list) in [("host", hosts.join(",")), ("port", ports.join(","))] {
        // An empty list would hide the variable of the environment.
        if list.contains(|char| char != ',') {
            pairs.push((name.to_owned(), list));
        }
    }

    Ok(())
}

/// Splits a host and its port. An IPv6 address is in brackets.
fn host_and_port(part: &str) -> Result<(&str, &str), BadUrl> {
    let malformed = || BadUrl::new("its host is malformed; write an IPv6 address as [::1]");
    if let Some(rest) = part.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or_else(malformed)?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, port)),
            None if rest.is_empty() => Ok((host, "")),
            None => Err(malformed()),
        };
    }

    Ok(part.split_once(':').unwrap_or((part, "")))
}

fn push_query(query: &str, pairs: &mut Vec<(String, String)>) -> Result<(), BadUrl> {
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(BadUrl::new(
                "one of its parameters has no value; write it as name=value",
            ));
        };

        let (name, value) = (
            decoded(name, "the name of a parameter")?,
            decoded(value, "the value of a parameter")?,
        );

        // As in JDBC URLs.
        pairs.push(if name == "ssl" && value == "true" {
            ("sslmode".to_owned(), "require".to_owned())
        } else {
            (name, value)
        });
    }

    Ok(())
}

fn decoded(text: &str, what: &str) -> Result<String, BadUrl> {
    // `percent_decode_str` keeps a malformed escape as it is, which would silently change a
    // password.
    let is_hex = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_encoded = |(at, _): (usize, &str)| text.get(at + 1..at + 3).is_some_and(is_hex);
    if !text.match_indices('%').all(is_encoded) {
        return Err(BadUrl::new(format!(
            "in {what}, a `%` is not followed by two hexadecimal digits; write `%` as %25"
        )));
    }

    let text = percent_decode_str(text)
        .decode_utf8()
        .map_err(|_| BadUrl::new(format!("{what} is not UTF-8")))?;
    if text.contains('\0') {
        return Err(BadUrl::new(format!("{what} holds the character U+0000")));
    }

    Ok(text.into_owned())
}
