use svc::prelude::*;

#[svc_type(sql_source = "v_place")]
struct Place {
    id: Uuid,
}

#[svc::query(function = "app.nearby(1)")]
async fn nearby() -> Vec<Place>;

fn main() {}
