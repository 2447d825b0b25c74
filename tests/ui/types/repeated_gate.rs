use svc::prelude::*;

#[svc_type(sql_source = "v_user", authorize_fields = ["email", "email"])]
struct User {
    email: String,
}

fn main() {}
