use svc::prelude::*;

#[svc_type(sql_source = "v_place")]
struct Place {
    id: Uuid,
}

#[svc_type]
impl Place {
    fn distance(&self, lat: f64) -> f64;
}

fn main() {}
