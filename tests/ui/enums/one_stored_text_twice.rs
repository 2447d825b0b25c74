use svc::prelude::*;

#[svc_enum]
enum Role {
    #[svc(stored = "m")]
    Member,
    #[svc(stored = "m")]
    Moderator,
}

fn main() {}
