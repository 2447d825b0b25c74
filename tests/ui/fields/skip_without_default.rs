use svc::prelude::*;

struct Cache;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    #[svc(skip)]
    cache: Cache,
}

fn main() {}
