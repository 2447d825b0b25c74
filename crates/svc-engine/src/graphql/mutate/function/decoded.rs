//! A result read into the user's types, for the selected methods.

use crate::graphql::plan::{OutType, PlanField};
use svc_core::Error;
use svc_core::exact_json::ExactJson;
use svc_core::schema::{Items, Model, Output, Resolved, TypeIndex};

/// A value of the field's type, with objects of the user's types.
pub(super) enum Decoded {
    Null,
    Object(Box<dyn Output>),
    List(DecodedList),
    /// This part cannot be read.
    Failed(Error),
}

impl Decoded {
    /// Reads the JSON of a field.
    pub(super) fn read(model: &Model, field: &PlanField, json: &str) -> Result<Self, Error> {
        let def = model.field("Mutation", &field.name);
        let ty = def
            .map(|def| def.ty.named())
            .ok_or_else(|| Error::internal("the mutation has no type"))?;
        Ok(Self::value(model, ty, &field.ty, ExactJson::read(json)?))
    }

    fn value(model: &Model, ty: TypeIndex, shape: &OutType, json: ExactJson) -> Self {
        match (shape.nullable().0, json) {
            (_, ExactJson::Null) => Self::Null,
            (OutType::List(inner), ExactJson::Array(items)) => Self::List(DecodedList(
                items
                    .into_iter()
                    .map(|item| Self::value(model, ty, inner, item))
                    .collect(),
            )),
            (_, json) => match model.decoders.get(&ty).map(|decode| decode(json)) {
                Some(Ok(object)) => Self::Object(object),
                Some(Err(error)) => Self::Failed(error.into()),
                None => Self::Failed(Error::internal(
                    "the type cannot be read from stored values",
                )),
            },
        }
    }

    pub(super) fn resolve(&self) -> Resolved<'_> {
        match self {
            Self::Null => Resolved::Null,
            Self::Object(object) => object.resolve(),
            Self::List(items) => Resolved::List(items),
            Self::Failed(error) => Resolved::Failed(error),
        }
    }
}

/// The items of a list that a function returns.
pub(super) struct DecodedList(Vec<Decoded>);

impl Items for DecodedList {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn get(&self, index: usize) -> Resolved<'_> {
        self.0[index].resolve()
    }
}
