use svc::prelude::*;

#[svc_type(sql_source = "v_place")]
struct Place {
    id: Uuid,
}

#[svc_type]
impl Place {
    #[svc(function = "app.distance")]
    fn distance(&self, lat: f64) -> Result<f64>;
}

fn main() {}
