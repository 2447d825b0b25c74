use std::cell::Cell;

use svc::async_graphql::{InputValueResult, ScalarType, Value};
use svc::prelude::*;

struct Count(Cell<i32>);

#[svc_scalar]
impl ScalarType for Count {
    fn parse(_: Value) -> InputValueResult<Self> {
        Ok(Self(Cell::new(0)))
    }
    fn to_value(&self) -> Value {
        self.0.get().into()
    }
}

fn main() {}
