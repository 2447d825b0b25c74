use std::rc::Rc;

use svc::async_graphql::{InputValueResult, ScalarType, Value};
use svc::prelude::*;

struct Word(Rc<str>);

#[svc_scalar]
impl ScalarType for Word {
    fn parse(_: Value) -> InputValueResult<Self> {
        Ok(Self(Rc::from("")))
    }
    fn to_value(&self) -> Value {
        Value::String(self.0.to_string())
    }
}

#[svc::query]
fn word() -> Word {
    Word(Rc::from("x"))
}

fn main() {
    let _ = queries![word];
}
