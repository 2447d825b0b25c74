//! Input objects whose rows of other tables do not fit: they are named when the database is
//! reached, or do not start.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::nested::SQL;

mod wrong {
    use svc::prelude::*;

    #[svc_type(sql_source = "c_order", name = "Order")]
    pub(super) struct Order {
        id: i32,
    }

    #[svc_type(sql_source = "v_line", name = "Stray")]
    pub(super) struct Stray {
        id: i32,
    }

    #[svc_input]
    pub(super) struct Line {
        sku: String,
    }

    macro_rules! input {
        ($input:ident, $mutation:ident, $(#[$attr:meta])* $ty:ty) => {
            #[svc_input]
            pub(super) struct $input {
                label: String,
                $(#[$attr])*
                lines: $ty,
            }
            #[svc::mutation(insert = "tb_order")]
            pub(super) async fn $mutation(input: $input) -> Order;
        };
    }

    input!(Untyped, untyped, #[svc(rows = "tb_line", column = "fk_order", references = "pk_order", key = "pk_line")] Vec<Line>);
    input!(Strange, strange, #[svc(rows = "tb_line", column = "fk_order", of = Stray)] Vec<Line>);
    input!(
        Single,
        single,
        #[svc(rows = "tb_line", column = "fk_order")]
        Line
    );
    input!(Several, several, #[svc(row = "tb_line", column = "fk_order")] Vec<Line>);
    input!(Linked, linked, #[svc(links = "tb_line", column = "fk_order")] Vec<Line>);
    input!(Lacking, lacking, #[svc(rows = "tb_line", column = "order_id", references = "pk", key = "pk_line")] Vec<Line>);

    #[svc::mutation(upsert = "tb_order", conflict = "label", on_conflict = nothing)]
    pub(super) async fn keeping(input: Untyped) -> Order;
    #[svc::query]
    pub(super) async fn orders() -> Vec<Order>;
}

#[tokio::test]
async fn mismatched_nested_fields_stop_the_start() {
    use wrong::{keeping, linked, orders, several, single, strange, untyped};

    let start = |mutations, has_policy: bool| {
        let options = AppOptions::new()
            .database_url("postgres://nobody@localhost/none")
            .queries(queries![orders]);
        let options = options.mutations(mutations);
        create_svc_app(match has_policy {
            true => options.row_policy::<wrong::Order>(|_| Ok(RowDecision::deny())),
            false => options,
        })
    };
    for (mutations, has_policy, why) in [
        (
            mutations![untyped],
            true,
            "name the type that reads its rows, as in `of = OrderLine`",
        ),
        (
            mutations![strange],
            false,
            "writes rows of a type of which the schema has none",
        ),
        (mutations![single], false, "holds rows; give it a `Vec`"),
        (
            mutations![several],
            false,
            "holds one row; give it the type of a struct",
        ),
        (mutations![linked], false, "links rows by their keys"),
        (
            mutations![keeping],
            false,
            "`on_conflict = nothing` would keep as it is",
        ),
    ] {
        let error = start(mutations, has_policy)
            .await
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(error.contains(why), "no {why} in {error}");
    }
}

/// A table without a type is written where there are no policies; columns that it lacks are named.
#[tokio::test]
async fn missing_columns_of_nested_tables_are_reported() {
    use wrong::{lacking, orders, untyped};

    let database = TestDatabase::copy_of("nested", SQL).await;
    let options = || {
        AppOptions::new()
            .database_url(database.url())
            .queries(queries![orders])
            .auto_camel_case(true)
    };
    let app = App::serve(options().mutations(mutations![untyped])).await;
    let reply = app
        .query(r#"mutation { untyped(input: {label: "a", lines: [{sku: "x"}]}) { id } }"#)
        .await;
    assert_eq!(reply.data(), json!({"untyped": {"id": 1}}));
    let found =
        svc::testing::check_views(&options().mutations(mutations![lacking]), &database.url())
            .await
            .unwrap();
    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
    for part in [
        "`tb_order` has no column `pk`",
        "`tb_line` has no column `order_id`",
    ] {
        assert!(
            found.iter().any(|finding| finding.contains(part)),
            "no {part} in {found:?}"
        );
    }
}
