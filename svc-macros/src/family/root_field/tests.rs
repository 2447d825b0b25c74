//! Tests of `#[svc::query]`, `#[svc::mutation]` and `#[svc::subscription]`.

use super::{mutation, query, subscription};
use crate::family::Family;
use crate::family::check::{expand, has, messages};

#[test]
fn a_function_without_a_body_becomes_a_plan() {
    let item = "pub fn users(#[doc = \" Which.\"] role: Option<Role>) -> Vec<User>;";
    has(
        query,
        r#"name = "people""#,
        item,
        &[
            "pub struct users {}",
            "__svc::PlannedMeta::new(<Vec<User> as __svc::PlannedReturn>::SHAPE",
            r#".described("Which.")"#,
            r#".named("people")"#,
            "impl __svc::Query for users",
        ],
    );

    assert!(!expand(query, "", item).1.contains("fn users"));
}

#[test]
fn a_body_stays_as_it_is() {
    has(
        mutation,
        "",
        "async fn ping(ctx: &Context<'_>, #[svc(name = \"n\")] mut n: i32) -> bool { n += 1; n > 0 }",
        &[
            "async fn ping(ctx: &Context<'_>, mut n: i32) -> bool { n += 1; n > 0 }",
            "outcome(ping(context, arg0).await)",
            "kind: __svc::OperationKind::Mutation",
        ],
    );
}

#[test]
fn an_optional_query_is_refused_with_a_fix() {
    let one = "an `Option` cannot hold a query; write `FindOne<User>`, which answers null where there is no row";
    assert_eq!(
        messages(query, "", "fn f() -> Result<Option<FindOne<User>>> { g() }"),
        [one]
    );
    assert_eq!(
        messages(
            query,
            "",
            "fn f() -> Option<svc::db::FindOne<User>> { g() }"
        )
        .len(),
        1
    );

    let many = "an `Option` cannot hold a query; write `Find<User>`, or await it and return `Option<Vec<User>>`";
    assert_eq!(
        messages(query, "", "fn f() -> Result<Option<Find<User>>> { g() }"),
        [many]
    );

    assert!(messages(query, "", "fn f() -> Result<Option<Find>> { g() }").is_empty());
}

#[test]
fn every_bad_parameter_is_reported() {
    assert_eq!(
        messages(
            query,
            "",
            "async fn bad<T>(ctx: Context<'_>, _: i32, a: &[u8], b: impl Sized) {}"
        ),
        [
            "a resolver cannot be generic; write the concrete type where the parameter is used",
            "a field must answer with something; add a return type, such as `-> bool`",
            "take the context as `ctx: &Context<'_>`",
            "an argument needs a plain name, such as `id: Uuid`; take values apart in the body",
            "an argument owns its value; write `Vec<u8>`",
            "the schema needs to know the type; write a concrete type instead of `impl …`",
        ]
    );
}

#[test]
fn a_guard_is_never_dropped_in_silence() {
    has(
        query,
        "",
        "#[requires_auth] fn users() -> Vec<User>;",
        &["guards: __svc::guards!(&[__svc::Guard::Auth])"],
    );

    assert_eq!(
        messages(query, "", "#[inline] fn users() -> Vec<User>;"),
        ["this attribute does nothing on a function without a body; remove it, or write a body"]
    );
}

/// A message that only suggests removing a misspelled guard would leave the field open.
#[test]
fn a_misspelled_guard_gets_a_suggestion() {
    let cases = [
        ("require_auth", "requires_auth"),
        ("requires_autth", "requires_auth"),
        ("svc::required_auth", "requires_auth"),
        ("RequiresAuth", "requires_auth"),
        ("require_role(\"admin\")", "requires_role"),
        ("svc::requires_roles(\"admin\")", "requires_role"),
        ("require_permission(\"a\")", "requires_permission"),
        ("svc::requires_any_roles(\"a\", \"b\")", "requires_any_role"),
        ("requires_any_permissions(\"a\")", "requires_any_permission"),
    ];

    for (written, meant) in cases {
        let path = written.split('(').next().unwrap_or_default();
        let expected = format!(
            "`#[{path}]` is not a guard, so nothing is guarded; did you mean `#[svc::{meant}]`?"
        );

        for (family, body) in [
            (query as Family, ";"),
            (mutation, " { true }"),
            (subscription, " { true }"),
        ] {
            let told = messages(
                family,
                "",
                &format!("#[{written}] async fn f() -> bool{body}"),
            );
            let is_rustcs = body != ";" && !written.starts_with("svc::");
            assert_eq!(
                told.contains(&expected),
                !is_rustcs,
                "{written} {body}: {told:?}"
            );
            assert!(
                !told
                    .iter()
                    .any(|told| told.contains(path) && told.contains("remove")),
                "{written}: {told:?}"
            );
        }
    }

    let told = messages(query, "", "#[authenticated] fn users() -> Vec<User>;");
    assert!(told[0].starts_with(
        "`#[authenticated]` guards nothing on a function without a body; the guards are"
    ));

    assert!(!told[0].contains("remove"), "{told:?}");
}

