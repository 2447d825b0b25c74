//! Builds native accounts from the settings: their provider, and their routes next to the
//! application's.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, HeaderName};

use crate::app::{AppOptions, StartError, SvcConfig};
use crate::http::{Protection, protect};
use svc_auth::SharedProvider;
use svc_auth::TokenAlgorithm;
use svc_auth::accounts::{
    AccountDatabase, NativeAuthFactory, NativeAuthProvider, PasswordRules, PostgresUserRepository,
    create_auth_router, identify_users,
};
use svc_core::settings::ConfigError;

/// Returns the provider configured by the settings; its accounts are in the application's database.
/// Keeps the provider in the options for its routes.
pub(super) fn provider(options: &mut AppOptions) -> Result<SharedProvider, StartError> {
    let (auth, accounts) = (&options.config.auth, &options.config.accounts);
    if auth.algorithm != TokenAlgorithm::Hs256 {
        let allowed = "it must be HS256 or unset where SVC_AUTH_PROVIDER is native";
        return Err(
            ConfigError::new("SVC_AUTH_ALGORITHM", auth.algorithm.as_str(), allowed).into(),
        );
    }

    let name = "SVC_AUTH_SECRET_KEY";
    let missing = || {
        ConfigError::new(
            name,
            "",
            "it must be a secret of at least 32 bytes, for native accounts",
        )
    };

    let secret = auth.secret_key.as_ref().ok_or_else(missing)?;
    accounts.checked_path()?;

    // A revocation that expires before its token would make the token valid again.
    #[cfg(feature = "redis")]
    let revocation = options.revocation_in_redis(accounts.access_token_ttl)?;
    let database = options
        .accounts
        .get_or_insert_with(AccountDatabase::of_application);
    let factory = NativeAuthFactory::new(database).leeway(auth.leeway);
    let factory = with_password_rules(factory, &options.config);
    let factory = auth.issuer.iter().fold(factory, NativeAuthFactory::issuer);
    let factory = auth
        .audience
        .iter()
        .fold(factory, NativeAuthFactory::audience);
    let factory = match accounts.address_header.clone() {
        Some(header) => {
            factory.client_address(move |headers, peer| said(headers, &header).or(peer.map(ip)))
        }
        None => {
            let clients = options.config.rate_limit.clients();
            factory.client_address(move |headers, peer| clients.address(headers, peer.map(ip)))
        }
    };

    #[cfg(feature = "redis")]
    let factory = revocation
        .into_iter()
        .fold(factory, NativeAuthFactory::revocation);
    let users = PostgresUserRepository::new(database);
    let native = factory.create_provider(
        users,
        secret,
        accounts.access_token_ttl,
        accounts.refresh_token_ttl,
    )?;

    // With authentication disabled, there are no account routes either.
    options.native = Some(native.clone()).filter(|_| auth.enabled != Some(false));
    note_unknown_proxies(options);

    Ok(Arc::new(native))
}

/// Sets the rules for new passwords. The name of the service is a word that they must not consist
/// of.
fn with_password_rules(factory: NativeAuthFactory, config: &SvcConfig) -> NativeAuthFactory {
    let mut rules = PasswordRules::default();
    rules.min_length = config.accounts.password_min_length;
    let words = config
        .accounts
        .context_words
        .iter()
        .chain([&config.service_name]);

    factory.password_rules(rules).context_words(words)
}

/// Logs that attempts are counted for the peers of connections: behind a proxy, all clients have
/// the same one.
fn note_unknown_proxies(options: &AppOptions) {
    let config = &options.config;
    let is_known =
        config.accounts.address_header.is_some() || config.rate_limit.trusted_proxies.is_some();
    if options.native.is_none() || is_known || config.is_development() || options.is_quiet {
        return;
    }

    tracing::warn!(
        "failed log-ins and registrations are counted per peer address, which behind a proxy is \
         the same for all clients; set SVC_TRUSTED_PROXIES to the proxies in front, or to none"
    );
}

/// Adds the account routes to the application's router.
pub(in crate::app) fn mount(
    native: Option<&NativeAuthProvider>,
    path: &str,
    protection: &Arc<Protection>,
    router: Router,
) -> Router {
    match native {
        Some(native) => router.nest(path, protect(create_auth_router(native), protection)),
        None => router,
    }
}

/// Identifies the users of requests to the account routes, so that rate limits inside this router
/// count them for their users instead of their addresses.
pub(in crate::app) fn identify(
    native: Option<&NativeAuthProvider>,
    path: &str,
    router: Router,
) -> Router {
    match native {
        Some(native) => identify_users(router, native, path),
        None => router,
    }
}

fn ip(peer: SocketAddr) -> IpAddr {
    peer.ip()
}

/// The client address in a proxy's header. Of several addresses, the last was added by the nearest
/// proxy; the client may have invented those before it.
fn said(headers: &HeaderMap, name: &HeaderName) -> Option<IpAddr> {
    let last = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    last.rsplit(',').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_that_of_the_nearest_proxy() {
        let name = HeaderName::from_static("x-forwarded-for");
        let of = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(&name, value.parse().unwrap());
            }
            said(&headers, &name).map(|address| address.to_string())
        };

        assert_eq!(of(&["192.0.2.1"]).as_deref(), Some("192.0.2.1"));
        assert_eq!(
            of(&["192.0.2.1, 2001:db8::1"]).as_deref(),
            Some("2001:db8::1")
        );
        assert_eq!(
            of(&["192.0.2.1", "198.51.100.2"]).as_deref(),
            Some("198.51.100.2")
        );

        assert_eq!(
            [of(&[]), of(&["unknown"]), of(&["192.0.2.1,"])],
            [None, None, None]
        );
    }
}
