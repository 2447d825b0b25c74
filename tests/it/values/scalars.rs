//! The scalars of `svc::scalar`: each has one form, whether it comes from a column, from JSON, from
//! a resolver or from a client.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::scalar::{
    Cidr, Color, CountryCode, CurrencyCode, DateRange, Duration, EmailAddress, Hostname, Iban,
    Inet, LTree, LanguageCode, Latitude, LocaleCode, Longitude, MacAddress, Money, Percentage,
    PhoneNumber, Port, SemanticVersion, Slug, Timezone, Url,
};
use svc_tests::{App, TestDatabase};

/// Declares types with one set of fields: a row per view, and an input.
macro_rules! devices {
    ($($field:ident: $ty:ty,)*) => {
        #[svc_type(sql_source = "v_device_columns")]
        struct ColumnDevice { id: i32, $($field: $ty,)* }

        #[svc_type(sql_source = "v_device_data")]
        struct DataDevice { id: i32, $($field: $ty,)* }

        #[svc_type(sql_source = "tv_device")]
        struct TableDevice { id: i32, $($field: $ty,)* }

        #[svc_input]
        struct Given { id: i32, $($field: $ty,)* }

        #[svc::query]
        fn echo(given: Given) -> ColumnDevice {
            ColumnDevice { id: given.id, $($field: given.$field,)* }
        }

        const FIELDS: &[&str] = &["id", $(stringify!($field),)*];
    };
}

devices! {
    duration: Duration,
    inet: Inet,
    cidr: Cidr,
    mac: MacAddress,
    mac8: MacAddress,
    path: LTree,
    dates: DateRange,
    email: EmailAddress,
    url: Url,
    hostname: Hostname,
    phone: PhoneNumber,
    country: CountryCode,
    currency: CurrencyCode,
    language: LanguageCode,
    locale: LocaleCode,
    timezone: Timezone,
    latitude: Latitude,
    longitude: Longitude,
    color: Color,
    version: SemanticVersion,
    slug: Slug,
    iban: Iban,
    port: Port,
    percentage: Percentage,
    money: Money,
    hops: Vec<Inet>,
    spare: Option<Hostname>,
}

#[svc::query]
async fn columns() -> Vec<ColumnDevice>;
#[svc::query]
async fn data() -> Vec<DataDevice>;
#[svc::query]
async fn table() -> Vec<TableDevice>;
#[svc::query]
async fn typed(ctx: &Context<'_>) -> Result<Vec<DataDevice>> {
    ctx.db().find::<DataDevice>().await
}
#[svc::query]
async fn by_network(
    inet: Inet,
    mac: MacAddress,
    dates: DateRange,
    duration: Duration,
) -> Vec<ColumnDevice>;
#[svc::query]
async fn at(ctx: &Context<'_>, inet: Inet) -> Result<Vec<ColumnDevice>> {
    ctx.db()
        .find::<ColumnDevice>()
        .filter(col("inet").eq(inet))
        .await
}

const SQL: &str = "
CREATE EXTENSION ltree;
CREATE TABLE tb_device (
  id int, duration interval, inet inet, cidr cidr, mac macaddr, mac8 macaddr8, path ltree, dates daterange,
  email text, url text, hostname varchar, phone text, country char(2), currency text, language text, locale text,
  timezone text, latitude double precision, longitude numeric, color text, version text, slug text, iban text,
  port int, percentage numeric, money text, hops inet[], spare text
);
INSERT INTO tb_device VALUES (
  1, '1 year 2 months -3 days 04:05:06.7', '10.0.0.1/8', '10.0.0.0/8', '08-00-2B-01-02-03', '08:00:2b:ff:fe:01:02:03',
  'Top.Science', '[2024-01-01,2024-01-31]', 'Ada@Example.COM', 'HTTPS://Example.com', 'WWW.Example.com',
  '+41 44 668 18 00', 'ch', 'eur', 'DE', 'de-ch', 'europe/zurich', 47, 8.54, '#0AF', '1.2.3-rc.1', 'a-b',
  'DE44 5001 0517 5407 3249 31', 443, 12.50, '12.30 eur', '{10.0.0.1,::1/64}', NULL
);
CREATE VIEW v_device_columns AS SELECT *, '{}'::jsonb AS data FROM tb_device;
CREATE VIEW v_device_data AS SELECT to_jsonb(t) AS data FROM tb_device t;
CREATE TABLE tv_device AS SELECT id, to_jsonb(t) AS data FROM tb_device t;";

