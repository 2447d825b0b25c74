//! The authentication of a socket's client, and the tokens of its operations.

use axum::http::HeaderMap;
use futures_util::FutureExt as _;
use serde_json::value::RawValue;

use super::{Socket, State, Stop};
use crate::http::websocket::close::Close;
use crate::http::websocket::identity;
use crate::http::websocket::message::ServerMessage;
use svc_auth::Identity;

impl Socket {
    pub(super) fn credentials_in(
        &self,
        payload: Option<&RawValue>,
    ) -> Result<Option<HeaderMap>, Close> {
        identity::credentials(payload).inspect_err(|close| {
            if close.is_forbidden() {
                identity::record_refused(
                    &self.service,
                    &self.opened,
                    "the payload holds no single token",
                );
            }
        })
    }

    pub(super) fn identify(&mut self, credentials: HeaderMap) {
        let (service, opened) = (self.service.clone(), self.opened.clone());
        self.identifying =
            Some(async move { identity::identify(&service, &opened, &credentials).await }.boxed());
    }

    /// Handles the client's authentication: the first one, or a renewal.
    pub(super) async fn identified(&mut self, identity: Identity) -> Result<(), Stop> {
        let user = identity::user_id(&self.opened, &identity);
        if self.state == State::Acknowledged {
            // Running operations read rows for the first user, and the seat counts for that user.
            if user != identity::user_id(&self.opened, &self.identity) {
                identity::record_refused(
                    &self.service,
                    &self.opened,
                    "the token is of another user than the socket",
                );
                return Err(
                    Close::forbidden("a socket stays with the user that it began with").into(),
                );
            }
        } else if let Some(user) = user
            && self.seat.of_user(user).is_err()
        {
            return Err(Close::forbidden(
                "this user has as many open subscriptions as one may have",
            )
            .into());
        }

        self.seat.until_end_of(identity.verified());
        identity
            .verified()
            .into_iter()
            .for_each(|token| self.operations.renew(token));
        self.identity = identity;
        self.watch_earlier();

        match self.state {
            State::Acknowledged => self.send(&ServerMessage::Pong { payload: None }).await,
            State::Opened | State::Initialising => self.acknowledge().await,
        }
    }

    /// Watches the tokens of operations that started before a renewal with a different user state.
    pub(super) fn watch_earlier(&mut self) {
        let earlier = self.operations.earlier_tokens(self.identity.verified());
        if self.has_earlier || !earlier.is_empty() {
            self.has_earlier = !earlier.is_empty();
            self.seat.watch_earlier(earlier);
        }
    }

    /// Ends the operations whose token has ended, and sends the client an error for each.
    pub(super) async fn end_operations(&mut self) -> Result<(), Stop> {
        for (token, ending) in self.seat.ended_tokens() {
            let errors = serde_json::Value::from_iter(ending.token_error()).to_string();
            for id in self.operations.end_under(&token) {
                self.note_operations();
                self.send(&ServerMessage::Error {
                    id: &id,
                    errors: &errors,
                })
                .await?;
            }
        }

        Ok(())
    }
}
