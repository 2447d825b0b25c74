use std::rc::Rc;

use svc::futures_util::{StreamExt as _, stream};
use svc::prelude::*;

#[svc::subscription]
fn numbers() -> impl Stream<Item = i32> {
    let counted = Rc::new(1);
    stream::iter([1]).map(move |number| number + *counted)
}

fn main() {}
