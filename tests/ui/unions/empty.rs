use svc::prelude::*;

#[svc_union(sql_source = "v_search")]
enum Found {}

fn main() {}
