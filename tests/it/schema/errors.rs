//! Mistakes in a schema are said at the start, with the Rust item's name.

#![expect(non_snake_case, reason = "two fields with one GraphQL name")]

use svc::AppOptions;
use svc::prelude::*;

fn errors(options: &AppOptions) -> Vec<String> {
    match options.sdl() {
        Ok(sdl) => panic!("the schema was taken:\n{sdl}"),
        Err(error) => error
            .to_string()
            .lines()
            .skip(1)
            .map(|line| line.trim_start_matches("  - ").to_owned())
            .collect(),
    }
}

mod first {
    use svc::prelude::*;
    #[svc_type]
    pub(super) struct Thing {
        pub(super) id: i32,
    }
}

mod second {
    use svc::prelude::*;
    #[svc_type]
    pub(super) struct Thing {
        pub(super) id: i32,
    }
}

#[svc::query]
fn a() -> first::Thing {
    first::Thing { id: 1 }
}

#[svc::query]
fn b() -> second::Thing {
    second::Thing { id: 1 }
}

#[svc::query(name = "a")]
fn also_a() -> i32 {
    1
}

#[svc_type(sql_source = "v_clash")]
struct Clash {
    user_id: i32,
    #[svc(stored = "other")]
    userId: i32,
}

#[svc::query]
async fn clashes() -> Vec<Clash>;

#[svc_type]
struct Rowless {
    id: i32,
}

#[svc::query]
async fn rowless() -> Vec<Rowless>;

#[svc::query]
async fn by_color(color: String) -> Vec<Clash>;

#[svc::query]
fn counted(#[svc(default = "many")] count: i32) -> i32 {
    count
}

#[svc_interface(fields(id: i32, color: String))]
enum Colored {
    Thing(first::Thing),
}

#[svc::query]
fn colored() -> Option<Colored> {
    None
}

#[svc_type(sql_source = "v_letter")]
struct Letter {
    id: i32,
    #[relation]
    sender: svc::One<Rowless>,
    #[relation]
    copies: svc::Many<Rowless>,
}

#[svc::query]
async fn letters() -> Vec<Letter>;

#[svc_type(authorize_fields = ["salary"])]
struct Gated {
    id: i32,
}

#[svc::query]
fn gated() -> Option<Gated> {
    None
}

#[svc_input]
struct Sized {
    #[deprecated(note = "use `width`")]
    size: i32,
    #[deprecated]
    #[svc(default = 1)]
    depth: i32,
    width: Option<i32>,
}

/// A client sends one of these fields, so each can be left out.
#[svc_input]
enum Unit {
    #[deprecated]
    Inch(i32),
    Metre(i32),
}

#[svc::query]
#[allow(deprecated, reason = "the schema is what is looked at")]
fn sized(
    #[deprecated] old: Sized,
    #[deprecated] older: Option<i32>,
    #[deprecated]
    #[svc(default = 2)]
    oldest: i32,
    unit: Option<Unit>,
) -> i32 {
    let Sized { size, depth, width } = old;
    let unit = unit.map_or(1, |unit| match unit {
        Unit::Inch(many) | Unit::Metre(many) => many,
    });
    (size + depth + width.or(older).unwrap_or(oldest)) * unit
}

const HERE: &str = "it::schema::errors";

fn options() -> AppOptions {
    AppOptions::new().auto_camel_case(true)
}

/// Options with a mistake in their lists or types, and the messages of the start.
fn mistakes() -> Vec<(AppOptions, Vec<String>)> {
    vec![
        (
            options(),
            vec!["no query is registered; a GraphQL schema needs at least one: `.queries(queries![…])`".to_owned()],
        ),
        (
            options().queries(queries![a, b]),
            vec![format!(
                "the GraphQL type `Thing` is declared twice, by `{HERE}::first::Thing` and by `{HERE}::second::Thing`; rename one with `name = \"…\"`"
            )],
        ),
        (
            options().queries(queries![a, also_a]),
            vec![format!(
                "the query `a` is listed twice, as `{HERE}::a` and as `{HERE}::also_a`; rename one with `name = \"…\"`"
            )],
        ),
        (
            options().queries(queries![clashes]),
            vec![format!(
                "`user_id` and `userId` of `{HERE}::Clash` both become `userId` in GraphQL; rename one with `#[svc(name = \"…\")]`"
            )],
        ),
        (
            options().queries(queries![rowless]),
            vec![format!(
                "`{HERE}::rowless` has no body, and its row type `{HERE}::Rowless` has no view; write `#[svc_type(sql_source = \"v_…\")]` on `{HERE}::Rowless`, or give the function a body"
            )],
        ),
        (
            options().queries(queries![letters]),
            ["sender", "copies"]
                .map(|field| {
                    format!(
                        "the relation `{HERE}::Letter::{field}` leads to `{HERE}::Rowless`, which has no view; write `#[svc_type(sql_source = \"v_…\")]` on `{HERE}::Rowless`"
                    )
                })
                .to_vec(),
        ),
    ]
}

