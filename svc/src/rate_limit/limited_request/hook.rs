//! Implements the engine's hook for a limited request.

#[cfg(feature = "websocket")]
use std::sync::Arc;

use futures_util::TryFutureExt as _;
use futures_util::future::Either;
use serde_json::Value;

use super::LimitedRequest;
use crate::rate_limit::response::{REFUSED, Refusal};
use svc_core::{Error, ErrorCode};
use svc_engine::request::{Decision, PreparedOperation, RequestHook, RequestParts, Spent, decided};

impl RequestHook for LimitedRequest {
    fn before_parsing<'a>(&'a self, request: &'a RequestParts) -> Decision<'a> {
        match self.limiter.local() {
            // Counting in memory never waits, so it needs no boxed future.
            Some(local) => now(self.count_now(local, &self.request(request))),
            None => later(async { self.count_early(&self.request(request)).await }),
        }
    }

    fn before_next<'a>(&'a self, request: &'a RequestParts) -> Decision<'a> {
        match self.limiter.local() {
            Some(local) => now(self.count_now(local, &self.request(request))),
            None => later(async { self.count(&self.request(request)).await }),
        }
    }

    fn after_preparing<'a>(&'a self, operation: PreparedOperation<'a>) -> Decision<'a> {
        match self.limiter.local() {
            Some(local) => now(self.count_operation_now(local, &operation)),
            None => later(async move { self.count_operation(&operation).await }),
        }
    }

    fn is_metering(&self) -> bool {
        self.limiter.operations.budget.is_some()
    }

    fn after_running(&self, spent: Spent) -> Option<(&'static str, Value)> {
        self.give_back(spent)
    }

    #[cfg(feature = "websocket")]
    fn for_operation(&self) -> Arc<dyn RequestHook> {
        Arc::new(self.of_operation())
    }
}

fn now<'a>(counted: Result<(), Refusal>) -> Decision<'a> {
    decided(counted.map_err(into_error))
}

fn later<'a>(counting: impl Future<Output = Result<(), Refusal>> + Send + 'a) -> Decision<'a> {
    Either::Right(Box::pin(counting.map_err(into_error)))
}

fn into_error(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Forbidden => Error::new(ErrorCode::Forbidden, REFUSED),
        Refusal::Limited {
            message,
            retry_after,
            limit,
            window,
        } => Error::new(ErrorCode::RateLimited, message)
            .with_extension("retryAfter", retry_after)
            .with_extension("limit", limit)
            .with_extension("window", window),
    }
}
