use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User<'a> {
    name: std::borrow::Cow<'a, str>,
}

fn main() {}
