//! Compares types with views: whether each field has a column or a key of `data`, and a value where
//! it requires one.

use super::finding::Finding;
use super::nulls::Nulls;
use super::snapshot::{Column, Keys, Relation, Snapshot};
use crate::program::{self, Description, Field, Place, Type};

/// The source in a view for a name.
enum Answer<'a> {
    Column(&'a Column),
    /// A key of `data`, which may be unverified.
    Key(Nulls),
    Nothing(Finding),
}

/// A key: its name, its view, and its source in that view.
struct Key<'a> {
    name: &'a str,
    source: &'a str,
    answer: Answer<'a>,
}

/// A field with its location.
struct At<'a> {
    ty: &'a Type,
    field: &'a Field,
    place: Place,
}

/// The mismatches between types and views.
pub(super) fn compare(description: &Description, database: &Snapshot) -> Vec<Finding> {
    let mut found = Vec::new();
    for ty in &description.types {
        let Some(view) = database.relation(&ty.source) else {
            let problem = format!("the database has no view or table `{}`", ty.source);
            found.push(Finding::new(
                &ty.place,
                &ty.name,
                problem,
                make_view(&ty.source, description, database),
            ));
            continue;
        };

        for field in &ty.fields {
            let at = At {
                ty,
                field,
                place: Place {
                    line: field.line,
                    ..ty.place.clone()
                },
            };

            match &field.relation {
                Some(relation) => found.extend(at.relation(relation, view, database)),
                None => found.extend(at.stored(view, &description.column_types)),
            }
        }
    }

    found
}

/// The fix for a missing view: an existing view with a similar name, or a new view.
fn make_view(source: &str, description: &Description, database: &Snapshot) -> String {
    let used: Vec<&str> = description.sources().collect();
    let names = database
        .relations
        .keys()
        .map(|path| path.rsplit('.').next().unwrap_or(path));
    let free = names.filter(|name| !used.contains(name));
    match nearest(source, free) {
        Some(name) => {
            format!("did you mean `{name}`? Otherwise create `{source}` in a file of db/schema: svc sql generate-view")
        }
        None => {
            "create it in a file of db/schema (svc sql generate-view writes one) and apply it: svc migrate up".to_owned()
        }
    }
}

/// The most similar name, with at most a few different letters.
fn nearest<'a>(name: &str, among: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distance =
        |other: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    let most = (name.chars().count() / 3).clamp(1, 3);
    among
        .map(|other| (distance(other), other))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, other)| other)
}

