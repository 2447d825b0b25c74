//! Rules that hold for what functions compute of rows: gates, policies and masks.

use serde_json::{Value, json};
use svc::authz::Authorizer;
use svc::prelude::*;

use super::{column, columns, data, kinds, kinds_with, same, table};

#[tokio::test]
async fn policies_and_masks_hold() {
    let policies = |kind: &str, options: AppOptions| {
        macro_rules! governed {
            ($kind:ident) => {
                options
                    .row_policy::<$kind::Place>(|_| Ok(RowDecision::allow_where(col("x").lt(9.0))))
                    .mask_where::<$kind::Place>("score", |_| {
                        Ok(RowDecision::allow_where(col("city_id").eq(2)))
                    })
            };
        }
        match kind {
            "columns" => governed!(columns),
            "data" => governed!(data),
            _ => governed!(table),
        }
    };
    // The function fails for the one row that the policy keeps back, and the masked score is null
    // to functions.
    let kinds = kinds_with(policies).await;
    let answer = same(
        &kinds,
        "{ places(where: {inverse: {lt: 1}}, orderBy: [{inverse: ASC}]) { id score points inverse }
           order: places(orderBy: [{points: DESC}]) { id } few: places(where: {points: {gt: 0}}) { id } resolved { points shout } }",
    )
    .await;
    assert_eq!(column(&answer["places"], "id"), [1, 4, 3, 2]);
    assert_eq!(
        column(&answer["places"], "points"),
        [Value::Null, json!(20), json!(10), Value::Null]
    );
    assert_eq!(column(&answer["order"], "id"), [2, 1, 4, 3]);
    assert_eq!(column(&answer["few"], "id"), [3, 4]);
    assert_eq!(
        column(&answer["resolved"], "points"),
        [json!(20), json!(10), Value::Null, Value::Null]
    );
}

#[tokio::test]
async fn gates_cover_selections_conditions_and_orders() {
    let kinds = kinds().await;
    for (kind, app) in kinds.each() {
        for field in [
            "places { secret(key: \"k\") }",
            "places(where: {secret: {args: {key: \"k\"}, eq: \"kinn\"}}) { id }",
            "places(orderBy: [{secret: {args: {key: \"k\"}}}]) { id }",
            "cities { places(where: {secret: {args: {key: \"k\"}, eq: \"kinn\"}}) { id } }",
            "cities(where: {places: {some: {secret: {args: {key: \"k\"}, eq: \"kinn\"}}}}) { id }",
            "resolved { secret(key: \"k\") }",
        ] {
            let refused = app.query(&format!("{{ {field} }}")).await;
            assert_eq!(
                refused.code(),
                "FORBIDDEN",
                "{kind} {field}: {}",
                refused.text
            );
            let body = json!({ "query": format!("{{ {field} }}") });
            let allowed = app
                .send(
                    app.request("POST", "/graphql")
                        .header("x-key", "1")
                        .json(&body),
                )
                .await;
            assert!(
                allowed.json()["errors"].is_null(),
                "{kind} {field}: {}",
                allowed.text
            );
        }
    }
}

/// Keys that begin with `k` are withheld.
struct ByArgument;

impl Authorizer for ByArgument {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        let is_kept = request.operation_name() == "Place.secret"
            && request.argument::<String>("key")?.starts_with('k');
        Ok(if is_kept {
            AuthorizationDecision::deny()
        } else {
            AuthorizationDecision::allow()
        })
    }
}

/// A decision about a field has the arguments with which it is selected, compared or ordered by.
#[tokio::test]
async fn gates_receive_the_arguments_of_conditions_and_orders() {
    let kinds = kinds_with(|_, options| options.authorizer(ByArgument)).await;
    for (kind, app) in kinds.each() {
        for field in [
            "places { secret(key: KEY) }",
            "places(where: {secret: {args: {key: KEY}, eq: \"-inn\"}}) { id }",
            "places(where: {OR: [{secret: {args: {key: \"-\"}, eq: \"-inn\"}}, {secret: {args: {key: KEY}, eq: \"-inn\"}}]}) { id }",
            "pages(orderBy: [{secret: {args: {key: KEY}}}]) { edges { cursor } }",
            "cities { places(where: {secret: {args: {key: KEY}, eq: \"-inn\"}}) { id } }",
            "cities(where: {places: {some: {secret: {args: {key: KEY}, eq: \"-inn\"}}}}) { id }",
        ] {
            for (key, is_kept) in [("k", true), ("-", false)] {
                let literal = format!("{{ {} }}", field.replace("KEY", &format!("\"{key}\"")));
                let inside = format!(
                    "query($key: String!) {{ {} }}",
                    field.replace("KEY", "$key")
                );
                for (document, variables) in [(literal, json!({})), (inside, json!({ "key": key }))]
                {
                    let reply = app.query_with(&document, variables).await;
                    let codes = [reply.json()["errors"][0]["extensions"]["code"].clone()];
                    let expected = if is_kept {
                        json!("FORBIDDEN")
                    } else {
                        Value::Null
                    };
                    assert_eq!(codes, [expected], "{kind} {document} {key}: {}", reply.text);
                }
            }
        }
        let whole = "query($where: PlaceWhere) { places(where: $where) { id } }";
        for (key, code) in [("k", json!("FORBIDDEN")), ("-", Value::Null)] {
            let variables =
                json!({ "where": { "secret": { "args": { "key": key }, "eq": "-inn" } } });
            let reply = app.query_with(whole, variables).await;
            assert_eq!(
                reply.json()["errors"][0]["extensions"]["code"],
                code,
                "{kind}: {}",
                reply.text
            );
        }
    }
}

/// A function is not called for withheld rows: here it fails for one of them.
#[tokio::test]
async fn cursors_are_not_compared_with_hidden_rows() {
    let policies = |kind: &str, options: AppOptions| {
        let of_ayr = |_: &Context<'_>| Ok(RowDecision::allow_where(col("city.name").eq("Ayr")));
        match kind {
            "columns" => options.row_policy::<columns::Place>(of_ayr),
            "data" => options.row_policy::<data::Place>(of_ayr),
            _ => options.row_policy::<table::Place>(of_ayr),
        }
    };
    let page = |after: &str| {
        format!(
            "{{ pages(orderBy: [{{inverse: DESC}}], first: 1{after}) {{ edges {{ cursor }} nodes {{ id }} pageInfo {{ hasPreviousPage }} }} }}"
        )
    };
    let kinds = kinds_with(policies).await;
    let first = same(&kinds, &page("")).await;
    assert_eq!(column(&first["pages"]["nodes"], "id"), [2]);
    let after = format!(", after: {}", first["pages"]["edges"][0]["cursor"]);
    let second = same(&kinds, &page(&after)).await;
    assert_eq!(column(&second["pages"]["nodes"], "id"), [1]);
    assert_eq!(second["pages"]["pageInfo"]["hasPreviousPage"], true);
}
