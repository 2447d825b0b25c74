use svc::prelude::*;

#[svc_enum]
enum Role {
    Admin,
    Member { since: i32 },
    Guest(i32),
}

fn main() {}