impl At<'_> {
    fn finding(&self, problem: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding::new(
            &self.place,
            format!("{}.{}", self.ty.name, self.field.name),
            problem,
            fix,
        )
    }

    /// A field stored in the view.
    fn stored(&self, view: &Relation, known: &[String]) -> Option<Finding> {
        let (source, stored) = (self.ty.source.as_str(), self.field.stored.as_deref()?);
        let column = match self.answer(view, source, stored, self.field.is_required()) {
            Answer::Nothing(finding) => return Some(finding),
            Answer::Key(nulls) => {
                return self.nullable(&nulls, &format!("the key `{stored}` of `data` in {source}"));
            }
            Answer::Column(column) => column,
        };

        if self
            .field
            .columns
            .as_ref()
            .is_none_or(|fitting| fits(&column.ty, fitting, known))
        {
            return self.nullable(&column.nulls, &format!("the column `{stored}` of {source}"));
        }

        // If a column does not fit, the value comes from `data`.
        match view.key(stored) {
            Some(nulls) => {
                self.nullable(&nulls, &format!("the key `{stored}` of `data` in {source}"))
            }
            None => {
                let problem = format!(
                    "it is {}, but the column `{stored}` of {source} is {}",
                    self.field.ty, column.ty
                );
                let fix = match rust_type(&column.ty) {
                    Some(ty) => format!(
                        "make the field {}, or cast the column in the view",
                        self.wrapped(ty)
                    ),
                    None => "cast the column in the view, or choose another type for the field"
                        .to_owned(),
                };

                Some(self.finding(problem, fix))
            }
        }
    }

    /// A Rust type with the field's own `Option`.
    fn wrapped(&self, ty: &str) -> String {
        if self.field.is_required() {
            format!("`{ty}`")
        } else {
            format!("`Option<{ty}>`")
        }
    }

    /// A required field whose value may be null.
    fn nullable(&self, nulls: &Nulls, of: &str) -> Option<Finding> {
        let Nulls::Possible(why) = nulls else {
            return None;
        };
        if !self.field.is_required() || self.field.non_null {
            return None;
        }

        let option = if self.field.relation.is_some() {
            "`Option<One<…>>`"
        } else {
            "an `Option`"
        };

        let fix = format!(
            "make the field {option}, exclude nulls (NOT NULL, coalesce), or declare it with #[svc(non_null)]"
        );

        Some(self.finding(
            format!("it is {}, but {of} may be null: {why}", self.field.ty),
            fix,
        ))
    }

    /// A field with rows of another view.
    fn relation(
        &self,
        relation: &program::Relation,
        view: &Relation,
        database: &Snapshot,
    ) -> Option<Finding> {
        let source = self.ty.source.as_str();
        let from = match self.keys((view, source), &relation.from, true) {
            Ok(from) => from,
            Err(finding) => return Some(finding),
        };

        let there_source = relation.source.as_deref()?;
        let to = match self.keys(
            (database.relation(there_source)?, there_source),
            &relation.to,
            true,
        ) {
            Ok(to) => to,
            Err(finding) => return Some(finding),
        };

        let mismatch = match &relation.through {
            Some(through) => self.join(through, (&from, &to), database),
            None => self.mismatch(&from, &to),
        };

        // A row without a key has no related rows; this only matters if the relation requires one.
        let missed = || {
            from.iter()
                .filter(|_| !relation.many)
                .find_map(|key| self.missed(key))
        };

        mismatch.or_else(missed)
    }

    /// A key that may be null, for a required relation.
    fn missed(
        &self,
        Key {
            name,
            source,
            answer,
        }: &Key<'_>,
    ) -> Option<Finding> {
        match answer {
            Answer::Column(column) => self.nullable(
                &column.nulls,
                &format!("its key, the column `{name}` of {source},"),
            ),
            Answer::Key(nulls) => {
                self.nullable(nulls, &format!("its key `{name}` of `data` in {source}"))
            }
            Answer::Nothing(_) => None,
        }
    }

    /// The keys at one end of a relation, or a finding about a missing one.
    fn keys<'a>(
        &self,
        (view, source): (&'a Relation, &'a str),
        names: &'a [String],
        is_required: bool,
    ) -> Result<Vec<Key<'a>>, Finding> {
        let keys = names
            .iter()
            .map(|name| match self.answer(view, source, name, is_required) {
                Answer::Nothing(finding) => Err(finding),
                answer => Ok(Key {
                    name,
                    source,
                    answer,
                }),
            });
        keys.collect()
    }

    /// The join view between two others.
    fn join(
        &self,
        through: &program::Through,
        (from, to): (&[Key<'_>], &[Key<'_>]),
        database: &Snapshot,
    ) -> Option<Finding> {
        let source = through.source.as_str();
        let Some(view) = database.relation(source) else {
            let problem =
                format!("the database has no view or table `{source}`, which joins its rows");
            return Some(self.finding(
                problem,
                "create it, or name another: #[relation(through = \"…\")]",
            ));
        };

        let ends = [(&through.here, from), (&through.there, to)];
        ends.into_iter().find_map(
            |(names, end)| match self.keys((view, source), names, false) {
                Ok(keys) => self.mismatch(&keys, end),
                Err(finding) => Some(finding),
            },
        )
    }

    /// Two keys that are compared, with columns of incompatible types.
    fn mismatch(&self, these: &[Key<'_>], those: &[Key<'_>]) -> Option<Finding> {
        these.iter().zip(those).find_map(|(one, other)| {
            let (Answer::Column(here), Answer::Column(there)) = (&one.answer, &other.answer) else {
                return None;
            };
            if family(&here.ty) == family(&there.ty) {
                return None;
            }

            let [one, other] = [(one, here), (other, there)]
                .map(|(key, column)| format!("`{}` of {} is {}", key.name, key.source, column.ty));
            Some(self.finding(
                format!("{one}, but {other}"),
                format!("name keys of the same type: {}", self.renaming()),
            ))
        })
    }

    fn answer<'a>(
        &self,
        view: &'a Relation,
        source: &str,
        name: &str,
        is_required: bool,
    ) -> Answer<'a> {
        if let Some(column) = view.columns.get(name) {
            return Answer::Column(column);
        }

        let nothing = |problem: String| {
            let known = view
                .columns
                .keys()
                .map(String::as_str)
                .chain(view.key_names())
                .filter(|known| *known != "data");

            let add = "add it to the view";
            Answer::Nothing(match nearest(name, known) {
                Some(other) => self.finding(
                    problem,
                    format!(
                        "did you mean `{other}`? Otherwise {add}: {}",
                        self.renaming()
                    ),
                ),
                None => self.finding(
                    problem,
                    format!("{add}, or name another: {}", self.renaming()),
                ),
            })
        };

        if !view.has_data() {
            return nothing(format!("{source} has no column `{name}`"));
        }

        match (&view.keys, view.key(name)) {
            (_, Some(nulls)) => Answer::Key(nulls),
            (Some(Keys::Defined(_)), None) => nothing(format!(
                "{source} has no column `{name}`, and its `data` has no such key"
            )),
            // A nullable key may also be absent.
            (Some(Keys::Seen(_)), None) if is_required => nothing(format!(
                "{source} has no column `{name}`, and the `data` of its first row has no such key"
            )),
            _ => Answer::Key(Nulls::Unknown),
        }
    }

    /// The attribute that names another column.
    fn renaming(&self) -> &'static str {
        match &self.field.relation {
            Some(relation) if relation.through.is_some() => {
                "#[relation(through = \"…\", here = \"…\", there = \"…\")]"
            }
            Some(_) => "#[relation(from = \"…\", to = \"…\")]",
            None => "#[svc(stored = \"…\")]",
        }
    }
}

