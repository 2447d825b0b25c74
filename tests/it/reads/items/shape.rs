//! The shape of an answer.

use serde_json::json;

use super::{ROOTS, app, same_data};

/// At the root, in nested lists, through relations, on computed fields and in connections.
#[tokio::test]
async fn an_alias_has_arguments_of_its_own() {
    let (app, _database) = app().await;
    let data = same_data(
        &app,
        "{ a: {root}Rows(where: {id: {eq: 1}}) { id } b: {root}Rows(where: {id: {eq: 2}}) { number: id id }
           five: {root}One(id: 5) { up: children(orderBy: [{small: ASC}], limit: 2) { id }
             down: children(orderBy: [{small: DESC_NULLS_LAST}], limit: 1) { id
               few: children(limit: 1, orderBy: [{id: DESC}]) { id } more: children(limit: 2, orderBy: [{id: ASC}]) { n: id } } }
           three: {root}One(id: 3) { once: says twice: says(times: 2) dad: parent { c: children(where: {id: {eq: 4}}) { id } d: children(where: {id: {eq: 2}}) { id } } }
           p: {root}Page(first: 1, orderBy: [{id: ASC}]) { nodes { id } again: nodes { n: id } } q: {root}Page(last: 1, orderBy: [{id: ASC}]) { nodes { id } } }",
    )
    .await;
    assert_eq!(
        data,
        json!({
            "a": [{ "id": 1 }], "b": [{ "number": 2, "id": 2 }],
            "five": { "up": [{ "id": 4 }, { "id": 3 }], "down": [{ "id": 1, "few": [{ "id": 30 }], "more": [{ "n": 6 }, { "n": 7 }] }] },
            "three": { "once": "b", "twice": "bb", "dad": { "c": [{ "id": 4 }], "d": [{ "id": 2 }] } },
            "p": { "nodes": [{ "id": 1 }], "again": [{ "n": 1 }] }, "q": { "nodes": [{ "id": 30 }] },
        })
    );
    let clash = "{ cRows(where: {id: {eq: 1}}) { id } cRows(where: {id: {eq: 2}}) { id } }";
    assert_eq!(app.query(clash).await.code(), "GRAPHQL_VALIDATION_FAILED");
}

/// A field needs `@include` and no `@skip`; so do spreads and root fields.
#[tokio::test]
async fn skip_wins_over_include() {
    let (app, _database) = app().await;
    for (root, ty) in ROOTS {
        for both in [
            "@skip(if: $s) @include(if: $i)",
            "@include(if: $i) @skip(if: $s)",
        ] {
            let query = format!(
                "query ($s: Boolean!, $i: Boolean!) {{ one: {root}One(id: 3) {{ id small {both} ... {both} {{ word }} ...f {both}
                   children(limit: 1) {both} {{ id }} says {both} }} two: {root}One(id: 4) {both} {{ id }} }}
                 fragment f on {ty} {{ big }}"
            );
            for (skip, include) in [(false, false), (false, true), (true, false), (true, true)] {
                let data = app
                    .query_with(&query, json!({ "s": skip, "i": include }))
                    .await
                    .data();
                let expected = if include && !skip {
                    json!({ "one": { "id": 3, "small": 10, "word": "b", "big": 10, "children": [], "says": "b" }, "two": { "id": 4 } })
                } else {
                    json!({ "one": { "id": 3 } })
                };
                assert_eq!(
                    data, expected,
                    "{root}Rows {both} skip {skip} include {include}"
                );
            }
        }
    }
}

/// `__typename` at every level, and keys in the order of the request.
#[tokio::test]
async fn keys_come_in_the_order_of_the_request() {
    let (app, _database) = app().await;
    for (root, ty) in ROOTS {
        let query = format!(
            "query {{ z: {root}One(id: 2) {{ word ...f __typename id children {{ __typename }} part {{ rank __typename }} small }} t: __typename
               a: {root}Rows(where: {{id: {{eq: 3}}}}) {{ t: __typename parent {{ says __typename id }} id }}
               p: {root}Page(first: 1, orderBy: [{{id: ASC}}]) {{ totalCount __typename pageInfo {{ __typename hasNextPage }} edges {{ node {{ __typename small id }} __typename }} }} }}
             fragment f on {ty} {{ small parent {{ word id }} word }}"
        );
        let expected = [
            r#"{"data":{"z":{"word":"c","small":100,"parent":{"word":null,"id":5},"__typename":"T","id":2,"children":[],"#,
            r#""part":{"rank":100,"__typename":"Part"}},"t":"Query","#,
            r#""a":[{"t":"T","parent":{"says":"","__typename":"T","id":5},"id":3}],"#,
            r#""p":{"totalCount":30,"__typename":"TConnection","pageInfo":{"__typename":"PageInfo","hasNextPage":true},"#,
            r#""edges":[{"node":{"__typename":"T","small":1000,"id":1},"__typename":"TEdge"}]}}}"#,
        ];
        assert_eq!(
            app.query(&query).await.text.replace(ty, "T"),
            expected.concat(),
            "{root}"
        );
        let lists = format!(
            "{{ {root}One(id: 5) {{ children(limit: 1, orderBy: [{{id: ASC}}]) {{ __typename id }} }} }}"
        );
        assert_eq!(
            app.query(&lists).await.text,
            format!(
                r#"{{"data":{{"{root}One":{{"children":[{{"__typename":"{ty}","id":1}}]}}}}}}"#
            )
        );
    }
}

/// At the root, nested, and in connections; with whole rows too.
#[tokio::test]
async fn one_row_is_a_list_and_no_row_is_null() {
    let (app, _database) = app().await;
    for selection in ["id", "id says(times: 0)"] {
        let query = "{ one: {root}Rows(where: {id: {eq: 4}}) { ROW } none: {root}Rows(where: {id: {eq: 99}}) { ROW } object: {root}One(id: 4) { ROW } absent: {root}One(id: 99) { ROW }
              nested: {root}One(id: 5) { children(where: {id: {eq: 4}}) { ROW } empty: children(where: {id: {eq: 99}}) { ROW } parent { ROW } part { rank } }
              page: {root}Page(where: {id: {eq: 4}}) { nodes { ROW } } empty: {root}Page(where: {id: {eq: 99}}) { nodes { ROW } edges { cursor } } }";
        let data = same_data(&app, &query.replace("ROW", selection)).await;
        let row = |id: i32| {
            if selection == "id" {
                json!({ "id": id })
            } else {
                json!({ "id": id, "says": "" })
            }
        };
        assert_eq!(
            data,
            json!({
                "one": [row(4)], "none": [], "object": row(4), "absent": null,
                "nested": { "children": [row(4)], "empty": [], "parent": row(5), "part": null },
                "page": { "nodes": [row(4)] }, "empty": { "nodes": [], "edges": [] },
            })
        );
    }
}
