use svc::prelude::*;

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
    #[svc(skip)]
    #[svc::requires_auth]
    secret: bool,
}

fn main() {}
