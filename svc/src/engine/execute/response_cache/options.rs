//! The part of the response cache that only the program can say.

use std::fmt;

use axum::http::{HeaderName, HeaderValue};

use crate::request::Context;
use crate::schema::{Model, SvcType, touched};
use crate::settings::ConfigError;

type KeyFn = Box<dyn Fn(&Context<'_>) -> Option<String> + Send + Sync>;
type RowFn = fn() -> std::any::TypeId;

/// The options of the response cache; given to [`AppOptions::response_cache`](crate::AppOptions::response_cache).
///
/// An answer is given out again to whoever sends the same document with the same variables, and is the same user with the
/// same roles, permissions and metadata, session variables and row policies. Where an answer depends on more of a request
/// than that, [`key`](Self::key) and [`header`](Self::header) say on what.
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
    /// Creates the options of a program whose answers depend on nothing but the user, the operation and the session
    /// variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a part of the key, for answers that depend on what only the program knows, such as its request data. Answers
    /// to requests for which it is `None` are not kept.
    ///
    /// ```
    /// use svc::ResponseCache;
    /// use svc::prelude::*;
    ///
    /// struct Tenant(String); // made by `AppOptions::request_data`
    ///
    /// let cache = ResponseCache::new().key(|ctx| Some(ctx.data::<Tenant>().ok()?.0.clone()));
    /// ```
    pub fn key(mut self, part: impl Fn(&Context<'_>) -> Option<String> + Send + Sync + 'static) -> Self {
        self.keys.push(Box::new(part));
        self
    }

    /// Adds a header of requests to the key, for resolvers that read it.
    pub fn header(mut self, name: impl Into<String>) -> Self {
        self.headers.push(name.into());
        self
    }

    /// Forgets answers with rows of a type whenever an event comes on a channel: that of a trigger with `svc_notify`, for
    /// instance. The channel of a subscription without a body tells of its rows anyway.
    pub fn changed_by<T: SvcType>(mut self, channel: impl Into<String>) -> Self {
        self.feeds.push((channel.into(), touched::<T>));
        self
    }

    /// Whether it says on what answers depend besides.
    pub(crate) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The channels with the types of which their events tell.
    pub(crate) fn feeds<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = (&'a str, usize)> {
        self.feeds.iter().filter_map(|(channel, row)| Some((channel.as_str(), *model.by_rust.get(&row())?)))
    }

    /// The parts of keys.
    ///
    /// # Errors
    /// A name that is not that of a header.
    pub(crate) fn into_keys(self, max_age: bool) -> Result<ResponseKeys, ConfigError> {
        let parse = |name: &String| {
            let bad =
                |_| ConfigError::new("a header of the response cache", name.as_str(), "it must be the name of one");
            name.parse().map_err(bad)
        };
        let headers: Vec<HeaderName> = self.headers.iter().map(parse).collect::<Result<_, _>>()?;
        // `Origin`, as the headers by which other sites may read an answer depend on it.
        let vary = ["Accept", "Authorization", "Cookie", "Origin"].into_iter().map(str::to_owned);
        let vary: Vec<_> = vary.chain(headers.iter().map(ToString::to_string)).collect();
        let vary = HeaderValue::try_from(vary.join(", ")).unwrap_or(HeaderValue::from_static("*"));
        Ok(ResponseKeys { functions: self.keys, headers, max_age, vary })
    }
}

impl fmt::Debug for ResponseCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseCache").field("headers", &self.headers).finish_non_exhaustive()
    }
}

/// The parts of keys that the program adds.
pub(crate) struct ResponseKeys {
    pub(super) functions: Vec<KeyFn>,
    pub(super) headers: Vec<HeaderName>,
    /// Whether other caches may keep public answers without asking.
    pub(super) max_age: bool,
    /// The headers of requests that public answers depend on.
    pub(super) vary: HeaderValue,
}
