//! The management API of an identity provider (Auth0 Management API v2).

use std::time::{Duration, Instant};

use axum::http::{HeaderValue, Method};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::client::{Ask, HttpClient};
use super::error::FetchError;
use super::{Endpoint, IdpError};
use crate::AuthError;

/// How long before its expiry a token is no longer used.
const MARGIN: Duration = Duration::from_secs(30);
/// The number of entries per page.
const PAGE: usize = 100;
/// The maximum number of pages to read.
const PAGES: usize = 50;

/// The management API, with the client's token cached while it is valid.
pub(super) struct Management {
    client: HttpClient,
    base: String,
    token_endpoint: Endpoint,
    /// The body of a token request.
    credentials: String,
    token: Mutex<Option<(String, Instant)>>,
}

impl Management {
    pub(super) fn new(
        client: HttpClient,
        base: &str,
        id: &str,
        secret: &str,
    ) -> Result<Self, IdpError> {
        let audience = format!("{base}/api/v2/");
        let credentials = json!({
            "grant_type": "client_credentials", "client_id": id, "client_secret": secret, "audience": audience,
        });

        Ok(Self {
            client,
            base: base.to_owned(),
            token_endpoint: Endpoint::parse(&format!("{base}/oauth/token"))?,
            credentials: credentials.to_string(),
            token: Mutex::default(),
        })
    }

    /// Returns the token; only one caller at a time fetches a new one.
    async fn token(&self) -> Result<String, AuthError> {
        let mut token = self.token.lock().await;
        if let Some((token, until)) = &*token
            && Instant::now() < *until
        {
            return Ok(token.clone());
        }

        let body = Some(("application/json", self.credentials.as_str()));

        // The lifetime counts from before the request: the token may be issued at any time during
        // it.
        let asked = Instant::now();
        let ask = Ask {
            method: Method::POST,
            authorization: None,
            body,
        };

        let answer = self.client.ask(&self.token_endpoint, &ask).await?;
        let unexpected =
            || FetchError::Unexpected(self.token_endpoint.clone(), "an `access_token`");
        let new = answer
            .get("access_token")
            .and_then(Value::as_str)
            .ok_or_else(unexpected)?;
        let seconds = answer
            .get("expires_in")
            .and_then(Value::as_u64)
            .unwrap_or_default()
            // The sum with an `Instant` panics on overflow, and the number comes from the network.
            .min(86_400);

        let lifetime = Duration::from_secs(seconds).saturating_sub(MARGIN);
        *token = Some((new.to_owned(), asked + lifetime));

        Ok(new.to_owned())
    }

    /// Fetches the JSON at a path below `users`.
    pub(super) async fn get(&self, path: &str, token: Option<&str>) -> Result<Value, AuthError> {
        let own = match token {
            Some(token) => token.to_owned(),
            None => self.token().await?,
        };

        let bearer = HeaderValue::try_from(format!("Bearer {own}"));
        let mut bearer = bearer.map_err(|_| AuthError::invalid("the token cannot be sent"))?;

        // Debug output omits sensitive values.
        bearer.set_sensitive(true);
        let endpoint = Endpoint::parse(&format!("{}/api/v2/users/{path}", self.base))
            .map_err(AuthError::unavailable)?;

        Ok(self.client.get(&endpoint, Some(bearer)).await?)
    }

    /// Returns a member of each entry of a paginated list.
    pub(super) async fn names(
        &self,
        path: &str,
        member: &str,
        token: Option<&str>,
    ) -> Result<Vec<String>, AuthError> {
        let unexpected =
            || AuthError::unavailable(format!("the management API gives no list with `{member}`"));
        let mut names = Vec::new();
        for page in 0..PAGES {
            let answer = self
                .get(&format!("{path}?per_page={PAGE}&page={page}"), token)
                .await?;
            let entries = answer.as_array().ok_or_else(unexpected)?;
            for entry in entries {
                names.push(
                    entry
                        .get(member)
                        .and_then(Value::as_str)
                        .ok_or_else(unexpected)?
                        .to_owned(),
                );
            }

            if entries.len() < PAGE {
                return Ok(names);
            }
        }

        // An incomplete list would be mistaken for all roles or permissions of the user.
        Err(AuthError::unavailable(format!(
            "a user has more than {} entries at `{member}`",
            PAGE * PAGES
        )))
    }
}

impl std::fmt::Debug for Management {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Management")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}
