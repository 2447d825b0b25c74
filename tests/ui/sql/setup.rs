use svc::prelude::*;

fn options(table: &str) -> AppOptions {
    AppOptions::new().setup_sql(format!("CREATE TABLE IF NOT EXISTS {table} (id int)"))
}

fn main() {}
