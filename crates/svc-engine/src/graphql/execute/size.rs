//! The size of a response, which is limited.

use crate::graphql::complete::CompletedValue;
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::PlanField;
use crate::graphql::response::Path;
use crate::limits::Limits;

/// The bytes of the root fields completed so far.
#[derive(Debug, Default)]
pub(super) struct AnswerSize(usize);

impl AnswerSize {
    /// Returns the value of a root field if there is room for it, and its error otherwise.
    pub(super) fn fit(
        &mut self,
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        value: CompletedValue,
    ) -> CompletedValue {
        if self.add(cx, &value) {
            return value;
        }

        CompletedValue::failed(
            cx,
            &Limits::answer_too_large(cx.limits),
            field,
            &Path::Root.key(&field.key),
        )
    }

    /// Adds the bytes of a value if there is room for them.
    pub(super) fn add(&mut self, cx: &ExecutionContext<'_>, value: &CompletedValue) -> bool {
        let size = self.0 + value.bytes.as_ref().map_or(0, Vec::len);
        let fits = size <= cx.limits.answer;
        if fits {
            self.0 = size;
        }

        fits
    }
}
