//! The changes.

/// A change: its name, and the steps that make it, each a transaction.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) name: String,
    pub(super) steps: Vec<String>,
}

/// The columns of the view of posts.
const COLUMNS: [&str; 9] = [
    "id",
    "title",
    "view_count",
    "price",
    "created_at",
    "mood",
    "open",
    "meta",
    "author_id",
];

/// Drops whatever stands in place of the view.
const DROP: &str = "
DROP VIEW IF EXISTS v_post_gone;
DO $$ BEGIN
    EXECUTE coalesce((SELECT format('DROP %s public.v_post CASCADE', CASE relkind WHEN 'r' THEN 'TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END)
             FROM pg_class WHERE oid = to_regclass('public.v_post')), 'SELECT');
END $$;
";

/// The rows of the view; the counts run the other way, so that old answers are told from new ones.
const TURNED: &str = "(SELECT id, title, 1000 - view_count AS view_count, price + 1 AS price, created_at, mood, open, \
                      meta, author_id FROM tb_post) AS p";

fn select(columns: &[(&str, String)], data: Option<&str>, from: &str) -> String {
    let mut list: Vec<_> = columns
        .iter()
        .map(|(name, sql)| format!("{sql} AS {name}"))
        .collect();
    list.extend(data.map(|data| format!("{data} AS data")));
    format!("SELECT {} FROM {from}", list.join(", "))
}

fn columns() -> Vec<(&'static str, String)> {
    COLUMNS
        .iter()
        .map(|name| (*name, format!("p.{name}")))
        .collect()
}

fn with(column: &str, sql: &str) -> Vec<(&'static str, String)> {
    let mut columns = columns();
    columns
        .iter_mut()
        .filter(|(name, _)| *name == column)
        .for_each(|(_, known)| sql.clone_into(known));
    columns
}

const DATA: Option<&str> = Some("to_jsonb(p)");

fn view(columns: &[(&str, String)], data: Option<&str>) -> String {
    format!(
        "{DROP} CREATE VIEW public.v_post AS {};",
        select(columns, data, TURNED)
    )
}

/// The view as it is at first.
pub(super) fn base() -> String {
    format!(
        "{DROP} CREATE VIEW public.v_post AS SELECT p.*, to_jsonb(p) AS data FROM tb_post AS p;"
    )
}

/// The view with another expression for a column.
pub(super) fn retyped(column: &str, sql: &str) -> String {
    format!(
        "{DROP} CREATE VIEW public.v_post AS {};",
        select(&with(column, sql), DATA, "tb_post AS p")
    )
}

/// The view with another expression for a column, and without `data`.
pub(super) fn bare(column: &str, sql: &str) -> String {
    view(&with(column, sql), None)
}

/// The view without a column, and perhaps without `data`.
pub(super) fn without(column: &str, bare: bool) -> String {
    let columns: Vec<_> = columns()
        .into_iter()
        .filter(|(name, _)| *name != column)
        .collect();
    view(&columns, DATA.filter(|_| !bare))
}

fn change(name: impl Into<String>, steps: impl IntoIterator<Item = String>) -> Change {
    Change {
        name: name.into(),
        steps: steps.into_iter().collect(),
    }
}

/// All changes.
pub(super) fn all() -> Vec<Change> {
    let retyped = RETYPED.iter().map(|(column, sql)| {
        change(
            format!("{column} = {sql}"),
            [view(&with(column, sql), DATA)],
        )
    });
    let bare = BARE.iter().map(|(column, sql)| {
        change(
            format!("{column} = {sql}, without data"),
            [self::bare(column, sql)],
        )
    });
    let gone = ["id", "view_count", "price", "author_id"]
        .iter()
        .map(|column| change(format!("no {column}"), [without(column, false)]));
    let other = OTHER
        .iter()
        .map(|(name, steps)| change(*name, steps.iter().map(|step| (*step).to_owned())));
    retyped
        .chain(bare)
        .chain(gone)
        .chain(shapes())
        .chain(other)
        .collect()
}

const RETYPED: [(&str, &str); 26] = [
    ("view_count", "p.view_count::text"),
    ("view_count", "p.view_count::varchar(20)"),
    ("view_count", "p.view_count::char(12)"),
    ("view_count", "p.view_count::int2"),
    ("view_count", "p.view_count::int8"),
    ("view_count", "p.view_count::numeric"),
    ("view_count", "p.view_count::float4"),
    ("view_count", "p.view_count::float8"),
    ("view_count", "(p.view_count > 500)"),
    ("view_count", "to_jsonb(p.view_count)"),
    ("view_count", "p.view_count::text::json"),
    ("view_count", "p.view_count::counted"),
    ("view_count", "p.view_count::recounted"),
    ("view_count", "ARRAY[p.view_count]"),
    ("view_count", "date '2024-01-01' + p.view_count"),
    ("id", "p.id::int8"),
    ("id", "p.id::text"),
    ("price", "p.price::float8"),
    ("price", "p.price::text"),
    ("created_at", "p.created_at::text"),
    ("created_at", "p.created_at AT TIME ZONE 'UTC'"),
    ("created_at", "p.created_at::date"),
    ("mood", "p.mood::mood"),
    ("open", "p.open::text"),
    ("meta", "p.meta::json"),
    ("author_id", "p.author_id::text"),
];

/// Without `data` a field whose column does not fit is dead, until the column is put back.
const BARE: [(&str, &str); 5] = [
    ("view_count", "p.view_count::text"),
    ("view_count", "p.view_count::int8"),
    ("view_count", "NULL::int"),
    ("title", "p.view_count"),
    ("meta", "p.meta::text"),
];

/// Other shapes of the same rows.
fn shapes() -> Vec<Change> {
    let mut reordered = columns();
    reordered.reverse();
    let mut renamed = columns();
    renamed[2].0 = "views";
    let table = |kind| {
        format!(
            "{DROP} CREATE {kind} public.v_post AS {};",
            select(&columns(), DATA, TURNED)
        )
    };
    let more = "CREATE OR REPLACE VIEW public.v_post AS SELECT p.*, to_jsonb(p) AS data, 1 AS more FROM tb_post AS p";
    let front = format!(
        "CREATE VIEW front.v_post AS {};",
        select(&with("view_count", "p.view_count::text"), DATA, TURNED)
    );
    vec![
        change("made again", [view(&columns(), DATA)]),
        change("reordered", [view(&reordered, DATA)]),
        change("renamed", [view(&renamed, DATA)]),
        change("renamed, without data", [view(&renamed, None)]),
        change("data as json", [view(&columns(), Some("to_json(p)"))]),
        change("data alone", [view(&[("id", "p.id".to_owned()), ("author_id", "p.author_id".to_owned())], DATA)]),
        change("data dropped and added", [view(&columns(), None), view(&columns(), DATA)]),
        change("a column more", [more.to_owned()]),
        change("nullable", [view(&with("view_count", "nullif(p.view_count, 990)"), None)]),
        change("a materialized view", [table("MATERIALIZED VIEW")]),
        change(
            "a table, altered",
            [
                table("TABLE"),
                "ALTER TABLE v_post ALTER COLUMN view_count TYPE bigint".to_owned(),
                "ALTER TABLE v_post ALTER COLUMN view_count TYPE text".to_owned(),
                "ALTER TABLE v_post DROP COLUMN view_count; ALTER TABLE v_post ADD COLUMN view_count int; \
                 UPDATE v_post SET view_count = (data->>'view_count')::int"
                    .to_owned(),
            ],
        ),
        change("gone and back", ["ALTER VIEW v_post RENAME TO v_post_gone".to_owned(), {
            "ALTER VIEW v_post_gone RENAME TO v_post".to_owned()
        }]),
        change("another schema in front", [front]),
        change("a type renamed", [
            view(&with("mood", "p.mood::mood"), DATA),
            "ALTER TYPE mood RENAME TO humour".to_owned(),
            "ALTER TYPE humour RENAME TO mood".to_owned(),
        ]),
        change("a label more", [
            view(&with("mood", "p.mood::mood"), DATA),
            "ALTER TYPE mood ADD VALUE IF NOT EXISTS 'fair'".to_owned(),
        ]),
        change("another search path", [
            format!("CREATE SCHEMA IF NOT EXISTS back; CREATE OR REPLACE VIEW back.v_post AS {};", {
                select(&with("view_count", "p.view_count::int8"), DATA, TURNED)
            }),
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = back, public', current_database()); END $$"
                .to_owned(),
        ]),
    ]
}

const OTHER: [(&str, &[&str]); 13] = [
    (
        "keys of both sides as text",
        &[
            "DROP VIEW v_author; CREATE VIEW public.v_author AS SELECT id::text AS id, name FROM tb_author;",
        ],
    ),
    (
        "an author's name is computed",
        &[
            "DROP VIEW v_author; CREATE VIEW public.v_author AS SELECT id, upper(name)::varchar(30) AS name FROM tb_author;",
        ],
    ),
    (
        "no authors",
        &["DROP VIEW v_author; CREATE VIEW public.v_author AS SELECT NULL::uuid AS id, 1 AS name;"],
    ),
    (
        "post_id = int8",
        &[
            "DROP VIEW v_comment; CREATE VIEW public.v_comment AS SELECT i AS id, (i % 8 + 1)::int8 AS post_id FROM generate_series(1, 9) AS i;",
        ],
    ),
    (
        "post_id = text",
        &[
            "DROP VIEW v_comment; CREATE VIEW public.v_comment AS SELECT i AS id, (i % 8 + 1)::text AS post_id FROM generate_series(1, 9) AS i;",
        ],
    ),
    (
        "a parameter retyped",
        &[
            "DROP FUNCTION app.shape; CREATE FUNCTION app.shape(n bigint) RETURNS text LANGUAGE sql AS $$ SELECT 'big ' || n $$",
            "DROP FUNCTION app.shape; CREATE FUNCTION app.shape(n text) RETURNS text LANGUAGE sql AS $$ SELECT 'text ' || n $$",
            "DROP FUNCTION app.shape; CREATE FUNCTION app.shape(n jsonb) RETURNS text LANGUAGE sql AS $$ SELECT 'json ' || n::text $$",
        ],
    ),
    (
        "a parameter renamed",
        &[
            "DROP FUNCTION app.shape; CREATE FUNCTION app.shape(m int) RETURNS text LANGUAGE sql AS $$ SELECT 'm is ' || m $$",
        ],
    ),
    (
        "a parameter more",
        &[
            "DROP FUNCTION app.shape; CREATE FUNCTION app.shape(n int, m int DEFAULT 3) RETURNS text LANGUAGE sql AS $$ SELECT n || ' ' || m $$",
            "DROP FUNCTION app.shape; CREATE FUNCTION app.shape(n int, m int) RETURNS text LANGUAGE sql AS $$ SELECT n || ' ' || m $$",
        ],
    ),
    (
        "another result",
        &[
            "DROP FUNCTION app.shape; CREATE FUNCTION app.shape(n int) RETURNS varchar LANGUAGE sql AS $$ SELECT 'v ' || n $$",
            "DROP FUNCTION app.shape; CREATE FUNCTION app.shape(n int) RETURNS jsonb LANGUAGE sql AS $$ SELECT to_jsonb('j ' || n) $$",
            "DROP FUNCTION app.shape; CREATE FUNCTION app.shape(n int) RETURNS int LANGUAGE sql AS $$ SELECT n $$",
        ],
    ),
    (
        "a set becomes an array",
        &[
            "DROP FUNCTION app.shapes; CREATE FUNCTION app.shapes(n int) RETURNS jsonb LANGUAGE sql AS $$ SELECT '[\"a\", \"b\"]'::jsonb $$",
        ],
    ),
    ("a function dropped", &["DROP FUNCTION app.shape"]),
    (
        "a second function",
        &[
            "CREATE FUNCTION app.shape(n text) RETURNS text LANGUAGE sql AS $$ SELECT 'other ' || n $$",
        ],
    ),
    (
        "a function in place of another",
        &[
            "CREATE OR REPLACE FUNCTION app.shape(n int) RETURNS text LANGUAGE sql AS $$ SELECT 'replaced ' || n $$",
        ],
    ),
];