/// The row as every client sees it.
fn canonical() -> Value {
    json!({
        "id": 1,
        "duration": "P1Y2M-3DT4H5M6.7S",
        "inet": "10.0.0.1/8",
        "cidr": "10.0.0.0/8",
        "mac": "08:00:2b:01:02:03",
        "mac8": "08:00:2b:ff:fe:01:02:03",
        "path": "Top.Science",
        "dates": "[2024-01-01,2024-02-01)",
        "email": "Ada@example.com",
        "url": "https://example.com/",
        "hostname": "www.example.com",
        "phone": "+41446681800",
        "country": "CH",
        "currency": "EUR",
        "language": "de",
        "locale": "de-CH",
        "timezone": "Europe/Zurich",
        "latitude": 47,
        "longitude": 8.54,
        "color": "#00aaff",
        "version": "1.2.3-rc.1",
        "slug": "a-b",
        "iban": "DE44500105175407324931",
        "port": 443,
        "percentage": 12.5,
        "money": "12.30 EUR",
        "hops": ["10.0.0.1", "::1/64"],
        "spare": null,
    })
}

async fn app(database: &TestDatabase) -> App {
    let queries = queries![columns, data, table, typed, echo, by_network, at];
    App::serve(
        AppOptions::new()
            .database_url(database.url())
            .queries(queries),
    )
    .await
}

async fn database() -> TestDatabase {
    TestDatabase::copy_of("scalars", SQL).await
}

#[tokio::test]
async fn a_scalar_has_one_form_wherever_it_comes_from() {
    let app = app(&database().await).await;
    let selection = FIELDS.join(" ");
    for root in ["columns", "data", "table", "typed"] {
        let reply = app
            .query(&format!("{{ rows: {root} {{ {selection} }} }}"))
            .await;
        assert_eq!(reply.data()["rows"], json!([canonical()]), "{root}");
    }
    let mut given = canonical();
    let loose = json!({
        "duration": "P14M-3DT4H5M6.7S", "mac": "08002B010203", "email": "Ada@EXAMPLE.com", "country": "ch",
        "dates": "(2023-12-31,2024-01-31]", "color": "#0AF", "latitude": 47.0, "money": "12.30 eur",
        "hops": ["10.0.0.1/32", "0::1/64"],
    });
    given
        .as_object_mut()
        .unwrap()
        .extend(loose.as_object().unwrap().clone());
    let query = format!("query ($given: Given!) {{ echo(given: $given) {{ {selection} }} }}");
    let reply = app.query_with(&query, json!({ "given": given })).await;
    assert_eq!(reply.data()["echo"], canonical());
}

#[tokio::test]
async fn an_interval_has_one_form_under_every_interval_style() {
    for style in ["postgres", "postgres_verbose", "sql_standard", "iso_8601"] {
        let database = database().await;
        let set = format!(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET intervalstyle = {style}', current_database()); END $$"
        );
        database.execute(&set).await;
        let sign = "UPDATE tb_device SET duration = duration - interval '10 hours';
                    DROP TABLE tv_device; CREATE TABLE tv_device AS SELECT id, to_jsonb(t) AS data FROM tb_device t";
        database.execute(sign).await;
        let app = app(&database).await;
        for root in ["columns", "data", "table"] {
            let reply = app
                .query(&format!("{{ rows: {root} {{ duration }} }}"))
                .await;
            assert_eq!(
                reply.data()["rows"][0]["duration"],
                "P1Y2M-3DT-5H-54M-53.3S",
                "{style}, {root}"
            );
        }
    }
}

