//! A provider of users that change.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::json;
use svc::auth::{AuthError, AuthProvider, Authenticated, Claims};
use svc::prelude::*;
use svc_tests::eventually;
use tokio::sync::Semaphore;

use super::super::ends_in;

/// The answer of the provider for a token.
#[derive(Clone)]
pub(super) enum Answer {
    User(UserContext),
    Refused,
    Away,
    Panic,
}

/// A provider of opaque tokens. A token without an answer is the identifier of a user that stays
/// the same until the token expires.
#[derive(Clone, Default)]
pub(super) struct Users(Arc<State>);

#[derive(Default)]
struct State {
    answers: Mutex<HashMap<String, Answer>>,
    /// The number of verifications of each token.
    asked: Mutex<HashMap<String, usize>>,
    /// The gate of verifications, if they wait.
    gate: Mutex<Option<Arc<Semaphore>>>,
    /// The number of verifications that wait at the gate, and its maximum so far.
    waiting: AtomicUsize,
    most: AtomicUsize,
}

/// A verification that waits.
struct Waiting<'a>(&'a State);

impl<'a> Waiting<'a> {
    fn begin(state: &'a State) -> Self {
        let waiting = state.waiting.fetch_add(1, Ordering::SeqCst) + 1;
        state.most.fetch_max(waiting, Ordering::SeqCst);
        Self(state)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Users {
    pub(super) fn answer(&self, token: &str, answer: Answer) {
        let mut answers = self.0.answers.lock().unwrap();
        answers.insert(token.to_owned(), answer);
    }

    pub(super) fn asked(&self, token: &str) -> usize {
        let asked = self.0.asked.lock().unwrap();
        asked.get(token).copied().unwrap_or_default()
    }

    pub(super) async fn until_asked(&self, token: &str, count: usize) {
        eventually(async || match self.asked(token) {
            asked if asked >= count => Ok(()),
            asked => Err(format!("{asked} verifications")),
        })
        .await;
    }

    /// Has verifications wait for permits.
    pub(super) fn hold(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        *self.0.gate.lock().unwrap() = Some(gate.clone());
        gate
    }

    pub(super) async fn until_waiting(&self, count: usize) {
        eventually(async || match self.0.waiting.load(Ordering::SeqCst) {
            waiting if waiting == count => Ok(()),
            waiting => Err(format!("{waiting} verifications wait")),
        })
        .await;
    }

    pub(super) fn most_waiting(&self) -> usize {
        self.0.most.load(Ordering::SeqCst)
    }
}

impl AuthProvider for Users {
    async fn validate_token(&self, token: &str) -> Result<Claims, AuthError> {
        Ok(self.authenticate(token).await?.claims().clone())
    }

    async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
        Ok(self.authenticate(token).await?.user().clone())
    }

    async fn authenticate(&self, token: &str) -> Result<Authenticated, AuthError> {
        let asked = {
            let mut asked = self.0.asked.lock().unwrap();
            let count = asked.entry(token.to_owned()).or_default();
            *count += 1;
            *count
        };

        let gate = self.0.gate.lock().unwrap().clone();
        if let Some(gate) = gate {
            let _waiting = Waiting::begin(&self.0);
            gate.acquire().await.expect("an open gate").forget();
        }

        let answer = self.0.answers.lock().unwrap().get(token).cloned();
        match answer {
            // Each answer is issued anew.
            Some(Answer::User(user)) => {
                let claims = json!({ "iat": asked });
                let claims = Claims::new(claims.as_object().unwrap().clone());
                Ok(Authenticated::new(claims, user.metadata("iat", asked)))
            }
            Some(Answer::Refused) => Err(AuthError::invalid("it is not active")),
            Some(Answer::Away) => Err(AuthError::unavailable("the provider is away")),
            Some(Answer::Panic) => panic!("as it does"),
            None => {
                let exp = ends_in(3_600.0);
                let claims = json!({ "sub": token, "exp": exp });
                let claims = Claims::new(claims.as_object().unwrap().clone());
                let until = UNIX_EPOCH + Duration::from_secs_f64(exp);
                Ok(Authenticated::new(claims, UserContext::new(token)).keep_until(until))
            }
        }
    }
}
