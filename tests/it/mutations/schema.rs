//! The mutations that the tests share.

use svc::prelude::*;
use svc::serde_json::Value as Json;
use svc::{Constraint, serde_json::json};
use svc_tests::{App, TestDatabase};

#[svc_type]
pub(super) struct Address {
    pub(super) first_line: String,
    pub(super) tags: Vec<String>,
}

#[svc_enum]
pub(super) enum Role {
    #[svc(stored = "member")]
    Member,
    #[svc(stored = "admin")]
    Admin,
}

#[svc_type(sql_source = "v_user")]
pub(super) struct User {
    pub(super) id: Uuid,
    pub(super) email: String,
    #[svc(stored = "full_name")]
    pub(super) name: String,
    pub(super) bio: Option<String>,
    pub(super) role: Role,
    pub(super) home: Address,
}

#[svc_type]
impl User {
    fn loud(&self) -> String {
        self.name.to_uppercase()
    }

    async fn slow(&self) -> String {
        tokio::task::yield_now().await;
        self.loud()
    }
}

#[svc_input]
pub(super) struct AddressInput {
    pub(super) first_line: String,
    pub(super) tags: Vec<String>,
}

#[svc_input]
pub(super) struct CreateUserInput {
    pub(super) email: String,
    pub(super) full_name: String,
    #[svc(allow_blank, default = "")]
    pub(super) nick: String,
    pub(super) bio: Option<String>,
    pub(super) role: Option<Role>,
    pub(super) age: Option<u8>,
    pub(super) secret: Option<String>,
    pub(super) home: Option<AddressInput>,
}

#[svc_input]
pub(super) struct UserPatch {
    pub(super) full_name: Patch<String>,
    pub(super) bio: Patch<String>,
}

#[svc_result]
pub(super) enum CreateUserResult {
    Success { user: User },
    Error { clash: Option<User> },
}

#[svc_result]
pub(super) enum UpdateUserResult {
    Success {
        user: Option<User>,
        cascade: Option<Json>,
    },
    Error,
}

#[svc_result]
pub(super) enum DeleteUserResult {
    Success,
    Error,
}

#[svc_type]
pub(super) struct Order {
    pub(super) id: i32,
    pub(super) status: String,
}

/// Made from whatever `app.answer` is given.
#[svc_result]
pub(super) enum AnswerResult {
    Success {
        user: Option<User>,
        note: Option<String>,
        metadata: Option<Json>,
    },
    Error {
        user: Option<User>,
        retry_after: Option<i32>,
    },
}

#[svc_result]
pub(super) enum OrderResult {
    Success { order: Option<Order> },
    Error,
}

#[svc_union]
pub(super) enum Thing {
    User(User),
    Order(Order),
}

#[svc_result]
pub(super) enum ThingResult {
    Success { thing: Option<Thing> },
    Error,
}

#[svc::query]
pub(super) async fn users() -> Vec<User>;

