//! Reuses the responses of queries: the key of a response, and the types that mutations change.
//!
//! This runs after everything that decides about a request (limits, hooks, the gate) and before
//! anything that executes it. The cache itself is in `response_cache`; see [`Responses`].

mod key;
mod options;
mod written;

pub use options::ResponseCache;

pub use options::ResponseKeys;

use futures_util::FutureExt as _;

use self::key::{Key, Scope};
use super::{Engine, Prepared};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{AllAdmitted, Cacheable, Plan, PlanField};
use crate::graphql::response::{Answer, Freshness, Response, Way};
use crate::request::Transport;
use crate::response_cache::{Entry, Found, Responses};
use svc_core::schema::TypeIndex;
use svc_core::trace::OpenSpan;
use svc_telemetry::metrics::CacheType;

impl Engine {
    /// The cache for an operation's response, and the rule for it; `None` if the response is not
    /// cached.
    pub(super) fn cacheable<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> Option<(&'a Responses, &'a Cacheable)> {
        self.app.responses.as_deref().zip(plan.cacheable.as_ref())
    }

    /// Answers a query from the cache, if all of it may be read, or else caches its response for
    /// later requests. The future that computes a response is on the heap, so that a cached
    /// response needs no space for it.
    pub(super) async fn kept_answer(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &Prepared,
        (responses, rule): (&Responses, &Cacheable),
    ) -> Response {
        // A cached response bypasses the resolvers, so the authorizer of the application decides as
        // well.
        let decisions = self.decide(cx, prepared, true).await;
        let admitted = AllAdmitted::of(&prepared.plan, &decisions);
        let Some(key) = admitted
            .as_ref()
            .and_then(|admitted| self.key(cx, prepared, admitted))
        else {
            // The authorizer of the application has decided as well, because the cache bypasses
            // functions. Without the cache a field's own authorizer replaces it, so the fields are
            // decided again.
            let decisions = if admitted.is_none() && self.is_overruled(prepared) {
                Vec::new()
            } else {
                decisions
            };
            return self.run_fields(cx, prepared, decisions).boxed().await;
        };

        let types = self.types(rule);
        let Key { bytes, scope } = key;
        let finding = responses.find(bytes, types, rule.ttl);
        let found = match OpenSpan::step("cache get", Some(("cache.name", "response"))) {
            None => finding.await,
            Some(span) => {
                let found = span.around(finding).await;
                span.note("cache.hit", matches!(found, Found::Kept(_)));
                found
            }
        };

        CacheType::Response.looked_up(matches!(found, Found::Kept(_)));
        let (entry, response) = match found {
            Found::Kept(entry) => {
                if let Some(explanation) = cx.explanation {
                    explanation.together(Way::Cached);
                }
                let response = Response::kept(entry.body().clone());
                (entry, response)
            }
            Found::Unkept => return self.run_fields(cx, prepared, decisions).boxed().await,
            Found::Missing(fill) => {
                let response = self.run_fields(cx, prepared, decisions).boxed().await;

                // An error or a placeholder may be temporary, so it must not outlive its request.
                if response.answer != (Answer::Executed { errors: 0 })
                    || cx.context.request.is_incomplete()
                {
                    fill.give_up();
                    return response;
                }
                (fill.keep(&response.body), response)
            }
        };

        self.with_freshness(cx, prepared, scope, &entry, response)
    }

    /// Adds the headers for external caches to a response, if they may store it.
    fn with_freshness(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &Prepared,
        scope: Scope,
        entry: &Entry,
        response: Response,
    ) -> Response {
        // Caches store responses by method and URL (RFC 9111, section 2), and a POST has its
        // document in the body. Their key for a QUERY includes the body (RFC 10008, section 2.7).
        let is_safe = matches!(
            cx.context.transport(),
            Transport::HttpGet | Transport::HttpQuery
        );

        if scope == Scope::Private || !is_safe {
            return response;
        }

        let keys = &self.response_keys;

        // An aged response is served without this service, so nothing decides about its reader.
        let may_age = scope == Scope::Everyone && keys.max_age && !self.is_decided(prepared);
        let freshness = Freshness::new(entry, may_age, keys.vary.clone());

        Response {
            freshness: freshness.map(Box::new),
            ..response
        }
    }

    /// The row types whose changes invalidate a response: the types that it was read from, and the
    /// types that policies read to permit these rows.
    fn types<'a>(&self, rule: &'a Cacheable) -> &'a [TypeIndex] {
        if self.row_policies.is_some() {
            &rule.reach
        } else {
            &rule.types
        }
    }

    /// Whether a root field has its own authorizer, which decides alone if nothing is cached.
    fn is_overruled(&self, prepared: &Prepared) -> bool {
        !prepared.has_statement() && has_authorizer(&prepared.plan)
    }

    /// Whether authorizers decide about each request.
    fn is_decided(&self, prepared: &Prepared) -> bool {
        self.gate.is_guarded() || has_authorizer(&prepared.plan)
    }
}

fn has_authorizer(plan: &Plan) -> bool {
    plan.root
        .fields
        .iter()
        .filter_map(PlanField::root)
        .any(|root| root.rules().authorizer.is_some())
}
