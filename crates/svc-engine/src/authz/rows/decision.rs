use crate::sql::Filter;

/// The decision of a row policy: the rows of a type that a request may read; see
/// `AppOptions::row_policy`.
///
/// Several policies may decide about the same rows. A row is readable if at least one of them
/// permits it and none denies it, so if all abstain, no row is readable.
///
/// ```
/// use svc::authz::RowDecision;
/// use svc::db::col;
///
/// let all = RowDecision::allow();
/// let own = RowDecision::allow_where(col("author_id").eq(7));
/// let published = RowDecision::allow_where(col("status").eq("published").and(col("deleted_at").is_null()));
/// let unlocked = RowDecision::deny_where(col("locked").eq(true));
/// # drop((all, own, published, unlocked));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RowDecision(Verdict);

#[derive(Debug, Clone, PartialEq)]
enum Verdict {
    Allow(Filter),
    Deny(Filter),
    Abstain,
}

impl RowDecision {
    /// Permits all rows.
    #[must_use]
    pub fn allow() -> Self {
        Self::allow_where(Filter::All(Vec::new()))
    }

    /// Permits the rows that match. The condition has SQL semantics: a row is not permitted if a
    /// null makes the condition unknown.
    #[must_use]
    pub fn allow_where(condition: Filter) -> Self {
        Self(Verdict::Allow(condition))
    }

    /// Denies all rows, even if other policies permit them.
    #[must_use]
    pub fn deny() -> Self {
        Self::deny_where(Filter::All(Vec::new()))
    }

    /// Denies the rows that match, even if other policies permit them. A row is also denied if a
    /// null makes the condition unknown.
    #[must_use]
    pub fn deny_where(condition: Filter) -> Self {
        Self(Verdict::Deny(condition))
    }

    /// Neither permits nor denies any row; other policies decide.
    #[must_use]
    pub fn abstain() -> Self {
        Self(Verdict::Abstain)
    }

    /// Combines several decisions into one condition; `None` if all rows are readable.
    pub(super) fn together(decisions: impl IntoIterator<Item = Self>) -> Option<Filter> {
        let (mut permitted, mut all) = (Vec::new(), Vec::new());
        for decision in decisions {
            match decision.0 {
                Verdict::Allow(condition) => permitted.push(condition),
                // If a null makes the condition unknown, so is its `NOT`, and SQL leaves the row
                // out.
                Verdict::Deny(condition) => all.push(condition.not()),
                Verdict::Abstain => {}
            }
        }

        let everything = Filter::All(Vec::new());

        // Without any permit, this adds `Any` of nothing, which is false for all rows.
        if !permitted.contains(&everything) {
            all.push(if permitted.len() == 1 {
                permitted.remove(0)
            } else {
                Filter::Any(permitted)
            });
        }

        match all.len() {
            0 => None,
            1 => all.pop(),
            _ => Some(Filter::All(all)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::col;

    #[test]
    fn permits_add_up_and_denials_win() {
        let (one, other) = (|| col("a").eq(1), || col("b").eq(2));
        let together = |decisions: &[RowDecision]| RowDecision::together(decisions.iter().cloned());
        let nothing = Some(Filter::Any(Vec::new()));

        assert_eq!(together(&[]), nothing);
        assert_eq!(together(&[RowDecision::abstain()]), nothing);
        assert_eq!(
            together(&[RowDecision::allow(), RowDecision::allow_where(one())]),
            None
        );
        let both = [
            RowDecision::allow_where(one()),
            RowDecision::abstain(),
            RowDecision::allow_where(other()),
        ];

        assert_eq!(together(&both), Some(Filter::Any(vec![one(), other()])));
        let denied = [RowDecision::deny_where(one()), RowDecision::allow()];
        assert_eq!(together(&denied), Some(one().not()));
        let denied = [
            RowDecision::allow_where(other()),
            RowDecision::deny_where(one()),
        ];
        assert_eq!(
            together(&denied),
            Some(Filter::All(vec![one().not(), other()]))
        );
        let all_denied = [RowDecision::allow(), RowDecision::deny()];

        assert_eq!(together(&all_denied), Some(Filter::All(Vec::new()).not()));
    }
}
