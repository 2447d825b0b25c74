//! Row rules: policy conditions, applied by a statement wherever it reads rows.
//!
//! The text of a statement can be reused for all requests whose rules have the same form. Therefore
//! the values of a rule are bound once per statement, where it is first needed, and the statement
//! remembers their position.

use std::fmt;
use std::sync::Arc;

use super::shape::{Checks, bind_filter, same_filter};
use crate::sql::Builder;
use crate::sql::expr::{RowScope, Scope};
use crate::sql::ir::Filter;
use crate::sql::predicate::SEMI_JOINS;
use svc_core::Error;
use svc_core::schema::TypeIndex;
use svc_postgres::{Catalog, DbError, Param, quote_literal};

/// The subject of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// The rows of a type.
    Rows(TypeIndex),
    /// A masked field, by its number among the masked fields of the program.
    Mask(usize),
}

/// The row rules of a request.
pub trait RowRules: fmt::Debug + Send + Sync {
    /// The rule for a subject; `None` if nothing is hidden.
    ///
    /// # Errors
    /// If the policy cannot decide, which denies access.
    fn rule(&self, subject: Subject) -> Result<Option<Arc<RowRule>>, Error>;

    /// The mask of a stored field in rows of a type.
    fn mask(&self, row: TypeIndex, stored: &str) -> Option<Subject>;

    /// All rules, in an order that is the same for all requests.
    ///
    /// # Errors
    /// If a policy cannot decide.
    fn all(&self) -> Result<Vec<Option<Arc<RowRule>>>, Error>;
}

/// A condition from policies, in SQL's three-valued logic: a row passes if the condition is true,
/// but not if it is unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct RowRule {
    /// The condition on all rows.
    pub filter: Filter,
    /// For rows of several types, the additional condition for each type. Rows of other types do
    /// not pass the rule.
    pub(crate) members: Option<Vec<(TypeIndex, Filter)>>,
}

impl RowRule {
    /// The rule without its values.
    fn form(&self) -> Self {
        let members = self.members.as_ref();
        let bare = |(row, filter): &(TypeIndex, Filter)| (*row, filter.without_values());
        Self {
            filter: self.filter.without_values(),
            members: members.map(|all| all.iter().map(bare).collect()),
        }
    }

    fn has_form_of(&self, other: &Self) -> bool {
        let same = |(one, other): (&(TypeIndex, Filter), &(TypeIndex, Filter))| {
            one.0 == other.0 && same_filter(&one.1, &other.1)
        };

        let members = match (&self.members, &other.members) {
            (None, None) => true,
            (Some(one), Some(other)) => one.len() == other.len() && one.iter().zip(other).all(same),
            _ => false,
        };

        members && same_filter(&self.filter, &other.filter)
    }

    fn filters(&self) -> impl Iterator<Item = &Filter> {
        [&self.filter]
            .into_iter()
            .chain(self.members.iter().flatten().map(|(_, filter)| filter))
    }
}

/// A rule used by a statement, and the position of its values.
#[derive(Debug)]
pub(in crate::sql) struct Ruled {
    subject: Subject,
    rule: Option<Arc<RowRule>>,
    /// The number of values that are bound before the rule's own.
    at: usize,
    checks: Checks,
}

/// The checks and rules under which the text of a statement can be reused.
#[derive(Debug)]
pub(crate) struct Reuse {
    pub(crate) checks: Checks,
    pub(crate) rules: KnownRules,
}

/// The rules that a statement was written for, in the order of their values.
#[derive(Debug, Default)]
pub(crate) struct KnownRules(Vec<KnownRule>);

#[derive(Debug)]
struct KnownRule {
    subject: Subject,
    form: Option<RowRule>,
    at: usize,
    checks: Checks,
}

impl KnownRules {
    fn of(ruled: Vec<Ruled>) -> Self {
        let known = |Ruled {
                         subject,
                         rule,
                         at,
                         checks,
                     }| KnownRule {
            subject,
            form: rule.map(|rule: Arc<RowRule>| rule.form()),
            at,
            checks,
        };

        Self(ruled.into_iter().map(known).collect())
    }

    /// Inserts the values of a request's rules into the bound values. Returns `false` if its rules
    /// need a different text.
    ///
    /// # Errors
    /// If a policy cannot decide, or a value cannot be bound.
    pub(crate) fn bind(
        &self,
        rules: Option<&dyn RowRules>,
        catalog: &Catalog,
        params: &mut Vec<Param>,
    ) -> Result<bool, DbError> {
        for known in &self.0 {
            let rule = rules
                .map_or(Ok(None), |rules| rules.rule(known.subject))
                .map_err(DbError::refused)?;
            let rule = match (&rule, &known.form) {
                (None, None) => continue,
                (Some(rule), Some(form)) if rule.has_form_of(form) => rule,
                _ => return Ok(false),
            };

            let (mut checks, mut own) = (known.checks.iter(), Vec::new());
            for filter in rule.filters() {
                // Errors in it are not the client's.
                if !bind_filter(filter, catalog, &mut checks, &mut own)
                    .map_err(DbError::of_policy)?
                {
                    return Ok(false);
                }
            }

            // The rules are in the order of their positions, so the values of the earlier rules are
            // already in place.
            params.splice(known.at..known.at, own);
        }

        Ok(true)
    }

