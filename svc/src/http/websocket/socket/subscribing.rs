//! The start of operations on a socket.

use serde_json::json;
use serde_json::value::RawValue;

use super::{Socket, State, Stop, operation};
use crate::http::endpoint::parameters;
use crate::http::websocket::close::Close;
use crate::http::websocket::message::ServerMessage;
use svc_core::ErrorCode;
use svc_engine::graphql::Request;

/// An operation that waits until the user has been checked.
#[cfg(feature = "auth")]
pub(super) struct Held {
    id: String,
    request: Request<'static>,
}

impl Socket {
    pub(super) async fn subscribe(&mut self, id: &str, payload: &RawValue) -> Result<(), Stop> {
        if self.state != State::Acknowledged {
            return Err(Close::unauthorized().into());
        }

        if self.operations.has(id) {
            return Err(Close::duplicate(id).into());
        }

        let request = parameters::one_from_body(payload.get().as_bytes());
        let request = request.map_err(|refusal| {
            Close::bad_request(format!("Invalid message received: {}", refusal.message()))
        })?;
        let most = usize::try_from(self.service.live.config.max_operations).unwrap_or(usize::MAX);
        if self.operations.len() >= most {
            let message = format!("a socket runs at most {most} operations at once");
            let errors = json!([{ "message": message, "extensions": { "code": ErrorCode::RateLimited.as_str() } }]);
            return self
                .send(&ServerMessage::Error {
                    id,
                    errors: &errors.to_string(),
                })
                .await;
        }

        let request = request.into_owned();

        #[cfg(feature = "auth")]
        if self.user.as_mut().is_some_and(|user| user.is_stale()) {
            let id = id.to_owned();
            self.held = Some(Box::new(Held { id, request }));
            return Ok(());
        }

        self.start(id, request);
        Ok(())
    }

    /// Starts an operation under the current identity.
    fn start(&mut self, id: &str, request: Request<'static>) {
        #[cfg_attr(
            not(feature = "auth"),
            expect(unused_mut, reason = "nothing says who asks")
        )]
        let mut parts = self.opened.of_operation();
        #[cfg(feature = "auth")]
        parts.identity.clone_from(&self.identity);
        let start = operation::start(self.service.clone(), request, parts);
        #[cfg(feature = "auth")]
        let token = self.identity.verified().cloned();
        #[cfg(not(feature = "auth"))]
        let token = ();

        self.operations.start(id, token, start);
        self.note_operations();
    }

    /// Whether an operation waits until the user has been checked.
    pub(super) fn is_holding(&self) -> bool {
        #[cfg(feature = "auth")]
        return self.held.is_some();
        #[cfg(not(feature = "auth"))]
        false
    }

    /// Starts the operation that waited until the user was checked.
    #[cfg(feature = "auth")]
    pub(super) fn start_held(&mut self) {
        if let Some(held) = self.held.take() {
            let Held { id, request } = *held;
            self.start(&id, request);
        }
    }
}
