//! The ranges of an order that are past a cursor.

use crate::sql::ir::{Direction, Nulls};

/// The properties of an order key, and of the cursor's value for it, that determine the ranges.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyForm {
    pub(super) direction: Direction,
    pub(super) nulls: Nulls,
    /// Whether no row has a null.
    pub(super) is_certain: bool,
    /// Whether the cursor has a null.
    pub(super) is_null: bool,
}

/// An order key and the cursor's value for it, as SQL.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) form: KeyForm,
    pub(super) sql: String,
    /// `None` is null.
    pub(super) value: Option<String>,
}

/// Rows whose first keys equal those of a cursor, with a condition on the further keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    /// The number of equal keys.
    pub(super) equal: usize,
    rest: Rest,
}

/// The condition on the keys after the equal ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// There are no further keys.
    Nothing,
    /// This number of keys, compared as a row, is past the cursor's.
    Row(usize),
    /// The next key is null.
    Null,
    /// The next key is not null.
    NotNull,
    /// The keys are past the cursor's, compared one by one.
    Each,
}

/// Returns at most `most` ranges, the nearest first, that together have the rows past a cursor. No
/// range is returned if nothing is past it.
///
/// In a range, only the comparison after the equal keys admits more than one value, so an index on
/// the keys can start at the first row. If there are too many ranges, one has all rows that are
/// equal in the first keys.
pub(super) fn past_ranges(keys: &[KeyForm], most: usize) -> Vec<Range> {
    // From the farthest to the nearest.
    let mut ranges: Vec<Range> = Vec::new();
    let mut equal = 0;

    while let Some(key) = keys.get(equal) {
        let count = run(&keys[equal..]);
        let rests = match (key.is_null, key.nulls) {
            (true, Nulls::First) => vec![Rest::NotNull],
            // No value follows a null.
            (true, Nulls::Last) => Vec::new(),
            (false, Nulls::Last) if !key.is_certain => vec![Rest::Null, Rest::Row(count)],
            (false, _) => vec![Rest::Row(count)],
        };

        let has_further = equal + count < keys.len();
        if ranges.len() + rests.len() + usize::from(has_further) > most {
            let rest = Rest::Each;
            ranges.push(Range { equal, rest });
            break;
        }

        ranges.extend(rests.into_iter().map(|rest| Range { equal, rest }));
        equal += count;
    }

    ranges.reverse();

    ranges
}

/// The number of keys that a comparison of rows can cover: they have one direction, and only the
/// first may be null.
fn run(keys: &[KeyForm]) -> usize {
    let Some((first, others)) = keys.split_first().filter(|(first, _)| !first.is_null) else {
        return 1;
    };

    let others = others
        .iter()
        .take_while(|key| key.direction == first.direction && key.is_certain && !key.is_null);

    1 + others.count()
}

impl Range {
    /// The row with the keys of a cursor.
    pub(super) fn of_cursor(keys: usize) -> Self {
        Self {
            equal: keys,
            rest: Rest::Nothing,
        }
    }

    /// The condition on the rows of the range.
    pub(super) fn condition(self, keys: &[Key]) -> String {
        let (equal, rest) = keys.split_at(self.equal);
        let mut parts: Vec<String> = equal.iter().map(Key::same).collect();

        match (self.rest, rest) {
            (Rest::Row(count), _) => parts.push(row(&rest[..count])),
            (Rest::Null, [key, ..]) => parts.push(format!("{} IS NULL", key.sql)),
            (Rest::NotNull, [key, ..]) => parts.push(format!("{} IS NOT NULL", key.sql)),
            (Rest::Each, [key, ..]) => {
                parts.extend(key.bound());
                let each = each(rest);
                parts.push(if parts.is_empty() {
                    each
                } else {
                    format!("({each})")
                });
            }
            _ => {}
        }

        parts.join(" AND ")
    }
}

impl Key {
    fn operator(&self) -> &'static str {
        match self.form.direction {
            Direction::Asc => ">",
            Direction::Desc => "<",
        }
    }

    /// Whether a row has the cursor's value.
    fn same(&self) -> String {
        match &self.value {
            Some(value) => format!("{} = {value}", self.sql),
            None => format!("{} IS NULL", self.sql),
        }
    }

    /// Whether a row's value is past the cursor's.
    fn past(&self) -> String {
        let (sql, operator) = (&self.sql, self.operator());

        // With nulls last, the nulls follow every value; with nulls first, no null follows a value.
        match (&self.value, self.form.nulls) {
            (Some(value), Nulls::Last) => format!("({sql} {operator} {value} OR {sql} IS NULL)"),
            (Some(value), Nulls::First) => format!("{sql} {operator} {value}"),
            (None, Nulls::First) => format!("{sql} IS NOT NULL"),
            (None, Nulls::Last) => "false".to_owned(),
        }
    }

    /// The condition on the key alone that all rows at or past the cursor meet, if an index can
    /// serve it.
    fn bound(&self) -> Option<String> {
        match (&self.value, self.form.nulls) {
            (Some(value), nulls) if nulls == Nulls::First || self.form.is_certain => {
                Some(format!("{} {}= {value}", self.sql, self.operator()))
            }
            (None, Nulls::Last) => Some(self.same()),
            _ => None,
        }
    }
}

/// `(a, b, …) > (x, y, …)`.
fn row(keys: &[Key]) -> String {
    let operator = keys.first().map_or(">", Key::operator);
    let operands: Vec<_> = keys.iter().map(|key| key.sql.as_str()).collect();
    let values: Vec<_> = keys.iter().filter_map(|key| key.value.as_deref()).collect();
    let (operands, values) = (operands.join(", "), values.join(", "));

    if keys.len() == 1 {
        format!("{operands} {operator} {values}")
    } else {
        format!("({operands}) {operator} ({values})")
    }
}

