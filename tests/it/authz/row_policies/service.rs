//! Users and their posts, of several tenants, over the three kinds of views.

use svc::prelude::*;
use svc::{Limits, OperationsConfig};
use svc_tests::TestDatabase;

/// The same types and operations over views of one kind.
macro_rules! blog {
    ($kind:ident, $user:literal, $post:literal) => {
        mod $kind {
            use serde_json::Value;
            use svc::futures_util::StreamExt as _;
            use svc::prelude::*;

            #[svc_type(sql_source = $user, authorize_fields = ["email"])]
            pub(super) struct User {
                id: i32,
                name: String,
                tenant: Option<String>,
                email: Option<String>,
                #[relation(to = "author_id")]
                posts: Many<Post>,
            }

            #[svc_type(sql_source = $post)]
            pub(super) struct Post {
                id: i32,
                title: Option<String>,
                tenant: Option<String>,
                score: Option<i32>,
                locked: Option<bool>,
                #[relation]
                author: Option<One<User>>,
            }

            #[svc_type]
            impl Post {
                /// A method needs rows as structs.
                fn loud(&self) -> String {
                    self.title.clone().unwrap_or_default().to_uppercase()
                }
            }

            #[svc::query]
            async fn posts() -> Vec<Post>;
            #[svc::query]
            async fn post(id: i32) -> Option<Post>;
            #[svc::query]
            async fn page() -> Connection<Post>;
            #[svc::query]
            async fn totals() -> Aggregate<Post>;
            #[svc::query]
            async fn users() -> Vec<User>;
            #[svc::query]
            async fn found(ctx: &Context<'_>) -> Result<Find<Post>> {
                Ok(ctx
                    .db()
                    .find::<Post>()
                    .filter(col("id").gt(0))
                    .order_by(asc("id")))
            }
            #[svc::query]
            async fn paged(ctx: &Context<'_>, page: CursorPage) -> Result<Connection<Post>> {
                Ok(ctx
                    .db()
                    .find::<Post>()
                    .order_by(desc("score"))
                    .paginate(page))
            }
            /// Relations of rows in hand.
            #[svc::query]
            async fn in_hand(ctx: &Context<'_>) -> Result<Vec<Post>> {
                ctx.db().find::<Post>().order_by(asc("id")).await
            }
            /// Everything that the repository reads.
            #[svc::query]
            async fn everything(ctx: &Context<'_>) -> Result<Vec<String>> {
                let posts = || ctx.db().find::<Post>().order_by(asc("id"));
                let ids =
                    |posts: Vec<Post>| posts.into_iter().map(|post| post.id).collect::<Vec<_>>();
                let authors = posts().filter(col("author").some(col("name").ne("nobody")));
                let mut transaction = ctx.db().transaction().await?;
                let in_transaction = transaction.rows(posts()).await?;
                transaction.commit().await?;
                let last = CursorPage {
                    last: Some(2),
                    ..CursorPage::default()
                };
                let last = posts().paginate(last).await?;
                Ok(vec![
                    format!("{:?}", ids(posts().await?)),
                    format!("{:?}", posts().one().await?.map(|post| post.id)),
                    format!("{:?}", ids(authors.await?)),
                    format!("{:?}", ids(in_transaction)),
                    format!(
                        "{:?}",
                        last.edges
                            .iter()
                            .map(|edge| edge.node.id)
                            .collect::<Vec<_>>()
                    ),
                    format!(
                        "{} {}",
                        posts().count().await?,
                        posts().filter(col("score").gt(50)).exists().await?
                    ),
                    format!(
                        "{:?} {:?}",
                        posts().sum("score").await?,
                        posts().avg("score").await?
                    ),
                    format!(
                        "{:?} {:?}",
                        posts().min("title").await?,
                        posts().max("title").await?
                    ),
                    format!(
                        "{:?} {:?}",
                        posts().distinct("tenant").await?,
                        posts().group_counts(["locked"]).await?
                    ),
                    format!("{:?}", posts().json().await?.len()),
                ])
            }
            #[svc::mutation(function = "app.touch")]
            async fn touch(post_id: i32) -> Option<Post>;
            #[svc::mutation(function = "app.touch_all")]
            async fn touch_all() -> Vec<Post>;

            #[svc::subscription(channel = "post_changed")]
            async fn changed(
                id: Option<Vec<i32>>,
                tenant: Option<Vec<String>>,
                score: Option<Vec<i32>>,
                locked: Option<bool>,
                author: Option<Vec<i32>>,
            ) -> Post;
            #[svc::subscription(channel = "post_changed")]
            async fn removable(id: Option<Vec<i32>>, score: Option<Vec<i32>>) -> Option<Post>;
            #[svc::subscription(channel = "user_changed")]
            async fn user_changed(id: Option<Vec<i32>>, email: Option<Vec<String>>) -> User;
            /// The row of each event, as the repository reads it.
            #[svc::subscription]
            async fn heard(ctx: &Context<'_>) -> Result<impl Stream<Item = Result<Find<Post>>>> {
                let events = ctx.events("post_changed").await?;
                let id = |payload: &str| {
                    serde_json::from_str(payload)
                        .ok()
                        .and_then(|row: Value| row["id"].as_i64())
                };
                Ok(events.map(move |payload| {
                    Ok(ctx.db().find::<Post>().filter(col("id").eq(id(&payload?))))
                }))
            }

            /// The application over these views, with `policy` for both types.
            pub(super) fn options(policy: Option<super::Policy>) -> AppOptions {
                let options = AppOptions::new()
                    .queries(queries![
                        posts, post, page, totals, users, found, paged, in_hand, everything
                    ])
                    .mutations(mutations![touch, touch_all]);
                match policy {
                    Some(policy) => options
                        .row_policy::<Post>(policy)
                        .row_policy::<User>(policy),
                    None => options,
                }
            }

            /// The same with masks of posts.
            pub(super) fn masked(policy: super::Policy) -> AppOptions {
                options(None)
                    .mask_where::<Post>("score", policy)
                    .mask_where::<Post>("title", policy)
            }

            /// The same with policies for both types, scores that are masked where a post is
            /// locked, and no e-mail addresses.
            pub(super) fn guarded(policy: super::Policy) -> AppOptions {
                let unlocked =
                    |_: &Context<'_>| Ok(RowDecision::allow_where(col("locked").eq(false)));
                let no_addresses =
                    async |request: AuthorizationRequest| request.operation_name() != "User.email";
                let options = options(Some(policy))
                    .mask_where::<Post>("score", unlocked)
                    .authorizer(no_addresses);
                options.subscriptions(subscriptions![changed, removable, user_changed, heard])
            }

            /// The same with several masks of each of these fields.
            pub(super) fn masked_by(masks: &[(&'static str, super::SharedPolicy)]) -> AppOptions {
                let masks = masks.iter().cloned();
                masks.fold(options(None), |options, (field, policy)| {
                    options.mask_where::<Post>(field, move |ctx| policy(ctx))
                })
            }

            /// The same with several policies for posts.
            pub(super) fn governed(policies: &[super::SharedPolicy]) -> AppOptions {
                policies
                    .iter()
                    .cloned()
                    .fold(options(None), |options, policy| {
                        options.row_policy::<Post>(move |ctx| policy(ctx))
                    })
            }
        }
    };
}

blog!(columns, "c_user", "c_post");
blog!(data, "d_user", "d_post");
blog!(table, "tv_user", "tv_post");

/// A policy for a type.
pub(super) type Policy = fn(&Context<'_>) -> Result<RowDecision>;
/// A policy with values of a test.
pub(super) type SharedPolicy =
    std::sync::Arc<dyn Fn(&Context<'_>) -> Result<RowDecision> + Send + Sync>;

pub(super) const KINDS: [&str; 3] = ["columns", "data", "table"];

const TABLES: &str = "
CREATE TABLE tb_user (id int PRIMARY KEY, name text NOT NULL, tenant text, email text);
CREATE TABLE tb_post (id int PRIMARY KEY, title text, tenant text, score int, locked boolean, author_id int);
CREATE SCHEMA app;";

const VIEWS: &str = "
CREATE VIEW c_user AS SELECT *, '{}'::jsonb AS data FROM tb_user;
CREATE VIEW c_post AS SELECT *, '{}'::jsonb AS data FROM tb_post;
CREATE VIEW d_user AS SELECT to_jsonb(t) AS data FROM tb_user t;
CREATE VIEW d_post AS SELECT to_jsonb(t) AS data FROM tb_post t;
CREATE TABLE tv_user AS SELECT id, tenant, to_jsonb(t) AS data FROM tb_user t;
CREATE TABLE tv_post AS SELECT id, author_id, to_jsonb(t) AS data FROM tb_post t;
CREATE FUNCTION app.touch(post_id int) RETURNS jsonb LANGUAGE sql AS
  'SELECT to_jsonb(t) FROM tb_post t WHERE id = post_id';
CREATE FUNCTION app.touch_all() RETURNS jsonb LANGUAGE sql AS 'SELECT jsonb_agg(to_jsonb(t) ORDER BY id) FROM tb_post t';";

/// Rows of the tenants `a` and `b` and of nobody; authors of one tenant write in another as well.
pub(super) const ROWS: &str = "
INSERT INTO tb_user SELECT n, 'user ' || n, (ARRAY['a', 'b', NULL])[n % 3 + 1] FROM generate_series(1, 9) n;
INSERT INTO tb_post SELECT n, CASE WHEN n % 7 > 0 THEN 'post ' || n END, (ARRAY['a', 'b', NULL, 'a'])[n % 4 + 1],
  nullif(n * 37 % 100, 11), (ARRAY[true, false, NULL])[n % 3 + 1], nullif(n * 5 % 11, 10) FROM generate_series(1, 40) n;";

/// A database with these rows.
pub(super) async fn database(rows: &str) -> TestDatabase {
    TestDatabase::new(&[TABLES, rows, VIEWS].concat()).await
}

/// The options of the application over one kind of views.
pub(super) fn options(kind: &str, database: &TestDatabase, policy: Option<Policy>) -> AppOptions {
    let options = match kind {
        "columns" => columns::options(policy),
        "data" => data::options(policy),
        _ => table::options(policy),
    };
    over(options, database)
}

/// The same with masks of the titles and scores of posts.
pub(super) fn masked(kind: &str, database: &TestDatabase, policy: Policy) -> AppOptions {
    let options = match kind {
        "columns" => columns::masked(policy),
        "data" => data::masked(policy),
        _ => table::masked(policy),
    };
    over(options, database)
}

/// The same with policies for both types, scores that are masked where a post is locked, and no
/// e-mail addresses.
pub(super) fn guarded(kind: &str, database: &TestDatabase) -> AppOptions {
    let options = match kind {
        "columns" => columns::guarded(of_tenant),
        "data" => data::guarded(of_tenant),
        _ => table::guarded(of_tenant),
    };
    over(options, database)
}

/// The same with several masks of each of these fields of posts.
pub(super) fn masked_by(
    kind: &str,
    database: &TestDatabase,
    masks: &[(&'static str, SharedPolicy)],
) -> AppOptions {
    let options = match kind {
        "columns" => columns::masked_by(masks),
        "data" => data::masked_by(masks),
        _ => table::masked_by(masks),
    };
    over(options, database)
}

/// The same with several policies for posts.
pub(super) fn governed(
    kind: &str,
    database: &TestDatabase,
    policies: &[SharedPolicy],
) -> AppOptions {
    let options = match kind {
        "columns" => columns::governed(policies),
        "data" => data::governed(policies),
        _ => table::governed(policies),
    };
    over(options, database)
}

fn over(options: AppOptions, database: &TestDatabase) -> AppOptions {
    let limits = Limits {
        complexity: u64::MAX,
        default_page: 100,
        ..Limits::default()
    };
    let operations = OperationsConfig {
        rust_endpoint: true,
        ..OperationsConfig::default()
    };
    let config = SvcConfig {
        operations,
        limits,
        ..SvcConfig::default()
    };
    options
        .config(config)
        .database_url(database.url())
        .auto_camel_case(true)
}

/// Rows of the tenant in a header; all where it says so, and none without it.
pub(super) fn of_tenant(ctx: &Context<'_>) -> Result<RowDecision> {
    Ok(match ctx.header("x-tenant") {
        None => RowDecision::abstain(),
        Some("all") => RowDecision::allow(),
        Some("quoted") => return Err(Error::with_code("NO_TENANT", "name a tenant")),
        Some("broken") => return Err(Error::internal("the tenants' cache is away")),
        Some("panic") => panic!("a policy panics"),
        Some(tenant) => RowDecision::allow_where(col("tenant").eq(tenant)),
    })
}
