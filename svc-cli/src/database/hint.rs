//! Hints for connections that fail.

use tokio_postgres::error::SqlState;

use super::Target;

/// The hint for passwords: a URL has to encode some of their characters.
pub(super) const CREDENTIALS: &str = "correct user and password in SVC_DATABASE_URL; in a password write `%40` for @, `%23` for #, \
    `%3F` for ?, `%25` for %, `%2F` for /";

/// The hints for a connection error.
pub(super) fn of(error: &tokio_postgres::Error, target: &Target) -> Vec<String> {
    // A code comes from the server, so the address is right.
    match error.code() {
        Some(code) => of_code(code, target).into_iter().collect(),
        None => of_cause(&cause(error))
            .map_or_else(|| unreachable(target), |hint| vec![hint.to_owned()]),
    }
}

/// The hints if no server responds.
pub(super) fn unreachable(target: &Target) -> Vec<String> {
    let hint = if target.is_local() {
        "start it: svc db start; or correct SVC_DATABASE_URL in .env"
    } else {
        "check that the server is running and accepts connections from this machine, or correct SVC_DATABASE_URL in .env"
    };

    let about_password = target.is_ambiguous.then_some(CREDENTIALS);
    [hint]
        .into_iter()
        .chain(about_password)
        .map(str::to_owned)
        .collect()
}

fn of_code(code: &SqlState, target: &Target) -> Option<String> {
    let name = target.database();
    Some(match *code {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            CREDENTIALS.to_owned()
        }
        SqlState::UNDEFINED_DATABASE if target.is_local() => {
            format!("create it: svc db start, or createdb {name} on that server")
        }
        SqlState::UNDEFINED_DATABASE => format!("create it: createdb {name} on that server"),
        SqlState::TOO_MANY_CONNECTIONS => {
            "close connections, or allow more: max_connections, ALTER ROLE … CONNECTION LIMIT"
                .to_owned()
        }
        SqlState::CANNOT_CONNECT_NOW => "the server is starting or stopping; try again".to_owned(),
        SqlState::INSUFFICIENT_PRIVILEGE => {
            format!(
                "give the user access: GRANT CONNECT ON DATABASE {name} TO {}",
                target.user()
            )
        }
        _ => return None,
    })
}

/// The driver's errors without a code differ only in their texts.
fn of_cause(cause: &str) -> Option<&'static str> {
    Some(match cause {
        "password missing" => {
            "write the password into SVC_DATABASE_URL: postgresql://user:password@host:5432/name"
        }
        "server does not support TLS" => {
            "the server has no certificate: remove `sslmode` from SVC_DATABASE_URL, or install one"
        }
        _ if cause.contains("certificate") => {
            "name its certificate authority: sslrootcert=FILE in SVC_DATABASE_URL"
        }
        _ => return None,
    })
}

/// The innermost cause.
fn cause(error: &tokio_postgres::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
