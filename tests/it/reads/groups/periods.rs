//! Periods of dates and instants: a day, a month and the like, by their beginning in UTC.

use serde_json::json;
use svc_tests::{App, TestDatabase};

use super::{app, options, sql};

/// The beginnings of periods, with the number of values in each.
type Beginnings = Vec<(&'static str, i32)>;

/// The beginnings of the periods that the instants lie in, with how many do.
fn of_instants() -> Vec<(&'static str, &'static str, Beginnings)> {
    vec![
        (
            "YEAR",
            "Year",
            vec![("2024-01-01T00:00:00Z", 4), ("2025-01-01T00:00:00Z", 2)],
        ),
        (
            "QUARTER",
            "Quarter",
            vec![
                ("2024-01-01T00:00:00Z", 2),
                ("2024-10-01T00:00:00Z", 2),
                ("2025-01-01T00:00:00Z", 2),
            ],
        ),
        (
            "MONTH",
            "Month",
            vec![
                ("2024-01-01T00:00:00Z", 1),
                ("2024-02-01T00:00:00Z", 1),
                ("2024-12-01T00:00:00Z", 2),
                ("2025-01-01T00:00:00Z", 2),
            ],
        ),
        (
            "WEEK",
            "Week",
            vec![
                ("2024-01-29T00:00:00Z", 2),
                ("2024-12-23T00:00:00Z", 1),
                ("2024-12-30T00:00:00Z", 2),
                ("2025-01-06T00:00:00Z", 1),
            ],
        ),
        (
            "DAY",
            "Day",
            vec![
                ("2024-01-31T00:00:00Z", 1),
                ("2024-02-01T00:00:00Z", 1),
                ("2024-12-29T00:00:00Z", 1),
                ("2024-12-30T00:00:00Z", 1),
                ("2025-01-05T00:00:00Z", 1),
                ("2025-01-06T00:00:00Z", 1),
            ],
        ),
        (
            "HOUR",
            "Hour",
            vec![
                ("2024-01-31T23:00:00Z", 1),
                ("2024-02-01T00:00:00Z", 1),
                ("2024-12-29T23:00:00Z", 1),
                ("2024-12-30T00:00:00Z", 1),
                ("2025-01-05T12:00:00Z", 1),
                ("2025-01-06T11:00:00Z", 1),
            ],
        ),
    ]
}

#[tokio::test]
async fn instants_are_put_into_periods_of_utc() {
    let (_database, app) = app().await;
    for (member, field, expected) in of_instants() {
        let answer = app
            .same(
                "",
                &format!(
                    "{{ groups(by: [SOLD_AT_{member}]) {{ count key {{ at: soldAt{field} }} }} }}"
                ),
            )
            .await;
        let expected: Vec<_> = expected
            .iter()
            .map(|(at, count)| json!({ "count": count, "key": { "at": at } }))
            .collect();
        assert_eq!(answer["groups"], json!(expected), "{member}");
    }
}

#[tokio::test]
async fn dates_are_put_into_periods() {
    let (_database, app) = app().await;
    let answer = app
        .same(
            "",
            "{ y: groups(by: [SOLD_ON_YEAR]) { count key { soldOnYear } }
               w: groups(by: [SOLD_ON_WEEK], orderBy: [{key: {soldOnWeek: DESC_NULLS_LAST}}], limit: 2) { key { soldOnWeek } }
               m: groups(by: [SOLD_ON_MONTH, SOLD_ON_QUARTER, SOLD_ON_DAY], limit: 1) { key { soldOnMonth soldOnQuarter soldOnDay } } }",
        )
        .await;
    assert_eq!(
        answer["y"],
        json!([
            { "count": 3, "key": { "soldOnYear": "2024-01-01" } },
            { "count": 2, "key": { "soldOnYear": "2025-01-01" } },
            { "count": 1, "key": { "soldOnYear": null } },
        ])
    );
    assert_eq!(
        answer["w"],
        json!([{ "key": { "soldOnWeek": "2025-01-06" } }, { "key": { "soldOnWeek": "2024-12-30" } }])
    );
    let key = json!({ "soldOnMonth": "2024-01-01", "soldOnQuarter": "2024-01-01", "soldOnDay": "2024-01-31" });
    assert_eq!(answer["m"], json!([{ "key": key }]));
}

/// A day that PostgreSQL's timestamps cannot hold, or before its calendar's first year, fails only
/// its own group.
#[tokio::test]
async fn a_value_without_a_period_fails_only_its_group() {
    let rows = "INSERT INTO tb_sale (id, channel, price, sold_on, sold_at, paid) VALUES
        (1, 's', 1, '2024-05-05', '2024-05-05T01:00:00Z', true),
        (2, 's', 1, '300000-05-05', '4714-11-25 00:00:00+00 BC', true),
        (3, 's', 1, '2024-06-05', '2024-05-05T01:00:00Z', false);";
    let database = TestDatabase::new(&sql(rows)).await;
    let app = App::serve(options(&database)).await;
    for root in ["columns", "data", "table"] {
        for (by, field, first) in [
            ("SOLD_ON_YEAR", "soldOnYear", "2024-01-01"),
            ("SOLD_AT_YEAR", "soldAtYear", "2024-01-01T00:00:00Z"),
        ] {
            let reply = app
                .query(&format!(
                    "{{ {root} {{ groups(by: [{by}]) {{ count key {{ {field} }} }} }} }}"
                ))
                .await;
            let answer = reply.json();
            let groups = json!([{ "count": 2, "key": { field: first } }, { "count": 1, "key": { field: null } }]);
            assert_eq!(answer["data"][root]["groups"], groups, "{}", reply.text);
            assert_eq!(
                answer["errors"].as_array().unwrap().len(),
                1,
                "{}",
                reply.text
            );
            assert_eq!(
                answer["errors"][0]["path"],
                json!([root, "groups", 1, "key", field]),
                "{}",
                reply.text
            );
        }
    }
}

/// A `timestamp` is an instant in UTC, whatever the time zone of the session is; a text is read as
/// one.
#[tokio::test]
async fn other_types_of_columns_have_the_same_periods() {
    let database = TestDatabase::new(&sql(super::ROWS)).await;
    let tokyo =
        "EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Tokyo''', current_database())";
    database
        .execute(&format!("DO $$ BEGIN {tokyo}; END $$"))
        .await;
    database
        .execute(
            "DROP VIEW c_sale;
             CREATE VIEW c_sale AS SELECT id, channel, city, pieces, price, weight, sold_on,
               sold_at AT TIME ZONE 'UTC' AS sold_at, paid, shop_id, meta FROM tb_sale;
             ALTER TABLE tv_sale ADD COLUMN sold_at text;
             UPDATE tv_sale SET sold_at = data->>'sold_at';",
        )
        .await;
    let app = App::serve(options(&database)).await;
    let groups = "{ groups(by: [SOLD_AT_MONTH, SOLD_AT_HOUR], limit: 2) { key { soldAtMonth soldAtHour } } }";
    let answer = app.same("", groups).await;
    let key =
        |month: &str, hour: &str| json!({ "key": { "soldAtMonth": month, "soldAtHour": hour } });
    let first = key("2024-01-01T00:00:00Z", "2024-01-31T23:00:00Z");
    assert_eq!(
        answer["groups"],
        json!([first, key("2024-02-01T00:00:00Z", "2024-02-01T00:00:00Z")])
    );
}
