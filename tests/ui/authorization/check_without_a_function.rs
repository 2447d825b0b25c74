use svc::prelude::*;

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
    #[svc::authorize_field]
    secret: Option<bool>,
}

fn main() {}
