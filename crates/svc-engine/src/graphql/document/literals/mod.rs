//! Documents that differ only in literals share one plan: their numbers and strings are bound like
//! the values of variables.

mod lift;
mod mask;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use apollo_compiler::executable::{ExecutableDocument, Selection, SelectionSet};
use async_graphql::Value;

use self::lift::lift;
pub(super) use self::mask::Masked;
use super::Document;
use crate::graphql::coerce::{LiftedLiterals, Literal};
use crate::graphql::error::{SourceText, Span};
use crate::graphql::heap_size;
use svc_core::schema::{Model, TypeExpr, TypeIndex};

/// The part of a document that is shared by documents with other literals.
#[derive(Debug)]
pub(super) struct Shared {
    /// The masked text.
    pub(super) key: Arc<str>,
    pub(super) literals: LiftedLiterals,
}

/// The literals of a request whose document was prepared from a text with other literals.
#[derive(Debug, Clone)]
pub(crate) struct SentLiterals {
    pub(crate) text: Arc<SentText>,
    /// Their values by the names that the plan has for them.
    pub(crate) values: Vec<(Arc<str>, Value)>,
}

/// The text of such a request.
#[derive(Debug)]
pub(crate) struct SentText {
    pub(crate) text: Arc<str>,
    spans: Box<[Span]>,
}

/// Whether a document can run with the literals of another text.
pub(super) enum Binding {
    Bound(SentLiterals),
    /// Literals differ that are not lifted.
    Differs,
    /// A value is not valid at its place, or is not read here.
    Refused,
}

impl SentLiterals {
    /// Bytes on the heap.
    pub(super) fn weight(&self) -> usize {
        let values = self.values.iter().map(|(name, value)| {
            // The counts of an `Arc`.
            size_of::<usize>() * 2 + heap_size::text(name) + heap_size::value(value)
        });

        heap_size::slice::<SentText>(1)
            + heap_size::text(&self.text.text)
            + heap_size::slice::<Span>(self.text.spans.len())
            + heap_size::slice::<(Arc<str>, Value)>(self.values.capacity())
            + values.sum::<usize>()
    }
}

impl Shared {
    /// Bytes on the heap.
    pub(super) fn weight(&self) -> usize {
        heap_size::slice::<Self>(1) + heap_size::text(&self.key) + self.literals.weight()
    }

    /// The document with variables in place of the lifted literals.
    pub(super) fn generalized(&self, document: &ExecutableDocument) -> ExecutableDocument {
        let mut document = document.clone();
        let operations = &mut document.operations;
        for operation in operations
            .anonymous
            .iter_mut()
            .chain(operations.named.values_mut())
        {
            self.generalize(&mut operation.make_mut().selection_set);
        }

        for fragment in document.fragments.values_mut() {
            self.generalize(&mut fragment.make_mut().selection_set);
        }

        document
    }

    fn generalize(&self, set: &mut SelectionSet) {
        for selection in &mut set.selections {
            match selection {
                Selection::Field(field) => {
                    let field = field.make_mut();
                    for argument in &mut field.arguments {
                        if let Some(value) = self.literals.generalized(&argument.value) {
                            argument.make_mut().value = value;
                        }
                    }
                    self.generalize(&mut field.selection_set);
                }
                Selection::InlineFragment(fragment) => {
                    self.generalize(&mut fragment.make_mut().selection_set);
                }
                Selection::FragmentSpread(_) => {}
            }
        }
    }
}

impl Document {
    /// Prepares the document to be shared with texts of other literals, if it has any that can be
    /// lifted; `key` is its masked text. Returns the literals of the document's own text as well.
    pub(super) fn share(
        self,
        model: &Model,
        masked: &Masked<'_>,
        key: Arc<str>,
    ) -> (Self, Option<SentLiterals>) {
        let Some(literals) = lift(model, &self.executable, masked) else {
            return (self, None);
        };

        let shared = self.with_shared(Some(Box::new(Shared { key, literals })));
        match shared.bind(model, masked) {
            Binding::Bound(sent) => (shared, Some(sent)),
            Binding::Differs | Binding::Refused => (shared.with_shared(None), None),
        }
    }

    /// Binds the literals of a text that has the masked text of this document.
    pub(super) fn bind(&self, model: &Model, masked: &Masked<'_>) -> Binding {
        let Some(shared) = &self.shared else {
            return Binding::Refused;
        };
        if shared.literals.spans().len() != masked.len() {
            return Binding::Refused;
        }

        let mut values = Vec::with_capacity(masked.len());
        for (index, (span, literal)) in shared.literals.iter().enumerate() {
            let Some(ty) = literal.ty else {
                if masked.written(index) != &self.text[span.start..span.end] {
                    return Binding::Differs;
                }
                continue;
            };

            let Some(value) = coerced(model, ty, masked, index) else {
                return Binding::Refused;
            };
            values.push((literal.name.clone(), value));
        }

        let text = Arc::new(SentText {
            text: masked.text.into(),
            spans: masked.spans(),
        });

        Binding::Bound(SentLiterals { text, values })
    }

    /// The text of a document that has the same masked text, with marks only for the literals that
    /// are lifted.
    pub(super) fn narrower_key(&self, masked: &Masked<'_>) -> String {
        masked.key_where(|index| {
            self.shared
                .as_ref()
                .is_some_and(|shared| shared.literals.is_lifted(index))
        })
    }

    /// The text of a request for the document.
    pub(crate) fn source<'a>(&'a self, sent: Option<&'a SentText>) -> SourceText<'a> {
        match (sent, &self.shared) {
            (Some(sent), Some(shared)) => {
                SourceText::shared(&sent.text, shared.literals.spans(), &sent.spans)
            }
            _ => SourceText::prepared(&self.text),
        }
    }
}

/// A literal, coerced by the rules for literals.
fn coerced(model: &Model, ty: TypeIndex, masked: &Masked<'_>, index: usize) -> Option<Value> {
    let literal = Literal {
        types: &model.types,
        variables: None,
    };
    let value = literal
        .coerce(&TypeExpr::Named(ty), &masked.value(index)?)
        .ok()??;

    // A variable that is null is an error in a required place. No literal becomes null, unless a
    // custom scalar makes it so.
    (value != Value::Null).then_some(value)
}
