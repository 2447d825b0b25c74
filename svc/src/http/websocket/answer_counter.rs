//! The answers of a socket that its client has not taken.

use std::sync::Arc;

use crate::engine::Response;
use crate::http::live::Seat;
use crate::http::unread::{Client, UnreadAnswers};

/// Counts the answers of a socket.
pub(super) struct AnswerCounter<'a> {
    pub(super) answers: &'a Arc<UnreadAnswers>,
    pub(super) seat: &'a Seat,
}

impl AnswerCounter<'_> {
    /// The answer, which counts until it is dropped.
    pub(super) fn count(&self, mut response: Response) -> Response {
        if response.body.len() >= UnreadAnswers::LEAST {
            let client: Client = Arc::new(self.seat.long_lived());
            response.body = self.answers.count(response.body, &client);
        }
        response
    }
}
