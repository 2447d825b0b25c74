//! The authentication of a socket's client, and the tokens of its operations.

use std::sync::Arc;

use axum::http::HeaderMap;
use futures_util::FutureExt as _;
use serde_json::value::RawValue;

use super::{Socket, State, Stop};
use crate::http::live::{Checked, Ending};
use crate::http::websocket::close::Close;
use crate::http::websocket::identity::{self, Identified};
use crate::http::websocket::message::ServerMessage;
use svc_auth::{Identity, Verified};

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
    pub(super) async fn identified(&mut self, identified: Identified) -> Result<(), Stop> {
        let Identified {
            identity,
            user: live,
        } = identified;
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

        // Most users need no checks, and setting them locks the list of all connections.
        if live.is_some() || self.user.is_some() {
            self.user = self.seat.watch_user(live);
        }
        self.continue_as(identity).await?;

        match self.state {
            State::Acknowledged => self.send(&ServerMessage::Pong { payload: None }).await?,
            State::Opened | State::Initialising => self.acknowledge().await?,
        }

        self.start_held();
        Ok(())
    }

    /// Starts a check of the user.
    pub(super) fn check_user(&mut self) {
        if let Some(user) = &mut self.user {
            user.check();
        }
    }

    /// Handles the outcome of a check.
    pub(super) async fn checked(&mut self, checked: Checked) -> Result<(), Stop> {
        match checked {
            Checked::Found(identity) | Checked::Changed(identity) => {
                self.continue_as(identity).await?;
            }
            Checked::Unknown => self.seat.retry_check(),
            Checked::Ended(ending) => return Err(Close::from(ending).into()),
        }

        self.start_held();
        Ok(())
    }

    /// Runs later operations, and earlier ones of the same user, under an identity.
    async fn continue_as(&mut self, identity: Identity) -> Result<(), Stop> {
        self.seat.until_end_of(identity.verified());
        identity
            .verified()
            .into_iter()
            .for_each(|token| self.operations.renew(token));
        self.identity = identity;

        // Their permissions were decided for a user that has changed, and nothing checks that
        // earlier user any more.
        let mut earlier = self.operations.earlier_tokens(self.identity.verified());
        earlier.retain(|token| !token.is_fixed);
        for token in earlier {
            self.end_streams_under(&token, Ending::UserChanged).await?;
        }

        self.watch_earlier();
        Ok(())
    }

    /// Watches the tokens of operations that started before a renewal with a different user state.
    pub(super) fn watch_earlier(&mut self) {
        let earlier = self.operations.earlier_tokens(self.identity.verified());
        if self.has_earlier || !earlier.is_empty() {
            self.has_earlier = !earlier.is_empty();
            self.seat.watch_earlier(earlier);
        }
    }

    /// Ends the streams whose token has ended, and sends the client an error for each.
    pub(super) async fn end_streams(&mut self) -> Result<(), Stop> {
        for (token, ending) in self.seat.ended_tokens() {
            self.end_streams_under(&token, ending).await?;
        }

        Ok(())
    }

    /// Ends the streams that run under a token, and sends the client an error for each.
    async fn end_streams_under(
        &mut self,
        token: &Arc<Verified>,
        ending: Ending,
    ) -> Result<(), Stop> {
        for id in self.operations.end_streams_under(token, ending) {
            self.note_operations();
            self.tell_outdated(&id, ending).await?;
        }

        Ok(())
    }

    /// Sends the error of an operation that ends with its token or its user.
    pub(super) async fn tell_outdated(&mut self, id: &str, ending: Ending) -> Result<(), Stop> {
        let errors = serde_json::Value::from_iter(ending.token_error()).to_string();
        self.send(&ServerMessage::Error {
            id,
            errors: &errors,
        })
        .await
    }
}
