//! The context of a resolver.

use std::any::{Any, TypeId};
use std::net::SocketAddr;
use std::time::Duration;

use axum::http::{Extensions, HeaderMap};

use super::{RequestId, RequestScope, Transport};
use crate::repository::Db;
use crate::schema::SvcType;

/// The request, as a resolver sees it.
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
    pub(crate) request: &'a RequestScope,
    /// The database as the root field may use it.
    pub(crate) db: &'a Db,
}

impl<'a> Context<'a> {
    pub(crate) fn new(request: &'a RequestScope) -> Self {
        Self { request, db: &request.db }
    }

    /// Returns the database.
    pub fn db(&self) -> &'a Db {
        self.db
    }

    /// Returns a value made for this request by [`AppOptions::request_data`](crate::AppOptions::request_data), or given
    /// to [`AppOptions::data`](crate::AppOptions::data).
    ///
    /// # Errors
    /// When there is no value of this type; clients see it masked.
    pub fn data<T: Any + Send + Sync>(&self) -> crate::Result<&'a T> {
        self.request.data().map_or_else(|| self.db.app.data.get(), Ok)
    }

    /// Returns the identifier of the request; `None` where `SVC_REQUEST_IDS` is off, and in tasks that a resolver has
    /// spawned.
    pub fn request_id(&self) -> Option<RequestId> {
        RequestId::current()
    }

    /// Returns the request's headers.
    pub fn headers(&self) -> &'a HeaderMap {
        &self.request.parts().headers
    }

    /// Returns a header's text; `None` when it is missing or not text.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.request.parts().header(name)
    }

    /// Returns the extensions of the request: the values that layers around the endpoint have put there.
    pub fn extensions(&self) -> &'a Extensions {
        &self.request.parts().extensions
    }

    /// Returns a value that a layer around the endpoint has put into the request's extensions.
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

    /// Returns the user who asks; `None` when the request has no token, or one that does not hold.
    ///
    /// A [`UserContext`](crate::auth::UserContext) that a layer around the endpoint has put into the request's extensions
    /// comes first.
    #[cfg(feature = "auth")]
    pub fn user(&self) -> Option<&'a crate::auth::UserContext> {
        self.request.parts().user()
    }

    /// Returns the user who asks, where there has to be one.
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
    /// `UNAUTHENTICATED` when there is none; `extensions.reason` says whether the token has expired or does not hold.
    #[cfg(feature = "auth")]
    pub fn require_user(&self) -> crate::Result<&'a crate::auth::UserContext> {
        self.user().ok_or_else(|| self.request.parts().unauthenticated())
    }

    /// Returns the token of the request, for a mutation that logs out:
    /// [`TokenRevocationService::revoke`](crate::auth::TokenRevocationService::revoke) takes it. `None` when there is
    /// no token that holds.
    #[cfg(feature = "auth")]
    pub fn token(&self) -> Option<&'a crate::auth::RevocableToken> {
        self.request.parts().identity.token()
    }

    /// Returns the session of the browser, which a [`SessionLayer`](crate::sessions::SessionLayer) around the router gives.
    ///
    /// # Errors
    /// `SERVICE_UNAVAILABLE` when its store does not answer; an internal error when there is no such layer.
    #[cfg(feature = "sessions")]
    pub fn session(&self) -> crate::Result<&'a crate::sessions::Session> {
        let session = self.request.parts().extensions.get::<crate::sessions::Session>();
        let session = session.ok_or_else(|| crate::Error::internal("put a `SessionLayer` around the router"))?;
        match session.check() {
            Ok(()) => Ok(session),
            Err(error) => {
                let message = "the session is not available at the moment; try again later";
                Err(crate::Error::new(crate::ErrorCode::ServiceUnavailable, message).with_source(error))
            }
        }
    }

    /// Publishes an event on a channel, for subscribers of every instance of the service. A planned subscription of the
    /// channel takes a JSON object with the `id` of a row, such as `{"id": 1, "op": "update"}`.
    ///
    /// The event is not part of a transaction. Where it tells of a write, a trigger with `svc_notify` is sent with it.
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
    /// When the source of events cannot be reached. A payload of PostgreSQL has less than 8,000 bytes.
    pub async fn publish(&self, channel: &str, payload: &str) -> crate::Result<()> {
        self.db.app.events.publish(channel, payload).await
    }

    /// Forgets kept answers with rows of a type, here at once and in all other instances of the service soon after. Call it
    /// after a write is committed that neither its mutation nor a trigger tells of. See
    /// [`ResponseCache`](crate::ResponseCache).
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
        let Some(responses) = &self.db.app.responses else { return };
        if let Some(index) = self.db.app.model.by_rust.get(&TypeId::of::<T>()) {
            responses.invalidate(&[*index]);
        }
    }

    /// Returns the payloads of a channel from now on, for a subscription with a body. The channel is one of
    /// [`AppOptions::event_channels`](crate::AppOptions::event_channels).
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
    /// When nobody listens to the channel, or the source of events cannot be reached.
    pub async fn events(&self, channel: &str) -> crate::Result<crate::events::Events> {
        self.db.app.events.events(channel).await
    }

    /// Returns the address of the other end of the connection: the client's, or that of the last proxy. It is axum's
    /// [`ConnectInfo`](axum::extract::ConnectInfo), which [`serve`](crate::serve()) puts into the request.
    pub fn peer_addr(&self) -> Option<SocketAddr> {
        self.request.parts().peer_addr()
    }

    /// Returns the way on which the request came.
    pub fn transport(&self) -> Transport {
        self.request.parts().transport
    }

    /// Returns the time that the request may still run, to about a second; `None` where it may run as long as it likes.
    pub fn time_left(&self) -> Option<Duration> {
        self.db.app.time_left(self.request.parts().started())
    }
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Headers may hold tokens.
        f.debug_struct("Context").finish_non_exhaustive()
    }
}
