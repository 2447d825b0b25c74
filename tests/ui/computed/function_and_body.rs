use svc::prelude::*;

#[svc_type(sql_source = "v_place")]
struct Place {
    id: Uuid,
}

#[svc_type]
impl Place {
    #[svc(function = "app.distance")]
    fn distance(&self) -> f64 {
        0.0
    }
}

fn main() {}
