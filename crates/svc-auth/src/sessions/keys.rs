//! The keys that protect cookies.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::{CookieProtection, SessionConfig};

/// The length of an HMAC with SHA-256, in bytes.
const MAC: usize = 32;

/// The keys of the current secret and, if configured, of the previous one.
pub(super) struct Keys {
    protection: CookieProtection,
    /// The name of the cookie. It is authenticated too, so that a value is not valid for another
    /// cookie.
    name: String,
    today: Key,
    before: Option<Key>,
}

struct Key {
    sealing: LessSafeKey,
    signing: hmac::Key,
}

impl Key {
    /// Derives two keys from one secret. Never returns `None`, as an HMAC has the key length of
    /// AES.
    fn new(secret: &str) -> Option<Self> {
        let secret = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let derive = |what: &[u8]| hmac::sign(&secret, what);
        let sealing = UnboundKey::new(
            &AES_256_GCM,
            derive(b"svc: encrypted cookies of sessions").as_ref(),
        )
        .ok()?;

        let signing = derive(b"svc: signed cookies of sessions");

        Some(Self {
            sealing: LessSafeKey::new(sealing),
            signing: hmac::Key::new(hmac::HMAC_SHA256, signing.as_ref()),
        })
    }

    fn seal(&self, protection: CookieProtection, name: &str, content: &[u8]) -> Option<String> {
        let mut bytes = content.to_vec();
        let mut sealed;
        match protection {
            CookieProtection::Encrypted => {
                // Random nonces are safe for 2^32 cookies per key (NIST SP 800-38D, section 8.3).
                let nonce = random::<NONCE_LEN>()?;
                let unique = Nonce::assume_unique_for_key(nonce);
                self.sealing
                    .seal_in_place_append_tag(unique, Aad::from(name.as_bytes()), &mut bytes)
                    .ok()?;
                sealed = nonce.to_vec();
            }
            CookieProtection::Signed => {
                sealed = hmac::sign(&self.signing, &named(name, content))
                    .as_ref()
                    .to_vec();
            }
        }

        sealed.extend(bytes);

        Some(URL_SAFE_NO_PAD.encode(sealed))
    }

    fn open(&self, protection: CookieProtection, name: &str, text: &str) -> Option<Vec<u8>> {
        let mut bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        match protection {
            CookieProtection::Encrypted => {
                let (nonce, sealed) = bytes.split_at_mut_checked(NONCE_LEN)?;
                let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
                Some(
                    self.sealing
                        .open_in_place(nonce, Aad::from(name.as_bytes()), sealed)
                        .ok()?
                        .to_vec(),
                )
            }
            CookieProtection::Signed => {
                let (mac, content) = bytes.split_at_checked(MAC)?;
                hmac::verify(&self.signing, &named(name, content), mac).ok()?;
                Some(content.to_vec())
            }
        }
    }
}

fn named(name: &str, content: &[u8]) -> Vec<u8> {
    // The name of a cookie cannot contain `=`, so no other name and content have the same bytes.
    [name.as_bytes(), b"=", content].concat()
}

impl Keys {
    pub(super) fn new(config: &SessionConfig) -> Option<Self> {
        let before = match &config.previous_secret_key {
            Some(secret) => Some(Key::new(secret)?),
            None => None,
        };

        let (protection, name) = (config.protection, config.session_cookie.clone());
        Some(Self {
            protection,
            name,
            today: Key::new(&config.secret_key)?,
            before,
        })
    }

    /// Protects the content of a cookie; `None` if the system provides no random bytes.
    pub(super) fn seal(&self, content: &[u8]) -> Option<String> {
        self.today.seal(self.protection, &self.name, content)
    }

    /// Returns the content of a valid cookie, and whether it was protected with the previous
    /// secret.
    pub(super) fn open(&self, text: &str) -> Option<(Vec<u8>, bool)> {
        let today = self
            .today
            .open(self.protection, &self.name, text)
            .map(|content| (content, false));
        let before = || {
            Some((
                self.before
                    .as_ref()?
                    .open(self.protection, &self.name, text)?,
                true,
            ))
        };

        today.or_else(before)
    }
}

/// Random bytes; `None` if the system provides none.
pub(super) fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes)
}
