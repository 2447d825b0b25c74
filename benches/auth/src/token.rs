//! Tokens that hold until 2100.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::json;

/// The secret of the tokens by HS256.
pub(crate) const SECRET: &str = "the secret of the bench, which is no secret";
/// The issuer that all tokens name.
pub(crate) const ISSUER: &str = "https://id.example";
/// The audience that all tokens name.
pub(crate) const AUDIENCE: &str = "bench";
/// The key that verifies [`RS256`]; the one that signed it is nowhere.
pub(crate) const PUBLIC_KEY: &str = include_str!("rs256.pem");
/// A token by RS256 with the claims of the others.
const RS256: &str = include_str!("rs256.jwt");

/// The token by RS256.
pub(crate) fn rs256() -> String {
    RS256.trim_end().to_owned()
}

/// A token by HS256 of this number.
pub(crate) fn hs256(number: usize) -> String {
    let claims = json!({
        "sub": "24c9e15e-52af-c47c-225b-757e7bee1f9d", "iss": ISSUER, "aud": AUDIENCE, "iat": 1_700_000_000,
        "exp": 4_102_444_800_u64, "roles": ["editor"], "permissions": ["posts:read", "posts:write"],
        "email": "ada@example.com", "name": "Ada", "tenant": "acme", "jti": number.to_string(),
    });
    let encoded = |text: String| URL_SAFE_NO_PAD.encode(text);
    let signed = format!(
        "{}.{}",
        encoded(json!({ "alg": "HS256", "typ": "JWT" }).to_string()),
        encoded(claims.to_string())
    );
    let signature = hmac::sign(
        &hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()),
        signed.as_bytes(),
    );
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}
