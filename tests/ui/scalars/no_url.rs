use svc::async_graphql::{InputValueResult, ScalarType, Value};
use svc::prelude::*;

struct Slug(String);

#[svc_scalar(specified_by = "RFC 3986")]
impl ScalarType for Slug {
    fn parse(value: Value) -> InputValueResult<Self> {
        Ok(Self(value.to_string()))
    }
    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }
}

fn main() {}
