//! Builds authentication from the options.

use std::sync::Arc;

#[cfg(feature = "auth")]
use crate::app::{ApiKeys, AppOptions, StartError};
use crate::http::DevAuth;
use svc_auth::{AuthConfig, AuthProviderKind};
#[cfg(feature = "auth")]
use svc_auth::{
    Authentication, MultiProvider, SharedProvider, SignedTokenProvider, TokenCache,
    TokenRevocationService,
};
use svc_core::settings::ConfigError;
use svc_telemetry::security_log::Clients;

/// Returns the Basic authentication in front of `/graphql`, if a password is set.
pub(in crate::app) fn dev_auth(config: &AuthConfig, clients: &Clients) -> Option<Arc<DevAuth>> {
    let password = config.dev_password.as_ref()?;
    Some(Arc::new(DevAuth::new(
        &config.dev_username,
        password,
        clients.clone(),
    )))
}

/// A build without authentication rejects settings that require it.
#[cfg(not(feature = "auth"))]
pub(in crate::app) fn refuse(config: &AuthConfig) -> Result<(), ConfigError> {
    let asked = [
        (
            "SVC_AUTH_PROVIDER",
            config.provider.to_string(),
            config.provider != AuthProviderKind::None,
        ),
        ("SVC_AUTH_REQUIRED", "true".to_owned(), config.required),
        (
            "SVC_AUTH_ENABLED",
            "true".to_owned(),
            config.enabled == Some(true),
        ),
    ];

    match asked.into_iter().find(|(_, _, is_asked)| *is_asked) {
        None => Ok(()),
        Some((name, value, _)) => {
            let allowed = "it must be unset, as this build is without authentication; switch on the feature `auth`";
            Err(ConfigError::new(name, value, allowed))
        }
    }
}

/// Returns the authentication of the options; `None` if nothing identifies users.
#[cfg(feature = "auth")]
pub(in crate::app) fn from_options(
    options: &mut AppOptions,
) -> Result<Option<Authentication>, StartError> {
    let provider = match options.provider.take() {
        Some(provider) => Some(provider),
        None => of_settings(options)?,
    };

    let of_keys = options
        .api_keys
        .is_some()
        .then(|| ApiKeys::revocation(options.user_database.clone()));
    let provider = beside_keys(options, provider);
    let config = &options.config.auth;
    let provider = provider.filter(|_| config.enabled != Some(false));
    if provider.is_none() && config.enabled == Some(true) {
        let allowed = "it must be false or unset without a provider; set SVC_AUTH_PROVIDER, or call `.auth_provider(…)`";
        return Err(ConfigError::new("SVC_AUTH_ENABLED", "true", allowed).into());
    }

    if let Some(weakness) = provider.as_ref().and_then(|provider| provider.weakness()) {
        if !options.config.is_development() {
            return Err(StartError::WeakAuthentication(weakness));
        }
        tracing::warn!("{weakness}; in production the service would not start");
    }

    let provider = with_loaded_users(options, provider);
    if provider.is_none() && !options.config.auth.required {
        return Ok(None);
    }

    // A log-out is saved in the service of the provider, and a token that the program revokes in
    // that of the application.
    let of_provider = provider.iter().filter_map(|provider| provider.revocation());
    let given =
        TokenRevocationService::of_all(options.revocation.take().into_iter().chain(of_provider));
    let revocation = match (given, &provider) {
        (None, Some(_)) => in_redis(options)?,
        (given, _) => given,
    };

    revocation.iter().for_each(TokenRevocationService::start);
    let live_revocation = TokenRevocationService::of_all(revocation.iter().cloned().chain(of_keys));
    let config = &options.config.auth;

    Ok(Some(Authentication {
        provider,
        revocation,
        live_revocation,
        kept: TokenCache::new(config.token_cache_size << 20),
        verifications: Default::default(),
        outages: Default::default(),
        live_outages: Default::default(),
        required: config.required,
        token_size: usize::try_from(config.token_size).unwrap_or(usize::MAX),
        timeout: config.timeout,
        clients: options.config.rate_limit.clients(),
    }))
}

/// Adds the API keys of the options to a provider.
#[cfg(feature = "auth")]
fn beside_keys(
    options: &mut AppOptions,
    provider: Option<SharedProvider>,
) -> Option<SharedProvider> {
    let Some(keys) = options.api_keys.take() else {
        return provider;
    };

    // API keys come first: their prefix decides without a look-up, whereas another provider may
    // send a request.
    let keys = MultiProvider::new().or(keys.provider(options.user_database.clone()));

    Some(Arc::new(
        provider.into_iter().fold(keys, MultiProvider::or_shared),
    ))
}

