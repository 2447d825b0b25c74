//! Literals of a document that each request binds like the values of variables.

use std::sync::Arc;

use apollo_compiler::{Name, Node, ast};

use crate::graphql::error::Span;
use crate::graphql::heap_size;
use svc_core::schema::TypeIndex;

/// The literals in the arguments of a document's fields.
///
/// Documents that differ only in lifted literals share a plan. The plan refers to them by names
/// that begin with a digit, so they never meet the variables of a client.
#[derive(Debug)]
pub(crate) struct LiftedLiterals {
    /// All literals of the prepared text, in order.
    spans: Box<[Span]>,
    literals: Box<[Lifted]>,
}

/// A literal that may be lifted.
#[derive(Debug)]
pub(crate) struct Lifted {
    pub(crate) name: Arc<str>,
    /// The scalar at its place; `None` if the literal is not lifted, and documents with another one
    /// do not share the plan.
    pub(crate) ty: Option<TypeIndex>,
}

impl LiftedLiterals {
    /// The literals with these spans. `types` has the scalar of each lifted literal, and `None` for the
    /// others.
    pub(crate) fn new(spans: Box<[Span]>, types: &[Option<TypeIndex>]) -> Self {
        let literals = types.iter().enumerate().map(|(index, ty)| Lifted {
            name: index.to_string().into(),
            ty: *ty,
        });
        Self {
            spans,
            literals: literals.collect(),
        }
    }

    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// All literals with their spans in the prepared text.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Span, &Lifted)> {
        self.spans.iter().zip(&self.literals)
    }

    /// Whether the literal with this number is lifted.
    pub(crate) fn is_lifted(&self, index: usize) -> bool {
        self.literals
            .get(index)
            .is_some_and(|literal| literal.ty.is_some())
    }

    /// The value with variables in place of its lifted literals; `None` if it has none.
    pub(crate) fn generalized(&self, value: &Node<ast::Value>) -> Option<Node<ast::Value>> {
        let general = match value.as_ref() {
            ast::Value::Int(_) | ast::Value::Float(_) | ast::Value::String(_) => {
                ast::Value::Variable(Name::new_unchecked(&self.at(value)?.name))
            }
            ast::Value::List(items) => {
                ast::Value::List(self.all(items, |item| item, |_, new| new)?)
            }
            ast::Value::Object(fields) => ast::Value::Object(self.all(
                fields,
                |(_, value)| value,
                |(name, _), new| (name.clone(), new),
            )?),
            _ => return None,
        };

        Some(value.same_location(general))
    }

    /// Replaces the values of some parts; `None` if none of them has a lifted literal.
    fn all<T: Clone>(
        &self,
        parts: &[T],
        value: impl Fn(&T) -> &Node<ast::Value>,
        replaced: impl Fn(&T, Node<ast::Value>) -> T,
    ) -> Option<Vec<T>> {
        let mut has_some = false;
        let parts = parts
            .iter()
            .map(|part| match self.generalized(value(part)) {
                Some(new) => {
                    has_some = true;
                    replaced(part, new)
                }
                None => part.clone(),
            });
        let parts = parts.collect();

        has_some.then_some(parts)
    }

    /// The lifted literal at the place of a value.
    fn at(&self, value: &Node<ast::Value>) -> Option<&Lifted> {
        let offset = value.location()?.offset();
        let found = self.spans.binary_search_by_key(&offset, |span| span.start);
        self.literals
            .get(found.ok()?)
            .filter(|literal| literal.ty.is_some())
    }

    /// Bytes on the heap.
    pub(crate) fn weight(&self) -> usize {
        let names = self.literals.iter().map(|literal| {
            // The counts of an `Arc`.
            size_of::<usize>() * 2 + heap_size::text(&literal.name)
        });
        heap_size::slice::<Span>(self.spans.len())
            + heap_size::slice::<Lifted>(self.literals.len())
            + names.sum::<usize>()
    }
}
