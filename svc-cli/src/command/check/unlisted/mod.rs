//! Operations of the source that the program does not serve: functions with an attribute of svc
//! that no list names.

mod imports;
mod source;

use std::path::Path;

use apollo_compiler::Schema;
use apollo_compiler::ast::OperationType;

use crate::program::Description;
use crate::project::Project;
use crate::terminal;
use source::{Operation, Source};

const OPERATIONS: [OperationType; 3] = [
    OperationType::Query,
    OperationType::Mutation,
    OperationType::Subscription,
];

/// Warns of each such operation. A program of several may serve the operations of another, so this
/// is for the only one.
pub(super) fn warn(project: &Project, description: &Description) {
    for line in lines(project.root(), &description.sdl) {
        terminal::warning(line);
    }
}

/// The warnings about the source in a folder.
fn lines(root: &Path, sdl: &str) -> Vec<String> {
    // Parsed without validation: only the names of the root fields matter.
    let Ok(schema) = Schema::parse(sdl, "schema.graphql") else {
        return Vec::new();
    };

    let source = Source::read(root);
    let unlisted = source
        .operations
        .iter()
        .filter(|operation| !source.lists(operation) && !serves(&schema, operation));

    unlisted.map(|operation| shown(root, operation)).collect()
}

/// Whether a schema has an operation. Without a name in its attribute, the name may be in camel
/// case.
fn serves(schema: &Schema, operation: &Operation) -> bool {
    let root = schema
        .root_operation(operation.kind)
        .and_then(|root| schema.get_object(root.as_str()));
    let mut fields = root.into_iter().flat_map(|root| root.fields.keys());
    match &operation.name {
        Some(name) => fields.any(|field| field.as_str() == name),
        None => fields.any(|field| squeezed(field.as_str()) == squeezed(&operation.function)),
    }
}

/// A name without the differences that camel case makes.
fn squeezed(name: &str) -> String {
    name.chars()
        .filter(|c| *c != '_')
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// The line starts like the compiler's, so that editors find the place.
fn shown(root: &Path, operation: &Operation) -> String {
    let Operation {
        kind,
        function,
        name,
        file,
        line,
    } = operation;

    let (file, ty) = (
        file.strip_prefix(root).unwrap_or(file).display(),
        kind.default_type_name(),
    );
    let (name, list) = (name.as_ref().unwrap_or(function), list_of(*kind));
    format!(
        "{file}:{line}: {ty}.{name} is not in the schema: add it to the program's list, {list}![{function}]"
    )
}

/// The macro that lists operations of a kind.
fn list_of(kind: OperationType) -> &'static str {
    match kind {
        OperationType::Query => "queries",
        OperationType::Mutation => "mutations",
        OperationType::Subscription => "subscriptions",
    }
}

#[cfg(test)]
mod tests {
    use super::lines;

    /// The warnings about these files, for a schema with the query `listed` and the mutation
    /// `renameUser`.
    fn warnings(files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        lines(
            root.path(),
            "type Query { listed: Int } type Mutation { renameUser(id: ID!): Int }",
        )
    }

    #[test]
    fn operations_without_a_list_are_found_in_all_modules() {
        let library = "mod a;\nmod b { mod c; }\n#[svc::query]\nasync fn listed() -> Vec<User>;\n\
            #[svc::mutation]\n/// Renames.\nfn rename_user(id: Uuid) -> i32 { 1 }\n\
            #[svc::subscription(channel = \"c\")]\npub async fn ticks(#[svc(default = 1)] of: i32) -> User;\n";
        let found = warnings(&[
            ("src/lib.rs", library),
            ("src/main.rs", "mod a;\nfn main() { run(app::options()) }"),
            (
                "src/a.rs",
                "#[svc::query(context = [\"name\"], name = \"mine\")]\nfn r#move() -> i32 { 1 }",
            ),
            (
                "src/b/c/mod.rs",
                "#[::svc::mutation(function = \"f\")]\nasync fn listed(id: i32) -> User;",
            ),
            ("src/left_over.rs", "#[svc::query]\nfn gone() -> i32 { 1 }"),
        ]);

        let add = "is not in the schema: add it to the program's list,";
        assert_eq!(
            found,
            [
                format!("src/a.rs:2: Query.mine {add} queries![move]"),
                format!("src/b/c/mod.rs:2: Mutation.listed {add} mutations![listed]"),
                format!("src/lib.rs:9: Subscription.ticks {add} subscriptions![ticks]"),
            ]
        );
    }

    #[test]
    fn attributes_of_svc_are_recognized_by_its_names() {
        let function = |head: &str, attribute: &str| {
            let text = format!("{head}\n#[{attribute}]\nfn f() -> i32 {{ 1 }}");
            warnings(&[("src/lib.rs", text.as_str())]).len()
        };

        for (head, attribute) in [
            ("use svc::query;", "query"),
            ("use svc::{prelude::*, query as read};", "read(cache = 60)"),
            ("use svc::*;", "mutation"),
            ("use svc as framework;", "framework::query"),
            ("use svc::{self as framework};", "framework::query"),
            ("", "framework::query(crate = framework)"),
            ("use framework::query;", "query(crate = framework)"),
        ] {
            assert_eq!(function(head, attribute), 1, "{head} {attribute}");
        }

        for (head, attribute) in [
            ("", "query"),
            ("use other::query;", "query"),
            ("use svc::mutation as query;", "other::query"),
            ("", "svc::svc_type"),
            ("", "svc::query::more"),
        ] {
            assert_eq!(function(head, attribute), 0, "{head} {attribute}");
        }
    }

    #[test]
    fn operations_excluded_on_purpose_are_not_reported() {
        for text in [
            "#[cfg(feature = \"a\")]\n#[svc::query]\nfn f() -> i32 { 1 }",
            "#[cfg(test)]\nmod tests {\n#[svc::query]\nfn f() -> i32 { 1 }\n}",
            "#![cfg(unix)]\n#[svc::query]\nfn f() -> i32 { 1 }",
            "#[allow(dead_code)]\n#[svc::query]\nasync fn f() -> Vec<User>;",
            "#[svc::query]\nfn f() -> i32 { 1 }\nfn lists() { options(queries![a, #[cfg(x)] crate::f]) }",
            "#[svc::query]\nfn f() -> i32 { 1 }\nmacro_rules! all { () => { vec![svc::queries![f]] }; }",
            "#[svc::query]\nfn f() -> i32 { 1 ",
        ] {
            assert_eq!(warnings(&[("src/lib.rs", text)]), [""; 0], "{text}");
        }

        let listed_elsewhere = "#[svc::query]\nfn f() -> i32 { 1 }\nfn list() { mutations![f] }";
        assert_eq!(warnings(&[("src/lib.rs", listed_elsewhere)]).len(), 1);
    }
}
