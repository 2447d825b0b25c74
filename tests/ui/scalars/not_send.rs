use std::rc::Rc;

use svc::async_graphql::Value;
use svc::prelude::*;

struct Slug(Rc<str>);

#[svc_scalar]
impl ScalarType for Slug {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value {
            Value::String(text) => Ok(Self(text.into())),
            _ => Err(InputValueError::expected_type(value)),
        }
    }
    fn to_value(&self) -> Value {
        self.0.as_ref().into()
    }
}

fn main() {}
