use svc::db::Transaction;

async fn rename(tx: &mut Transaction, name: &str) -> svc::Result<u64> {
    tx.execute(format!("UPDATE tb_user SET name = '{name}'"), []).await
}

fn main() {}
