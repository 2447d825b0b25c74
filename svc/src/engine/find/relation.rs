//! Relations of values that are in hand already: the rows of all parents with one statement.

use super::read::Read;
use super::whole::WholeRows;
use crate::db::{DbError, Statement};
use crate::engine::complete::{Cells, Piece, Records, RowNode, RowShape, complete_all};
use crate::engine::env::Env;
use crate::engine::path::Path;
use crate::engine::plan::{Calls, PlanField};
use crate::engine::typed::Decoded;
use crate::schema::{Items as _, Relation, Resolved, StoredNode};

/// A key, unless the parent has none, and where the parent's field stands.
type Parent<'a> = (Option<&'a str>, &'a Path<'a>);

/// Follows a relation from many parents; a piece for each.
pub(crate) async fn write_relation<'a>(
    env: &'a Env<'a>,
    field: &'a PlanField,
    relation: Relation,
    parents: Vec<Parent<'a>>,
) -> Vec<Piece> {
    let mut keys: Vec<String> = parents.iter().filter_map(|(key, _)| key.map(str::to_owned)).collect();
    keys.sort_unstable();
    keys.dedup();
    if keys.is_empty() {
        // No parent leads anywhere, so there is nothing to ask.
        let none = Decoded::new(env.model, relation.row, Vec::new());
        let none = if relation.many { Resolved::List(&none) } else { Resolved::Null };
        return complete_all(env, field, &field.ty, parents.iter().map(|(_, path)| (none, *path)).collect()).await;
    }
    let result = if field.children.calls() > Calls::None {
        whole(env, field, relation, &keys, &parents).await
    } else {
        plain(env, field, relation, &keys, &parents).await
    };
    result.unwrap_or_else(|error| {
        let error = error.into_error();
        parents.iter().map(|(_, path)| Piece::failed(env, &error, field, path)).collect()
    })
}

/// The rows go straight to bytes.
async fn plain(
    env: &Env<'_>,
    field: &PlanField,
    relation: Relation,
    keys: &[String],
    parents: &[Parent<'_>],
) -> Result<Vec<Piece>, DbError> {
    let catalogue = env.database.catalogue().await?;
    let (query, shape) = Read::relation(env, field, relation)?.query(env, &catalogue, field)?;
    let statement = Statement::related(env.model, &catalogue, &relation, &query, keys.to_vec())?;
    let rows = env.database.fetch(env.session(), &statement).await?;
    let nodes: Vec<_> = (0..keys.len()).map(|row| node(rows.cell(row, 0), &shape, relation.many)).collect();
    let none = if relation.many { RowNode::Records(Records::default(), &shape) } else { RowNode::Null };
    let spots = parents.iter().map(|(key, path)| {
        let node = position(keys, *key).map_or(&none, |at| &nodes[at]);
        (Resolved::Row(StoredNode(node)), *path)
    });
    Ok(complete_all(env, field, &field.ty, spots.collect()).await)
}

fn node<'a>(bytes: Option<&'a [u8]>, shape: &'a RowShape, many: bool) -> RowNode<'a> {
    match bytes {
        Some(bytes) if many => RowNode::Records(Records::new(bytes), shape),
        bytes => bytes.and_then(Cells::record).map_or(RowNode::Null, |cells| RowNode::Row(cells, shape)),
    }
}

/// The rows become the user's structs, whose methods are called.
async fn whole(
    env: &Env<'_>,
    field: &PlanField,
    relation: Relation,
    keys: &[String],
    parents: &[Parent<'_>],
) -> Result<Vec<Piece>, DbError> {
    let catalogue = env.database.catalogue().await?;
    let (list, whole) = WholeRows::new(env.model, &catalogue, relation.row)?;
    let query = Read::relation(env, field, relation)?.reading(list);
    let statement = Statement::related(env.model, &catalogue, &relation, &query, keys.to_vec())?;
    let rows = env.database.fetch(env.session(), &statement).await?;
    let decoded = (0..keys.len()).map(|row| {
        let records: Vec<_> = match rows.cell(row, 0) {
            Some(bytes) if relation.many => Records::new(bytes).iter().collect(),
            bytes => bytes.and_then(Cells::record).into_iter().collect(),
        };
        Decoded::new(env.model, relation.row, records.into_iter().map(|cells| whole.object(cells)).collect())
    });
    let decoded: Vec<_> = decoded.collect();
    let none = Decoded::new(env.model, relation.row, Vec::new());
    let spots = parents.iter().map(|(key, path)| {
        let rows = position(keys, *key).map_or(&none, |at| &decoded[at]);
        let value = match relation.many {
            true => Resolved::List(rows),
            false if rows.is_empty() => Resolved::Null,
            false => rows.get(0),
        };
        (value, *path)
    });
    Ok(complete_all(env, field, &field.ty, spots.collect()).await)
}

fn position(keys: &[String], key: Option<&str>) -> Option<usize> {
    let key = key?;
    keys.binary_search_by(|known| known.as_str().cmp(key)).ok()
}
