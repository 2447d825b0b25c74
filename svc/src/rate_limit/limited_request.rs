//! A request that is limited: what was counted for it, and what its answer says of that.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use smallvec::SmallVec;

use super::audit::{self, Origin};
use super::client::{Client, KnownClient};
use super::counts::LocalCounts;
use super::headers::tightness;
use super::limiter::{Access, Limiter, RequestPath};
use super::meter::Standing;
use super::named_limit::{Found, NamedLimit};
use super::operation_limits::of_root_fields;
use super::proxies::ClientAddress;
use super::refusal::Refusal;
use super::store::{Amount, Amounts, Standings, Takes, is_taken};
use super::{RateLimitRequest, headers};
use crate::request::{PreparedOperation, RequestParts, Spent};

/// A request that is limited, as its layer and the engine share it.
pub(super) struct LimitedRequest {
    pub(super) limiter: Arc<Limiter>,
    path: RequestPath,
    pub(super) address: ClientAddress,
    state: Mutex<State>,
}

/// The state of a limited request. What is counted in memory locks it once.
#[derive(Default)]
struct State {
    /// The client, once it is known who asks.
    client: Option<KnownClient>,
    noted: Noted,
}

/// The client and the counts that were noted for a request.
#[derive(Default)]
struct Noted {
    /// Whether it was counted for its path, or need not be.
    is_counted: bool,
    /// Whether it is counted for its path together with its operation: one round trip to Redis.
    is_pending: bool,
    /// The limits that its answer tells of.
    found: SmallVec<[Found; 1]>,
    /// The parts of the budget that its operations have taken.
    budget: Vec<FromBudget>,
}

impl Noted {
    /// Notes how limits stand; of one that was asked before, as for each request of a batch, how it stands now.
    fn find(&mut self, found: impl IntoIterator<Item = Found>) {
        for found in found {
            match self.found.iter_mut().find(|known| known.limit.key == found.limit.key) {
                Some(known) => *known = found,
                None => self.found.push(found),
            }
        }
    }
}

/// The part of the budget that an operation was let through with.
struct FromBudget {
    client: KnownClient,
    found: Found,
    asked: u64,
    /// Whether the answer tells of it.
    is_told: bool,
}

impl LimitedRequest {
    pub(super) fn new(limiter: Arc<Limiter>, path: &str, address: ClientAddress) -> Self {
        let path = limiter.path(path);
        Self { limiter, path, address, state: Mutex::default() }
    }

    /// The request of an operation on the connection that this one has opened.
    #[cfg(feature = "websocket")]
    pub(super) fn of_operation(&self) -> Self {
        let (limiter, path) = (self.limiter.clone(), self.path.clone());
        Self { limiter, path, address: self.address, state: Mutex::default() }
    }

    /// The request's path, normalised.
    pub(super) fn path(&self) -> &str {
        self.path.text()
    }

    /// The client, which is the same for all that is counted for the request.
    fn client(&self, request: &RateLimitRequest<'_>) -> KnownClient {
        self.state().client.get_or_insert_with(|| self.limiter.client(request)).clone()
    }

