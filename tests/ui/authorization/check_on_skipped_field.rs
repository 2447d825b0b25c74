use svc::prelude::*;

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
    #[svc(skip)]
    #[svc::authorize_field(check)]
    secret: bool,
}

fn check(_: &Note, _: AuthorizationRequest) -> bool {
    true
}

fn main() {}
