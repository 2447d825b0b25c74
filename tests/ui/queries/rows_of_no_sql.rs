use svc::prelude::*;

#[svc_type(sql_source = "v_place")]
struct Place {
    id: Uuid,
}

#[svc::query(sql = " ")]
async fn nearby() -> Vec<Place>;

fn main() {}
