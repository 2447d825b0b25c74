//! libpq's connection parameters, and how each is handled.

/// How a parameter is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is supported.
    Known,
    /// Only values that match the actual behavior are accepted.
    Only(&'static [&'static str], &'static str),
    /// It is rejected, with the reason.
    Refused(&'static str),
}

/// A parameter of a connection.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    /// The corresponding environment variable.
    pub(super) variable: Option<&'static str>,
    pub(super) kind: Kind,
}

const fn known(name: &'static str, variable: &'static str) -> Parameter {
    Parameter {
        name,
        variable: Some(variable),
        kind: Kind::Known,
    }
}

const fn without_variable(name: &'static str) -> Parameter {
    Parameter {
        name,
        variable: None,
        kind: Kind::Known,
    }
}

const fn refused(
    name: &'static str,
    variable: Option<&'static str>,
    why: &'static str,
) -> Parameter {
    Parameter {
        name,
        variable,
        kind: Kind::Refused(why),
    }
}

const GSS: &str = "there is no encryption by GSSAPI; use TLS";
const SERVICE: &str = "service files are not read; write its parameters into the URL";
const REVOCATION: &str = "revocation lists are not read";

/// The supported parameters in the order of libpq's manual, then the others.
pub(super) const PARAMETERS: &[Parameter] = &[
    known("host", "PGHOST"),
    known("hostaddr", "PGHOSTADDR"),
    known("port", "PGPORT"),
    known("dbname", "PGDATABASE"),
    known("user", "PGUSER"),
    known("password", "PGPASSWORD"),
    known("passfile", "PGPASSFILE"),
    known("channel_binding", "PGCHANNELBINDING"),
    known("connect_timeout", "PGCONNECT_TIMEOUT"),
    known("options", "PGOPTIONS"),
    known("application_name", "PGAPPNAME"),
    without_variable("fallback_application_name"),
    without_variable("keepalives"),
    without_variable("keepalives_idle"),
    without_variable("keepalives_interval"),
    without_variable("keepalives_count"),
    without_variable("tcp_user_timeout"),
    known("sslmode", "PGSSLMODE"),
    known("sslnegotiation", "PGSSLNEGOTIATION"),
    known("sslcert", "PGSSLCERT"),
    known("sslkey", "PGSSLKEY"),
    known("sslrootcert", "PGSSLROOTCERT"),
    known("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION"),
    known("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION"),
    known("target_session_attrs", "PGTARGETSESSIONATTRS"),
    known("load_balance_hosts", "PGLOADBALANCEHOSTS"),
    Parameter {
        name: "client_encoding",
        variable: Some("PGCLIENTENCODING"),
        kind: Kind::Only(
            &["auto", "utf8", "utf-8", "unicode"],
            "the encoding is UTF-8",
        ),
    },
    Parameter {
        name: "sslcompression",
        variable: Some("PGSSLCOMPRESSION"),
        kind: Kind::Only(&["0"], "TLS does not compress"),
    },
    Parameter {
        name: "sslsni",
        variable: Some("PGSSLSNI"),
        kind: Kind::Only(&["1"], "the host's name is always sent"),
    },
    Parameter {
        name: "sslcertmode",
        variable: Some("PGSSLCERTMODE"),
        kind: Kind::Only(
            &["allow"],
            "a certificate is sent when the server asks for one",
        ),
    },
    Parameter {
        name: "gssencmode",
        variable: Some("PGGSSENCMODE"),
        kind: Kind::Only(&["disable", "prefer"], GSS),
    },
    Parameter {
        name: "replication",
        variable: None,
        kind: Kind::Only(
            &["false", "off", "no", "0"],
            "the service needs ordinary connections",
        ),
    },
    refused(
        "sslpassword",
        None,
        "keys that are encrypted are not read; decrypt the key, and let only the service read it",
    ),
    refused("sslcrl", Some("PGSSLCRL"), REVOCATION),
    refused("sslcrldir", Some("PGSSLCRLDIR"), REVOCATION),
    refused("requiressl", Some("PGREQUIRESSL"), "use sslmode"),
    refused(
        "requirepeer",
        Some("PGREQUIREPEER"),
        "the user of the server's process is not looked at",
    ),
    refused(
        "require_auth",
        Some("PGREQUIREAUTH"),
        "the server chooses the method; sslmode=verify-full makes sure which server it is",
    ),
    refused("service", Some("PGSERVICE"), SERVICE),
    refused("servicefile", Some("PGSERVICEFILE"), SERVICE),
    refused("krbsrvname", None, GSS),
    refused("gsslib", None, GSS),
    refused("gssdelegation", None, GSS),
    refused(
        "min_protocol_version",
        Some("PGMINPROTOCOLVERSION"),
        "the protocol's version is 3.0",
    ),
    refused(
        "max_protocol_version",
        Some("PGMAXPROTOCOLVERSION"),
        "the protocol's version is 3.0",
    ),
    refused(
        "sslkeylogfile",
        None,
        "keys of connections are not written down",
    ),
    refused("scram_client_key", None, "give the password"),
    refused("scram_server_key", None, "give the password"),
    refused("oauth_issuer", None, "there is no authentication by OAuth"),
    refused(
        "oauth_client_id",
        None,
        "there is no authentication by OAuth",
    ),
    refused(
        "oauth_client_secret",
        None,
        "there is no authentication by OAuth",
    ),
    refused("oauth_scope", None, "there is no authentication by OAuth"),
];

/// The parameter with a name.
pub(super) fn find(name: &str) -> Option<&'static Parameter> {
    PARAMETERS.iter().find(|parameter| parameter.name == name)
}

/// The names of the supported parameters.
pub(super) fn names() -> String {
    let known = PARAMETERS
        .iter()
        .filter(|parameter| parameter.kind == Kind::Known);
    known
        .map(|parameter| parameter.name)
        .collect::<Vec<_>>()
        .join(", ")
}
