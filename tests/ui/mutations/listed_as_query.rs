use svc::prelude::*;

#[svc::mutation]
async fn ping() -> bool {
    true
}

fn main() {
    let _ = queries![ping];
}
