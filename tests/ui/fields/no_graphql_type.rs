use svc::prelude::*;

struct Address {
    city: String,
}

#[svc_type(sql_source = "v_user")]
struct User {
    address: Option<Address>,
}

fn main() {}
