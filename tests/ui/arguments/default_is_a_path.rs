use svc::prelude::*;

#[svc_enum]
enum Role {
    Admin,
}

#[svc::query]
async fn ping(#[svc(default = Role::Admin)] role: Role) -> Role {
    role
}

fn main() {}
