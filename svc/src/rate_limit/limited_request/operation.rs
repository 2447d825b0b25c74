//! The counts of an operation.

use std::sync::Arc;

use super::{LimitedRequest, State};
use crate::rate_limit::limit::NamedLimit;
use crate::rate_limit::limiter::of_root_fields;
use crate::rate_limit::response::Refusal;
use crate::rate_limit::store::{Amounts, LocalCounts, Takes};
use svc_engine::request::PreparedOperation;

impl LimitedRequest {
    /// Counts an operation, and its request too if counting that was deferred.
    pub(in crate::rate_limit) async fn count_operation(
        &self,
        operation: &PreparedOperation<'_>,
    ) -> Result<(), Refusal> {
        let client = self.client(&self.request(operation.request));
        if !self.is_limited(&client)? {
            return Ok(());
        }

        let own = of_root_fields(&self.limiter.config, operation);
        let mut limits = self.of_operation_and(operation, &own);

        // Taken here, so that no other operation of the batch counts for the path meanwhile.
        let is_pending = std::mem::take(&mut self.state().noted.is_pending);

        if is_pending {
            limits.extend(self.of_path());
        }

        let taken = self.take(&limits, &client, Some(operation)).await;
        let noted = &mut self.state().noted;

        match taken {
            Ok(standings) => {
                noted.is_counted |= is_pending;
                self.note_budget(noted, &limits, &standings, &client, operation);
                Ok(())
            }
            Err(refusal) => {
                // Nothing was taken, so the request has yet to be counted for its path, unless a
                // limit of the path itself has refused it.
                noted.is_pending |= is_pending && !noted.is_counted;
                Err(refusal)
            }
        }
    }

    /// Like [`count_operation`](Self::count_operation), for counts in memory, which defer nothing.
    pub(in crate::rate_limit) fn count_operation_now(
        &self,
        local: LocalCounts<'_>,
        operation: &PreparedOperation<'_>,
    ) -> Result<(), Refusal> {
        let State { client, noted } = &mut *self.state();
        let client =
            &*client.get_or_insert_with(|| self.limiter.client(&self.request(operation.request)));
        if !self.is_limited(client)? {
            return Ok(());
        }

        let own = of_root_fields(&self.limiter.config, operation);
        let limits = self.of_operation_and(operation, &own);
        let standings = local.take(
            Takes {
                client,
                amounts: &limits,
            },
            self.limiter.now(),
        );

        self.taken(noted, &limits, &standings, client, Some(operation))?;
        self.note_budget(noted, &limits, &standings, client, operation);

        Ok(())
    }

    /// Returns the limits of an operation and of its root fields.
    fn of_operation_and<'a>(
        &'a self,
        operation: &PreparedOperation<'_>,
        own: &'a [(Arc<NamedLimit>, u64)],
    ) -> Amounts<'a> {
        let mut limits = self.limiter.operations.of(operation);
        for (limit, times) in own {
            limits.push((limit, *times));
        }
        limits
    }
}
