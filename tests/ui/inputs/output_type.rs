use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

#[svc_input]
struct NewTeam {
    lead: User,
}

fn main() {}
