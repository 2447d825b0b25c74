//! Fields and fragments.

use rand::Rng as _;

use super::super::document::Selection;
use super::Breaker;
pub(super) fn scalar_leafs(b: &mut Breaker<'_>) {
    match b.random.random_range(0..4) {
        0 => b.change(&|_, field| !field.set.is_empty(), &mut |field| {
            field.set.clear();
        }),
        1 => b.change(&|_, field| field.set.is_empty(), &mut |field| {
            field.set = vec![Selection::Raw("id".to_owned())];
        }),
        2 => b.insert("__typename { id }"),
        _ => b.insert_root("x1: users x2: echo { __typename } __schema"),
    }
}

pub(super) fn fields_on_correct_type(b: &mut Breaker<'_>) {
    let name = b.one(&[
        "nope", "title", "users", "__schema", "__type", "name", "__nope", "replies", "id", "ID",
    ]);
    match b.random.random_range(0..3) {
        0 => b.insert(name),
        1 => b.insert_where(
            &|parent| matches!(parent, "Found" | "Node" | "Written"),
            "title name",
        ),
        _ => b.change(&|_, _| true, &mut |field| field.name = name.to_owned()),
    }
}

pub(super) fn unique_fragment_names(b: &mut Breaker<'_>) {
    b.fragment("Twice", "Query", "__typename");
    let (on, text) = b.one(&[
        ("Query", "__typename"),
        ("User", "id"),
        ("Query", "users { id }"),
    ]);
    b.fragment("Twice", on, text);
    b.insert_where(&|parent| parent == "Query", "...Twice");
}

pub(super) fn known_fragment_names(b: &mut Breaker<'_>) {
    let text = b.one(&[
        "...Missing",
        "...Missing @skip(if: true)",
        "... on Query { ...missing }",
        "...F0_999",
    ]);
    b.insert(text);
}

pub(super) fn no_unused_fragments(b: &mut Breaker<'_>) {
    b.fragment("Unused", "User", "id");
    if b.random.random_bool(0.5) {
        b.fragment("Unused2", "Query", "users { ...Unused }");
    }
}

pub(super) fn possible_fragment_spreads(b: &mut Breaker<'_>) {
    let on = b.one(&[
        "User",
        "Post",
        "Comment",
        "Query",
        "Mutation",
        "Found",
        "Written",
        "Node",
        "Part",
        "ShakyData",
    ]);
    if b.random.random_bool(0.5) {
        b.insert(format!("... on {on} {{ __typename }}"));
    } else {
        b.fragment("Odd", on, "__typename");
        b.insert("...Odd");
    }
}

pub(super) fn no_fragment_cycles(b: &mut Breaker<'_>) {
    let text = b.one(&[
        "...Round",
        "users { id } ... on Query { ...Round }",
        "...Round2",
        "... { ...Round3 }",
    ]);
    b.fragment("Round", "Query", text);
    if text.contains("Round2") {
        b.fragment("Round2", "Query", "__typename ...Round");
    } else if text.contains("Round3") {
        b.fragment("Round3", "Query", "nodes { ... on User { ...Round4 } }");
        b.fragment("Round4", "User", "remark { author { ...Round4 } }");
    }
    b.insert_where(&|parent| parent == "Query", "...Round");
}

pub(super) fn overlapping_fields(b: &mut Breaker<'_>) {
    let text = b.one(&[
        "users { x: id x: name }",
        "users { x: id } users { x: name }",
        "nodes { ... on User { x: name } ... on Post { x: views } }",
        "nodes { ... on User { x: name } ... on Post { x: title } }",
        "nodes { ... on User { x: name } ... on Post { x: body } }",
        "nodes { ... on User { x: tags } ... on Post { x: title } }",
        "nodes { ... on User { x: remark { y: id } } ... on Post { x: author { y: name } } }",
        "nodes { ... on User { x: remark { y: body } } ... on Post { x: comments { y: body } } }",
        "written { author { x: name } ... on Comment { author { x: id } } }",
        "written { ... on Post { author { x: name } } ... on Comment { author { x: nick } } }",
        "x: echo(int: 1) x: echo(int: 2)",
        "x: echo(int: 1) x: echo",
        "x: echo(int: 1, text: \"a\") x: echo(text: \"a\", int: 1)",
        "x: echo(text: \"a\") x: echo(text: \"\"\"a\"\"\")",
        "x: echo(shape: {name: \"a\", size: 1}) x: echo(shape: {size: 1, name: \"a\"})",
        "x: echo(float: 1.0) x: echo(float: 1.00)",
        "x: echo(int: 1) x: echo(int: 01)",
        "x: echo(ints: [1, 2]) x: echo(ints: [2, 1])",
        "x: echo(ints: 1) x: echo(ints: [1])",
        "x: users { id } x: allUsers { id }",
        "x: user(id: 1) { id } x: user(id: \"1\") { id }",
        "x: __typename x: boom { id }",
        "users { x: __typename @skip(if: true) x: id }",
        "users { ...A1 ...A2 }",
        "x: users { id } ... on Query { x: posts { id } }",
        "found { ... on User { x: strict } ... on Comment { x: id } }",
        "found { ... on User { x: role } ... on Comment { x: body } }",
        "found { ... on User { x: grid } ... on Comment { x: body } }",
        "shakyData { x: ints x: perhaps }",
        "nodes { ... on User { x: age } ... on Post { x: views } }",
    ]);
    if text.contains("...A1") {
        b.fragment("A1", "User", "x: id");
        b.fragment("A2", "User", "x: name");
    }
    if b.random.random_bool(0.3) {
        b.fragment("Over", "Query", text);
        b.insert_root("...Over");
    } else {
        b.insert_root(text);
    }
}
