//! PostgreSQL (CVE-2024-10976): a plan that is used again for another role or tenant, with a table
//! under row-level security below a subquery, a `WITH`, a view of the invoker's or a function in
//! SQL.

use serde_json::{Value, json};
use svc::db::SessionVariables;
use svc::prelude::*;
use svc::{DatabaseConfig, SvcConfig};
use svc_tests::{App, TestDatabase};

/// The same type over each of these views.
macro_rules! secrets {
    ($name:ident, $view:literal) => {
        mod $name {
            use svc::prelude::*;

            #[svc_type(sql_source = $view, name = $view)]
            pub(super) struct Secret {
                id: i32,
                body: String,
            }

            #[svc::query]
            pub(super) async fn $name() -> Vec<Secret>;
        }
    };
}

secrets!(below, "v_below");
secrets!(subquery, "v_subquery");
secrets!(with, "v_with");
secrets!(function, "v_function");

/// The rows of a tenant, and of the role that reads: the policy of `app_…` is another than that of
/// `aux_…`.
const SQL: &str = "
CREATE TABLE tb_secret (id int PRIMARY KEY, tenant text NOT NULL, role text NOT NULL, body text NOT NULL);
INSERT INTO tb_secret SELECT n, (ARRAY['a', 'b', 'c'])[n % 3 + 1], (ARRAY['app', 'aux'])[n % 2 + 1], 'secret ' || n
  FROM generate_series(1, 60) n;
ALTER TABLE tb_secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON tb_secret
  USING (tenant = current_setting('app.tenant', true) AND starts_with(current_user::text, role));
CREATE VIEW v_below WITH (security_invoker = true) AS SELECT id, body FROM tb_secret;
CREATE VIEW v_subquery WITH (security_invoker = true) AS
  SELECT n AS id, (SELECT body FROM tb_secret WHERE id = n) AS body FROM generate_series(1, 60) n
  WHERE EXISTS (SELECT FROM tb_secret WHERE id = n);
CREATE VIEW v_with WITH (security_invoker = true) AS
  WITH own AS MATERIALIZED (SELECT id, body FROM tb_secret) SELECT id, body FROM own;
CREATE FUNCTION own() RETURNS SETOF tb_secret LANGUAGE sql STABLE AS 'SELECT * FROM tb_secret';
CREATE VIEW v_function WITH (security_invoker = true) AS SELECT id, body FROM own();
DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY ARRAY['app_', 'aux_'] LOOP
        EXECUTE format('CREATE ROLE %I LOGIN', name || current_database());
        EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA public TO %I', name || current_database());
    END LOOP;
END $$;";

const NAMES: [&str; 4] = ["below", "subquery", "with", "function"];

async fn serve(url: String) -> App {
    let database = DatabaseConfig {
        url: Some(url),
        pool_size: 1,
        ..DatabaseConfig::default()
    };
    let options = AppOptions::new().config(SvcConfig {
        database,
        ..SvcConfig::default()
    });
    let options =
        options.session_variables(SessionVariables::new().header("app.tenant", "x-tenant"));
    let options = options.queries(queries![
        below::below,
        subquery::subquery,
        with::with,
        function::function
    ]);
    App::serve(options).await
}

async fn ask(app: &App, tenant: &str, query: &str) -> Value {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    app.send(
        request
            .header("x-tenant", tenant)
            .body(json!({ "query": query }).to_string()),
    )
    .await
    .data()
}

#[tokio::test]
async fn a_reused_plan_returns_the_rows_of_the_current_tenant() {
    let database = TestDatabase::new(SQL).await;
    let pool = database.pool().await;
    let name: String = sqlx::query_scalar("SELECT current_database()::text")
        .fetch_one(&pool)
        .await
        .unwrap();
    let mut services = Vec::new();
    for role in ["app", "aux"] {
        services.push((
            role,
            serve(format!("{}&user={role}_{name}", database.url())).await,
        ));
    }
    // PostgreSQL keeps a plan from the sixth time on.
    for _ in 0..12 {
        for (role, app) in &services {
            for tenant in ["a", "b", "c", "nobody"] {
                let own = "SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'body', body) ORDER BY id), '[]')
                           FROM tb_secret WHERE tenant = $1 AND role = $2";
                let own: Value = sqlx::query_scalar(own)
                    .bind(tenant)
                    .bind(role)
                    .fetch_one(&pool)
                    .await
                    .unwrap();
                for name in NAMES {
                    let answer = ask(
                        app,
                        tenant,
                        &format!("{{ {name}(order_by: [{{ id: ASC }}]) {{ id body }} }}"),
                    )
                    .await;
                    assert_eq!(answer[name], own, "{role} {tenant}: {name}");
                }
            }
        }
    }
    pool.close().await;
}
