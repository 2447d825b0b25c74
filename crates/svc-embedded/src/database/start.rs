//! The steps of a start.

use std::{
    fs::{self, DirBuilder},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use rustix::process::{Resource, getrlimit};

use super::{Database, Place};
use crate::{
    Binaries, Error, Options, Result,
    blocking::blocking,
    cluster::{self, Lock, Temporary, layout::Layout},
    identity::Identity,
    server::{
        launch::{self, Plan},
        running,
    },
};

/// Starts the cluster of these options, or shares the server of a program that already runs it.
pub(crate) async fn start(options: Options) -> Result<Database> {
    enough_files()?;
    let (root, temporary) = open_root(&options).await?;

    // Read without the lock, as it is a preference only: `cluster::prepare` checks the version
    // again.
    let made_by = cluster::version(&root.join("postgres"));
    let binaries = Binaries::find_preferring(options.binaries.clone(), made_by).await?;
    let (user_namespace, role) = (options.user_namespace, options.role.clone());
    let (binaries, identity) = blocking(move || {
        let identity = Identity::choose(&binaries, user_namespace)?;
        Ok::<_, Error>((binaries, identity))
    })
    .await?;

    // Held until the end, so the next program finds a server that accepts connections, or none.
    let lock = Lock::acquire(&root.join("postgres.lock")).await?;
    let layout = Layout::plan(&root, &identity)?;
    if let Some(running) = running::find(&layout.data, options.tcp).await? {
        let place = Place {
            sockets: running.sockets,
            port: running.port,
            tcp: running.tcp,
            pid: running.pid,
        };
        return Database::shared(place, layout).with_role(role).await;
    }

    let plan = prepare(
        Plan {
            options,
            binaries,
            identity,
            layout,
        },
        lock.clone(),
    )
    .await?;

    let (layout, tcp) = (plan.layout.clone(), plan.options.tcp);
    let (server, port) = launch::launch(plan).await?;
    let place = Place {
        sockets: layout.sockets.clone(),
        port,
        tcp: tcp != crate::options::Tcp::Off,
        pid: server.pid(),
    };

    Database::owned(place, layout, server, temporary)
        .with_role(role)
        .await
}

/// Prepares folders and cluster. It holds the lock itself: if the caller is cancelled, no other
/// program may start while `initdb` still runs.
async fn prepare(plan: Plan, lock: Lock) -> Result<Plan> {
    blocking(move || {
        let _lock = lock;
        plan.layout.create_sockets(&plan.identity)?;
        running::sweep_sockets(&plan.layout.sockets)?;
        cluster::prepare(
            &plan.layout.data,
            &plan.binaries,
            &plan.identity,
            plan.options.initdb_cache.as_deref(),
        )?;
        Ok(plan)
    })
    .await
}

/// Checks the limit on open files. Below it, PostgreSQL fails after seconds with "insufficient file
/// descriptors", and the search for its programs fails with misleading errors.
fn enough_files() -> Result<()> {
    const NEEDED: u64 = 64;
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < NEEDED => Err(Error::FewFiles {
            limit,
            needed: NEEDED,
        }),
        _ => Ok(()),
    }
}

async fn open_root(options: &Options) -> Result<(PathBuf, Option<Temporary>)> {
    match options.root.clone() {
        Some(root) => blocking(move || create(&root).map(|()| (root, None))).await,
        None => {
            let temporary = blocking(Temporary::create).await?;
            Ok((temporary.path().to_path_buf(), Some(temporary)))
        }
    }
}

/// Creates the root, unless it exists. Other users may only pass through it: a server that root
/// starts runs as one.
fn create(root: &Path) -> Result<()> {
    let parent = root.parent().unwrap_or(root);

    // A recursive `DirBuilder` gives its mode to all folders that it creates, but the parents are
    // ordinary folders of the user.
    fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
    DirBuilder::new()
        .recursive(true)
        .mode(0o711)
        .create(root)
        .map_err(Error::io("create", root))
}
