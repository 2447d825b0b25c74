use svc::prelude::*;

#[svc::subscription]
async fn numbers() -> impl Stream<Item = i32> {
    svc::futures_util::stream::iter([1])
}

fn main() {
    let _ = queries![numbers];
}
