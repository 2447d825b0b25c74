use svc::prelude::*;

#[svc_type(sql_source = "v_user", authorize_fields = ["emailAddress"])]
struct User {
    #[svc(name = "emailAddress")]
    email: String,
}

fn main() {}
