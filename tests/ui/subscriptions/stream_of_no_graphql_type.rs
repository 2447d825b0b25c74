use svc::prelude::*;

struct Plain;

#[svc::subscription]
fn plain() -> impl Stream<Item = Plain> {
    svc::futures_util::stream::iter([Plain])
}

fn main() {}
