//! Counts in Redis, shared by all instances. Redis's clock is used, so the clocks of the instances
//! may differ.
//!
//! All counts of a request take one round trip. Their keys contain the client as a hash tag, so
//! that a cluster stores them on one node, and in hashed form, so that Redis never sees the key of
//! a client.

use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::request::{Standings, Takes};
use crate::rate_limit::RateLimitStrategy;
use crate::rate_limit::client::Client;
use crate::rate_limit::limit::Standing;
use svc_core::RedisClient;
use svc_core::redis_client::{CommandError, Script};

static TAKE: Script = Script::new(include_str!("take.lua"));
static GIVE_BACK: Script = Script::new(include_str!("give_back.lua"));

/// The counts of all instances.
#[derive(Debug)]
pub(in crate::rate_limit) struct RedisStore {
    pub(in crate::rate_limit) client: RedisClient,
    /// The maximum time that a request waits.
    pub(in crate::rate_limit) bound: Duration,
}

impl RedisStore {
    /// Takes all counts of a request, or none of them.
    pub(super) async fn take(
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
            }),
            _ => None,
        };

        Ok(numbers.chunks(4).filter_map(standing).collect())
    }

    /// Gives back a part of the amount that was taken in the window starting at `window`.
    pub(super) async fn give_back(
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
