use svc::prelude::*;

async fn ping() -> bool {
    true
}

fn main() {
    let _ = queries![ping];
}
