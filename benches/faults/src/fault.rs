//! The faults: each breaks something, and heals it.

use std::time::{Duration, Instant};

use anyhow::Result;
use network::{Flow, Proxy};
use svc::sqlx::{self, Connection as _, PgConnection};
use tokio::time::sleep;

use crate::postgres::{CONNECTIONS, Postgres, send};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    StoppedBackends,
    StoppedServer,
    NothingForwarded,
    SlowServer,
    Killed { a_second: u32 },
    NoConnections,
    RestartFast,
    RestartImmediate,
}

impl Fault {
    pub(crate) const ALL: [Self; 10] = [
        Self::None,
        Self::StoppedBackends,
        Self::StoppedServer,
        Self::NothingForwarded,
        Self::SlowServer,
        Self::Killed { a_second: 1 },
        Self::Killed { a_second: 20 },
        Self::NoConnections,
        Self::RestartFast,
        Self::RestartImmediate,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::StoppedBackends => "stopped backends",
            Self::StoppedServer => "stopped server",
            Self::NothingForwarded => "nothing is forwarded",
            Self::SlowServer => "a byte a second",
            Self::Killed { a_second: 1 } => "1 backend a second ended",
            Self::Killed { .. } => "20 backends a second ended",
            Self::NoConnections => "`max_connections` reached",
            Self::RestartFast => "fast restart",
            Self::RestartImmediate => "immediate restart",
        }
    }

    pub(crate) fn is_of_network(self) -> bool {
        matches!(self, Self::NothingForwarded | Self::SlowServer)
    }

    /// Breaks it for a while.
    pub(crate) async fn run(
        self,
        postgres: &mut Postgres,
        proxy: &Proxy,
        time: Duration,
    ) -> Result<()> {
        match self {
            Self::None => sleep(time).await,
            Self::StoppedBackends | Self::StoppedServer => {
                let pids = postgres.processes(self == Self::StoppedServer).await?;
                send("-STOP", &pids);
                sleep(time).await;
                send("-CONT", &pids);
            }
            Self::NothingForwarded | Self::SlowServer => {
                proxy.set(if self == Self::SlowServer {
                    Flow::Slow(Duration::from_secs(1))
                } else {
                    Flow::Stopped
                });
                sleep(time).await;
                proxy.set(Flow::Free);
            }
            Self::Killed { a_second } => kill(postgres, a_second, time).await?,
            Self::NoConnections => fill(postgres, time).await?,
            Self::RestartFast => restart(postgres, "-INT").await?,
            Self::RestartImmediate => restart(postgres, "-QUIT").await?,
        }
        Ok(())
    }
}

/// Ends a backend at a time, whatever it does.
async fn kill(postgres: &Postgres, a_second: u32, time: Duration) -> Result<()> {
    let mut connection = postgres.connect().await?;
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1";
    let start = Instant::now();
    while start.elapsed() < time {
        sqlx::query(end).execute(&mut connection).await?;
        sleep(Duration::from_secs(1) / a_second).await;
    }
    Ok(connection.close().await?)
}

/// Ends the service's connections and takes their places, but for one, which is ended again and
/// again.
async fn fill(postgres: &Postgres, time: Duration) -> Result<()> {
    let (start, mut taken) = (Instant::now(), Vec::new());
    let mut admin = postgres.connect().await?;
    let most = CONNECTIONS as usize - 8;
    while start.elapsed() < time {
        if taken.len() < most {
            sqlx::query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' \
                 AND pid <> pg_backend_pid() AND application_name = '' ORDER BY random() LIMIT 4",
            )
            .execute(&mut admin)
            .await?;
            if let Ok(mut one) = PgConnection::connect(&postgres.url()).await {
                sqlx::raw_sql("SET application_name = 'taken'")
                    .execute(&mut one)
                    .await?;
                taken.push(one);
            }
        }
        sleep(Duration::from_millis(20)).await;
    }
    for one in taken {
        one.close().await?;
    }
    Ok(admin.close().await?)
}

async fn restart(postgres: &mut Postgres, signal: &str) -> Result<()> {
    postgres.end(signal).await;
    postgres.begin().await
}