    /// Whether a client is counted; one that is free is not.
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
        if self.is_limited(&client)? { self.count_client(&client).await } else { Ok(()) }
    }

    async fn count_client(&self, client: &KnownClient) -> Result<(), Refusal> {
        self.state().noted.is_counted = true;
        self.take(&self.of_path(), client, None).await.map(drop)
    }

    /// The same in memory.
    pub(super) fn count_now(&self, local: LocalCounts<'_>, request: &RateLimitRequest<'_>) -> Result<(), Refusal> {
        let State { client, noted } = &mut *self.state();
        noted.is_counted = true;
        let client = &*client.get_or_insert_with(|| self.limiter.client(request));
        if !self.is_limited(client)? {
            return Ok(());
        }
        let amounts = self.of_path();
        let standings = local.take(Takes { client, amounts: &amounts }, self.limiter.now());
        self.taken(noted, &amounts, &standings, client, None)
    }

    /// Counts a request whose operation is counted later by asking Redis: both are asked for then, and only who is known
    /// to have to wait is refused at once.
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

    /// Counts a request whose endpoint has not come to it, as for a page, a method that is not allowed, or a document
    /// that cannot be run.
    pub(super) async fn count_late(&self, request: &RateLimitRequest<'_>) -> Result<(), Refusal> {
        let is_pending = std::mem::take(&mut self.state().noted.is_pending);
        if is_pending { self.count_client(&self.client(request)).await } else { self.count(request).await }
    }

    fn of_path(&self) -> Amounts<'_> {
        let mut amounts = Amounts::new();
        for limit in &self.limiter.at(self.path.limits).limits {
            amounts.push((limit, 1));
        }
        amounts
    }

    /// Tells an answer of its limits, if the request was counted for its path; whether it was.
    pub(super) fn told(&self, response: &mut Response<Body>) -> bool {
        let noted = &self.state().noted;
        if noted.is_counted {
            self.tell(&noted.found, response);
        }
        noted.is_counted
    }

    /// The answer with the headers that tell of limits.
    pub(super) fn with_headers(&self, mut response: Response<Body>) -> Response<Body> {
        self.tell(&self.state().noted.found, &mut response);
        response
    }

    fn tell(&self, found: &[Found], response: &mut Response<Body>) {
        let status = response.status();
        headers::write(response.headers_mut(), status, found, self.limiter.config.standard_headers);
    }

    async fn take(
        &self,
        limits: &[Amount<'_>],
        client: &KnownClient,
        operation: Option<&PreparedOperation<'_>>,
    ) -> Result<Standings, Refusal> {
        let standings = self.limiter.take(limits, client).await;
        self.taken(&mut self.state().noted, limits, &standings, client, operation)?;
        Ok(standings)
    }

    /// Notes what was taken, or that it was too much. Without an operation it was taken for the path.
    fn taken(
        &self,
        noted: &mut Noted,
        limits: &[Amount<'_>],
        standings: &Standings,
        client: &KnownClient,
        operation: Option<&PreparedOperation<'_>>,
    ) -> Result<(), Refusal> {
        if !is_taken(standings) {
            return Err(self.exceeded(noted, found(limits, standings).collect(), client, operation));
        }
        noted.is_counted |= operation.is_none();
        self.note(noted, limits, standings);
        Ok(())
    }

    /// Notes limits that let the request pass: all for the draft's headers, and else the closest.
    fn note(&self, noted: &mut Noted, limits: &[Amount<'_>], standings: &Standings) {
        if self.limiter.config.standard_headers {
            return noted.find(found(limits, standings));
        }
        // None of them has to wait.
        let all = limits.iter().zip(standings);
        let Some(((limit, _), standing)) = all.min_by_key(|(_, standing)| standing.remaining) else { return };
        let found = || Found { limit: Arc::clone(limit), standing: *standing };
        match noted.found.as_mut_slice() {
            [] => noted.found.push(found()),
            [known, ..] if tightness(standing) < tightness(&known.standing) => *known = found(),
            _ => {}
        }
    }

    /// The refusal for limits of which some are exceeded.
    fn exceeded(
        &self,
        noted: &mut Noted,
        found: Vec<Found>,
        client: &KnownClient,
        operation: Option<&PreparedOperation<'_>>,
    ) -> Refusal {
        let refusal = Refusal::limited(&found);
        audit::exceeded(self.origin(), client, &refusal, operation);
        let is_of_path = self.limiter.remember_wait(self.path.limits, client, &found) || operation.is_none();
        noted.is_counted |= is_of_path;
        noted.find(found.into_iter().filter(|found| found.standing.wait.is_some()));
        refusal
    }

    /// The refusal of a client on the blacklist.
    pub(super) fn refused(&self, client: &Client) -> Refusal {
        audit::refused(self.origin(), client);
        Refusal::Forbidden
    }

    /// Counts an operation, and its request with it where that was put off.
    pub(super) async fn count_operation(&self, operation: &PreparedOperation<'_>) -> Result<(), Refusal> {
        let client = self.client(&self.request(operation.request));
        if !self.is_limited(&client)? {
            return Ok(());
        }
        let own = of_root_fields(&self.limiter.config, operation);
        let mut limits = self.of_operation_and(operation, &own);
        // No other operation of a batch counts for the path meanwhile.
        let is_pending = std::mem::take(&mut self.state().noted.is_pending);
        if is_pending {
            limits.extend(self.of_path());
        }
        let taken = self.take(&limits, &client, Some(operation)).await;
        let noted = &mut self.state().noted;
        match taken {
            Ok(standings) => {
                noted.is_counted |= is_pending;
                self.note_budget(noted, &limits, &standings, &client, operation);
                Ok(())
            }
            Err(refusal) => {
                noted.is_pending |= is_pending && !noted.is_counted;
                Err(refusal)
            }
        }
    }

    /// The same in memory, where nothing is left for later.
    pub(super) fn count_operation_now(
        &self,
        local: LocalCounts<'_>,
        operation: &PreparedOperation<'_>,
    ) -> Result<(), Refusal> {
        let State { client, noted } = &mut *self.state();
        let client = &*client.get_or_insert_with(|| self.limiter.client(&self.request(operation.request)));
        if !self.is_limited(client)? {
            return Ok(());
        }
        let own = of_root_fields(&self.limiter.config, operation);
        let limits = self.of_operation_and(operation, &own);
        let standings = local.take(Takes { client, amounts: &limits }, self.limiter.now());
        self.taken(noted, &limits, &standings, client, Some(operation))?;
        self.note_budget(noted, &limits, &standings, client, operation);
        Ok(())
    }

    /// The limits of an operation, and those of its own root fields.
    fn of_operation_and<'a>(
        &'a self,
        operation: &PreparedOperation<'_>,
        own: &'a [(Arc<NamedLimit>, u64)],
    ) -> Amounts<'a> {
        let mut limits = self.limiter.operations.of(operation);
        for (limit, times) in own {
            limits.push((limit, *times));
        }
        limits
    }

    /// Notes what an operation has taken from the budget, as a part of it may be given back.
    fn note_budget(
        &self,
        noted: &mut Noted,
        limits: &[Amount<'_>],
        standings: &Standings,
        client: &KnownClient,
        operation: &PreparedOperation<'_>,
    ) {
        let Some(budget) = &self.limiter.operations.budget else { return };
        let Some(at) = limits.iter().position(|(limit, _)| Arc::ptr_eq(limit, budget)) else { return };
        let found = Found { limit: budget.clone(), standing: standings[at] };
        let is_told = operation.request.headers.contains_key(headers::TELL_COST);
        let client = client.clone();
        noted.budget.push(FromBudget { client, found, asked: operation.complexity, is_told });
    }

    /// Gives back what an operation has not used of the budget; what its answer tells of that.
    pub(super) fn give_back(&self, Spent { asked, used }: Spent) -> Option<(&'static str, Value)> {
        let taken = {
            let noted = &mut self.state().noted;
            let at = noted.budget.iter().position(|taken| taken.asked == asked)?;
            noted.budget.swap_remove(at)
        };
        let (unused, standing) = (asked - used, taken.found.standing);
        if unused > 0 {
            self.limiter.give_back(taken.found.limit.clone(), taken.client, unused, standing.window);
        }
        let count = taken.found.limit.count;
        let reset = i64::try_from(self.limiter.now().saturating_add(standing.reset)).unwrap_or(i64::MAX);
        let reset = chrono::DateTime::from_timestamp_millis(reset)?;
        taken.is_told.then(|| {
            let remaining = standing.remaining.saturating_add(unused).min(count);
            let reset_at = reset.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
            ("rateLimit", json!({ "limit": count, "remaining": remaining, "resetAt": reset_at, "cost": used }))
        })
    }

    fn origin(&self) -> Origin<'_> {
        Origin { address: self.address.counted, path: self.path() }
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

/// A request that has not come to its operation is counted for its path all the same: one on a socket that cannot be run, and one whose
/// client has gone.
impl Drop for LimitedRequest {
    fn drop(&mut self) {
        let State { client, noted } = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (true, Some(client)) = (noted.is_pending, client.take()) {
            self.limiter.count_path(self.path.limits, client);
        }
    }
}

/// Limits with what a request found of them.
fn found(limits: &[Amount<'_>], standings: &[Standing]) -> impl Iterator<Item = Found> {
    limits.iter().zip(standings).map(|((limit, _), standing)| Found { limit: Arc::clone(limit), standing: *standing })
}
