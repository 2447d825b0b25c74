use svc::prelude::*;

#[svc::mutation]
async fn delete_user(id: Uuid) {
    let _ = id;
}

fn main() {}
