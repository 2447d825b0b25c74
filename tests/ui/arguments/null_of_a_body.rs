use svc::prelude::*;

#[svc::query]
async fn names(#[svc(null = all_rows)] team: Option<String>) -> Vec<String> {
    team.into_iter().collect()
}

#[svc::query]
async fn users(#[svc(null = everything)] name: Option<String>) -> Vec<User>;

#[svc_type(sql_source = "v_user")]
struct User {
    name: String,
}

fn main() {}
