use svc::prelude::*;

#[svc_type(sql_source)]
struct User {
    id: Uuid,
}

fn main() {}