/// Mistakes in arguments and members.
fn mistakes_inside() -> Vec<(AppOptions, Vec<String>)> {
    vec![
        (
            options().auto_camel_case(false).queries(queries![by_color]),
            vec![format!(
                "the argument `color` of `{HERE}::by_color` matches no stored field of `{HERE}::Clash`; an argument of a function without a body filters on the field of its name"
            )],
        ),
        (
            options().queries(queries![counted]),
            vec![format!(
                "the default of `count` of `{HERE}::counted`, `\"many\"`, is not a value of `Int`: `Int` cannot represent the value: \"many\""
            )],
        ),
        (
            options().queries(queries![sized]),
            [("size", "Sized"), ("old", "sized")]
                .map(|(name, item)| {
                    format!(
                        "`{name}` of `{HERE}::{item}` is deprecated, but clients have to send it; make it an `Option` or give it a default, so that they can leave it out, or remove `#[deprecated]`"
                    )
                })
                .to_vec(),
        ),
        (
            options().queries(queries![colored]),
            vec![format!(
                "`{HERE}::first::Thing` is a member of the interface `{HERE}::Colored` but has no field `color`"
            )],
        ),
        (
            options().queries(queries![gated]),
            vec![format!("`authorize_fields` of `{HERE}::Gated` names `salary`, which is not one of its fields")],
        ),
    ]
}