/// Adds the user loader of the options to a provider.
#[cfg(feature = "auth")]
fn with_loaded_users(
    options: &mut AppOptions,
    provider: Option<SharedProvider>,
) -> Option<SharedProvider> {
    let Some(loader) = options.user_loader.take() else {
        return provider;
    };

    let Some(provider) = provider else {
        // Not an error: the settings choose the provider, and in development they may choose none.
        if !options.is_quiet && options.config.auth.enabled != Some(false) {
            tracing::warn!(
                "`load_user` has no effect, because nothing verifies tokens; set SVC_AUTH_PROVIDER, \
                 or call `.auth_provider(…)` or `.api_keys(…)`"
            );
        }
        return None;
    };

    Some(loader.around(provider, options.user_database.clone()))
}

/// The revocation service in Redis, for a provider that brings none. Resolvers find it in the data,
/// to revoke tokens.
#[cfg(feature = "redis")]
fn in_redis(options: &mut AppOptions) -> Result<Option<TokenRevocationService>, ConfigError> {
    let revocation = options.revocation_in_redis(std::time::Duration::ZERO)?;
    if let Some(revocation) = &revocation
        && options.data.get::<TokenRevocationService>().is_err()
    {
        options.data.insert(revocation.clone());
    }
    Ok(revocation)
}

/// A build without Redis has none.
#[cfg(all(feature = "auth", not(feature = "redis")))]
fn in_redis(_: &mut AppOptions) -> Result<Option<TokenRevocationService>, ConfigError> {
    Ok(None)
}

/// Returns the provider configured by the settings.
#[cfg(feature = "auth")]
fn of_settings(options: &mut AppOptions) -> Result<Option<SharedProvider>, StartError> {
    let config = &options.config;
    match config.auth.provider {
        AuthProviderKind::None => Ok(None),
        AuthProviderKind::Custom => Ok(Some(Arc::new(custom(&config.auth)?))),
        #[cfg(feature = "idp")]
        AuthProviderKind::Idp => {
            // The clock skew is the same for every provider of the settings.
            Ok(Some(Arc::new(
                config.idp.create_provider()?.leeway(config.auth.leeway),
            )))
        }
        #[cfg(not(feature = "idp"))]
        AuthProviderKind::Idp => {
            let allowed = "it must be one of this build; switch on the feature `idp`";
            Err(ConfigError::new("SVC_AUTH_PROVIDER", "idp", allowed).into())
        }
        #[cfg(feature = "native-auth")]
        AuthProviderKind::Native => super::native_accounts::provider(options).map(Some),
        #[cfg(not(feature = "native-auth"))]
        AuthProviderKind::Native => {
            let allowed = "it must be one of this build; switch on the feature `native-auth`";
            Err(ConfigError::new("SVC_AUTH_PROVIDER", "native", allowed).into())
        }
        other => {
            let allowed = "it must be one of this build";
            Err(ConfigError::new("SVC_AUTH_PROVIDER", format!("{other:?}"), allowed).into())
        }
    }
}

#[cfg(feature = "auth")]
fn custom(config: &AuthConfig) -> Result<SignedTokenProvider, ConfigError> {
    use svc_auth::VerifyingKey;

    let algorithm = config.algorithm;
    let bad = |name: &str, why: String| ConfigError::new(name, "***", &why);
    let missing = |name: &str, why: &str| {
        ConfigError::new(name, "", &format!("it must be {why}, for {algorithm}"))
    };

    let provider = if algorithm.is_symmetric() {
        let name = "SVC_AUTH_SECRET_KEY";
        let secret = config
            .secret_key
            .as_ref()
            .ok_or_else(|| missing(name, "a secret of at least 32 bytes"))?;
        SignedTokenProvider::with_secret_for(algorithm, secret)
            .map_err(|error| bad(name, format!("it must fit {algorithm}: {error}")))?
    } else {
        let name = "SVC_AUTH_PUBLIC_KEY";
        let pem = config
            .public_key
            .as_ref()
            .ok_or_else(|| missing(name, "a public key as PEM"))?;

        // A variable that holds a single line has its line ends written out as `\n`.
        let key = VerifyingKey::from_pem(algorithm, &pem.replace("\\n", "\n"));

        SignedTokenProvider::new(
            key.map_err(|error| bad(name, format!("it must fit {algorithm}: {error}")))?,
        )
    };

    let provider = config
        .issuer
        .iter()
        .fold(provider, |provider, issuer| provider.issuer(issuer));
    let provider = config
        .audience
        .iter()
        .fold(provider, |provider, audience| provider.audience(audience));

    Ok(provider.leeway(config.leeway))
}
