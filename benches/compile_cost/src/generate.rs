//! Two crates with one schema: 100 object types, 150 queries, 50 mutations, 10 enums, 10 input
//! objects, in ten modules. Whatever is not the framework's own is the same in both.

use std::fmt::Write as _;
use std::fs;
use std::io::Result;
use std::path::Path;

/// The crates' names.
pub(crate) const NAMES: [&str; 2] = ["user_svc", "user_agql"];

const MODULES: usize = 10;

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Svc,
    AsyncGraphql,
}

/// Writes both crates and their workspace.
pub(crate) fn workspace(folder: &Path) -> Result<()> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    fs::create_dir_all(folder)?;
    let members = NAMES.map(|name| format!("{name:?}")).join(", ");
    write(
        &folder.join("Cargo.toml"),
        &format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n"),
    )?;
    if !folder.join("Cargo.lock").exists() {
        // The versions that svc is tested with.
        fs::copy(repository.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    }
    for (name, style) in NAMES.into_iter().zip([Style::Svc, Style::AsyncGraphql]) {
        let source = folder.join(name).join("src");
        fs::create_dir_all(&source)?;
        write(
            &folder.join(name).join("Cargo.toml"),
            &manifest(name, style, &repository),
        )?;
        write(&source.join("main.rs"), &main(style))?;
        for number in 0..MODULES {
            write(
                &source.join(format!("m{number}.rs")),
                &module(style, number),
            )?;
        }
    }
    Ok(())
}

/// Keeps the time stamp of a file that is as it should be.
fn write(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|known| known == text) {
        Ok(())
    } else {
        fs::write(path, text)
    }
}

fn manifest(name: &str, style: Style, repository: &Path) -> String {
    let mut text = format!(
        "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n"
    );
    text += "tokio = { version = \"1\", features = [\"macros\", \"rt-multi-thread\", \"net\"] }\n";
    text += &match style {
        Style::Svc => format!("svc = {{ path = {:?} }}\n", repository.join("svc").display().to_string()),
        // As svc itself has them.
        Style::AsyncGraphql => r#"async-graphql = { version = "7", default-features = false, features = ["uuid", "chrono", "decimal", "dataloader"] }
axum = { version = "0.8", default-features = false, features = ["http1", "http2", "json", "query", "tokio", "matched-path"] }
chrono = { version = "0.4", default-features = false, features = ["clock", "serde", "std"] }
sqlx = { version = "0.9", default-features = false, features = ["runtime-tokio", "tls-rustls-ring-webpki", "postgres", "json", "uuid", "chrono", "rust_decimal"] }
uuid = { version = "1", features = ["v4", "serde"] }
"#
        .to_owned(),
    };
    text
}

/// Operations of a module, in the order in which they are written.
struct Operations {
    queries: Vec<String>,
    mutations: Vec<String>,
}

fn operations(module: usize) -> Operations {
    let names = |prefix: &'static str, numbers: std::ops::Range<usize>| {
        numbers.map(move |n| format!("{prefix}_{module}_{n}"))
    };
    Operations {
        queries: names("list", 0..5)
            .chain(names("one", 5..8))
            .chain(names("found", 0..5))
            .chain(names("some", 5..7))
            .collect(),
        mutations: names("save", 0..5).collect(),
    }
}

fn main(style: Style) -> String {
    let modules: String = (0..MODULES)
        .map(|number| format!("mod m{number};\n"))
        .collect();
    let list = |of: fn(Operations) -> Vec<String>| {
        let paths = (0..MODULES).flat_map(|module| {
            of(operations(module))
                .into_iter()
                .map(move |name| format!("m{module}::{name}"))
        });
        paths.collect::<Vec<_>>().join(", ")
    };
    let merged = |root: &str| {
        (0..MODULES)
            .map(|number| format!("m{number}::{root}{number}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let body = match style {
        Style::Svc => format!(
            r#"use svc::prelude::*;

#[tokio::main]
async fn main() -> svc::Result<()> {{
    let options = AppOptions::from_env()?
        .queries(queries![{}])
        .mutations(mutations![{}]);
    svc::serve(create_svc_app(options).await?).await
}}
"#,
            list(|all| all.queries),
            list(|all| all.mutations)
        ),
        Style::AsyncGraphql => format!(
            r#"use async_graphql::{{EmptySubscription, MergedObject, Request, Response, Schema}};
use axum::{{Json, Router, extract::State, routing::post}};

#[derive(MergedObject, Default)]
struct Query({});

#[derive(MergedObject, Default)]
struct Mutation({});

type App = Schema<Query, Mutation, EmptySubscription>;

async fn graphql(State(schema): State<App>, Json(request): Json<Request>) -> Json<Response> {{
    Json(schema.execute(request).await)
}}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {{
    let pool = sqlx::postgres::PgPoolOptions::new().connect_lazy(&std::env::var("DATABASE_URL")?)?;
    let schema = Schema::build(Query::default(), Mutation::default(), EmptySubscription).data(pool).finish();
    let app = Router::new().route("/graphql", post(graphql)).with_state(schema);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 8000)).await?;
    Ok(axum::serve(listener, app).await?)
}}
"#,
            merged("Query"),
            merged("Mutation")
        ),
    };
    format!("#![allow(dead_code)]\n\n{modules}\n{body}")
}

