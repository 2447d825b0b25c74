//! The log says which policies do not bind.

use std::io;
use std::sync::{Arc, Mutex};

use svc::prelude::*;
use svc_tests::TestDatabase;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::{SQL, production, url, variables};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[svc::mutation(function = "count_again")]
async fn count_again() -> i64;

#[tokio::test]
async fn the_log_names_slow_policies_and_functions_that_bypass_them() {
    let database = TestDatabase::copy_of("row_security", SQL).await;
    database
        .execute(
            "CREATE INDEX ON tb_note (price); CREATE TABLE tb_slow (id int, tenant text);
             CREATE FUNCTION mine() RETURNS text LANGUAGE sql STABLE AS 'SELECT current_setting(''app.tenant'', true)';
             ALTER TABLE tb_slow ENABLE ROW LEVEL SECURITY;
             CREATE POLICY one ON tb_slow USING (tenant = current_setting('app.tenant', true));
             CREATE POLICY two ON tb_slow USING (tenant = mine());
             CREATE TABLE tb_pair (tenant text, customer int);
             CREATE INDEX ON tb_pair (tenant, customer);
             ALTER TABLE tb_pair ENABLE ROW LEVEL SECURITY;
             CREATE POLICY of_tenant ON tb_pair USING (tenant = (SELECT current_setting('app.tenant', true)));
             CREATE POLICY own ON tb_pair AS RESTRICTIVE USING (customer > 0);
             CREATE TABLE tb_lone (tenant text, customer int);
             CREATE INDEX ON tb_lone (tenant, customer);
             ALTER TABLE tb_lone ENABLE ROW LEVEL SECURITY;
             CREATE POLICY lone ON tb_lone USING (customer > 0);
             DROP VIEW v_open; CREATE VIEW v_open WITH (security_invoker = true) AS
             SELECT id FROM tb_slow UNION ALL SELECT customer FROM tb_pair UNION ALL SELECT customer FROM tb_lone;
             CREATE FUNCTION count_again() RETURNS bigint SECURITY DEFINER LANGUAGE sql AS 'SELECT count(*) FROM tb_note';
             GRANT SELECT ON ALL TABLES IN SCHEMA public TO r17_app",
        )
        .await;
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(log.clone())
        .with_ansi(false)
        .finish();
    let options = production()
        .database_url(url(&database, "r17_app"))
        .session_variables(variables());
    let options = options
        .queries(queries![super::notes, super::opens])
        .mutations(mutations![super::count_all, count_again]);
    let guard = subscriber.set_default();
    let app = create_svc_app(options).await.unwrap();
    drop((guard, app));
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for what in [
        "slow: `one` on `tb_slow` calls current_setting for each row",
        "slow: `two` on `tb_slow` calls `mine` for each row",
        "slow: `one` on `tb_slow` compares `tenant`, and no index begins with it",
        "CREATE INDEX ON tb_slow (tenant)",
        "slow: `lone` on `tb_lone` compares `customer`, and no index begins with it",
        "slow: a filter on `price` of `tb_note` cannot use its index",
        "bypassed by: the service calls `count_again()`, which runs as its owner `postgres`",
        "; the service calls `count_all()`, which runs as its owner `postgres`",
    ] {
        assert!(log.contains(what), "{what}: {log}");
    }
    assert!(!log.contains("`tenant` on `tb_note`"), "{log}");
    // An index whose first column another policy compares is of use.
    assert!(
        !log.contains("`customer` on `tb_pair`") && !log.contains("`own` on `tb_pair` compares"),
        "{log}"
    );
    assert!(!log.contains("a filter on `id`"), "{log}");
    assert_eq!(
        log.matches("is bypassed by").count(),
        1,
        "one line lists the functions: {log}"
    );
}