#[svc::mutation(function = "app.create_user")]
async fn create_user(input: CreateUserInput) -> CreateUserResult;
#[svc::mutation(function = "app.create_user", name = "createUserOnly")]
async fn create_user_only(input: CreateUserInput) -> User;
#[svc::mutation(function = "app.create_user_profile")]
async fn create_user_profile(email: String, bio: Option<String>) -> Option<String>;
#[svc::mutation(function = "app.update_user")]
async fn update_user(email: String, patch: UserPatch) -> UpdateUserResult;
#[svc::mutation(function = "app.update_user")]
async fn patch_user(email: String, patch: UserPatch) -> Option<User>;
#[svc::mutation(function = "app.delete_user")]
async fn delete_user(email: String) -> DeleteUserResult;
#[svc::mutation(function = "app.answer")]
async fn answer(answer: Json) -> AnswerResult;
#[svc::mutation(function = "app.answer")]
async fn answer_user(answer: Json) -> Option<User>;
#[svc::mutation(function = "app.answer")]
async fn answer_order(answer: Json) -> OrderResult;
#[svc::mutation(function = "app.answer")]
async fn answer_thing(answer: Json) -> ThingResult;
#[svc::mutation(function = "app.answer")]
async fn answer_json(answer: Json) -> Option<Json>;
#[svc::mutation(function = "app.fail")]
async fn fail(how: String) -> AnswerResult;
#[svc::mutation(function = "app.fail")]
async fn fail_plain(how: String) -> Option<User>;
#[svc::mutation(function = "app.user_json")]
async fn user_json(email: String) -> Option<User>;
#[svc::mutation(function = "app.user_row")]
async fn user_row(email: String) -> Option<User>;
#[svc::mutation(function = "app.user_rows")]
async fn user_rows() -> Vec<User>;
#[svc::mutation(function = "app.user_rows")]
async fn first_row() -> Option<User>;
#[svc::mutation(function = "app.add")]
async fn add(a: i32, b: Option<i32>, c: Option<i32>) -> i32;
#[svc::mutation(function = "app.typed")]
async fn typed(
    id: Uuid,
    at: DateTime<Utc>,
    numbers: Vec<Option<i32>>,
    words: Option<Vec<String>>,
    role: Role,
    price: Decimal,
    flag: bool,
    anything: Json,
) -> Json;
#[svc::mutation(function = "app.with_context", context = ["tenant_id", "user_name"])]
async fn with_context(word: String) -> String;
#[svc::mutation(function = "app.overloaded")]
async fn one(a: i32) -> String;
#[svc::mutation(function = "app.overloaded")]
async fn two(a: i32, b: i32) -> String;
#[svc::mutation(function = "app.counted")]
async fn counted() -> i64;

#[svc::mutation]
async fn call_rename(ctx: &Context<'_>, email: String, name: String) -> Result<Option<User>> {
    ctx.db()
        .call(
            "app.update_user",
            [json!(email), json!({ "full_name": name })],
        )
        .await
}
#[svc::mutation]
async fn call_add(ctx: &Context<'_>, numbers: Vec<i32>) -> Result<i32> {
    ctx.db()
        .call("app.add", numbers.into_iter().map(Json::from))
        .await
}
#[svc::mutation]
async fn call_result(ctx: &Context<'_>, email: String) -> Result<DeleteUserResult> {
    match ctx.db().call("app.delete_user", [json!(email)]).await? {
        DeleteUserResult::Success(deleted) => Ok(deleted.into()),
        DeleteUserResult::Error(error) => {
            Ok(DeleteUserResultError::new("conflict:busy", error.status).into())
        }
    }
}

pub(super) const SQL: &str = include_str!("schema.sql");

/// An application with all of them.
pub(super) async fn app() -> (App, TestDatabase) {
    let database = TestDatabase::copy_of("mutations", SQL).await;
    (
        App::serve(options().database_url(database.url())).await,
        database,
    )
}

pub(super) fn options() -> AppOptions {
    AppOptions::new()
        .auto_camel_case(true)
        .queries(queries![users])
        .mutations(mutations![
            create_user,
            create_user_only,
            create_user_profile,
            update_user,
            patch_user,
            delete_user
        ])
        .mutations(mutations![
            answer,
            answer_user,
            answer_order,
            answer_thing,
            answer_json,
            fail,
            fail_plain
        ])
        .mutations(mutations![
            user_json,
            user_row,
            user_rows,
            first_row,
            add,
            typed,
            with_context,
            one,
            two,
            counted
        ])
        .mutations(mutations![call_rename, call_add, call_result])
        .constraint(
            Constraint::new("tb_user_email_key", "this email is taken")
                .field("email")
                .identifier("email_taken"),
        )
        .constraint(Constraint::new("tb_user_age_check", "an age is above zero"))
        .context_value("tenant_id", |ctx| {
            Ok(ctx.header("x-tenant").map(str::to_owned))
        })
        .context_value("user_name", |ctx| match ctx.header("x-user") {
            Some("nobody") => Err(Error::new(ErrorCode::Unauthenticated, "say who you are")),
            user => Ok(user.map(str::to_owned)),
        })
}
