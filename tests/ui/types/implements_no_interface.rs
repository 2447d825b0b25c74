use svc::prelude::*;

struct Node;

#[svc_type(sql_source = "v_user", implements = [Node])]
struct User {
    id: Uuid,
}

fn main() {}
