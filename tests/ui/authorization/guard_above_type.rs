use svc::prelude::*;

#[svc::requires_role("admin")]
#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
}

fn main() {}
