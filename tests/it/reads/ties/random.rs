//! Small random tables with many equal values: every page under every order is the part of the
//! whole that it should be.

use std::cmp::Ordering;

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{Rng as _, SeedableRng as _};

use super::{pages_from, serve, window};

const TABLES: usize = 4;
const ORDERS: usize = 3;
const NAMES: [Option<&str>; 6] = [None, Some(""), Some("A"), Some("a"), Some("b"), Some("ä")];

#[derive(Debug, Clone)]
struct Row {
    id: i64,
    name: Option<&'static str>,
    rank: Option<i64>,
    flag: bool,
}

#[derive(Debug, Clone, Copy)]
enum Key {
    Name,
    Rank,
    Flag,
}

/// A key and whether the greatest value and whether nulls come first.
type Order = Vec<(Key, bool, bool)>;

fn rows(rng: &mut StdRng) -> Vec<Row> {
    // Few values make many ties, many values make few.
    let most = *[2, 5, 40].choose(rng).unwrap();
    let mut rows: Vec<Row> = (1..=rng.random_range(0..9))
        .map(|id| Row {
            id,
            name: *NAMES.choose(rng).unwrap(),
            rank: Some(rng.random_range(0..most)).filter(|rank| *rank > 0),
            flag: rng.random_bool(0.5),
        })
        .collect();
    rows.shuffle(rng);
    rows
}

fn insert(rows: &[Row]) -> String {
    let mut sql = "TRUNCATE tb_thing;".to_owned();
    for Row {
        id,
        name,
        rank,
        flag,
    } in rows
    {
        let name = name.map_or("NULL".to_owned(), |name| format!("'{name}'"));
        let rank = rank.map_or("NULL".to_owned(), |rank| rank.to_string());
        sql += &format!(
            "INSERT INTO tb_thing (id, name, rank, flag) VALUES ({id}, {name}, {rank}, {flag});"
        );
    }
    sql
}

fn order(rng: &mut StdRng) -> Order {
    let mut keys = [Key::Name, Key::Rank, Key::Flag];
    keys.shuffle(rng);
    keys.into_iter()
        .take(rng.random_range(1..=3))
        .map(|key| (key, rng.random(), rng.random()))
        .collect()
}

fn written(order: &Order) -> String {
    let keys = order.iter().map(|(key, descending, nulls_first)| {
        let name = format!("{key:?}").to_lowercase();
        let direction = if *descending { "DESC" } else { "ASC" };
        format!(
            "{{{name}: {direction}_NULLS_{}}}",
            if *nulls_first { "FIRST" } else { "LAST" }
        )
    });
    keys.collect::<Vec<_>>().join(", ")
}

fn compare<T: Ord>(
    one: Option<T>,
    other: Option<T>,
    descending: bool,
    nulls_first: bool,
) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) if descending => other.cmp(&one),
        (Some(one), Some(other)) => one.cmp(&other),
        (one, other) if nulls_first => one.is_some().cmp(&other.is_some()),
        (one, other) => one.is_none().cmp(&other.is_none()),
    }
}

/// The ids in an order, where the id decides at last, in the direction of the key before it.
fn sorted(mut rows: Vec<Row>, order: &Order) -> Vec<i64> {
    rows.sort_by(|one, other| {
        let keys = order
            .iter()
            .map(|(key, descending, nulls_first)| match key {
                Key::Name => compare(one.name, other.name, *descending, *nulls_first),
                Key::Rank => compare(one.rank, other.rank, *descending, *nulls_first),
                Key::Flag => compare(Some(one.flag), Some(other.flag), *descending, *nulls_first),
            });
        let last = compare(
            Some(one.id),
            Some(other.id),
            order.last().is_some_and(|key| key.1),
            false,
        );
        keys.chain([last])
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    });
    rows.iter().map(|row| row.id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_of_random_rows_is_a_part_of_the_whole() {
    let seed = std::env::var("SVC_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(7);
    let mut rng = StdRng::seed_from_u64(seed);
    let (database, app) = serve("").await;
    for _ in 0..TABLES {
        let rows = rows(&mut rng);
        database.execute(&insert(&rows)).await;
        for _ in 0..ORDERS {
            let order = order(&mut rng);
            let (all, keys) = (sorted(rows.clone(), &order), written(&order));
            for limit in 1..=all.len() + 1 {
                for (offset, found) in pages_from(&app, &keys, limit, 0..=all.len() + 1).await {
                    assert_eq!(
                        found,
                        window(&all, limit, offset),
                        "{keys}: {limit} from {offset} of {rows:?}"
                    );
                }
                // One after the other they are the whole.
                let offsets = (0..all.len().max(1)).step_by(limit);
                let parts = pages_from(&app, &keys, limit, offsets).await;
                let whole: Vec<_> = parts.into_iter().flat_map(|(_, ids)| ids).collect();
                assert_eq!(whole, all, "{keys}: pages of {limit} of {rows:?}");
            }
        }
    }
    let texts = database.texts("v_thing").await;
    let with_id = texts
        .iter()
        .filter(|text| text[text.find("ORDER BY").unwrap()..].contains("\"id\""))
        .count();
    assert!(
        with_id > 0 && with_id < texts.len(),
        "both forms: {texts:?}"
    );
}
