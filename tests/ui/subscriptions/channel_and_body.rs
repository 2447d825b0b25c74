use svc::prelude::*;

#[svc::subscription(channel = "counted")]
fn counted() -> impl Stream<Item = i32> {
    svc::futures_util::stream::iter([1])
}

fn main() {}
