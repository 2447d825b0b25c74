//! Hooks: the points of a request where limits, metrics and spans attach.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use futures_util::future::BoxFuture;

use crate::graphql::complete::CompletedValue;
use crate::graphql::plan::PlanField;
use crate::graphql::response::Response;
use crate::request::{Context, PreparedOperation, RequestHook, RequestParts};
use svc_core::{Error, ErrorCode};

/// An extension point for limits, metrics and spans. It is notified of each request, and may reject
/// it. The default methods do nothing.
pub trait Hook: Send + Sync + 'static {
    /// Called when a request has arrived, with only its head read.
    ///
    /// # Errors
    /// The request's error: the rest of the request is not read.
    fn before_parsing<'a>(&'a self, _: &'a RequestParts) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Called when the operation of the request is valid, planned, and within the limits.
    ///
    /// # Errors
    /// The request's error: no field runs.
    fn after_preparing<'a>(&'a self, _: PreparedOperation<'a>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Wraps a root field: `run` decides about its access and executes it.
    fn around_field<'a>(
        &'a self,
        _: Context<'a>,
        _: &'a PlanField,
        run: BoxFuture<'a, CompletedValue>,
    ) -> BoxFuture<'a, CompletedValue> {
        run
    }

    /// Called when the request has ended, regardless of its outcome: exactly once for each request
    /// passed to [`before_parsing`](Self::before_parsing).
    fn after_answering(&self, _: Answered<'_>) {}
}

/// The end of a request.
#[derive(Debug, Clone, Copy)]
pub struct Answered<'a> {
    /// The HTTP status; `None` if the request was dropped, for example because its client
    /// disconnected.
    pub status: Option<StatusCode>,
    /// The code of the error that failed the whole request.
    pub code: Option<&'a str>,
    /// The number of errors next to `data`.
    pub field_errors: usize,
    /// The time since its head was read.
    pub elapsed: Duration,
}

/// A request without a response yet. The hooks are notified when it is answered or dropped.
pub struct Answering<'a> {
    hooks: &'a Hooks,
    began: Instant,
}

impl Answering<'_> {
    /// Notifies the hooks that the request is answered.
    pub fn answered(self, status: StatusCode, code: Option<&str>, field_errors: usize) {
        self.tell(Some(status), code, field_errors);

        // Dropping it would notify the hooks a second time.
        std::mem::forget(self);
    }

    fn tell(&self, status: Option<StatusCode>, code: Option<&str>, field_errors: usize) {
        let answered = Answered {
            status,
            code,
            field_errors,
            elapsed: self.began.elapsed(),
        };

        // The outermost hook began first, so it ends last.
        for hook in self.hooks.0.iter().rev() {
            // This may run while a panic unwinds, where another panic would abort the process.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| hook.after_answering(answered))) {
                svc_telemetry::panic::report("a hook", svc_telemetry::panic::message(&*panic));
            }
        }
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        // The transport answers a panic with 500, so this is no client that disconnected.
        if std::thread::panicking() {
            let code = ErrorCode::InternalServerError.as_str();
            self.tell(Some(StatusCode::INTERNAL_SERVER_ERROR), Some(code), 0);
        } else {
            self.tell(None, None, 0);
        }
    }
}

/// The hooks of an application, the outermost first. Without any, a request only checks their
/// number.
#[derive(Default)]
pub struct Hooks(Vec<Box<dyn Hook>>);

impl Hooks {
    /// Adds a hook inside the existing ones.
    pub fn push(&mut self, hook: impl Hook) {
        self.0.push(Box::new(hook));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there are hooks for a request: its own, or the application's.
    pub(crate) fn concern(&self, request: &RequestParts) -> bool {
        !self.is_empty() || request.hook.is_some()
    }

    pub(crate) async fn before_parsing(&self, request: &RequestParts) -> Result<(), Response> {
        if let Some(own) = own(request) {
            own.before_parsing(request)
                .await
                .map_err(|error| Response::failed(&error))?;
        }

        for hook in &self.0 {
            hook.before_parsing(request)
                .await
                .map_err(|error| Response::failed(&error))?;
        }

        Ok(())
    }

    /// Notifies the request's own hook of a further request of a batch.
    pub async fn before_next(&self, request: &RequestParts) -> Result<(), Response> {
        match own(request) {
            Some(own) => own
                .before_next(request)
                .await
                .map_err(|error| Response::failed(&error)),
            None => Ok(()),
        }
    }

    pub(in crate::graphql) async fn after_preparing<'a>(
        &'a self,
        operation: PreparedOperation<'a>,
    ) -> Result<(), Response> {
        if let Some(own) = own(operation.request) {
            own.after_preparing(operation)
                .await
                .map_err(|error| Response::failed(&error))?;
        }

        for hook in &self.0 {
            hook.after_preparing(operation)
                .await
                .map_err(|error| Response::failed(&error))?;
        }

        Ok(())
    }

    pub(in crate::graphql) fn around_field<'a>(
        &'a self,
        context: Context<'a>,
        field: &'a PlanField,
        run: BoxFuture<'a, CompletedValue>,
    ) -> BoxFuture<'a, CompletedValue> {
        // The fold wraps from the inside out, so the first hook is wrapped last and becomes the
        // outermost.
        self.0
            .iter()
            .rev()
            .fold(run, |run, hook| hook.around_field(context, field, run))
    }

    /// Starts tracking a request. Returns `None` without hooks, which avoids reading the clock.
    pub fn answering(&self) -> Option<Answering<'_>> {
        (!self.is_empty()).then(|| Answering {
            hooks: self,
            began: Instant::now(),
        })
    }
}

/// The request's own hook, which runs first.
fn own(request: &RequestParts) -> Option<&dyn RequestHook> {
    request.hook.as_deref()
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hooks")
            .field("count", &self.0.len())
            .finish()
    }
}
