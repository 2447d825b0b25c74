//! Counts in Redis, shared by all instances. Redis's clock is used, so the clocks of the instances
//! may differ.
//!
//! All counts of a request take one round trip. Their keys contain the client as a hash tag, so
//! that a cluster stores them on one node, and in hashed form, so that Redis never sees the key of
//! a client.
//!
//! While Redis is unavailable, this process counts by itself.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::request::{Standings, Takes};
use crate::rate_limit::RateLimitStrategy;
use crate::rate_limit::client::Client;
use crate::rate_limit::limit::Standing;
use svc_core::RedisClient;
use svc_core::redis_client::{CommandError, Outage, Script};

static TAKE: Script = Script::new(include_str!("take.lua"));
static GIVE_BACK: Script = Script::new(include_str!("give_back.lua"));

/// The counts of all instances.
#[derive(Debug)]
pub(in crate::rate_limit) struct RedisStore {
    client: RedisClient,
    /// The maximum time that a request waits.
    bound: Duration,
    outage: Outage,
    /// The number of requests since the last one that Redis counted.
    uncounted: AtomicU64,
}

impl RedisStore {
    pub(in crate::rate_limit) fn new(client: RedisClient, bound: Duration) -> Self {
        Self {
            client,
            bound,
            outage: Outage::default(),
            uncounted: AtomicU64::new(0),
        }
    }

    /// Takes all counts of a request, or none of them. Returns `None` if Redis is unavailable.
    pub(super) async fn take(&self, takes: Takes<'_>) -> Option<Standings> {
        if self.outage.is_on() {
            self.uncounted.fetch_add(1, Ordering::Relaxed);
            return None;
        }

        match self.try_take(takes).await {
            Ok(standings) => {
                self.note_counted();

                // States are paired with limits by position, so a shorter list cannot be used.
                Some(standings).filter(|standings| standings.len() == takes.amounts.len())
            }
            Err(error) => {
                self.outage.record(&self.client, &error, self.bound);

                // Only the first failure of an outage is logged.
                if self.uncounted.fetch_add(1, Ordering::Relaxed) == 0 {
                    tracing::warn!(
                        %error,
                        "Redis is unavailable; rate limits are counted by this process alone until it responds"
                    );
                }
                None
            }
        }
    }

    /// Gives back a part of the amount that was taken in the window starting at `window`, if Redis
    /// is available.
    pub(super) async fn give_back(&self, takes: Takes<'_>, window: u64) {
        if self.outage.is_on() {
            return;
        }
        if let Err(error) = self.try_give_back(takes, window).await {
            self.outage.record(&self.client, &error, self.bound);
        }
    }

    /// Logs the end of an outage, during which requests were not counted in Redis.
    fn note_counted(&self) {
        // Another request may have failed while this one waited.
        if self.uncounted.load(Ordering::Relaxed) == 0 || self.outage.is_on() {
            return;
        }

        let requests = self.uncounted.swap(0, Ordering::Relaxed);
        if requests > 0 {
            tracing::info!(
                requests,
                "rate limits are counted in Redis again; this process counted the requests in between"
            );
        }
    }

    async fn try_take(
        &self,
        Takes { client, amounts }: Takes<'_>,
    ) -> Result<Standings, CommandError> {
        let (mut keys, mut arguments) = (Vec::new(), Vec::new());
        for (limit, amount) in amounts {
            keys.push(key(&limit.name, client));
            let meter = limit.meter;
            arguments.push(strategy(meter.strategy).to_owned());
            arguments.extend(
                [meter.count, meter.window, meter.burst, *amount].map(|number| number.to_string()),
            );
        }

        let numbers: Vec<u64> = self
            .client
            .run(&TAKE, &keys, &arguments, self.bound)
            .await?;
        let standing = |numbers: &[u64]| match *numbers {
            [wait, remaining, reset, window] => Some(Standing {
                wait: (wait > 0).then_some(wait),
                remaining,
                reset,
                window,
                is_shared: false,
                is_in_redis: true,
            }),
            _ => None,
        };

        Ok(numbers.chunks(4).filter_map(standing).collect())
    }

    async fn try_give_back(
        &self,
        Takes { client, amounts }: Takes<'_>,
        window: u64,
    ) -> Result<(), CommandError> {
        for (limit, amount) in amounts {
            let numbers = [limit.meter.window, window, *amount].map(|number| number.to_string());
            let arguments = [
                [strategy(limit.meter.strategy).to_owned()].as_slice(),
                &numbers,
            ]
            .concat();
            let keys = [key(&limit.name, client)];
            self.client
                .run::<i64>(&GIVE_BACK, &keys, &arguments, self.bound)
                .await?;
        }

        Ok(())
    }
}

fn key(limit: &str, client: &Client) -> String {
    let digest = Sha256::digest(client.to_string());
    format!("svc:rate:{{{}}}:{limit}", hex::encode(&digest[..16]))
}

fn strategy(strategy: RateLimitStrategy) -> &'static str {
    match strategy {
        RateLimitStrategy::FixedWindow => "fixed",
        RateLimitStrategy::SlidingWindow => "sliding",
        RateLimitStrategy::TokenBucket => "bucket",
    }
}
