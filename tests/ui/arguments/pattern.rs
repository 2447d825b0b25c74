use svc::prelude::*;

#[svc_input]
struct Range {
    from: i32,
    to: i32,
}

#[svc::query]
async fn size(Range { from, to }: Range) -> i32 {
    to - from
}

fn main() {}
