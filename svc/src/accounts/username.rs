//! Names of users and addresses of mail.

use precis_core::profile::Profile as _;
use precis_profiles::UsernameCaseMapped;
use unicode_normalization::UnicodeNormalization as _;

/// The most bytes of a name as it is sent, and as it is kept.
const LONGEST: usize = 255;

/// The signs that the part of an address before the `@` may have beside letters and digits (RFC 5322, section 3.2.3).
const ATOM: &str = "!#$%&'*+-/=?^_`{|}~.";

/// Brings a name into the form in which it is kept and looked for: that of RFC 8265, in lower case. `None` when it is
/// empty, too long, or has signs that no name may have, such as spaces and those that cannot be seen.
pub(super) fn read_username(text: &str) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let name = UsernameCaseMapped::new().enforce(text).ok()?;
    (name.len() <= LONGEST).then(|| name.into_owned())
}

/// Reads an address of mail, of which only the mail server knows whether it is one; its host in lower case. `None` when
/// it cannot be one, or would be read as several.
pub(super) fn read_email(text: &str) -> Option<String> {
    let address: String = text.trim().nfkc().collect();
    let (name, host) = address.rsplit_once('@')?;
    let host = host.to_lowercase();
    let is_fit = !name.is_empty()
        && address.len() <= LONGEST
        && name.chars().all(|sign| sign.is_alphanumeric() || ATOM.contains(sign))
        && host.split('.').all(|label| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-'));
    is_fit.then(|| format!("{name}@{host}"))
}