#[test]
fn a_mutation_needs_a_body_or_a_function() {
    assert_eq!(
        messages(mutation, "", "fn f() -> bool;"),
        [
            "a mutation calls a function or has a body; write `#[svc::mutation(function = \"schema.name\")]`, or `{ … }` instead of the `;`"
        ]
    );
}

#[test]
fn a_function_of_the_database_needs_no_body() {
    has(
        mutation,
        r#"function = "app.create_user", context = ["tenant_id"]"#,
        "async fn create_user(input: NewUser, times: Option<i32>) -> CreateUserResult;",
        &[
            r#"name: "app.create_user", context: &["tenant_id"]"#,
            "checks: &[__svc::check_input::<NewUser>, __svc::check_input::<Option<i32> >]",
            "<CreateUserResult as __svc::FunctionReturn>::type_ref",
        ],
    );
}

#[test]
fn a_function_and_a_body_exclude_each_other() {
    assert_eq!(
        messages(mutation, r#"function = "app.f""#, "fn f() -> bool { true }"),
        [
            "a mutation has a body or calls a function; write `;` instead of the body, or remove this"
        ]
    );

    assert_eq!(
        messages(mutation, r#"function = "app.f()""#, "fn f() -> bool;"),
        [
            "`app.f()` is not the name of a function; write `function` or `schema.function`, with letters, digits, `_` and `$`"
        ]
    );

    assert_eq!(
        messages(query, r#"function = "app.f""#, "fn f() -> bool { true }"),
        [
            "a query has a body or reads rows from this; write `;` instead of the body, or remove this"
        ]
    );

    assert_eq!(
        messages(
            mutation,
            r#"context = ["tenant_id"]"#,
            "fn f() -> bool { true }"
        ),
        ["only a function of the database gets these; add `function = \"schema.name\"`"]
    );
}

#[test]
fn a_subscription_has_the_type_of_its_events() {
    let item = "async fn ticks() -> Result<impl Stream<Item = Tick> + Send> { stream() }";
    has(
        subscription,
        "",
        item,
        &[
            "ty: <Tick as __svc::Returns>::type_ref",
            "__svc::events_of_result(ticks().await)",
            "kind: __svc::OperationKind::Subscription",
        ],
    );

    let item = "fn ticks() -> BoxStream<'static, Tick> { stream() }";
    let of_stream =
        "<<BoxStream<'static, Tick> as __svc::EventStream>::Event as __svc::Returns>::type_ref";

    has(
        subscription,
        "",
        item,
        &[of_stream, "__svc::events(ticks())"],
    );
}

#[test]
fn a_subscription_without_a_body_has_a_channel() {
    let item = "async fn post_changed(id: Option<Uuid>) -> Post;";
    has(
        subscription,
        r#"channel = "post_changed""#,
        item,
        &[
            r#"__svc::Run::Event(__svc::EventMeta::new("post_changed","#,
            "<Post as __svc::EventReturn>::SHAPE",
        ],
    );

    assert_eq!(
        messages(subscription, "", item),
        [
            "a subscription reads the rows that a channel names, or has a body that returns a stream; \
          write `#[svc::subscription(channel = \"post_changed\")]`, or `{ … }` instead of the `;`"
        ]
    );

    assert_eq!(
        messages(subscription, r#"channel = """#, item),
        ["a channel has a name of 1 to 63 bytes, such as `channel = \"post_changed\"`"]
    );
    assert_eq!(
        messages(
            subscription,
            r#"channel = "c""#,
            "fn ticks() -> impl Stream<Item = i32> { stream() }"
        ),
        [
            "a subscription has a body or a channel; write `;` instead of the body, or remove this and return \
          `ctx.events(\"…\").await`"
        ]
    );

    assert_eq!(
        messages(
            subscription,
            "",
            "fn ticks() -> impl Iterator<Item = i32> { stream() }"
        ),
        ["a subscription returns a stream; write `impl Stream<Item = …>`"]
    );
}

#[test]
fn caching_and_invalidation_are_expanded() {
    let item = "async fn posts() -> Vec<Post>;";
    let kept =
        "cache: ::core::option::Option::Some(30u32), touches: &[__svc::touched::<models::Author>]";
    has(query, "cache = 30, reads = [models::Author]", item, &[kept]);
    let forgotten = "cache: ::core::option::Option::None, touches: &[__svc::touched::<Post>, __svc::touched::<Author>]";
    has(
        mutation,
        "invalidates = [Post, Author]",
        "fn f() -> bool { true }",
        &[forgotten],
    );

    for seconds in ["0", "86401", "-1"] {
        assert_eq!(
            messages(query, &format!("cache = {seconds}"), item).len(),
            1,
            "{seconds}"
        );
    }

    assert_eq!(
        messages(query, "reads = [Post]", item),
        ["this says what makes a kept answer old, and this one is not kept; add `cache = 30`"]
    );
}