    /// The number of conditions, to estimate the size of cached statements.
    pub(crate) fn conditions(&self) -> usize {
        self.0.iter().map(|known| known.checks.len() + 1).sum()
    }
}

impl Builder<'_> {
    /// Returns the conditions for reusing the statement with other values; `None` if it cannot be
    /// reused.
    pub(in crate::sql) fn reuse(&mut self) -> Option<Reuse> {
        let rules = KnownRules::of(std::mem::take(&mut self.ruled));
        (!self.depends_on_values).then(|| Reuse {
            checks: std::mem::take(&mut self.checks),
            rules,
        })
    }
}

impl<'a> Builder<'a> {
    /// The condition that a policy applies to these rows, if there is one. Inside conditions of
    /// policies, all rows are visible.
    pub(in crate::sql) fn permitted(
        &mut self,
        rows: &RowScope<'a>,
    ) -> Result<Option<String>, DbError> {
        self.ruled(Subject::Rows(rows.row), rows)
    }

    /// The mask of a stored field of these rows.
    pub(in crate::sql) fn mask(&self, rows: &RowScope<'_>, stored: &str) -> Option<Subject> {
        self.rules
            .filter(|_| !self.is_ruling)?
            .mask(rows.row, stored)
    }

    /// A value of a stored field, or null if the field is masked.
    pub(in crate::sql) fn masked(
        &mut self,
        scope: &Scope<'a>,
        stored: &str,
        value: String,
    ) -> Result<String, DbError> {
        // An object inside of a row has no masks: the mask of its stored field hides the whole
        // object.
        let Scope::Row(rows) = scope else {
            return Ok(value);
        };

        let Some(mask) = self.mask(rows, stored) else {
            return Ok(value);
        };

        // Such a condition is never planned as a join, and needs the same text in `GROUP BY` and
        // elsewhere.
        let related = std::mem::replace(&mut self.related_conditions, SEMI_JOINS);
        let shown = self.ruled(mask, rows);
        self.related_conditions = related;
        let shown = shown?;

        Ok(format!(
            "CASE WHEN {} THEN {value} END",
            shown.as_deref().unwrap_or("true")
        ))
    }

    /// Whether the best plan depends on the values of the policy for these rows.
    pub(super) fn rule_replans(&self, row: TypeIndex) -> bool {
        let known = self
            .ruled
            .iter()
            .find(|known| known.subject == Subject::Rows(row));
        known
            .and_then(|known| known.rule.as_ref())
            .is_some_and(|rule| rule.filters().any(Filter::replans))
    }

    fn ruled(&mut self, subject: Subject, rows: &RowScope<'a>) -> Result<Option<String>, DbError> {
        // A policy reads all rows: its conditions would otherwise apply policies to themselves
        // without end.
        let Some(rules) = self.rules.filter(|_| !self.is_ruling) else {
            return Ok(None);
        };

        let known = self.ruled.iter().position(|known| known.subject == subject);
        let index = match known {
            Some(index) => index,
            None => {
                let rule = rules.rule(subject).map_err(DbError::refused)?;
                self.ruled.push(Ruled {
                    subject,
                    rule,
                    at: self.params.len(),
                    checks: Checks::new(),
                });
                self.ruled.len() - 1
            }
        };

        let Some(rule) = self.ruled[index].rule.clone() else {
            return Ok(None);
        };

        self.bound_again = known.map(|index| self.ruled[index].at);
        let text = std::mem::take(&mut self.text);

        // The checks of a rule are kept apart from those of the filter, because a reused statement
        // binds the values of both separately.
        let checks = std::mem::take(&mut self.checks);
        let written = self.ruling(|builder| builder.rule(rows, &rule));

        self.bound_again = None;
        let rule = std::mem::replace(&mut self.text, text);
        let checks = std::mem::replace(&mut self.checks, checks);
        if known.is_none() {
            self.ruled[index].checks = checks;
        }

        written.map(|()| Some(rule))
    }

    /// Writes a condition of a policy: in SQL's three-valued logic, over all rows. Errors in it are
    /// not the client's.
    pub(in crate::sql) fn ruling(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        let outer = std::mem::replace(&mut self.is_ruling, true);
        let written = write(self);
        self.is_ruling = outer;
        written.map_err(DbError::of_policy)
    }

    pub(super) fn rule(&mut self, rows: &RowScope<'a>, rule: &RowRule) -> Result<(), DbError> {
        self.text.push('(');
        self.filter(&Scope::Row(rows.clone()), &rule.filter)?;

        if let Some(members) = &rule.members {
            self.text.push_str(" AND (false");
            for (member, filter) in members {
                self.text.push_str(" OR ");
                self.member(rows, *member, filter)?;
            }
            self.text.push(')');
        }

        self.text.push(')');

        Ok(())
    }

    /// The condition on the rows of one of several types.
    fn member(
        &mut self,
        rows: &RowScope<'a>,
        member: TypeIndex,
        filter: &Filter,
    ) -> Result<(), DbError> {
        let scope = Scope::Row(RowScope {
            row: member,
            ..rows.clone()
        });
        let type_name = self.key(&scope, "__typename", "from")?.sql;
        let name = quote_literal(&self.model.types[member].name);
        self.text.push_str(&format!("({type_name} = {name} AND "));
        self.filter(&scope, filter)?;
        self.text.push(')');

        Ok(())
    }
}
