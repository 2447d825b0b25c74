//! `svc sql explain`.

use crate::support::Place;

const VIEW: &str = "\
-- A view with nearly everything.
CREATE OR REPLACE VIEW v_post AS
WITH recent AS (SELECT id FROM tb_post WHERE created_at > now() - interval '1 day')
SELECT p.id, p.title AS headline,
       coalesce((SELECT jsonb_agg(c.data ORDER BY c.id) FROM v_comment AS c WHERE c.fk_post = p.id), '[]') AS comments
FROM tb_post AS p
LEFT JOIN tb_user AS u ON u.id = p.author_id
WHERE p.published AND p.title <> ''
GROUP BY p.id
HAVING count(*) > 1
ORDER BY p.id DESC
LIMIT 10;
";

/// Statements, each with the words of its mistake or hint.
const REMARKS: [(&str, &str); 18] = [
    (
        "SELECT a FROM t WHERE b = NULL",
        "`b = NULL` is never true; write `b IS NULL`",
    ),
    ("SELECT a FROM t WHERE NULL <> b", "write `b IS NOT NULL`"),
    (
        "SELECT a FROM t WHERE b NOT IN (SELECT c FROM u)",
        "NOT IN keeps no rows if the subquery returns a null",
    ),
    (
        "SELECT a FROM t LEFT JOIN u ON u.id = t.id WHERE u.x = 1",
        "`u.x = 1` removes the rows that LEFT JOIN u keeps",
    ),
    (
        "SELECT json_build_object('a', a) FROM t",
        "write `jsonb_build_object`",
    ),
    (
        "SELECT coalesce(jsonb_agg(a), '[]') FROM t",
        "`jsonb_agg` without ORDER BY returns its elements in any order",
    ),
    (
        "SELECT jsonb_agg(a ORDER BY a) FROM t",
        "`jsonb_agg` of no rows is null",
    ),
    (
        "CREATE VIEW v AS SELECT * FROM t",
        "`*` in a view stands for the current columns",
    ),
    (
        "SELECT a FROM t LIMIT 5",
        "LIMIT and OFFSET without ORDER BY return arbitrary rows",
    ),
    ("SELECT t.a FROM t, u", "return every combination of rows"),
    (
        "UPDATE t SET a = 1",
        "UPDATE without WHERE changes every row",
    ),
    ("DELETE FROM t", "DELETE without WHERE removes every row"),
    (
        "SELECT a FROM t UNION SELECT a FROM u",
        "UNION compares all rows",
    ),
    (
        "SELECT a FROM t ORDER BY a OFFSET 100",
        "OFFSET reads all rows that it skips",
    ),
    (
        "SELECT a FROM t ORDER BY random()",
        "ORDER BY random() reads and sorts every row",
    ),
    (
        "SELECT DISTINCT t.a FROM t JOIN u ON u.id = t.id",
        "DISTINCT after a join often hides",
    ),
    (
        "SELECT a FROM t WHERE b LIKE '%x'",
        "only a trigram index helps",
    ),
    (
        "SELECT a FROM t WHERE lower(b) = 'x'",
        "CREATE INDEX ON … ((lower(b)))",
    ),
];

/// Statements of which there is nothing to remark.
const CLEAN: [&str; 8] = [
    "SELECT a FROM t WHERE b IS NULL",
    "SELECT a FROM t WHERE 'b = NULL' <> c -- = NULL",
    "SELECT a FROM t LEFT JOIN u ON u.id = t.id WHERE u.x IS NULL",
    "SELECT a FROM t LEFT JOIN u ON u.id = t.id WHERE t.x > 1",
    "SELECT a FROM t UNION ALL SELECT a FROM u",
    "SELECT a FROM t ORDER BY a LIMIT 5",
    "DELETE FROM t WHERE a > 1",
    "SELECT t.a FROM t, u WHERE t.id = u.id",
];

#[test]
fn the_parts_of_a_view_are_explained_in_order() {
    let place = Place::new();
    place.write("view.sql", VIEW);
    let said = place.svc(&["sql", "explain", "view.sql"]).good();
    let expected = "\
view.sql:2: creates the view v_post
  names   recent: SELECT id FROM tb_post WHERE created_at > now() - interval '1 day'
  reads   tb_post AS p
  joins   tb_user AS u where u.id = p.author_id; rows without a match are kept, with nulls (LEFT JOIN)
  keeps   rows where p.published
  keeps   rows where p.title <> ''
  groups  by p.id
  keeps   groups where count(*) > 1
  returns p.id, headline, comments
  sorts   by p.id DESC
  limits  to 10 rows
";
    assert_eq!(said, expected);
}

#[test]
fn mistakes_and_hints_are_named_with_their_lines() {
    let place = Place::new();
    for (statement, remark) in REMARKS {
        place.write("a.sql", &format!("SELECT 1;\n\n{statement};\n"));
        let said = place.svc(&["sql", "explain", "a.sql"]).good();
        let line = said.lines().find(|line| line.contains(remark));
        assert!(
            line.is_some_and(|line| line.starts_with("  a.sql:3: ")),
            "{statement}\n{said}"
        );
    }
}

#[test]
fn clean_statements_have_no_findings() {
    let place = Place::new();
    for statement in CLEAN {
        place.write("a.sql", statement);
        let said = place.svc(&["sql", "explain", "a.sql"]).good();
        assert!(
            !said.contains("Mistakes:") && !said.contains("Hints:"),
            "{statement}\n{said}"
        );
    }
}

#[test]
fn a_statement_that_cannot_be_read_is_named_by_its_line() {
    let place = Place::new();
    place.write("a.sql", "SELECT 1;\nSELECT FROM WHERE;\n");
    let words = place.svc(&["sql", "explain", "a.sql"]).bad();
    assert!(words.starts_with("error: a.sql:2: "), "{words}");
    place.write("a.sql", "-- nothing\n");
    assert!(
        place
            .svc(&["sql", "explain", "a.sql"])
            .bad()
            .contains("a.sql has no statements")
    );
}
