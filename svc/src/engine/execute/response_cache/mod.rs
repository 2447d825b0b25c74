//! The response cache: answers of queries that are given out again.
//!
//! It lies behind whatever decides about a request (limits, hooks, the gate) and before whatever runs for it. The answers
//! themselves are kept by [`Responses`].

mod key;
mod options;
mod written;

pub use options::ResponseCache;

pub(crate) use options::ResponseKeys;

use futures_util::FutureExt as _;

use self::key::{Key, Scope};
use super::{Engine, Prepared};
use crate::engine::execution_context::ExecutionContext;
use crate::engine::explanation::Way;
use crate::engine::freshness::Freshness;
use crate::engine::plan::{AllAdmitted, Cacheable, Plan, PlanField};
use crate::engine::response::{Answer, Response};
use crate::metrics::CacheType;
use crate::request::Transport;
use crate::response_cache::{Found, Responses};
use crate::schema::TypeIndex;
use crate::trace::OpenSpan;

impl Engine {
    /// The place of an operation's answer, and the rule for it; `None` where it is made anew each time.
    pub(super) fn cacheable<'a>(&'a self, plan: &'a Plan) -> Option<(&'a Responses, &'a Cacheable)> {
        self.app.responses.as_deref().zip(plan.cacheable.as_ref())
    }

    /// Answers a query with what is kept, if all of it may be read; else keeps its answer for later ones. What makes an answer
    /// lies on the heap, so that one that is kept needs no place for it.
    pub(super) async fn kept_answer(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &Prepared,
        (responses, rule): (&Responses, &Cacheable),
    ) -> Response {
        // A kept answer passes the resolvers by, so the authorizer of the application is asked too.
        let decisions = self.decide(cx, prepared).await;
        let admitted = AllAdmitted::of(&prepared.plan, &decisions);
        let Some(key) = admitted.as_ref().and_then(|admitted| self.key(cx, prepared, admitted)) else {
            let decisions = if admitted.is_none() && self.is_overruled(prepared) { Vec::new() } else { decisions };
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
                if response.answer != (Answer::Executed { errors: 0 }) || cx.context.request.is_incomplete() {
                    fill.give_up();
                    return response;
                }
                (fill.keep(&response.body), response)
            }
        };
        match scope {
            Scope::Public | Scope::Everyone if cx.context.transport() == Transport::HttpGet => {
                let may_age = scope == Scope::Everyone && self.response_keys.max_age && !self.is_decided(prepared);
                let freshness = Freshness::new(&entry, may_age, self.response_keys.vary.clone());
                Response { freshness: freshness.map(Box::new), ..response }
            }
            _ => response,
        }
    }

    /// The types of rows of which a change makes an answer old: those that it was read from, and those that policies look
    /// at to permit them.
    fn types<'a>(&self, rule: &'a Cacheable) -> &'a [TypeIndex] {
        if self.row_policies.is_some() { &rule.reach } else { &rule.types }
    }

    /// Whether a root field has an authorizer of its own, which decides alone where nothing is kept.
    fn is_overruled(&self, prepared: &Prepared) -> bool {
        !prepared.has_statement() && has_authorizer(&prepared.plan)
    }

    /// Whether authorizers decide about each request.
    fn is_decided(&self, prepared: &Prepared) -> bool {
        self.gate.is_guarded() || has_authorizer(&prepared.plan)
    }
}

fn has_authorizer(plan: &Plan) -> bool {
    plan.root.fields.iter().filter_map(PlanField::root).any(|root| root.rules().authorizer.is_some())
}
