//! The context of a resolver.

use std::any::{Any, TypeId};
use std::net::SocketAddr;
use std::time::Duration;

use axum::http::{Extensions, HeaderMap};

use super::{RequestId, RequestScope, Transport};
use crate::repository::Db;
use svc_core::schema::SvcType;

/// The request, as passed to a resolver.
///
/// ```
/// use svc::prelude::*;
///
/// struct Greeting(&'static str); // given to `AppOptions::data`
///
/// #[svc::query]
/// fn hello(ctx: &Context<'_>) -> Result<String> {
///     let name = ctx.header("x-name").unwrap_or("world");
///     Ok(format!("{}, {name}", ctx.data::<Greeting>()?.0))
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Context<'a> {
    #[doc(hidden)]
    pub request: &'a RequestScope,
    /// The database, as available to the root field.
    #[doc(hidden)]
    pub db: &'a Db,
}

impl<'a> Context<'a> {
    pub(crate) fn new(request: &'a RequestScope) -> Self {
        Self {
            request,
            db: &request.db,
        }
    }

    /// Returns the database.
    pub fn db(&self) -> &'a Db {
        self.db
    }

    /// Returns a value created for this request by `AppOptions::request_data`, or passed to
    /// `AppOptions::data`.
    ///
    /// # Errors
    /// Fails if there is no value of this type; the message is masked for clients.
    pub fn data<T: Any + Send + Sync>(&self) -> svc_core::Result<&'a T> {
        self.request
            .data()
            .map_or_else(|| self.db.app.data.get(), Ok)
    }

    /// Returns the identifier of the request; `None` if `SVC_REQUEST_IDS` is off, and in tasks that
    /// a resolver has spawned.
    pub fn request_id(&self) -> Option<RequestId> {
        RequestId::current()
    }

    /// Returns the request's headers.
    pub fn headers(&self) -> &'a HeaderMap {
        &self.request.parts().headers
    }

    /// Returns a header's text; `None` if it is missing or not text.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.request.parts().header(name)
    }

    /// Returns the extensions of the request: the values that layers around the endpoint have
    /// inserted.
    pub fn extensions(&self) -> &'a Extensions {
        &self.request.parts().extensions
    }

    /// Returns a value that a layer around the endpoint has inserted into the request's extensions.
    ///
    /// ```
    /// use svc::axum::{Extension, Router};
    /// use svc::prelude::*;
    ///
    /// #[derive(Clone)]
    /// struct TraceId(String);
    ///
    /// #[svc::query]
    /// fn trace_id(ctx: &Context<'_>) -> Option<String> {
    ///     ctx.extension::<TraceId>().map(|id| id.0.clone())
    /// }
    ///
    /// fn with_trace_id(app: Router) -> Router {
    ///     app.layer(Extension(TraceId("4bf92f35".to_owned())))
    /// }
    /// ```
    pub fn extension<T: Any + Clone + Send + Sync>(&self) -> Option<&'a T> {
        self.request.parts().extension()
    }

    /// Returns the authenticated user; `None` if the request has no token, or an invalid one.
    ///
    /// A [`UserContext`](svc_auth::UserContext) that a layer around the endpoint has inserted into
    /// the request's extensions takes precedence.
    #[cfg(feature = "auth")]
    pub fn user(&self) -> Option<&'a svc_auth::UserContext> {
        self.request.parts().user()
    }

    /// Returns the authenticated user, or an error if there is none.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// #[svc::query]
    /// fn user_id(ctx: &Context<'_>) -> Result<String> {
    ///     Ok(ctx.require_user()?.user_id.clone())
    /// }
    /// ```
    ///
    /// # Errors
    /// `UNAUTHENTICATED` if there is none; `extensions.reason` states whether the token has expired
    /// or is invalid.
    #[cfg(feature = "auth")]
    pub fn require_user(&self) -> svc_core::Result<&'a svc_auth::UserContext> {
        self.user()
            .ok_or_else(|| self.request.parts().unauthenticated())
    }

    /// Returns the token of the request, for a mutation that logs out: pass it to
    /// [`TokenRevocationService::revoke`](svc_auth::TokenRevocationService::revoke). `None` if
    /// there is no valid token.
    #[cfg(feature = "auth")]
    pub fn token(&self) -> Option<&'a svc_auth::RevocableToken> {
        self.request.parts().identity.token()
    }

    /// Returns the session of the browser, provided by a
    /// [`SessionLayer`](svc_auth::sessions::SessionLayer) around the router.
    ///
    /// # Errors
    /// `SERVICE_UNAVAILABLE` if its store is unavailable; an internal error if there is no such
    /// layer.
    #[cfg(feature = "sessions")]
    pub fn session(&self) -> svc_core::Result<&'a svc_auth::sessions::Session> {
        let session = self
            .request
            .parts()
            .extensions
            .get::<svc_auth::sessions::Session>();

        let session = session
            .ok_or_else(|| svc_core::Error::internal("put a `SessionLayer` around the router"))?;
        match session.check() {
            Ok(()) => Ok(session),
            Err(error) => {
                let message = "the session is not available at the moment; try again later";
                Err(
                    svc_core::Error::new(svc_core::ErrorCode::ServiceUnavailable, message)
                        .with_source(error),
                )
            }
        }
    }

    /// Publishes an event on a channel, for subscribers of every instance of the service. A planned
    /// subscription of the channel expects a JSON object with the `id` of a row, such as
    /// `{"id": 1, "op": "update"}`.
    ///
    /// The event is not part of a transaction. For an event about a write, use a trigger with
    /// `svc_notify`, which is sent with the write. In a mutation of an operation with `@atomic`, the
    /// event is published after the commit. In a check of an object, it is published once the
    /// operation has ended, also if it is undone, or dropped if too many such events wait. An error
    /// of the source is then only logged.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// #[svc::mutation]
    /// async fn say(ctx: &Context<'_>, text: String) -> Result<bool> {
    ///     ctx.publish("said", &text).await?;
    ///     Ok(true)
    /// }
    /// ```
    ///
    /// # Errors
    /// Fails if the source of events cannot be reached. A payload of PostgreSQL is limited to less
    /// than 8,000 bytes. An operation with `@atomic` publishes at most 10,000 events.
    pub async fn publish(&self, channel: &str, payload: &str) -> svc_core::Result<()> {
        // An event that waits for the end of its operation fails here, or only in the log.
        if self.db.checks_for.is_some() || self.db.atomic.is_some() {
            self.db.app.events.validate(channel, payload)?;
        }

        let is_planned = match (&self.db.checks_for, &self.db.atomic) {
            (Some(operation), _) => operation.publish_of_check(channel, payload)?,
            // An event of an authorizer, for example, is published even if the operation is denied.
            (None, Some(atomic)) => self.db.is_enclosed() && atomic.publish(channel, payload)?,
            (None, None) => false,
        };
        if is_planned {
            return Ok(());
        }

        self.db.app.events.publish(channel, payload).await
    }

    /// Invalidates cached responses with rows of a type, here immediately and in all other
    /// instances of the service soon after. Call it after committing a write that neither its
    /// mutation nor a trigger reports. In a mutation of an operation with `@atomic`, it takes effect
    /// after the commit. See [`ResponseCache`](crate::ResponseCache).
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// # #[svc_type(sql_source = "v_post")]
    /// # struct Post { id: Uuid, title: String }
    /// #[svc::mutation]
    /// async fn import_posts(ctx: &Context<'_>) -> Result<bool> {
    ///     svc::sqlx::query("CALL import_posts()").execute(ctx.db().pool()).await?;
    ///     ctx.invalidate::<Post>();
    ///     Ok(true)
    /// }
    /// ```
    pub fn invalidate<T: SvcType>(&self) {
        let Some(responses) = &self.db.app.responses else {
            return;
        };
        let Some(index) = self.db.app.model.by_rust.get(&TypeId::of::<T>()) else {
            return;
        };

        // A check of an object may have written in the transaction, which shows at the commit, or
        // elsewhere.
        let atomic = self.db.atomic.as_ref().filter(|_| self.db.is_enclosed());
        let is_planned = atomic.is_some_and(|atomic| atomic.invalidate(*index));
        if !is_planned || self.db.checks_for.is_some() {
            responses.invalidate(&[*index]);
        }
    }

    /// Returns the payloads of a channel from now on, for a subscription with a body. The channel
    /// is one of `AppOptions::event_channels`.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// #[svc::subscription]
    /// async fn said(ctx: &Context<'_>) -> Result<impl Stream<Item = Result<String>> + use<>> {
    ///     ctx.events("said").await
    /// }
    /// # let options = AppOptions::new().subscriptions(subscriptions![said]).event_channels(["said"]);
    /// ```
    ///
    /// # Errors
    /// Fails if the channel is not listened to, or if the source of events cannot be reached.
    pub async fn events(&self, channel: &str) -> svc_core::Result<crate::events::Events> {
        self.db.app.events.events(channel).await
    }

    /// Returns the address of the peer of the connection: the client, or the last proxy. It is
    /// axum's [`ConnectInfo`](axum::extract::ConnectInfo), which `svc::serve` inserts into the
    /// request.
    pub fn peer_addr(&self) -> Option<SocketAddr> {
        self.request.parts().peer_addr()
    }

    /// Returns the transport of the request.
    pub fn transport(&self) -> Transport {
        self.request.parts().transport
    }

    /// Returns the time that the request may still run, to about a second; `None` if it is not
    /// limited.
    pub fn time_left(&self) -> Option<Duration> {
        self.db.app.time_left(self.request.parts().started())
    }
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Headers may contain tokens.
        f.debug_struct("Context").finish_non_exhaustive()
    }
}