#[tokio::test]
async fn arguments_are_compared_in_the_type_of_the_column() {
    let app = app(&database().await).await;
    let arguments = r#"inet: "10.0.0.1/8", mac: "0800.2b01.0203", dates: "[2024-01-01,2024-01-31]", duration: "P14M-3DT4H5M6.7S""#;
    let reply = app
        .query(&format!("{{ by_network({arguments}) {{ id }} }}"))
        .await;
    assert_eq!(reply.data(), json!({ "by_network": [{ "id": 1 }] }));
    let reply = app
        .query(r#"{ at(inet: "10.0.0.1/8") { id } none: at(inet: "10.0.0.1") { id } }"#)
        .await;
    assert_eq!(reply.data(), json!({ "at": [{ "id": 1 }], "none": [] }));
}

#[tokio::test]
async fn a_refused_value_names_the_rule() {
    let app = app(&database().await).await;
    for (field, value, part) in [
        (
            "duration",
            json!("P"),
            "expected a duration such as `P1DT2H30M` (ISO 8601), found \"P\"",
        ),
        (
            "inet",
            json!("10.0.0.256"),
            "(RFC 4291, RFC 5952), with or without `/prefix`, found \"10.0.0.256\"",
        ),
        (
            "cidr",
            json!("10.0.0.1/8"),
            "without bits set to the right of its prefix (RFC 4632)",
        ),
        (
            "mac",
            json!("08:00"),
            "expected a MAC address (EUI-48 or EUI-64)",
        ),
        ("path", json!("a..b"), "(ltree), found \"a..b\""),
        (
            "dates",
            json!("[2024-02-01,2024-01-01)"),
            "expected a lower bound that is not after the upper one",
        ),
        ("email", json!("ada"), "(RFC 5321), found \"ada\""),
        (
            "url",
            json!("/a"),
            "expected an absolute URL (URL Standard: ",
        ),
        ("hostname", json!("a_b"), "(RFC 1123)"),
        ("phone", json!("044"), "(E.164)"),
        ("country", json!("UK"), "(ISO 3166-1 alpha-2)"),
        ("currency", json!("EURO"), "(ISO 4217)"),
        ("language", json!("deu"), "(ISO 639-1)"),
        ("locale", json!("de_CH"), "(BCP 47)"),
        ("timezone", json!("+02:00"), "(IANA time zone database)"),
        (
            "latitude",
            json!(90.5),
            "from -90 to 90 (RFC 5870), found 90.5",
        ),
        (
            "longitude",
            json!("8"),
            "from -180 to 180 (RFC 5870), found \"8\"",
        ),
        ("color", json!("red"), "(CSS Color 4)"),
        ("version", json!("1.2"), "(SemVer 2.0.0: "),
        ("slug", json!("A"), "in words joined by single hyphens"),
        (
            "iban",
            json!("DE45500105175407324931"),
            "(ISO 7064, mod 97-10)",
        ),
        ("port", json!(65536), "(RFC 6335), found 65536"),
        ("percentage", json!(101), "from 0 to 100, found 101"),
        (
            "money",
            json!("12.30"),
            "an ISO 4217 code such as `12.30 EUR`",
        ),
        ("money", json!(12), "expected a string, found 12"),
    ] {
        let mut given = canonical();
        given[field] = value;
        let reply = app
            .query_with(
                "query ($given: Given!) { echo(given: $given) { id } }",
                json!({ "given": given }),
            )
            .await;
        assert_eq!(reply.code(), "BAD_USER_INPUT", "{field}");
        assert!(
            reply.message().contains(part),
            "{field}: {}",
            reply.message()
        );
    }
}

#[tokio::test]
async fn a_stored_value_that_breaks_its_rule_is_an_error_of_its_field() {
    let database = database().await;
    database.execute("UPDATE tb_device SET spare = 'a_b'").await;
    let reply = app(&database)
        .await
        .query("{ columns { id spare } }")
        .await
        .json();
    assert_eq!(
        reply["data"],
        json!({ "columns": [{ "id": 1, "spare": null }] })
    );
    assert_eq!(reply["errors"][0]["path"], json!(["columns", 0, "spare"]));
}

#[tokio::test]
async fn introspection_shows_the_specification_of_a_scalar() {
    let app = app(&database().await).await;
    for (name, description, url) in [
        (
            "Slug",
            "Lower-case letters and digits in words joined by hyphens.",
            None,
        ),
        (
            "URL",
            "An absolute URL.",
            Some("https://url.spec.whatwg.org/"),
        ),
        (
            "Cidr",
            "An IPv4 or IPv6 network as `address/prefix`.",
            Some("https://www.rfc-editor.org/rfc/rfc4632"),
        ),
    ] {
        let query =
            format!("{{ type: __type(name: \"{name}\") {{ kind description specifiedByURL }} }}");
        let expected =
            json!({ "kind": "SCALAR", "description": description, "specifiedByURL": url });
        assert_eq!(app.query(&query).await.data()["type"], expected);
    }
}
