use super::{conditions, sort_key};

fn shown(text: &str, alias: &str) -> Vec<(String, String)> {
    conditions(text, alias)
        .into_iter()
        .map(|condition| (condition.key.text, condition.operator))
        .collect()
}

fn one(text: &str, alias: &str) -> Option<(String, String)> {
    let mut all = shown(text, alias);
    assert!(all.len() < 2, "{all:?}");
    all.pop()
}

fn pair(key: &str, operator: &str) -> Option<(String, String)> {
    Some((key.to_owned(), operator.to_owned()))
}

#[test]
fn conditions_of_the_request_differ_from_those_of_the_view() {
    let filter =
        "((NOT p.deleted) AND (p.title <> 'x AND y'::text) AND (p.author_id = ($1)::integer))";
    assert_eq!(
        shown(filter, "p"),
        [("author_id".to_owned(), "=".to_owned())]
    );
    assert_eq!(one("(p.status = 'public'::text)", "p"), None);
    assert_eq!(
        one("(tb_comment.post_id = p.id)", "tb_comment"),
        pair("post_id", "=")
    );
    assert_eq!(
        one("(p.id = tb_comment.post_id)", "tb_comment"),
        pair("post_id", "=")
    );
    assert_eq!(one("(($1)::integer < p.rank)", "p"), pair("rank", ">"));

    assert_eq!(one("(p.a = p.b)", "p"), None);
}

#[test]
fn indexable_expressions_are_keys() {
    assert_eq!(
        one("((t.data ->> 'name'::text) = $1)", "t"),
        pair("data ->> 'name'::text", "=")
    );
    let path = "(((t.data -> 'title'::text) #>> '{}'::text[]) = $1)";
    assert_eq!(
        one(path, "t"),
        pair("(data -> 'title'::text) #>> '{}'::text[]", "=")
    );
    assert_eq!(
        one("(lower(u.email) ~~ $1)", "u"),
        pair("lower(email)", "~~")
    );
    assert_eq!(one("((t.at)::date = ($1)::date)", "t"), None);
    assert_eq!(one("(my_function(t.at) = $1)", "t"), None);
    let cast = &conditions("((tb_user.name)::text = $1)", "tb_user")[0].key;

    assert_eq!(
        (cast.column.as_deref(), cast.is_text_of_column),
        (Some("name"), true)
    );
}

#[test]
fn several_columns_and_other_forms_are_left_alone() {
    for filter in [
        "((t.a = $1) OR (t.b = $2))",
        "CASE WHEN (p.title IS NOT NULL) THEN (p.title = $1) ELSE NULL::boolean END",
        "(ROW(t.at, t.id) < ROW($1, $2))",
        "(t.email IS NULL)",
        "(hashed SubPlan 1)",
        "",
        "(((",
        "'",
        "\"",
    ] {
        assert_eq!(shown(filter, "t"), [], "{filter}");
    }
}

#[test]
fn names_in_quotes_keep_their_quotes() {
    let filter = r#"("my ""t"" (x)"."drop table"";--" = ANY (($2)::integer[]))"#;
    assert_eq!(
        one(filter, r#"my "t" (x)"#),
        pair(r#""drop table"";--""#, "=")
    );
    assert_eq!(one("(täble.größe = $1)", "täble"), pair("größe", "="));
}

#[test]
fn keys_of_orders_have_their_direction() {
    let (key, alias) = sort_key("p.at DESC").unwrap();
    assert_eq!(
        (&*key.key.text, key.descending, key.nulls_first, &*alias),
        ("at", true, true, "p")
    );
    let (key, _) = sort_key("((p.extra ->> 'a'::text)) NULLS FIRST").unwrap();
    assert_eq!(
        (&*key.key.text, key.descending, key.nulls_first),
        ("extra ->> 'a'::text", false, true)
    );
    assert!(sort_key("(SubPlan 1)").is_none());

    assert!(sort_key("p.a COLLATE \"C\"").is_none());
}
