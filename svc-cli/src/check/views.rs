//! Types against views: whether each field has a column or a key that can answer it.

use std::collections::HashMap;

use tokio_postgres::Client;

use super::catalogue::{self, Columns};
use crate::failure::Result;
use crate::program::{Description, Field, Type};

/// A view, as far as the catalogue and its first row tell of it.
struct View {
    columns: Columns,
    /// The keys of `data` in a row.
    keys: Option<Vec<String>>,
}

/// The answer of a view to a name.
enum Answer {
    /// By a column of this type.
    Column(String),
    /// By a key of `data`, as far as can be seen.
    Key,
    Nothing(String),
}

/// The places where the types and the database disagree.
pub(super) async fn compare(client: &Client, description: &Description) -> Result<Vec<String>> {
    let views = read(client, description).await?;
    let mut found = Vec::new();
    for ty in &description.types {
        match views.get(&ty.source) {
            None => found.push(format!(
                "{} ({}): the database has no view or table `{}`; make it in a file of db/schema",
                ty.name, ty.path, ty.source
            )),
            Some(view) => {
                let fields = ty
                    .fields
                    .iter()
                    .filter_map(|field| compare_field(ty, field, view, &views, &description.column_types));
                found.extend(fields);
            }
        }
    }
    for function in &description.functions {
        let arities = catalogue::arities(client, &function.name).await?;
        let (field, name, count) = (&function.field, &function.name, function.arguments);
        if arities.is_empty() {
            found.push(format!(
                "mutation {field}: the database has no function `{name}`; make it in a file of db/schema"
            ));
        } else if !arities.iter().any(|(least, most)| (*least..=*most).contains(&count)) {
            found.push(format!("mutation {field}: `{name}` does not take {count} arguments"));
        }
    }
    Ok(found)
}

async fn read(client: &Client, description: &Description) -> Result<HashMap<String, View>> {
    let related = description.types.iter().flat_map(|ty| &ty.fields).filter_map(|field| field.relation.as_ref());
    let related = related.filter_map(|relation| relation.source.clone());
    let mut names: Vec<String> = description.types.iter().map(|ty| ty.source.clone()).chain(related).collect();
    names.sort();
    names.dedup();
    let mut views = HashMap::new();
    for (name, columns) in catalogue::columns(client, &names).await? {
        let has_data = columns.get("data").is_some_and(|ty| ty == "json" || ty == "jsonb");
        let keys = if has_data { catalogue::keys(client, &name).await? } else { None };
        views.insert(name, View { columns, keys });
    }
    Ok(views)
}

fn compare_field(
    ty: &Type,
    field: &Field,
    view: &View,
    views: &HashMap<String, View>,
    known: &[String],
) -> Option<String> {
    let place = format!("{}.{} ({}::{})", ty.name, field.name, ty.path, field.rust);
    if let Some(relation) = &field.relation {
        let from = view.answer(&ty.source, &relation.from, field.is_required());
        let there = relation.source.as_deref().and_then(|source| Some((source, views.get(source)?)));
        let to = there.map(|(source, there)| there.answer(source, &relation.to, relation.many));
        let why = [Some(from), to].into_iter().flatten().find_map(Answer::nothing)?;
        return Some(format!("{place}: the relation needs a key, and {why}"));
    }
    let stored = field.stored.as_deref()?;
    match view.answer(&ty.source, stored, field.is_required()) {
        Answer::Nothing(why) => Some(format!("{place}: {why}")),
        Answer::Key => None,
        Answer::Column(column) => {
            let fits = field.columns.as_ref().is_none_or(|fitting| fits(&column, fitting, known));
            // Where a column does not fit, `data` answers.
            let by_data = view.has_data() && view.keys.as_ref().is_none_or(|keys| keys.iter().any(|key| key == stored));
            (!fits && !by_data)
                .then(|| format!("{place}: it is {}, and the column `{stored}` of {} is {column}", field.ty, ty.source))
        }
    }
}

/// Whether a column's type is one of those that fit, which name the `known` ones and all others together.
fn fits(column: &str, fitting: &[String], known: &[String]) -> bool {
    let is_known = known.iter().any(|name| name == column);
    let name = if is_known { column } else { "other" };
    fitting.iter().any(|fit| fit == name)
}

impl Answer {
    fn nothing(self) -> Option<String> {
        match self {
            Self::Nothing(why) => Some(why),
            _ => None,
        }
    }
}

impl View {
    fn has_data(&self) -> bool {
        self.columns.get("data").is_some_and(|ty| ty == "json" || ty == "jsonb")
    }

    /// The answer of the view to a name. A key that may be null may also be absent.
    fn answer(&self, view: &str, name: &str, is_required: bool) -> Answer {
        if let Some(ty) = self.columns.get(name) {
            return Answer::Column(ty.clone());
        }
        if !self.has_data() {
            return Answer::Nothing(format!("{view} has no column `{name}`"));
        }
        match &self.keys {
            Some(keys) if is_required && keys.iter().all(|key| key != name) => {
                Answer::Nothing(format!("{view} has no column `{name}`, and the `data` of its first row no such key"))
            }
            _ => Answer::Key,
        }
    }
}
