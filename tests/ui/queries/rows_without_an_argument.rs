use svc::prelude::*;

#[svc_type(sql_source = "v_place")]
struct Place {
    id: Uuid,
}

#[svc::query(sql = "SELECT * FROM v_place WHERE x = $1")]
async fn nearby(x: f64, y: f64) -> Vec<Place>;

fn main() {}
