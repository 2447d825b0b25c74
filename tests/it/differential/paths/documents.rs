//! Random documents, and the SQL that answers them.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

/// Random documents, and SQL that answers them. Each alias is another, so that fields which merge
/// have none that clash.
pub(super) struct Generator {
    random: StdRng,
    aliases: usize,
    /// The number of rows that have a name in the SQL.
    rows: usize,
    /// Whether two selections merge, for which the SQL would have to merge as well.
    merges: bool,
}

/// A piece of a document, and the SQL of its JSON.
struct Piece {
    text: String,
    sql: String,
}

/// The arguments of a list: their text, and the SQL behind `WHERE`.
type Arguments = (String, String);

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: StdRng::seed_from_u64(seed),
            aliases: 0,
            rows: 0,
            merges: false,
        }
    }

    /// A document, and SQL that answers it where that can be written.
    pub(super) fn document(&mut self) -> (String, Option<String>) {
        self.merges = false;
        let roots: Vec<_> = (0..self.random.random_range(1..3))
            .map(|_| {
                let of = if self.random.random_bool(0.6) {
                    "days"
                } else {
                    "hours"
                };
                self.list(of, 3, "true")
            })
            .collect();
        let join = |piece: &dyn Fn(usize, &Piece) -> String, between| {
            let pieces: Vec<_> = roots
                .iter()
                .enumerate()
                .map(|(index, root)| piece(index, root))
                .collect();
            pieces.join(between)
        };
        let fields = join(&|index, root| format!("r{index}: {}", root.text), " ");
        let columns = join(&|index, root| format!("{} AS r{index}", root.sql), ", ");
        let document = format!(
            "query ($yes: Boolean! = true) {{ always: __typename @include(if: $yes) {fields} }}"
        );
        (
            document,
            (!self.merges).then(|| format!("SELECT {columns}")),
        )
    }

    /// A list of days or hours that `join` holds for.
    fn list(&mut self, of: &'static str, depth: usize, join: &str) -> Piece {
        let row = self.row();
        let (arguments, clauses) = self.arguments(of);
        let fields = if of == "days" {
            self.day(&row, depth)
        } else {
            self.hour(&row, depth)
        };
        let view = if of == "days" { "v_day" } else { "v_hour" };
        let rows = format!(
            "SELECT {} AS j FROM {view} AS {row} WHERE {join} AND {clauses}",
            fields.sql
        );
        Piece {
            text: format!("{of}{arguments} {}", fields.text),
            sql: format!(
                "(SELECT coalesce(jsonb_agg(s.j), '[]') FROM ({}) AS s)",
                rows.replace("$row", &row)
            ),
        }
    }

    fn row(&mut self) -> String {
        self.rows += 1;
        format!("t{}", self.rows)
    }

    fn arguments(&mut self, of: &str) -> Arguments {
        let conditions: &[(&str, &str)] = if of == "hours" {
            &[
                (
                    "where: {note: {isnull: true}}",
                    "$row.data->>'note' IS NULL",
                ),
                (
                    "where: {id: {gt: 4, lte: 12}}",
                    "($row.data->>'id')::int BETWEEN 5 AND 12",
                ),
                (
                    "where: {day: {heat: {eq: HOT}}}",
                    "($row.data->>'day_id')::uuid IN (SELECT id FROM v_day WHERE heat = 'hot')",
                ),
            ]
        } else {
            &[
                ("where: {heat: {eq: HOT}}", "$row.heat = 'hot'"),
                (
                    "where: {OR: [{label: {contains: \"\\\"\"}}, {exact: {lt: \"0.3\"}}]}",
                    "($row.label LIKE '%\"%' OR ($row.data->>'exact')::numeric < 0.3)",
                ),
                (
                    "where: {place: {city: {neq: \"city 1\"}}}",
                    "$row.data->'place'->>'city' <> 'city 1'",
                ),
                (
                    "where: {hours: {some: {id: {gt: 9}}}}",
                    "$row.id IN (SELECT (data->>'day_id')::uuid FROM v_hour WHERE (data->>'id')::int > 9)",
                ),
            ]
        };
        let id = if of == "hours" {
            "($row.data->>'id')::int"
        } else {
            "$row.id"
        };
        let orders: &[(&str, &str)] = if of == "hours" {
            &[(
                "orderBy: [{note: DESC}]",
                "$row.data->>'note' DESC, ($row.data->>'id')::int DESC",
            )]
        } else {
            &[
                (
                    "orderBy: [{degrees: DESC}]",
                    "$row.degrees DESC, $row.id DESC",
                ),
                (
                    "orderBy: [{label: ASC}, {total: DESC}]",
                    "$row.label, ($row.data->>'total')::bigint DESC, $row.id DESC",
                ),
            ]
        };
        let mut given = Vec::new();
        let mut choose = |among: &[(&'static str, &'static str)], often| {
            let chosen = among.choose(&mut self.random).copied();
            let chosen = chosen.filter(|_| self.random.random_bool(often))?;
            given.push(chosen.0.to_owned());
            Some(chosen.1)
        };
        let condition = choose(conditions, 0.4).unwrap_or("true");
        let order = choose(orders, 0.5).unwrap_or(id);
        let mut sql = format!("{condition} ORDER BY {order}");
        if self.random.random_bool(0.4) {
            let (limit, offset) = (
                self.random.random_range(0..6),
                self.random.random_range(0..3),
            );
            given.push(format!("limit: {limit}, offset: {offset}"));
            sql.push_str(&format!(" LIMIT {limit} OFFSET {offset}"));
        }
        (
            if given.is_empty() {
                String::new()
            } else {
                format!("({})", given.join(", "))
            },
            sql,
        )
    }

    fn day(&mut self, row: &str, depth: usize) -> Piece {
        let leaves = [
            "id",
            "label",
            "heat",
            "degrees",
            "total",
            "exact",
            "at",
            "far",
            "founded",
            "notes",
            "__typename",
            "place { zip city rent }",
        ];
        // A `timestamp` has no offset in JSON.
        let stored = format!(
            "(to_jsonb({row}) || jsonb_build_object('far', {row}.far AT TIME ZONE 'UTC') || {row}.data)"
        );
        self.selection(
            "Day",
            &leaves,
            &stored,
            depth,
            |generator, depth| match generator.random.random_range(0..2) {
                0 => (
                    "hours",
                    generator.list(
                        "hours",
                        depth,
                        &format!("($row.data->>'day_id')::uuid = {row}.id"),
                    ),
                ),
                _ => ("next", generator.one_day(&format!("{row}.next_id"), depth)),
            },
        )
    }

    fn hour(&mut self, row: &str, depth: usize) -> Piece {
        let stored = format!("{row}.data");
        self.selection(
            "Hour",
            &["id", "note", "__typename"],
            &stored,
            depth,
            |generator, depth| {
                (
                    "day",
                    generator.one_day(&format!("({row}.data->>'day_id')::uuid"), depth),
                )
            },
        )
    }

    /// The day with this id, without the name of its field.
    fn one_day(&mut self, id: &str, depth: usize) -> Piece {
        let row = self.row();
        let day = self.day(&row, depth);
        Piece {
            text: day.text,
            sql: format!(
                "(SELECT {} FROM v_day AS {row} WHERE {row}.id = {id})",
                day.sql
            ),
        }
    }

    fn selection(
        &mut self,
        ty: &str,
        leaves: &[&str],
        stored: &str,
        depth: usize,
        related: impl Fn(&mut Self, usize) -> (&'static str, Piece),
    ) -> Piece {
        let mut fields = vec![(*leaves.choose(&mut self.random).unwrap()).to_owned()];
        let mut pieces: Vec<(String, String)> = Vec::new();
        for _ in 0..self.random.random_range(1..5) {
            let (field, related) = if depth > 0 && self.random.random_bool(0.4) {
                let (name, piece) = related(self, depth - 1);
                let text = if name == "hours" {
                    piece.text
                } else {
                    format!("{name} {}", piece.text)
                };
                (text, Some((name, piece.sql)))
            } else {
                ((*leaves.choose(&mut self.random).unwrap()).to_owned(), None)
            };
            self.aliases += 1;
            let index = self.aliases;
            let (prefix, text) = match self.random.random_range(0..6) {
                0 => ("f", format!("f{index}: {field} ")),
                1 => ("g", format!("... on {ty} {{ g{index}: {field} }}")),
                2 => (
                    "h",
                    format!("... @include(if: $yes) {{ h{index}: {field} }}"),
                ),
                3 => ("i", format!("... @skip(if: $yes) {{ i{index}: {field} }}")),
                // Without an alias, so that equal fields merge where their arguments are the same.
                _ if !field.contains('(') => ("", field),
                _ => ("j", format!("j{index}: {field}")),
            };
            fields.push(text);
            if let Some((name, sql)) = related {
                let key = if prefix.is_empty() {
                    name.to_owned()
                } else {
                    format!("{prefix}{index}")
                };
                self.merges |= pieces.iter().any(|(other, _)| *other == key);
                pieces.push((key, sql));
            }
        }
        let pieces: Vec<_> = pieces
            .iter()
            .map(|(key, sql)| format!(" || jsonb_build_object('{key}', {sql})"))
            .collect();
        Piece {
            text: format!("{{ {} }}", fields.join(" ")),
            sql: format!("{stored}{}", pieces.concat()),
        }
    }
}