/// Two fields that become one are among them.
#[test]
fn errors_name_the_rust_items() {
    for (options, expected) in mistakes().into_iter().chain(mistakes_inside()) {
        assert_eq!(errors(&options), expected);
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let found = errors(
        &AppOptions::new()
            .auto_camel_case(true)
            .queries(queries![a, b, also_a, rowless, counted, colored]),
    );
    assert_eq!(found.len(), 5, "{found:#?}");
}

#[svc_input]
struct Paged {
    page: Page,
}

#[svc::query]
fn paged_input(input: Paged) -> i32 {
    input.page.limit.unwrap_or(0)
}

#[svc::query]
fn paged_list(pages: Vec<CursorPage>) -> i32 {
    i32::try_from(pages.len()).unwrap_or(0)
}

#[svc_type(sql_source = "v_paged")]
struct PagedRow {
    id: i32,
}

#[svc::query]
async fn paged_rows(page: Page) -> Vec<PagedRow>;

#[svc::mutation(function = "fn_paged")]
async fn paged_call(page: Page) -> i32;

/// A page that could not arrive is refused at the start and not dropped in silence.
#[test]
fn misplaced_page_arguments_are_refused() {
    let options = AppOptions::new()
        .queries(queries![paged_input, paged_list, paged_rows])
        .mutations(mutations![paged_call]);
    let errors = errors(&options);
    for (argument, item) in [
        ("page", "Paged"),
        ("pages", "paged_list"),
        ("page", "paged_rows"),
        ("page", "paged_call"),
    ] {
        let part =
            format!("`{argument}` of `it::schema::errors::{item}` is a `Page` or `CursorPage`");
        assert!(
            errors.iter().any(|error| error.starts_with(&part)),
            "{part}: {errors:#?}"
        );
    }
}

#[test]
fn a_function_is_listed_once() {
    let options = AppOptions::new().queries(queries![a, a]);
    assert_eq!(
        errors(&options),
        [format!("the query `{HERE}::a` is listed twice; remove one")]
    );
}

#[svc_type(sql_source = "v_typed")]
struct Typed {
    id: Uuid,
    name: String,
    count: i64,
    tags: Vec<String>,
    note: svc::serde_json::Value,
    #[svc(stored = "state")]
    phase: Phase,
}

#[svc_enum]
enum Phase {
    Open,
}

#[svc::query]
async fn typed(
    id: Option<svc::async_graphql::ID>,
    name: Option<Vec<Phase>>,
    count: Option<i32>,
    tags: Option<Vec<String>>,
    note: Option<bool>,
    phase: Option<String>,
) -> Vec<Typed>;

#[svc::query]
async fn mistyped(
    id: String,
    name: i32,
    count: bool,
    tags: String,
    phase: Vec<Vec<Phase>>,
) -> Vec<Typed>;

#[test]
fn arguments_have_the_types_of_the_fields_that_they_filter_on() {
    let options = AppOptions::new().queries(queries![typed, mistyped]);
    let expected = [
        ("id", "String!", "UUID!"),
        ("name", "Int!", "String!"),
        ("count", "Boolean!", "BigInt!"),
        ("tags", "String!", "[String!]!"),
        ("phase", "[[Phase!]!]!", "Phase!"),
    ];
    let here = HERE;
    let expected = expected.map(|(argument, given, field)| {
        format!(
            "the argument `{argument}` of `{here}::mistyped` has the type `{given}`, and the field of `{here}::Typed` that \
             it filters on has `{field}`; give the argument the field's type, or a list of it"
        )
    });
    assert_eq!(errors(&options), expected);
}

#[svc_input]
struct Chicken {
    egg: Box<Egg>,
    name: String,
}

#[svc_input]
struct Egg {
    chicken: Box<Chicken>,
    sibling: Option<Box<Egg>>,
    more: Vec<Egg>,
}

#[svc::query]
fn hatched(chicken: Chicken, egg: Egg) -> bool {
    let _ = (
        chicken.egg,
        chicken.name,
        egg.chicken,
        egg.sibling,
        egg.more,
    );
    true
}

#[test]
fn an_endless_input_is_reported_once_with_its_fields() {
    let here = HERE;
    assert_eq!(
        errors(&AppOptions::new().queries(queries![hatched])),
        [format!(
            "an input object that needs itself can never be written: `{here}::Chicken::egg` needs `{here}::Egg::chicken`; \
             make one of these fields an `Option` or a `Vec`"
        )]
    );
}

#[svc_type(name = "ClashWhere")]
struct Condition {
    id: i32,
}

#[svc_type(name = "Query")]
struct Root {
    id: i32,
}

#[svc_type(name = "Int")]
struct Integer {
    id: i32,
}

#[svc::query]
fn own_names() -> Option<Condition> {
    None
}

#[svc::query]
fn own_root() -> Option<Root> {
    None
}

#[svc::query]
fn own_integer() -> Option<Integer> {
    None
}

#[svc::query]
async fn one_clash() -> svc::Connection<Clash>;

#[test]
fn clashes_with_generated_names_name_the_item() {
    let options = AppOptions::new().queries(queries![own_names, own_root, own_integer, one_clash]);
    let found = errors(&options);
    let here = HERE;
    for (name, item) in [
        ("ClashWhere", "Condition"),
        ("Query", "Root"),
        ("Int", "Integer"),
    ] {
        let about: Vec<_> = found
            .iter()
            .filter(|error| error.contains(&format!("`{name}`")))
            .collect();
        assert!(
            matches!(about.as_slice(), [only] if only.contains(&format!("`{here}::{item}`"))),
            "{name}: {found:#?}"
        );
    }
}

#[svc_type(sql_source = "v_watched")]
struct Watched {
    id: i32,
    name: String,
}

#[svc::subscription(channel = "watched")]
async fn watched(nothing: Option<i32>, name: Option<bool>) -> Watched;

#[svc::subscription(channel = "rowless")]
async fn rowless_changed() -> Rowless;

/// An argument of a planned subscription is a field of its row, and the row is one of a view.
#[test]
fn planned_subscriptions_are_checked_like_queries() {
    let options = AppOptions::new()
        .queries(queries![a])
        .subscriptions(subscriptions![watched, rowless_changed]);
    let found = errors(&options);
    for about in [
        "the argument `nothing` of `it::schema::errors::watched` matches no stored field",
        "the argument `name` of `it::schema::errors::watched` has the type `Boolean`",
        "`it::schema::errors::rowless_changed` has no body, and its row type",
    ] {
        assert_eq!(
            found.iter().filter(|error| error.contains(about)).count(),
            1,
            "{about}: {found:#?}"
        );
    }
}
