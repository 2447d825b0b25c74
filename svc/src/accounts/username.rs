//! Names of users and addresses of mail.

use unicode_normalization::UnicodeNormalization as _;

/// The most bytes of a name as it is sent, and as it is kept.
const LONGEST: usize = 255;

/// Brings a name into the form in which it is kept and looked for: NFKC, in lower case. `None` when it is empty, too
/// long, or has spaces or control characters.
pub(super) fn read_username(text: &str) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let name: String = text.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    let is_fit =
        !name.is_empty() && name.len() <= LONGEST && !name.chars().any(|c| c.is_whitespace() || c.is_control());
    is_fit.then_some(name)
}

/// Reads an address of mail, of which only the mail server knows whether it is one. `None` when it cannot be.
pub(super) fn read_email(text: &str) -> Option<String> {
    let address = text.trim();
    let (name, host) = address.rsplit_once('@')?;
    let is_fit = !name.is_empty()
        && !host.is_empty()
        && address.len() <= LONGEST
        && !address.chars().any(|c| c.is_whitespace() || c.is_control());
    is_fit.then(|| address.to_owned())
}
