use svc::Operation;

fn names(column: &str) -> Operation {
    let sql = format!("SELECT jsonb_agg({column}) AS names FROM tb_user");
    Operation::new("query Names { names }").sql(sql)
}

fn main() {}
