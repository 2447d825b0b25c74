use crate::sql::Filter;

/// The decision of a row policy: which rows of a type a request may read; see
/// [`AppOptions::row_policy`](crate::AppOptions::row_policy).
///
/// Several policies may decide about the same rows. A row is read where one of them permits it and none denies it, so
/// where all abstain nothing is read.
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
    /// All rows are permitted.
    #[must_use]
    pub fn allow() -> Self {
        Self::allow_where(Filter::All(Vec::new()))
    }

    /// The rows that match are permitted. The condition is one of SQL: what it does not know because of a null it does
    /// not permit.
    #[must_use]
    pub fn allow_where(condition: Filter) -> Self {
        Self(Verdict::Allow(condition))
    }

    /// No row is read, whatever other policies permit.
    #[must_use]
    pub fn deny() -> Self {
        Self::deny_where(Filter::All(Vec::new()))
    }

    /// The rows that match are not read, whatever other policies permit. What the condition does not know because of a
    /// null is not read either.
    #[must_use]
    pub fn deny_where(condition: Filter) -> Self {
        Self(Verdict::Deny(condition))
    }

    /// No row is permitted or denied; other policies decide.
    #[must_use]
    pub fn abstain() -> Self {
        Self(Verdict::Abstain)
    }

    /// The condition of several decisions together; `None` where they leave all rows.
    pub(super) fn together(decisions: impl IntoIterator<Item = Self>) -> Option<Filter> {
        let (mut permitted, mut all) = (Vec::new(), Vec::new());
        for decision in decisions {
            match decision.0 {
                Verdict::Allow(condition) => permitted.push(condition),
                Verdict::Deny(condition) => all.push(condition.not()),
                Verdict::Abstain => {}
            }
        }
        let everything = Filter::All(Vec::new());
        if !permitted.contains(&everything) {
            all.push(if permitted.len() == 1 { permitted.remove(0) } else { Filter::Any(permitted) });
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
        assert_eq!(together(&[RowDecision::allow(), RowDecision::allow_where(one())]), None);
        let both = [RowDecision::allow_where(one()), RowDecision::abstain(), RowDecision::allow_where(other())];
        assert_eq!(together(&both), Some(Filter::Any(vec![one(), other()])));
        let denied = [RowDecision::deny_where(one()), RowDecision::allow()];
        assert_eq!(together(&denied), Some(one().not()));
        let denied = [RowDecision::allow_where(other()), RowDecision::deny_where(one())];
        assert_eq!(together(&denied), Some(Filter::All(vec![one().not(), other()])));
        let all_denied = [RowDecision::allow(), RowDecision::deny()];
        assert_eq!(together(&all_denied), Some(Filter::All(Vec::new()).not()));
    }
}
