//! Names of hosts, and addresses of mailboxes and resources at them.

use std::fmt::{self, Display};
use std::str::FromStr;

use crate::scalar::library::ScalarError;
use crate::scalar::library::form::{text_form, text_newtype};

text_newtype! {
    /// The name of a host ([RFC 1123](https://www.rfc-editor.org/rfc/rfc1123#section-2.1)).
    ///
    /// Labels of up to 63 letters, digits and inner hyphens, joined by dots, of up to 253
    /// characters in all; the last label is not a number, so that no name looks like an address.
    /// Canonical is in lower case, and a name with other letters is in its ASCII form (IDNA).
    ///
    /// ```
    /// use svc::scalar::Hostname;
    ///
    /// assert_eq!("WWW.Example.com".parse::<Hostname>()?.as_str(), "www.example.com");
    /// assert_eq!("bücher.example".parse::<Hostname>()?.as_str(), "xn--bcher-kva.example");
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    Hostname,
    canonical = hostname,
    description = "The name of a host.",
    specified_by = "https://www.rfc-editor.org/rfc/rfc1123#section-2.1"
}

fn hostname(text: &str) -> Result<String, ScalarError> {
    domain(text).ok_or_else(|| ScalarError::new("expected the name of a host (RFC 1123)", text))
}

/// The canonical name, or `None` when it breaks RFC 1123.
pub(crate) fn domain(text: &str) -> Option<String> {
    let name = if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        // `url` decodes percent signs, which have no place in the name of a host.
        let plain = !text.contains('%');
        match plain.then(|| url::Host::parse(text).ok()).flatten()? {
            url::Host::Domain(name) => name,
            _ => return None,
        }
    };

    let number = name
        .rsplit('.')
        .next()?
        .bytes()
        .all(|byte| byte.is_ascii_digit());

    // RFC 1035, section 2.3.4: 255 bytes with the lengths of the labels, which leaves 253
    // characters.
    (name.len() <= 253 && !number && name.split('.').all(is_label)).then_some(name)
}

fn is_label(label: &str) -> bool {
    let known = label
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    known && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
}

text_newtype! {
    /// The address of a mailbox ([RFC 5321](https://www.rfc-editor.org/rfc/rfc5321#section-4.1.2)).
    ///
    /// A local part of up to 64 bytes, `@`, and the [name of a host](Hostname). As in the address
    /// fields of browsers, quoted local parts, comments and addresses of hosts in brackets are
    /// refused. Canonical has the host in lower case; the local part is unchanged, because only the
    /// host defines whether its case matters. It may contain letters beyond ASCII ([RFC
    /// 6531](https://www.rfc-editor.org/rfc/rfc6531)).
    ///
    /// ```
    /// use svc::scalar::EmailAddress;
    ///
    /// let address: EmailAddress = "Ada.L@Example.COM".parse()?;
    /// assert_eq!(address.as_str(), "Ada.L@example.com");
    /// assert_eq!((address.local_part(), address.domain()), ("Ada.L", "example.com"));
    /// # Ok::<(), svc::scalar::ScalarError>(())
    /// ```
    EmailAddress,
    canonical = email,
    description = "The address of a mailbox.",
    specified_by = "https://www.rfc-editor.org/rfc/rfc5321#section-4.1.2"
}

impl EmailAddress {
    /// Returns the part before the `@`.
    #[must_use]
    pub fn local_part(&self) -> &str {
        self.parts().0
    }

    /// Returns the name of the host.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.parts().1
    }

    fn parts(&self) -> (&str, &str) {
        self.as_str().rsplit_once('@').unwrap_or_default()
    }
}

fn email(text: &str) -> Result<String, ScalarError> {
    let found = text
        .rsplit_once('@')
        .and_then(|(local, host)| Some((local, domain(host)?)));
    let found = found
        .filter(|(local, _)| is_local(local))
        .map(|(local, host)| format!("{local}@{host}"));
    let rule = "expected an e-mail address such as `name@example.com` (RFC 5321)";
    found
        // RFC 5321, section 4.5.3.1.3: a path has at most 256 bytes, of which two are angle
        // brackets.
        .filter(|address| address.len() <= 254)
        .ok_or_else(|| ScalarError::new(rule, text))
}

fn is_local(local: &str) -> bool {
    let atom = |atom: &str| {
        !atom.is_empty()
            && atom
                .chars()
                .all(|c| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c))
    };

    // RFC 5321, section 4.5.3.1.1: the limit is on bytes, not on characters.
    local.len() <= 64 && local.split('.').all(atom)
}

/// An absolute URL, as the [URL Standard](https://url.spec.whatwg.org/) reads it.
///
/// Canonical is the standard's serialisation: scheme and host in lower case, no default port, dots
/// in paths resolved. Any scheme is taken; look at [`scheme`](Self::scheme) before a page links to
/// what a stranger sent.
///
/// ```
/// use svc::scalar::Url;
///
/// let url: Url = "HTTPS://Example.com:443/a/../b?q=1".parse()?;
/// assert_eq!(url.as_str(), "https://example.com/b?q=1");
/// assert_eq!((url.scheme(), url.host()), ("https", Some("example.com")));
/// # Ok::<(), svc::scalar::ScalarError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Url(url::Url);

impl Url {
    /// Returns the canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the scheme, in lower case and without the colon.
    #[must_use]
    pub fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// Returns the host, when the scheme has one.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.0.host_str()
    }

    /// Returns the canonical text, owned.
    #[must_use]
    pub fn into_inner(self) -> String {
        self.0.into()
    }
}

impl FromStr for Url {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let found = url::Url::parse(text).map(Self);
        found.map_err(|error| {
            ScalarError::new(
                format!("expected an absolute URL (URL Standard: {error})"),
                text,
            )
        })
    }
}

impl AsRef<str> for Url {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

text_form!(
    Url,
    description = "An absolute URL.",
    name = "URL",
    specified_by = "https://url.spec.whatwg.org/"
);
