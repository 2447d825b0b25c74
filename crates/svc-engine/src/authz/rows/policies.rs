//! The application's policies for rows and masked fields.

use std::any::TypeId;
use std::collections::{HashMap, HashSet};

use super::RowDecision;
use crate::request::Context;
use crate::sql::{Filter, RowRule, Subject};
use svc_core::Result;
use svc_core::schema::{FieldDef, FieldKind, Model, SvcType, TypeIndex, TypeKind};

type Decide = Box<dyn Fn(&Context<'_>) -> Result<RowDecision> + Send + Sync>;

/// A policy for the rows of a Rust type, or for one of their fields.
pub struct RowPolicy {
    row: TypeId,
    type_name: &'static str,
    /// The masked field, by its Rust name.
    field: Option<String>,
    decide: Decide,
}

impl RowPolicy {
    pub fn new<T: SvcType>(
        field: Option<String>,
        decide: impl Fn(&Context<'_>) -> Result<RowDecision> + Send + Sync + 'static,
    ) -> Self {
        let (row, type_name) = (TypeId::of::<T>(), std::any::type_name::<T>());
        Self {
            row,
            type_name,
            field,
            decide: Box::new(decide),
        }
    }

    /// Resolves the subject of the policy.
    ///
    /// # Errors
    /// The reason why it cannot be applied.
    fn about(&self, model: &Model) -> Result<About, String> {
        let Self {
            type_name, field, ..
        } = self;
        let index = model
            .by_rust
            .get(&self.row)
            .filter(|index| !model.possible_types(**index).is_empty());
        let index = *index.ok_or_else(|| {
            format!(
                "there is a row policy for `{type_name}`, of which the schema has no rows; give it for a type with a \
                 `sql_source` that an operation or another type uses, or that is listed in `.types(…)`"
            )
        })?;

        let Some(name) = field else {
            return Ok(About {
                row: index,
                stored: None,
            });
        };

        let object = model.object(index).filter(|object| object.source.is_some());
        let object = object.ok_or_else(|| {
            format!(
                "`{name}` of `{type_name}` is masked, which is not a struct with a `sql_source`"
            )
        })?;

        match object.fields.values().find(|field| field.rust == name) {
            Some(FieldDef {
                kind: FieldKind::Stored { stored, .. },
                ty,
                ..
            }) if !ty.is_non_null() => {
                if let Some(place) = embedding(model, index) {
                    return Err(format!(
                        "`{name}` of `{type_name}` is masked, and `{place}` embeds such rows, which a mask does not \
                         reach; make it a relation, or give it a type of its own"
                    ));
                }
                Ok(About {
                    row: index,
                    stored: Some(stored),
                })
            }
            Some(FieldDef {
                kind: FieldKind::Stored { .. },
                ..
            }) => Err(format!(
                "`{name}` of `{type_name}` is masked, so it can be null; declare it as an `Option`"
            )),
            _ => Err(format!(
                "`{name}` of `{type_name}` is masked, which is not a stored field of it, as Rust names it"
            )),
        }
    }
}

/// Returns a field that embeds values of a type in other rows.
fn embedding(model: &Model, index: TypeIndex) -> Option<&str> {
    let of_views = (0..model.types.len()).filter(|row| model.source(*row).is_some());
    let mut open: Vec<TypeIndex> = of_views
        .flat_map(|row| model.possible_types(row))
        .copied()
        .collect();
    let mut seen = HashSet::new();
    while let Some(owner) = open.pop() {
        // Types can embed each other in a cycle, so each is visited once.
        let fields = model
            .object(owner)
            .filter(|_| seen.insert(owner))
            .into_iter();
        for field in fields.flat_map(|object| object.fields.values()) {
            if let FieldKind::Stored { .. } = field.kind {
                let held = model.possible_types(field.ty.named());
                if held.contains(&index) {
                    return Some(&field.path);
                }
                open.extend(held);
            }
        }
    }

    None
}

/// The subject of a policy: rows of a type, or a stored field of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct About {
    row: TypeIndex,
    stored: Option<&'static str>,
}

/// Two types over the same view, one with a row policy and one without.
#[derive(Debug, PartialEq, Eq)]
pub struct Twins<'m> {
    pub view: &'m str,
    pub governed: &'m str,
    pub open: &'m str,
}

/// The row policies of an application.
#[derive(Default)]
pub struct RowPolicies {
    policies: HashMap<About, Vec<Decide>>,
    /// The types and fields bound by a policy: the ones with a policy, their implementations, and
    /// the types they implement.
    governed: HashMap<About, usize>,
    all: Vec<Governed>,
}

/// The policies that bind rows of a type, or a field of them.
struct Governed {
    /// The name of the type, for messages.
    name: String,
    /// The policies for the type itself and for the types it implements.
    own: Vec<About>,
    /// For an interface or union: its members, each with the additional policies that bind it.
    members: Option<Vec<(TypeIndex, Vec<About>)>>,
}

