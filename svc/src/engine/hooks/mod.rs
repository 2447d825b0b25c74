//! Hooks: the places of a request where limits, metrics and spans are put.

#[cfg(test)]
mod tests;

use futures_util::future::BoxFuture;

use super::complete::CompletedValue;
use super::plan::PlanField;
use super::response::Response;
use crate::Error;
use crate::request::{Context, RequestParts};
use crate::schema::OperationKind;

/// A place for limits, metrics and spans: it is told of each request, and may refuse it. Each method
/// does nothing by itself.
pub(crate) trait Hook: Send + Sync + 'static {
    /// A request has come; nothing but its head is read.
    ///
    /// # Errors
    /// The request's error: nothing of it is read any further.
    fn before_parsing<'a>(&'a self, _: &'a RequestParts) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Its operation is valid, planned, and within the limits.
    ///
    /// # Errors
    /// The request's error: no field runs.
    fn after_preparing<'a>(&'a self, _: PreparedOperation<'a>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// A root field is decided about and run by `run`.
    fn around_field<'a>(
        &'a self,
        _: Context<'a>,
        _: &'a PlanField,
        run: BoxFuture<'a, CompletedValue>,
    ) -> BoxFuture<'a, CompletedValue> {
        run
    }

    /// The request is answered.
    fn after_answering(&self, _: &Response) {}
}

/// An operation that may run.
#[derive(Clone, Copy)]
#[cfg_attr(not(test), expect(dead_code, reason = "limits and metrics will read it"))]
pub(crate) struct PreparedOperation<'a> {
    pub(crate) request: &'a RequestParts,
    pub(crate) kind: OperationKind,
    /// Its name in the document.
    pub(crate) name: Option<&'a str>,
    pub(crate) complexity: u64,
}

/// The hooks of an application, the outermost first. Without any, a request asks for their number and nothing else.
#[derive(Default)]
pub(crate) struct Hooks(Vec<Box<dyn Hook>>);

impl Hooks {
    #[cfg(test)]
    pub(crate) fn push(&mut self, hook: impl Hook) {
        self.0.push(Box::new(hook));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) async fn before_parsing(&self, request: &RequestParts) -> Result<(), Response> {
        for hook in &self.0 {
            hook.before_parsing(request).await.map_err(|error| Response::failed(&error))?;
        }
        Ok(())
    }

    pub(super) async fn after_preparing(&self, operation: PreparedOperation<'_>) -> Result<(), Response> {
        for hook in &self.0 {
            hook.after_preparing(operation).await.map_err(|error| Response::failed(&error))?;
        }
        Ok(())
    }

    pub(super) fn around_field<'a>(
        &'a self,
        context: Context<'a>,
        field: &'a PlanField,
        run: BoxFuture<'a, CompletedValue>,
    ) -> BoxFuture<'a, CompletedValue> {
        self.0.iter().rev().fold(run, |run, hook| hook.around_field(context, field, run))
    }

    pub(crate) fn after_answering(&self, response: &Response) {
        self.0.iter().rev().for_each(|hook| hook.after_answering(response));
    }
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hooks").field("count", &self.0.len()).finish()
    }
}
