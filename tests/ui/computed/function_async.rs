use svc::prelude::*;

#[svc_type(sql_source = "v_place")]
struct Place {
    id: Uuid,
}

#[svc_type]
impl Place {
    #[svc(function = "app.distance")]
    async fn distance(&self, ctx: &Context<'_>, lat: f64) -> f64;
}

fn main() {}
