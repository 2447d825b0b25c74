//! A gated field is gated wherever its value can be learnt, on every path.

mod decisions;
mod documents;
mod on_error;
mod result_guards;
mod variables;
mod ways;

use std::sync::{Arc, Mutex};

use serde_json::Value;
use svc::authz::{Authorizer, OperationType};
use svc::prelude::*;
use svc::{Operation, OperationsConfig};
use svc_tests::{App, TestDatabase};

#[svc_interface(fields(id: i32, code: Option<String>), sql_source = "v_item")]
enum Item {
    Book(Book),
    Film(Film),
}

#[svc_type(sql_source = "v_book")]
struct Book {
    id: i32,
    code: Option<String>,
}

#[svc_type(sql_source = "v_film", authorize_fields = ["code"])]
struct Film {
    id: i32,
    code: Option<String>,
}

#[svc_type(sql_source = "v_member", authorize_fields = ["email", "token", "score", "hint", "team", "joined"])]
struct Member {
    id: i32,
    name: String,
    email: Option<String>,
    token: String,
    score: Option<i32>,
    team_id: Option<i32>,
    joined: Option<NaiveDate>,
    #[relation(from = "team_id", to = "team_id")]
    mates: Many<Member>,
    #[relation(from = "team_id", to = "id")]
    team: Option<One<Member>>,
}

#[svc_type]
impl Member {
    fn hint(&self, ctx: &Context<'_>, length: i32) -> Result<Option<String>> {
        ctx.data::<Asked>()?
            .0
            .lock()
            .unwrap()
            .push(format!("ran {length}"));
        Ok(Some("secret".to_owned()))
    }
    fn plain(&self) -> i32 {
        self.id
    }
}

#[svc_result]
enum Changed {
    Success {
        member: Option<Member>,
        metadata: Option<Value>,
        cascade: Option<Value>,
    },
    Error {},
}

#[svc::query]
async fn members() -> Vec<Member>;
#[svc::query]
async fn member(email: String) -> Option<Member>;
#[svc::query]
async fn page() -> Connection<Member>;
#[svc::query]
async fn statistics() -> Aggregate<Member>;
#[svc::query]
async fn found(ctx: &Context<'_>, r#where: Option<Where<Member>>) -> Result<Find<Member>> {
    Ok(ctx.db().find::<Member>().apply_where(r#where))
}
#[svc::query]
async fn awaited(ctx: &Context<'_>) -> Result<Vec<Member>> {
    ctx.db().find::<Member>().order_by(asc("id")).await
}
#[svc::query]
async fn items() -> Vec<Item>;
#[svc::mutation(function = "app.change")]
async fn change(member_id: i32) -> Changed;

const SQL: &str = "CREATE TABLE tb_member (id int PRIMARY KEY, name text, email text, token text, score int, team_id int,
      joined date DEFAULT '1999-04-01');
    INSERT INTO tb_member VALUES (1, 'ada', 'secret-1', 'secret-t1', 41777, 1), (2, 'bob', 'secret-2', 'secret-t2', 41778, 1);
    CREATE TABLE tb_changes (id int);
    CREATE VIEW v_member AS SELECT * FROM tb_member;
    CREATE VIEW v_book AS SELECT 1 AS id, 'open' AS code;
    CREATE VIEW v_film AS SELECT 2 AS id, 'secret-f' AS code;
    CREATE VIEW v_item AS SELECT 'Book' AS __typename, id, code FROM v_book
        UNION ALL SELECT 'Film', id, code FROM v_film;
    CREATE SCHEMA app;
    CREATE TYPE app.mutation_response AS (status text, message text, entity_id text, entity_type text, entity jsonb,
        updated_fields text[], cascade jsonb, metadata jsonb);
    CREATE FUNCTION app.change(member_id int) RETURNS app.mutation_response LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO tb_changes VALUES (member_id);
        RETURN ROW('updated', 'done', member_id::text, 'Member', (SELECT to_jsonb(m) FROM tb_member m WHERE id = member_id),
            NULL, to_jsonb('secret-c'::text), to_jsonb('secret-m'::text))::app.mutation_response;
    END $$;";

const CACHED: &str = "query Cached { members { id email } }";

/// The fields that were asked about, by a policy that knows those which are denied.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

struct Policy(
    Asked,
    fn(&AuthorizationRequest) -> Result<AuthorizationDecision>,
);

impl Authorizer for Policy {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        if request.operation_type() != OperationType::Field {
            return Ok(AuthorizationDecision::allow());
        }
        let arguments: Vec<_> = request
            .arguments()
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        self.0.0.lock().unwrap().push(format!(
            "{}({})",
            request.operation_name(),
            arguments.join(", ")
        ));
        self.1(&request)
    }
}

async fn serve(
    database: &TestDatabase,
    decide: fn(&AuthorizationRequest) -> Result<AuthorizationDecision>,
) -> (App, Asked) {
    let asked = Asked::default();
    let operations = OperationsConfig {
        rust_endpoint: true,
        ..OperationsConfig::default()
    };
    let cached = Operation::new(CACHED)
        .sql("SELECT jsonb_agg(v_member ORDER BY id) AS members FROM v_member");
    let options = AppOptions::new()
        .config(SvcConfig {
            operations,
            ..SvcConfig::default()
        })
        .database_url(database.url())
        .data(asked.clone())
        .queries(queries![
            members, member, page, statistics, found, awaited, items
        ])
        .mutations(mutations![change])
        .operations([cached])
        .authorizer(Policy(asked.clone(), decide));
    (App::serve(options).await, asked)
}

fn denies(_: &AuthorizationRequest) -> Result<AuthorizationDecision> {
    Ok(AuthorizationDecision::deny())
}

async fn database() -> TestDatabase {
    TestDatabase::copy_of("gated", SQL).await
}
