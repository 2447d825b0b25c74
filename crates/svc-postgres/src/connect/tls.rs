//! The TLS parameters of the URL.

use std::path::PathBuf;

use tokio_postgres::config::SslNegotiation;

use super::given::Given;
use super::url::BadUrl;

/// How the server's certificate is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verify {
    Nothing,
    /// Checks the authority that signed it.
    Authority,
    /// Checks the authority that signed it, and that it is for this host.
    Name,
}

/// A certificate or a key.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Pem {
    Inline(String),
    File(PathBuf),
}

/// Whether connections are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TlsMode {
    Disable,
    Prefer,
    Require,
}

/// The encryption of connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlsConfig {
    pub(crate) mode: TlsMode,
    pub(crate) verify: Verify,
    pub(crate) negotiation: SslNegotiation,
    /// The authorities that may sign the server's certificate; `None` selects the public ones.
    pub(crate) root: Option<Pem>,
    /// The client's own certificate and its key.
    pub(crate) identity: Option<(Pem, Pem)>,
    /// Whether TLS 1.2 and TLS 1.3 are allowed.
    pub(crate) versions: [bool; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Disable,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

const MODES: [(&str, Mode); 5] = [
    ("disable", Mode::Disable),
    ("prefer", Mode::Prefer),
    ("require", Mode::Require),
    ("verify-ca", Mode::VerifyCa),
    ("verify-full", Mode::VerifyFull),
];

const NEGOTIATIONS: [(&str, SslNegotiation); 2] = [
    ("postgres", SslNegotiation::Postgres),
    ("direct", SslNegotiation::Direct),
];

const VERSIONS: [(&str, u8); 4] = [("TLSv1", 0), ("TLSv1.1", 1), ("TLSv1.2", 2), ("TLSv1.3", 3)];

impl TlsConfig {
    pub(super) fn read(given: &Given) -> Result<Self, BadUrl> {
        let is_system = given.text("sslrootcert") == Some("system");
        let mode = given.choice("sslmode", &MODES)?;
        if is_system && mode.is_some_and(|mode| mode != Mode::VerifyFull) {
            return Err(given.refuse(
                "sslmode",
                "must be verify-full with sslrootcert=system: anybody gets a certificate that public authorities have \
                 signed",
            ));
        }

        let asks =
            is_system || mode.is_some_and(|mode| !matches!(mode, Mode::Disable | Mode::Prefer));
        if cfg!(not(feature = "tls")) && asks {
            let name = if is_system { "sslrootcert" } else { "sslmode" };
            return Err(given.refuse(name, "asks for TLS, for which svc needs its feature `tls`"));
        }

        let mode = mode.unwrap_or(if is_system {
            Mode::VerifyFull
        } else {
            Mode::Prefer
        });

        let root = match given.text("sslrootcert") {
            Some("system") => None,
            Some(text) => Some(Pem::from_text(given, "sslrootcert", text)?),
            None => given.default_file("root.crt").map(Pem::File),
        };

        let verify = verify(given, mode, root.is_some())?;
        let negotiation = given
            .choice("sslnegotiation", &NEGOTIATIONS)?
            .unwrap_or(SslNegotiation::Postgres);

        // A connection that starts with TLS has no way back to plain text, which weaker modes allow
        // for.
        if negotiation == SslNegotiation::Direct && matches!(mode, Mode::Disable | Mode::Prefer) {
            return Err(given.refuse(
                "sslnegotiation",
                "can be direct with sslmode=require or a stronger one only",
            ));
        }

        let (identity, versions) = (identity(given)?, versions(given)?);
        let mode = match mode {
            Mode::Disable => TlsMode::Disable,
            Mode::Prefer => TlsMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => TlsMode::Require,
        };

        Ok(Self {
            mode,
            verify,
            negotiation,
            root,
            identity,
            versions,
        })
    }
}

/// Returns how a mode checks the server's certificate.
fn verify(given: &Given, mode: Mode, has_root: bool) -> Result<Verify, BadUrl> {
    match mode {
        Mode::VerifyFull => Ok(Verify::Name),
        Mode::VerifyCa if !has_root => Err(given.refuse(
            "sslmode",
            "cannot be verify-ca without sslrootcert: public authorities sign certificates for anybody; name \
             the file of your authority, or use verify-full",
        )),
        Mode::VerifyCa => Ok(Verify::Authority),
        // As in libpq, where `require` checks the authority if one is given, because some programs
        // rely on it.
        Mode::Require if has_root => Ok(Verify::Authority),
        Mode::Disable | Mode::Prefer | Mode::Require => Ok(Verify::Nothing),
    }
}

fn identity(given: &Given) -> Result<Option<(Pem, Pem)>, BadUrl> {
    let pem = |name, file| match given.text(name) {
        Some(text) => Pem::from_text(given, name, text).map(Some),
        None => Ok(given.default_file(file).map(Pem::File)),
    };

    match (
        pem("sslcert", "postgresql.crt")?,
        pem("sslkey", "postgresql.key")?,
    ) {
        (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
        (Some(_), None) => Err(given.refuse("sslcert", "needs the certificate's key; give sslkey")),
        // As in libpq, the key in the user's directory is unused without a certificate; a key that
        // is named must have one.
        (None, Some(_)) if given.text("sslkey").is_some() => {
            Err(given.refuse("sslkey", "needs the key's certificate; give sslcert"))
        }
        (None, _) => Ok(None),
    }
}

fn versions(given: &Given) -> Result<[bool; 2], BadUrl> {
    let least = given
        .choice("ssl_min_protocol_version", &VERSIONS)?
        .unwrap_or(0);
    let most = given
        .choice("ssl_max_protocol_version", &VERSIONS)?
        .unwrap_or(3);
    let versions = [2, 3].map(|version| (least..=most).contains(&version));
    if versions == [false, false] {
        return Err(given.refuse(
            "ssl_max_protocol_version",
            "must leave TLSv1.2 or TLSv1.3, which are the ones spoken",
        ));
    }

    Ok(versions)
}

impl Pem {
    /// A certificate or a key, or the name of its file. A text that is neither is rejected rather
    /// than used as a file name, as messages show file names and the text may be a key.
    fn from_text(given: &Given, name: &'static str, text: &str) -> Result<Self, BadUrl> {
        if let Some(begin) = text.find("-----BEGIN") {
            let text = text[begin..]
                .trim_end_matches(|end: char| end.is_whitespace() || matches!(end, '"' | '\''));
            return Ok(Self::Inline(text.to_owned()));
        }

        let longest = text
            .split(['/', '\\'])
            .map(str::len)
            .max()
            .unwrap_or_default();

        if longest > MAX_NAME_LENGTH || text.contains(['\n', '\r']) || text.contains("-----") {
            return Err(given.refuse(
                name,
                "is neither the name of a file nor PEM text that begins with `-----BEGIN`",
            ));
        }

        Ok(Self::File(text.into()))
    }
}

/// The maximum length of a file name, in bytes, on all common file systems.
const MAX_NAME_LENGTH: usize = 255;

impl std::fmt::Debug for Pem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Inline(_) => f.write_str("Inline(…)"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}
