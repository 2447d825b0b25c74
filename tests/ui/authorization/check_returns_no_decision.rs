use svc::prelude::*;

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
    #[svc::authorize_field(check)]
    secret: Option<bool>,
}

fn check(_: &Note, _: AuthorizationRequest) -> &'static str {
    "yes"
}

fn main() {}