/// `a past x OR a = x AND (b past y OR b = y AND …)`.
fn each(keys: &[Key]) -> String {
    let mut text = String::new();
    for (index, key) in keys.iter().enumerate() {
        text.push_str(&key.past());
        if index + 1 < keys.len() {
            text.extend([" OR ", &key.same(), " AND ("]);
        }
    }

    text.push_str(&")".repeat(keys.len().saturating_sub(1)));

    text
}

#[cfg(test)]
mod tests {
    use super::{Direction, Key, KeyForm, Nulls, Range, past_ranges};

    /// Keys `a`, `b`, … and the values `x1`, `x2`, … of a cursor. A letter describes each: `a` and
    /// `d` are ascending and descending keys without nulls, `A` and `D` have nulls where PostgreSQL
    /// sorts them by default; `l` and `f` are ascending keys with nulls last and first, and a null in
    /// the cursor.
    fn keys(described: &str) -> Vec<Key> {
        let key = |(index, letter): (usize, char)| Key {
            form: KeyForm {
                direction: if letter.eq_ignore_ascii_case(&'d') {
                    Direction::Desc
                } else {
                    Direction::Asc
                },
                nulls: if matches!(letter, 'd' | 'D' | 'f') {
                    Nulls::First
                } else {
                    Nulls::Last
                },
                is_certain: matches!(letter, 'a' | 'd'),
                is_null: matches!(letter, 'l' | 'f'),
            },
            sql: ["a", "b", "c", "d", "e"][index].to_owned(),
            value: (!matches!(letter, 'l' | 'f')).then(|| format!("x{}", index + 1)),
        };
        described.chars().enumerate().map(key).collect()
    }

    fn conditions(described: &str, most: usize) -> Vec<String> {
        let keys = keys(described);
        let forms: Vec<_> = keys.iter().map(|key| key.form).collect();
        let ranges = past_ranges(&forms, most);
        ranges
            .into_iter()
            .map(|range| range.condition(&keys))
            .collect()
    }

    #[test]
    fn keys_of_one_direction_are_one_range() {
        for most in [1, 4] {
            assert_eq!(conditions("a", most), ["a > x1"]);
            assert_eq!(conditions("aa", most), ["(a, b) > (x1, x2)"]);
            assert_eq!(conditions("ddd", most), ["(a, b, c) < (x1, x2, x3)"]);
            // Nulls are before the cursor.
            assert_eq!(conditions("Dd", most), ["(a, b) < (x1, x2)"]);
        }
    }

    #[test]
    fn each_direction_has_its_range() {
        assert_eq!(conditions("da", 4), ["a = x1 AND b > x2", "a < x1"]);
        assert_eq!(
            conditions("adda", 4),
            [
                "a = x1 AND b = x2 AND c = x3 AND d > x4",
                "a = x1 AND (b, c) < (x2, x3)",
                "a > x1"
            ]
        );
    }

    #[test]
    fn nulls_past_a_value_are_a_range() {
        assert_eq!(conditions("Aa", 4), ["(a, b) > (x1, x2)", "a IS NULL"]);
        assert_eq!(
            conditions("aAa", 4),
            [
                "a = x1 AND (b, c) > (x2, x3)",
                "a = x1 AND b IS NULL",
                "a > x1"
            ]
        );
    }

    #[test]
    fn a_cursor_may_have_nulls() {
        assert_eq!(conditions("la", 4), ["a IS NULL AND b > x2"]);
        assert_eq!(
            conditions("fa", 4),
            ["a IS NULL AND b > x2", "a IS NOT NULL"]
        );
        assert_eq!(
            conditions("al", 4),
            ["a > x1"],
            "nothing follows the null among equal keys"
        );
        assert_eq!(conditions("ll", 4), [""; 0]);
    }

    #[test]
    fn one_condition_is_bounded_by_the_first_key_where_an_index_can_serve_that() {
        assert_eq!(
            conditions("da", 1),
            ["a <= x1 AND (a < x1 OR a = x1 AND ((b > x2 OR b IS NULL)))"]
        );
        assert_eq!(
            conditions("Da", 1),
            ["a <= x1 AND (a < x1 OR a = x1 AND ((b > x2 OR b IS NULL)))"]
        );
        assert_eq!(
            conditions("Aa", 1),
            ["(a > x1 OR a IS NULL) OR a = x1 AND ((b > x2 OR b IS NULL))"]
        );
        assert_eq!(
            conditions("fa", 1),
            ["a IS NOT NULL OR a IS NULL AND ((b > x2 OR b IS NULL))"]
        );
    }

    #[test]
    fn the_number_of_ranges_is_bounded() {
        assert_eq!(
            conditions("AAA", 4),
            [
                "a = x1 AND ((b > x2 OR b IS NULL) OR b = x2 AND ((c > x3 OR c IS NULL)))",
                "a > x1",
                "a IS NULL"
            ]
        );
        for described in ["adada", "AAAAA", "fffff", "DADAD", "afAld"] {
            for most in 1..6 {
                let count = conditions(described, most).len();
                assert!(count <= most, "{described}: {count} of {most}");
            }
        }
    }

    #[test]
    fn the_row_of_a_cursor_has_its_keys() {
        let keys = keys("Al");
        assert_eq!(Range::of_cursor(2).condition(&keys), "a = x1 AND b IS NULL");
    }
}
