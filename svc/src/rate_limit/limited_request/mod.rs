//! A rate-limited request: its counts, and the headers of its response.

mod budget;
mod hook;
mod operation;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use axum::http::Response;
use smallvec::SmallVec;

use self::budget::FromBudget;
use super::RateLimitRequest;
use super::audit::{self, Origin};
use super::client::{Client, ClientAddress, KnownClient};
use super::limit::{Found, Standing};
use super::limiter::{Access, Limiter, RequestPath};
use super::response::Refusal;
use super::response::headers::{self, tightness};
use super::store::{Amount, Amounts, LocalCounts, Standings, Takes, is_taken};
use svc_engine::request::{PreparedOperation, RequestParts};

/// A rate-limited request, shared by its layer and the engine.
pub(super) struct LimitedRequest {
    pub(super) limiter: Arc<Limiter>,
    path: RequestPath,
    pub(super) address: ClientAddress,
    state: Mutex<State>,
}

/// The state of a rate-limited request. Counting in memory locks it once.
#[derive(Default)]
struct State {
    /// The client, once it has been identified.
    client: Option<KnownClient>,
    noted: Noted,
}

/// The counts recorded for a request.
#[derive(Default)]
struct Noted {
    /// Whether the request has been counted for its path, or need not be.
    is_counted: bool,
    /// Whether the request will be counted for its path together with its operation, in one round
    /// trip to Redis.
    is_pending: bool,
    /// The limits that the response reports.
    found: SmallVec<[Found; 1]>,
    /// The amounts that the operations have taken from the budget.
    budget: Vec<FromBudget>,
}

impl Noted {
    /// Records the state of limits. A limit that is already recorded, as for each request of a
    /// batch, is updated.
    fn find(&mut self, found: impl IntoIterator<Item = Found>) {
        for found in found {
            match self
                .found
                .iter_mut()
                .find(|known| known.limit.key == found.limit.key)
            {
                Some(known) => *known = found,
                None => self.found.push(found),
            }
        }
    }
}

impl LimitedRequest {
    pub(super) fn new(limiter: Arc<Limiter>, path: &str, address: ClientAddress) -> Self {
        let path = limiter.path(path);
        Self {
            limiter,
            path,
            address,
            state: Mutex::default(),
        }
    }

    /// Returns the limited request of an operation on the WebSocket connection that this request
    /// opened.
    #[cfg(feature = "websocket")]
    pub(super) fn of_operation(&self) -> Self {
        let (limiter, path) = (self.limiter.clone(), self.path.clone());
        Self {
            limiter,
            path,
            address: self.address,
            state: Mutex::default(),
        }
    }

    /// The request's path, normalized.
    pub(super) fn path(&self) -> &str {
        self.path.text()
    }

    /// Returns the client, which is the same for everything that is counted for the request.
    fn client(&self, request: &RateLimitRequest<'_>) -> KnownClient {
        self.state()
            .client
            .get_or_insert_with(|| self.limiter.client(request))
            .clone()
    }

    /// Whether a client is counted. Clients on the whitelist are not; clients on the blacklist are
    /// rejected.
    fn is_limited(&self, client: &KnownClient) -> Result<bool, Refusal> {
        match self.limiter.access(&self.address, Some(client)) {
            Access::Free => Ok(false),
            Access::Refused => Err(self.refused(client)),
            Access::Limited => Ok(true),
        }
    }

    /// Counts the request for its path.
    pub(super) async fn count(&self, request: &RateLimitRequest<'_>) -> Result<(), Refusal> {
        let client = self.client(request);
        self.state().noted.is_counted = true;
        if self.is_limited(&client)? {
            self.count_client(&client).await
        } else {
            Ok(())
        }
    }

    async fn count_client(&self, client: &KnownClient) -> Result<(), Refusal> {
        self.state().noted.is_counted = true;
        self.take(&self.of_path(), client, None).await.map(drop)
    }

    /// Like [`count`](Self::count), for counts in memory.
    pub(super) fn count_now(
        &self,
        local: LocalCounts<'_>,
        request: &RateLimitRequest<'_>,
    ) -> Result<(), Refusal> {
        let State { client, noted } = &mut *self.state();
        noted.is_counted = true;
        let client = &*client.get_or_insert_with(|| self.limiter.client(request));
        if !self.is_limited(client)? {
            return Ok(());
        }

        let amounts = self.of_path();
        let standings = local.take(
            Takes {
                client,
                amounts: &amounts,
            },
            self.limiter.now(),
        );

        self.taken(noted, &amounts, &standings, client, None)
    }

    /// Prepares counting a request whose operation is counted later. Both are counted in one round
    /// trip to Redis then; only a client with a remembered wait is rejected now.
    pub(super) async fn count_early(&self, request: &RateLimitRequest<'_>) -> Result<(), Refusal> {
        let client = self.client(request);
        if self.limiter.access(&self.address, Some(&client)) != Access::Limited {
            return self.count(request).await;
        }

        let noted = &mut self.state().noted;
        match self.limiter.known_wait(self.path.limits, &client) {
            Some(found) => Err(self.exceeded(noted, vec![found], &client, None)),
            None => {
                noted.is_pending = true;
                Ok(())
            }
        }
    }

