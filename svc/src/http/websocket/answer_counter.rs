//! The responses of a socket that its client has not accepted.

use std::sync::Arc;

use crate::http::live::Seat;
use crate::http::protection::Protection;
use crate::http::unread::{Client, PendingResponses};
use svc_engine::graphql::Response;
use svc_engine::request::RequestParts;

/// Counts the responses of a socket.
pub(super) struct AnswerCounter<'a> {
    pub(super) protection: &'a Protection,
    pub(super) seat: &'a Seat,
    /// The request that opened the socket.
    pub(super) opened: &'a RequestParts,
}

impl AnswerCounter<'_> {
    /// Returns the response, which counts until it is dropped.
    pub(super) fn count(&self, mut response: Response) -> Response {
        if response.body.len() >= PendingResponses::MIN_SIZE {
            let client: Client = Arc::new(self.seat.long_lived());
            let address = self
                .protection
                .addresses
                .certain(&self.opened.headers, &self.opened.extensions);
            response.body = self
                .protection
                .unread
                .count(response.body, &client, address);
        }

        response
    }
}
