//! Requests that another site may have made a browser send with the user's credentials (CSRF).

use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Uri, header};

use super::common_headers::CommonHeaders;
use super::own_origin::is_own;
use svc_engine::request::is_query;
use svc_telemetry::security_log::{Clients, SecurityEventType, record};

/// Headers that prove a preflight request; a single one is enough. A browser sends a preflight
/// request before it sends any header that forms cannot have.
pub(super) const PREFLIGHTED: [HeaderName; 4] = [
    HeaderName::from_static("apollo-require-preflight"),
    HeaderName::from_static("graphql-preflight"),
    HeaderName::from_static("x-apollo-operation-name"),
    HeaderName::from_static("x-requested-with"),
];

/// The media types of forms.
const FORMS: [&[u8]; 3] = [
    b"application/x-www-form-urlencoded",
    b"multipart/form-data",
    b"text/plain",
];

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Detects requests that may be forged.
#[derive(Debug)]
pub(crate) struct CsrfProtection {
    /// The origins of other sites that may send requests.
    trusted: Vec<String>,
    clients: Clients,
}

/// The head of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) extensions: &'a Extensions,
}

impl<'a> Head<'a> {
    pub(crate) fn of(parts: &'a Parts) -> Self {
        let Parts {
            method,
            uri,
            headers,
            extensions,
            ..
        } = parts;

        Self {
            method,
            uri,
            headers,
            extensions,
        }
    }
}

/// The reason why a request may be forged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forgery {
    /// A form could have sent it.
    Form,
    /// It comes from another site, with credentials added by the browser.
    Credentials,
    /// A page of another site links to it, or embeds it.
    Embedded,
}

impl Forgery {
    /// Returns the fix, for the client.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Form => {
                "a form of any site could send this request; send it as `Content-Type: application/json`, from a \
                 browser or not"
            }
            Self::Credentials => {
                "the request comes from another site with a cookie or a password that the browser has added; the \
                 service has to allow its origin (SVC_CORS_ORIGINS)"
            }
            Self::Embedded => {
                "a page of another site leads to this query or embeds it; send it with POST, or from a page of this site"
            }
        }
    }

    fn event(self) -> SecurityEventType {
        match self {
            Self::Form => SecurityEventType::CsrfForm,
            Self::Credentials => SecurityEventType::CsrfForeignOrigin,
            Self::Embedded => SecurityEventType::CsrfEmbedded,
        }
    }

    /// Returns the reason, for the security log.
    fn reason(self) -> &'static str {
        match self {
            Self::Form => "a form of any site could have sent it",
            Self::Credentials => "it comes from another site, with a cookie or a password",
            Self::Embedded => "a page of another site leads to it or embeds it",
        }
    }
}

impl CsrfProtection {
    /// Creates a protection against all sites except these. `*` lets any site read responses, but
    /// no site act for a user.
    pub(crate) fn new(origins: &[String], clients: Clients) -> Self {
        Self {
            trusted: origins
                .iter()
                .filter(|origin| *origin != "*")
                .cloned()
                .collect(),
            clients,
        }
    }

    /// Checks that no other site can have made a browser send the request.
    ///
    /// # Errors
    /// The reason why it may be forged; it is also recorded in the security log.
    pub(crate) fn check(&self, head: Head<'_>) -> Result<(), Forgery> {
        let Some(forgery) = self.forgery(head) else {
            return Ok(());
        };

        let event = self
            .clients
            .event(forgery.event(), head.headers, head.extensions);
        let event = event
            .resource(head.uri.path())
            .action(head.method.as_str())
            .reason(forgery.reason());
        let origin = head
            .headers
            .get(header::ORIGIN)
            .and_then(|origin| origin.to_str().ok());
        record(
            origin
                .into_iter()
                .fold(event, |event, origin| event.metadata("origin", origin)),
        );

        Err(forgery)
    }

    /// Whether [`check`](Self::check) accepts any request with these headers. No form sends JSON,
    /// and nothing of the user is in a request without credentials.
    pub(in crate::http) fn is_harmless(method: &Method, common: CommonHeaders) -> bool {
        *method == Method::POST && common.is_json && !common.has_credentials
    }

    fn forgery(&self, head: Head<'_>) -> Option<Forgery> {
        let headers = head.headers;
        let is_read = matches!(*head.method, Method::GET | Method::HEAD);

        // Forms have no `QUERY`, and browsers send a preflight request before it.
        let is_of_forms = !is_read && !is_query(head.method);
        if is_of_forms && is_form(headers) && !is_preflighted(headers) {
            return Some(Forgery::Form);
        }

        if (headers.contains_key(header::COOKIE) || has_password(headers)) && self.is_foreign(head)
        {
            return Some(Forgery::Credentials);
        }

        // Scripts need permission to read a response; links, forms and images need none.
        if is_read && is_embedded(headers) && self.is_foreign(head) {
            return Some(Forgery::Embedded);
        }

        None
    }

    /// Whether the browser's headers show that a page of another origin sends the request.
    fn is_foreign(&self, head: Head<'_>) -> bool {
        let origins = || {
            head.headers
                .get_all(header::ORIGIN)
                .iter()
                .map(HeaderValue::as_bytes)
        };

        let is_trusted = |origin: &[u8]| {
            self.trusted
                .iter()
                .any(|known| origin.eq_ignore_ascii_case(known.as_bytes()))
        };

        if origins().next().is_some() && origins().all(is_trusted) {
            return false;
        }

        match head.headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes) {
            Some(b"same-origin" | b"none") => false,
            // `same-site` is foreign as well: another host below the same domain may belong to
            // another party.
            Some(_) => true,
            // Browsers before 2023 send only the origin.
            None => !origins().all(|origin| {
                std::str::from_utf8(origin)
                    .is_ok_and(|origin| is_own(origin, head.headers, head.uri))
            }),
        }
    }
}

/// Whether the body has a media type that a form of any page can send.
fn is_form(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes) else {
        return false;
    };

    // Fast path for most requests.
    if value == b"application/json" {
        return false;
    }

    let media = value
        .split(|byte| *byte == b';')
        .next()
        .unwrap_or_default()
        .trim_ascii();

    FORMS.iter().any(|form| media.eq_ignore_ascii_case(form))
}

/// Whether a header proves that the browser sent a preflight request first.
pub(in crate::http) fn is_preflighted(headers: &HeaderMap) -> bool {
    PREFLIGHTED.iter().any(|name| has_text(headers, name))
}

fn has_text(headers: &HeaderMap, name: &HeaderName) -> bool {
    headers.get(name).is_some_and(|value| !value.is_empty())
}

/// Whether there is a password that browsers add automatically (RFC 7617).
fn has_password(headers: &HeaderMap) -> bool {
    let is_basic = |value: &HeaderValue| {
        value
            .as_bytes()
            .get(..5)
            .is_some_and(|name| name.eq_ignore_ascii_case(b"basic"))
    };
    headers.get(header::AUTHORIZATION).is_some_and(is_basic)
}

/// Whether a browser loads the response as a page, an image, a script and so on.
fn is_embedded(headers: &HeaderMap) -> bool {
    let mode = headers.get(SEC_FETCH_MODE).map(HeaderValue::as_bytes);
    matches!(mode, Some(b"navigate" | b"nested-navigate" | b"no-cors"))
}
