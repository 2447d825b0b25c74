//! Batch methods: one call for all objects of a level.

use futures_util::future::{BoxFuture, join_all};

use super::{guarded, outcomes};
use crate::graphql::complete::PropagatedNull;
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::PlanField;
use crate::graphql::resolver::BatchMethod;
use crate::graphql::response::{CompletedValue, Path};
use svc_core::Error;
use svc_core::schema::{Object, Outcomes};

/// The receiver of a method and the path of its field.
type Receiver<'a> = (&'a dyn Object, &'a Path<'a>);

/// Calls a batch method for all objects and completes the values. A call has at most as many
/// objects as the largest page.
pub(super) async fn call_batch<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    run: BatchMethod,
    objects: Vec<Receiver<'a>>,
) -> Vec<CompletedValue> {
    let most = usize::try_from(cx.limits.max_page).unwrap_or(usize::MAX);
    let parts = || objects.chunks(most.max(1));
    let returned = join_all(parts().map(|part| values(cx, field, run, part))).await;

    let (mut calls, mut failures) = (Vec::with_capacity(objects.len()), Vec::new());
    for (part, returned) in parts().zip(returned) {
        match returned {
            Ok(values) => {
                calls.extend(values.into_iter().zip(part.iter().map(|(_, path)| *path)));
                failures.push(None);
            }
            Err(error) => failures.push(Some(error)),
        }
    }

    // The values of all parts together, so that a batch method below them gets all of its objects.
    let mut done = outcomes(cx, field, calls).await.into_iter();
    let mut completed = Vec::with_capacity(objects.len());
    for (part, failure) in parts().zip(&failures) {
        completed.extend(part.iter().map(|(_, path)| match failure {
            Some(error) => CompletedValue::failed(cx, error, field, path),
            // `done` has the values of the calls that succeeded, in their order.
            None => done.next().unwrap_or(CompletedValue {
                bytes: Err(PropagatedNull),
                errors: Vec::new(),
            }),
        }));
    }

    completed
}

/// Returns a value for each object, from one call.
async fn values<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    run: BatchMethod,
    objects: &[Receiver<'a>],
) -> Outcomes<'a> {
    let values = guarded(call(cx, field, run, objects)?).await?;
    if values.len() == objects.len() {
        Ok(values)
    } else {
        Err(wrong_length(cx, field, values.len(), objects.len()))
    }
}

/// The call. This function is not async, because the receivers cannot be sent to another thread
/// before the method has cast them to their type.
fn call<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    run: BatchMethod,
    objects: &[Receiver<'a>],
) -> Result<BoxFuture<'a, Outcomes<'a>>, Error> {
    let call = cx.call_method(field)?;
    let objects = objects.iter().map(|(object, _)| object.as_any()).collect();
    Ok(run(objects, call))
}

/// The error for a method whose values cannot be assigned to the objects.
fn wrong_length(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    values: usize,
    objects: usize,
) -> Error {
    let reason = format!(
        "`{}` must return a value for each object; objects: {objects}, values: {values}",
        field.coordinate
    );
    let error = Error::internal(reason.clone());

    // Beside the masked message, like the SQLSTATE of an error of PostgreSQL.
    if cx.development {
        error.with_extension("reason", reason)
    } else {
        error
    }
}