    /// Counts a request that the endpoint did not count, as for a page, a method that is not
    /// allowed, or a document that cannot be run.
    pub(super) async fn count_late(&self, request: &RateLimitRequest<'_>) -> Result<(), Refusal> {
        let is_pending = std::mem::take(&mut self.state().noted.is_pending);
        if is_pending {
            self.count_client(&self.client(request)).await
        } else {
            self.count(request).await
        }
    }

    fn of_path(&self) -> Amounts<'_> {
        let mut amounts = Amounts::new();
        for limit in &self.limiter.at(self.path.limits).limits {
            amounts.push((limit, 1));
        }
        amounts
    }

    /// Adds the headers to a response if the request was counted for its path, and returns whether
    /// it was.
    pub(super) fn told(&self, response: &mut Response<Body>) -> bool {
        let noted = &self.state().noted;
        if noted.is_counted {
            self.tell(&noted.found, response);
        }
        noted.is_counted
    }

    /// Returns the response with the rate-limit headers.
    pub(super) fn with_headers(&self, mut response: Response<Body>) -> Response<Body> {
        self.tell(&self.state().noted.found, &mut response);
        response
    }

    fn tell(&self, found: &[Found], response: &mut Response<Body>) {
        let status = response.status();
        headers::write(
            response.headers_mut(),
            status,
            found,
            self.limiter.config.standard_headers,
        );
    }

    async fn take(
        &self,
        limits: &[Amount<'_>],
        client: &KnownClient,
        operation: Option<&PreparedOperation<'_>>,
    ) -> Result<Standings, Refusal> {
        let standings = self.limiter.take(limits, client).await;
        self.taken(
            &mut self.state().noted,
            limits,
            &standings,
            client,
            operation,
        )?;

        Ok(standings)
    }

    /// Records the amounts taken, or returns the refusal if they were too much. Without an
    /// operation, they were taken for the path.
    fn taken(
        &self,
        noted: &mut Noted,
        limits: &[Amount<'_>],
        standings: &Standings,
        client: &KnownClient,
        operation: Option<&PreparedOperation<'_>>,
    ) -> Result<(), Refusal> {
        if !is_taken(standings) {
            return Err(self.exceeded(
                noted,
                found(limits, standings).collect(),
                client,
                operation,
            ));
        }

        noted.is_counted |= operation.is_none();
        self.note(noted, limits, standings);

        Ok(())
    }

    /// Records limits that admit the request: all for the draft's headers, else only the tightest.
    fn note(&self, noted: &mut Noted, limits: &[Amount<'_>], standings: &Standings) {
        if self.limiter.config.standard_headers {
            return noted.find(found(limits, standings));
        }

        // None of these limits requires a wait.
        let all = limits.iter().zip(standings);
        let Some(((limit, _), standing)) = all.min_by_key(|(_, standing)| standing.remaining)
        else {
            return;
        };

        let found = || Found {
            limit: Arc::clone(limit),
            standing: *standing,
        };

        match noted.found.as_mut_slice() {
            [] => noted.found.push(found()),
            [known, ..] if tightness(standing) < tightness(&known.standing) => *known = found(),
            _ => {}
        }
    }

    /// Returns the refusal for limits if at least one is exceeded.
    fn exceeded(
        &self,
        noted: &mut Noted,
        found: Vec<Found>,
        client: &KnownClient,
        operation: Option<&PreparedOperation<'_>>,
    ) -> Refusal {
        let refusal = Refusal::limited(&found);
        audit::exceeded(self.origin(), client, &refusal, operation);
        let is_of_path =
            self.limiter.remember_wait(self.path.limits, client, &found) || operation.is_none();
        noted.is_counted |= is_of_path;
        noted.find(
            found
                .into_iter()
                .filter(|found| found.standing.wait.is_some()),
        );

        refusal
    }

    /// Returns the refusal of a client on the blacklist.
    pub(super) fn refused(&self, client: &Client) -> Refusal {
        audit::refused(self.origin(), client);
        Refusal::Forbidden
    }

    fn origin(&self) -> Origin<'_> {
        Origin {
            address: self.address.counted,
            path: self.path(),
        }
    }

    pub(super) fn request<'a>(&'a self, parts: &'a RequestParts) -> RateLimitRequest<'a> {
        RateLimitRequest {
            headers: &parts.headers,
            path: self.path(),
            address: self.address.counted,
            #[cfg(feature = "auth")]
            user: parts.user(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a pending request for its path even if its operation was never counted: one on a
/// WebSocket that cannot be run, or one whose client has disconnected.
impl Drop for LimitedRequest {
    fn drop(&mut self) {
        let State { client, noted } = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (true, Some(client)) = (noted.is_pending, client.take()) {
            self.limiter.count_path(self.path.limits, client);
        }
    }
}

/// Pairs limits with their states.
fn found(limits: &[Amount<'_>], standings: &[Standing]) -> impl Iterator<Item = Found> {
    limits
        .iter()
        .zip(standings)
        .map(|((limit, _), standing)| Found {
            limit: Arc::clone(limit),
            standing: *standing,
        })
}
