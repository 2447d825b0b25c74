//! A mutation's response with a part that could not be read: the other parts are returned all the
//! same.

use super::json::Json;
use super::{Node, PropagatedNull, Walk, key, typename, value};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{Leaf, PlanField, PlanKind, Selection};
use crate::graphql::response::Path;
use svc_core::Error;
use svc_core::scalar::LeafError;

/// A part of a response that could not be read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The entity, in the field with this name.
    Entity { field: String, error: Error },
    /// Values of the entity, which is in the field with this name, or is the response itself.
    Values {
        field: Option<String>,
        values: UnreadValues,
    },
}

impl Unread {
    /// Returns the error for a caller that needs the complete response.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Entity { error, .. } => error,
            Self::Values { values, .. } => values.row,
        }
    }
}

/// The values of a row that do not match their types.
#[derive(Debug)]
pub(crate) struct UnreadValues {
    /// The stored name and the error of each value.
    errors: Vec<(&'static str, Error)>,
    /// The error for fields that need the complete row.
    row: Error,
}

impl UnreadValues {
    /// Creates this from the errors of a row; `None` if the complete row could be read.
    pub(crate) fn of(errors: Vec<(&'static str, Error)>) -> Option<Self> {
        let (stored, first) = errors.first()?;
        let row = Error::internal(format!(
            "the entity's row cannot be read: {stored}: {}",
            first.message()
        ));
        Some(Self { errors, row })
    }
}

/// The member of a result, or the entity in it.
struct Partial<'a> {
    json: Json<'a>,
    missing: Missing<'a>,
}

#[derive(Clone, Copy)]
enum Missing<'a> {
    /// The field with this name.
    Field(&'a str, &'a Error),
    /// Values of the object in the field with this name.
    Below(&'a str, &'a UnreadValues),
    /// Values of this object.
    Values(&'a UnreadValues),
}

/// Completes a field whose value is such a response.
pub(crate) fn write_partial(
    walk: &mut Walk<'_>,
    field: &PlanField,
    json: &str,
    unread: &Unread,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> Result<(), PropagatedNull> {
    let missing = match unread {
        Unread::Entity { field, error } => Missing::Field(field, error),
        Unread::Values {
            field: Some(field),
            values,
        } => Missing::Below(field, values),
        Unread::Values {
            field: None,
            values,
        } => Missing::Values(values),
    };

    value(
        walk,
        field,
        &field.ty,
        &Partial {
            json: Json::new(json.as_bytes()),
            missing,
        },
        path,
        out,
    )
}

impl Missing<'_> {
    /// Returns the error that replaces a stored value.
    fn error(&self, field: &PlanField, stored: &str) -> Option<&Error> {
        match self {
            // By the name in the schema: an alias changes the response key.
            Self::Field(name, error) => (field.name == *name).then_some(*error),
            Self::Values(values) => values
                .errors
                .iter()
                .find(|(known, _)| *known == stored)
                .map(|(_, error)| error),
            Self::Below(..) => None,
        }
    }
}

impl Node for Partial<'_> {
    fn is_null(&self) -> bool {
        self.json.is_null()
    }

    fn leaf(&self, leaf: &Leaf, out: &mut Vec<u8>) -> Result<(), LeafError> {
        self.json.leaf(leaf, out)
    }

    fn each(
        &self,
        _: impl FnMut(usize, Self) -> Result<(), PropagatedNull>,
    ) -> Option<Result<(), PropagatedNull>> {
        None
    }

    fn selection<'s>(
        &self,
        cx: &ExecutionContext<'_>,
        field: &'s PlanField,
    ) -> Result<&'s Selection, String> {
        self.json.selection(cx, field)
    }

    fn fields(
        &self,
        walk: &mut Walk<'_>,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        let slots = self.json.slots(&selection.keys);
        for (index, field) in selection.fields.iter().enumerate() {
            key(out, index, field);
            let path = path.key(&field.key);
            let PlanKind::Stored { stored, .. } = field.kind else {
                self.other(walk, field, selection, &path, out)?;
                continue;
            };

            if let Some(error) = self.missing.error(field, stored) {
                walk.failed(error, field, &path, out)?;
                continue;
            }

            let slot = selection
                .keys
                .of_field(index)
                .and_then(|at| slots.get(at).copied())
                .unwrap_or(Json::NULL);

            match self.missing {
                Missing::Below(name, values) if field.name == name => {
                    let entity = Partial {
                        json: slot,
                        missing: Missing::Values(values),
                    };
                    value(walk, field, &field.ty, &entity, &path, out)?;
                }
                _ => value(walk, field, &field.ty, &slot, &path, out)?,
            }
        }

        Ok(())
    }
}

impl Partial<'_> {
    /// Completes a field that is not stored. Methods and relations fail, as they need the complete
    /// object.
    fn other(
        &self,
        walk: &mut Walk<'_>,
        field: &PlanField,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        match (field.kind, self.missing) {
            (PlanKind::Typename, _) => {
                typename(out, selection);
                Ok(())
            }
            (PlanKind::Denied, _) => walk.denied(field, path, out),
            // The fields below it run later, and do not need the entity.
            (PlanKind::Query, _) => {
                out.extend_from_slice(b"null");
                Ok(())
            }
            (_, Missing::Field(..)) => walk.failed(
                &Error::internal("the member has no entity"),
                field,
                path,
                out,
            ),
            (_, Missing::Below(_, values) | Missing::Values(values)) => {
                walk.failed(&values.row, field, path, out)
            }
        }
    }
}
