use svc::prelude::*;

#[svc_type(sql_source = "v_place")]
struct Place {
    id: Uuid,
}

#[svc::query(context = ["tenant_id"])]
async fn places() -> Vec<Place>;

fn main() {}