impl RowPolicies {
    /// Resolves the policies against the types of a schema.
    ///
    /// # Errors
    /// The reason why one cannot be applied.
    pub fn new(model: &Model, all: Vec<RowPolicy>) -> Result<Self, String> {
        let mut known = Self::default();
        for policy in all {
            known
                .policies
                .entry(policy.about(model)?)
                .or_default()
                .push(policy.decide);
        }

        let mut names: Vec<Option<&'static str>> =
            known.policies.keys().map(|about| about.stored).collect();
        names.sort_unstable();
        names.dedup();

        // A policy also binds the members of its type and the types that contain it, so all types
        // are examined.
        for stored in names {
            for row in 0..model.types.len() {
                let about = About { row, stored };
                if let Some(governed) = known.govern_about(model, about) {
                    known.governed.insert(about, known.all.len());
                    known.all.push(governed);
                }
            }
        }

        Ok(known)
    }

    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// Whether a policy binds the rows of a type, or a field of them.
    pub(crate) fn govern(&self, row: TypeIndex) -> bool {
        self.governed.keys().any(|about| about.row == row)
    }

    /// The types without a row policy that read the same view as a type with one.
    pub fn ungoverned_twins<'m>(&self, model: &'m Model) -> Vec<Twins<'m>> {
        let is_governed = |row: TypeIndex| self.governed.contains_key(&About { row, stored: None });
        let readers: Vec<_> = (0..model.types.len())
            .filter_map(|row| Some((row, model.source(row)?)))
            .collect();
        let name = |row: TypeIndex| model.types[row].name.as_str();
        let twin = |(open, view): &(TypeIndex, &'m str)| {
            let twin = readers
                .iter()
                .find(|(row, other)| other == view && is_governed(*row))?;
            (!is_governed(*open)).then(|| Twins {
                view,
                governed: name(twin.0),
                open: name(*open),
            })
        };

        readers.iter().filter_map(twin).collect()
    }

    /// The number of subjects bound by policies.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The mask of a stored field, in rows of a type.
    pub(super) fn mask(&self, row: TypeIndex, stored: &str) -> Option<Subject> {
        let is_it = |about: &About| about.row == row && about.stored == Some(stored);
        self.governed
            .iter()
            .find(|(about, _)| is_it(about))
            .map(|(_, at)| Subject::Mask(*at))
    }

    /// The index of a subject, if a policy binds it.
    pub(super) fn position(&self, subject: Subject) -> Option<usize> {
        match subject {
            Subject::Rows(row) => self.governed.get(&About { row, stored: None }).copied(),
            Subject::Mask(at) => Some(at),
        }
    }

    /// The name of the bound type.
    pub(super) fn name(&self, at: usize) -> &str {
        &self.all[at].name
    }

    fn govern_about(&self, model: &Model, about: About) -> Option<Governed> {
        let own = self.governors(model, about);
        let members = match &model.types[about.row].kind {
            TypeKind::Abstract(abstraction) => {
                // The policies that bind all rows are not repeated for each member.
                let others = |row: TypeIndex| {
                    let governors = self.governors(model, About { row, ..about });
                    governors
                        .into_iter()
                        .filter(|other| !own.contains(other))
                        .collect()
                };

                Some(
                    abstraction
                        .members
                        .iter()
                        .map(|member| (*member, others(*member)))
                        .collect::<Vec<(_, Vec<_>)>>(),
                )
            }
            _ => None,
        };

        let is_any = !own.is_empty()
            || members
                .iter()
                .flatten()
                .any(|(_, governors)| !governors.is_empty());

        is_any.then(|| Governed {
            name: model.types[about.row].name.clone(),
            own,
            members,
        })
    }

    /// The policies for a type and for the interfaces and unions it belongs to.
    fn governors(&self, model: &Model, about: About) -> Vec<About> {
        let is_of = |other: &About| {
            let is_of_type =
                other.row == about.row || model.possible_types(other.row).contains(&about.row);
            is_of_type && other.stored == about.stored
        };
        let mut governors: Vec<About> = self.policies.keys().copied().filter(is_of).collect();

        // A map has another order in each process; sorted, all instances send the same SQL text.
        governors.sort_unstable();
        governors
    }

    /// The combined condition of these policies; `None` if there is none. A row must be permitted
    /// for each type.
    fn condition(&self, governors: &[About], context: &Context<'_>) -> Result<Option<Filter>> {
        let mut all = Vec::new();
        for decides in governors
            .iter()
            .filter_map(|about| self.policies.get(about))
        {
            let decisions = decides
                .iter()
                .map(|decide| decide(context))
                .collect::<Result<Vec<_>>>()?;
            all.extend(RowDecision::together(decisions));
        }

        Ok(if all.len() < 2 {
            all.pop()
        } else {
            Some(Filter::All(all))
        })
    }

    /// The rule for a subject, for one request.
    ///
    /// # Errors
    /// The errors of the policies.
    pub(super) fn rule(&self, at: usize, context: &Context<'_>) -> Result<Option<RowRule>> {
        let Governed { own, members, .. } = &self.all[at];
        let filter = self.condition(own, context)?;
        let members = members.iter().flatten();
        let members =
            members.map(|(member, governors)| Ok((*member, self.condition(governors, context)?)));
        let members = members.collect::<Result<Vec<_>>>()?;
        let everything = || Filter::All(Vec::new());
        let members = members
            .iter()
            .any(|(_, condition)| condition.is_some())
            .then(|| {
                let condition = |(member, condition): (_, Option<Filter>)| {
                    (member, condition.unwrap_or_else(everything))
                };
                members.into_iter().map(condition).collect()
            });

        let is_any = filter.is_some() || members.is_some();

        Ok(is_any.then(|| RowRule {
            filter: filter.unwrap_or_else(everything),
            members,
        }))
    }
}
