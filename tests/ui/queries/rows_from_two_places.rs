use svc::prelude::*;

#[svc_type(sql_source = "v_place")]
struct Place {
    id: Uuid,
}

#[svc::query(function = "app.nearby", sql = "SELECT * FROM v_place")]
async fn nearby() -> Vec<Place>;

fn main() {}
