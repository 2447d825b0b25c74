use svc::prelude::*;

#[svc::subscription(function = "app.watch")]
async fn numbers() -> impl Stream<Item = i32> {
    svc::futures_util::stream::iter([1])
}

fn main() {}
