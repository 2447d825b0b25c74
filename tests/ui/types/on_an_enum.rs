use svc::prelude::*;

#[svc_type]
enum Role {
    #[svc(name = "ADMIN")]
    Admin,
    Member,
}

fn main() {}
