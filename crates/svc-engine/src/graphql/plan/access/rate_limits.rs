//! The rate limits of root fields.

use crate::graphql::plan::Plan;
use crate::request::FieldLimit;

impl Plan {
    /// Returns the rate limit of each root field once, with the number of times that the field is
    /// selected. This includes the fields below the `query` of a result.
    pub(crate) fn root_limits(&self) -> Vec<FieldLimit<'_>> {
        let mut limits: Vec<FieldLimit<'_>> = Vec::new();
        for field in self.root_fields() {
            let Some(limit) = field.root().and_then(|root| root.rules().rate_limit) else {
                continue;
            };

            // Aliases share the limit of their field; otherwise one request could run the field
            // many times at the price of one.
            match limits
                .iter_mut()
                .find(|known| known.coordinate == field.coordinate)
            {
                Some(known) => known.times += 1,
                None => limits.push(FieldLimit {
                    coordinate: &field.coordinate,
                    limit,
                    times: 1,
                }),
            }
        }

        limits
    }
}
