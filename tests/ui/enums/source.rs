use svc::prelude::*;

#[svc_enum(sql_source = "v_role")]
enum Role {
    Admin,
}

fn main() {}