fn module(style: Style, module: usize) -> String {
    let mut text = match style {
        Style::Svc => "use svc::prelude::*;\n".to_owned(),
        Style::AsyncGraphql => {
            "use async_graphql::*;\nuse chrono::{DateTime, Utc};\nuse uuid::Uuid;\n".to_owned()
        }
    };
    text += &enumeration(style, module);
    text += &input(style, module);
    for number in 0..10 {
        text += &object(style, module, number);
    }
    text + &roots(style, module)
}

fn enumeration(style: Style, module: usize) -> String {
    let (attribute, derive) = match style {
        Style::Svc => ("#[svc_enum]\n", ""),
        Style::AsyncGraphql => ("", "Enum, "),
    };
    format!(
        "\n{attribute}#[derive({derive}Debug, Clone, Copy, PartialEq, Eq)]\npub enum Kind{module} {{\n    Draft,\n    Planned,\n    Running,\n    Paused,\n    Done,\n}}\n"
    )
}

fn input(style: Style, module: usize) -> String {
    let attribute = match style {
        Style::Svc => "#[svc_input]",
        Style::AsyncGraphql => "#[derive(InputObject)]",
    };
    format!(
        "\n{attribute}\npub struct Input{module} {{\n    pub name: String,\n    pub note: Option<String>,\n    pub kind: Kind{module},\n    pub count: i32,\n    pub owner: Option<Uuid>,\n    pub tags: Vec<String>,\n    pub active: bool,\n    pub since: Option<DateTime<Utc>>,\n}}\n"
    )
}

/// The first object of a module is what the others hold.
fn object(style: Style, module: usize, number: usize) -> String {
    let attribute = match style {
        Style::Svc => format!("#[svc_type(sql_source = \"v_object_{module}_{number}\")]"),
        Style::AsyncGraphql => "#[derive(SimpleObject)]".to_owned(),
    };
    let last = if number == 0 {
        "    pub active: bool,\n".to_owned()
    } else {
        format!("    pub parent: Object{module}x0,\n")
    };
    format!(
        "\n/// An object.\n{attribute}\npub struct Object{module}x{number} {{\n    pub id: Uuid,\n    pub name: String,\n    pub note: Option<String>,\n    pub count: i32,\n    pub score: f64,\n    pub kind: Kind{module},\n    pub tags: Vec<String>,\n    pub created_at: DateTime<Utc>,\n{last}}}\n"
    )
}

fn roots(style: Style, module: usize) -> String {
    let Operations { queries, mutations } = operations(module);
    let functions = |names: &[String]| {
        names
            .iter()
            .map(|name| function(style, module, name))
            .collect::<String>()
    };
    match style {
        Style::Svc => functions(&queries) + &functions(&mutations),
        Style::AsyncGraphql => {
            let mut text = String::new();
            for (root, names) in [("Query", &queries), ("Mutation", &mutations)] {
                let _ = write!(
                    text,
                    "\n#[derive(Default)]\npub struct {root}{module};\n\n#[Object]\nimpl {root}{module} {{{}}}\n",
                    functions(names)
                );
            }
            text
        }
    }
}

fn function(style: Style, module: usize, name: &str) -> String {
    let prefix = name.split('_').next().unwrap_or_default();
    let object = format!(
        "Object{module}x{}",
        name.rsplit('_').next().unwrap_or_default()
    );
    let planned = style == Style::Svc;
    let (arguments, answer, body) = match prefix {
        "list" => (
            String::new(),
            format!("Vec<{object}>"),
            if planned { "" } else { "Vec::new()" },
        ),
        "one" => (
            "id: Uuid".to_owned(),
            format!("Option<{object}>"),
            if planned { "" } else { "let _ = id;\n    None" },
        ),
        "found" => (
            format!("ctx: &Context<'_>, filter: Input{module}, limit: i32"),
            format!("Result<Vec<{object}>>"),
            "let revision = 0_u128;\n    let _ = (ctx, filter.name, limit, revision);\n    Ok(Vec::new())",
        ),
        "some" => (String::new(), format!("Vec<{object}>"), "Vec::new()"),
        _ => (
            format!("input: Input{module}"),
            format!("Result<Option<{object}>>"),
            "let _ = input.name;\n    Ok(None)",
        ),
    };
    let attribute = match (style, prefix) {
        (Style::Svc, "save") => "#[svc::mutation]\n",
        (Style::Svc, _) => "#[svc::query]\n",
        (Style::AsyncGraphql, _) => "",
    };
    let receiver = match style {
        Style::Svc => "",
        Style::AsyncGraphql if arguments.is_empty() => "&self",
        Style::AsyncGraphql => "&self, ",
    };
    let visible = if style == Style::Svc { "pub " } else { "" };
    let body = if body.is_empty() {
        ";".to_owned()
    } else {
        format!(" {{\n    {body}\n}}")
    };
    format!(
        "\n/// An operation.\n{attribute}{visible}async fn {name}({receiver}{arguments}) -> {answer}{body}\n"
    )
}
