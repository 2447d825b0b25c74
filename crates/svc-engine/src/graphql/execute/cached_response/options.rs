//! The options of the response cache that only the program can set.

use std::fmt;

use axum::http::{HeaderName, HeaderValue};

use crate::request::Context;
use svc_core::schema::{Model, SvcType, touched};
use svc_core::settings::ConfigError;

type KeyFn = Box<dyn Fn(&Context<'_>) -> Option<String> + Send + Sync>;
type RowFn = fn() -> std::any::TypeId;

/// The options of the response cache; passed to `AppOptions::response_cache`.
///
/// A cached response is reused for requests with the same document and the same variables from the
/// same user, with the same roles, permissions and metadata, session variables and row policies. If
/// a response depends on more of a request than that, add it with [`key`](Self::key) and
/// [`header`](Self::header).
///
/// ```
/// use svc::ResponseCache;
/// use svc::prelude::*;
///
/// # #[svc_type(sql_source = "v_post")]
/// # struct Post { id: Uuid, title: String }
/// /// Posts; a list of them holds for half a minute.
/// #[svc::query(cache = 30)]
/// async fn posts() -> Vec<Post>;
///
/// let cache = ResponseCache::new().header("accept-language").changed_by::<Post>("post_changed");
/// let options = AppOptions::new().queries(queries![posts]).response_cache(cache);
/// ```
#[derive(Default)]
#[must_use = "give it to `AppOptions::response_cache`"]
pub struct ResponseCache {
    keys: Vec<KeyFn>,
    headers: Vec<String>,
    feeds: Vec<(String, RowFn)>,
}

impl ResponseCache {
    /// Creates the options for a program whose responses depend only on the user, the operation and
    /// the session variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a part of the key, for responses that depend on data that only the program has, such as
    /// its request data. If it returns `None` for a request, the response is not cached.
    ///
    /// ```
    /// use svc::ResponseCache;
    /// use svc::prelude::*;
    ///
    /// struct Tenant(String); // made by `AppOptions::request_data`
    ///
    /// let cache = ResponseCache::new().key(|ctx| Some(ctx.data::<Tenant>().ok()?.0.clone()));
    /// ```
    pub fn key(
        mut self,
        part: impl Fn(&Context<'_>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.keys.push(Box::new(part));
        self
    }

    /// Adds a request header to the key, for resolvers that read it.
    pub fn header(mut self, name: impl Into<String>) -> Self {
        self.headers.push(name.into());
        self
    }

    /// Invalidates responses with rows of a type whenever an event arrives on a channel, such as
    /// that of a trigger with `svc_notify`. The channel of a subscription without a body
    /// invalidates its rows anyway.
    pub fn changed_by<T: SvcType>(mut self, channel: impl Into<String>) -> Self {
        self.feeds.push((channel.into(), touched::<T>));
        self
    }

    /// Whether the program adds parts of the key with a function.
    #[doc(hidden)]
    pub fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The channels, with the row types that their events invalidate.
    #[doc(hidden)]
    pub fn feeds<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = (&'a str, usize)> {
        self.feeds
            .iter()
            .filter_map(|(channel, row)| Some((channel.as_str(), *model.by_rust.get(&row())?)))
    }

    /// The parts of keys.
    ///
    /// # Errors
    /// A name that is not valid for a header.
    #[doc(hidden)]
    pub fn into_keys(self, max_age: bool) -> Result<ResponseKeys, ConfigError> {
        let parse = |name: &String| {
            let bad = |_| {
                ConfigError::new(
                    "a header of the response cache",
                    name.as_str(),
                    "it must be the name of one",
                )
            };
            name.parse().map_err(bad)
        };

        let headers: Vec<HeaderName> = self.headers.iter().map(parse).collect::<Result<_, _>>()?;

        // `Origin`, because the headers that allow other sites to read a response depend on it.
        let vary = ["Accept", "Authorization", "Cookie", "Origin"]
            .into_iter()
            .map(str::to_owned);
        let vary: Vec<_> = vary
            .chain(headers.iter().map(ToString::to_string))
            .collect();
        let vary = HeaderValue::try_from(vary.join(", ")).unwrap_or(HeaderValue::from_static("*"));

        Ok(ResponseKeys {
            functions: self.keys,
            headers,
            max_age,
            vary,
        })
    }
}

impl fmt::Debug for ResponseCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseCache")
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// The parts of keys that the program adds.
pub struct ResponseKeys {
    pub(super) functions: Vec<KeyFn>,
    pub(super) headers: Vec<HeaderName>,
    /// Whether other caches may reuse public responses without revalidation.
    pub(super) max_age: bool,
    /// The request headers that public responses depend on.
    pub(super) vary: HeaderValue,
}