impl Relation {
    /// Whether a key of `data` may be null; none if there is no such key.
    fn key(&self, name: &str) -> Option<Nulls> {
        if !self.has_data() {
            return None;
        }
        match &self.keys {
            Some(Keys::Defined(keys)) => keys.get(name).cloned(),
            Some(Keys::Seen(keys)) => keys.iter().any(|key| key == name).then_some(Nulls::Unknown),
            None => Some(Nulls::Unknown),
        }
    }

    fn key_names(&self) -> Vec<&str> {
        match &self.keys {
            Some(Keys::Defined(keys)) => keys.keys().map(String::as_str).collect(),
            Some(Keys::Seen(keys)) => keys.iter().map(String::as_str).collect(),
            None => Vec::new(),
        }
    }
}

/// Whether a column's type is among the fitting types; a type missing from `known` counts as
/// `other`.
fn fits(column: &str, fitting: &[String], known: &[String]) -> bool {
    let is_known = known.iter().any(|name| name == column);
    let name = if is_known { column } else { "other" };
    fitting.iter().any(|fit| fit == name)
}

/// The Rust type for a column.
fn rust_type(column: &str) -> Option<&'static str> {
    Some(match column {
        "bool" => "bool",
        "int2" | "int4" => "i32",
        "int8" => "i64",
        "float4" | "float8" => "f64",
        "numeric" => "Decimal",
        "text" | "varchar" | "bpchar" | "name" | "citext" => "String",
        "uuid" => "Uuid",
        "timestamptz" | "timestamp" => "DateTime<Utc>",
        "date" => "NaiveDate",
        "time" => "NaiveTime",
        _ => return None,
    })
}

/// Types whose values can be compared.
fn family(column: &str) -> &str {
    match column {
        "int2" | "int4" | "int8" | "numeric" => "number",
        "text" | "varchar" | "bpchar" | "name" | "citext" => "text",
        other => other,
    }
}
