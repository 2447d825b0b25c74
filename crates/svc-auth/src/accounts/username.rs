//! User names and email addresses.

use precis_core::profile::Profile as _;
use precis_profiles::UsernameCaseMapped;
use unicode_normalization::UnicodeNormalization as _;

/// The maximum length of a name in bytes, both as sent and as stored.
const MAX_LENGTH: usize = 255;

/// The characters allowed in an address before the `@`, besides letters and digits (RFC 5322,
/// section 3.2.3).
const ATOM: &str = "!#$%&'*+-/=?^_`{|}~.";

/// Normalizes a name for storage and lookup: the form of RFC 8265, in lower case. `None` if it is
/// empty, too long, or contains characters that no name may have, such as spaces and invisible
/// ones.
pub(super) fn read_username(text: &str) -> Option<String> {
    if text.len() > MAX_LENGTH {
        return None;
    }

    // The mapping may lengthen a name, so its result is measured as well.
    let name = UsernameCaseMapped::new().enforce(text).ok()?;
    (name.len() <= MAX_LENGTH).then(|| name.into_owned())
}

/// Parses an email address, and converts its host to lower case; only the mail server can confirm
/// that it is one. `None` if the text cannot be an address, or would be read as several.
pub(super) fn read_email(text: &str) -> Option<String> {
    let address: String = text.trim().nfkc().collect();
    let (name, host) = address.rsplit_once('@')?;
    let host = host.to_lowercase();
    let is_fit = !name.is_empty()
        && address.len() <= MAX_LENGTH
        && name
            .chars()
            .all(|sign| sign.is_alphanumeric() || ATOM.contains(sign))
        && host.split('.').all(|label| {
            !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-')
        });

    is_fit.then(|| format!("{name}@{host}"))
}
