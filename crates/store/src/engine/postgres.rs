//! The engine that keeps everything in a PostgreSQL database.

use std::sync::Arc;
use std::thread;

use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::Error;
use crate::batch::Batch;
use crate::engine::Engine;
use crate::engine::sqlite::create;
use crate::lock::Lock;
use crate::remote::Remote;

mod address;
mod arrays;
mod errors;
mod facts;
mod fold;
mod lane;
mod link;
mod node;
mod pool;
mod schema;
mod session;
mod statements;
mod tls;
mod view;

use address::Address;
pub(crate) use address::without_password;
use errors::Failure;
use lane::Lane;
pub(crate) use link::Link;
use node::Heartbeat;
pub(crate) use pool::Pool;
use session::{Command, Session};
use statements::Tables;

/// The writing half: the lane of this node, and its heartbeat.
///
/// A group of batches is one transaction ([`lane`]), made of what the group comes to in the end ([`fold`], pure). Events
/// are in the same chunks as in SQLite. Streams have no numbers, only names, which makes a statement less for each group.
///
/// The writer's thread drives the connection: the runtime has no thread of its own, and its bytes move while the thread
/// waits for an answer. Readers ([`Pool`]) do the same on the threads of those who read.
///
/// A database that cannot be reached is not a failure: groups and reads wait, for half of the commits whose answer is lost
/// have been kept, and an engine that called them failed would lie. [`Link`] knows that they wait, so that the server can
/// say that it is not ready.
///
/// This node is a row with a lease ([`node`]). Its id is drawn anew at each start, so that the id is the token that fences
/// what an earlier start may still have on its way.
#[derive(Debug)]
pub(crate) struct Postgres {
    lane: Lane,
    heartbeat: Heartbeat,
    runtime: Runtime,
    /// Declared last, so that the folder is free only after this node has left the database.
    _lock: Option<Lock>,
}

/// All that a store needs of a database.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) engine: Postgres,
    pub(crate) views: Pool,
    pub(crate) link: Arc<Link>,
}

impl Postgres {
    /// Connects, sets an empty database up, and enters this node. The caller may be in any context.
    pub(crate) fn open(remote: &Remote) -> Result<Opened, Error> {
        on_a_thread(|| Self::connect(remote))
    }

    fn connect(remote: &Remote) -> Result<Opened, Error> {
        let mut parsed = Address::parse(&remote.url)?;
        let lock = remote.folder.as_deref().map(|folder| {
            create(folder).map_err(Error::io("create", folder))?;
            Lock::take(folder, None, &remote.holder)
        });
        let lock = lock.transpose()?;
        let node = Uuid::new_v4().simple().to_string();
        if parsed.config.get_application_name().is_none() {
            parsed
                .config
                .application_name(format!("monas-{}", &node[..8]));
        }
        let (address, tables) = (Arc::new(parsed), Arc::new(Tables::new(&remote.tables)));
        let link = Arc::new(Link::new(address.shown()));
        let runtime = runtime()?;
        let entering = async {
            let mut session = Session::open(&address, &lane::limits(remote.durability)).await?;
            warn_of_settings(&mut session, &address).await?;
            schema::prepare(&mut session, &address, &remote.tables).await?;
            node::enter(&mut session, &address, &node, &remote.holder).await?;
            Ok(session)
        };
        let entered: Result<Session, Failure> = runtime.block_on(entering);
        let session = entered.map_err(|failure| failure.into_error(address.shown()))?;
        let heartbeat = Heartbeat::start(Arc::clone(&address), Arc::clone(&link), node.clone())?;
        let (lane_tables, lane_link) = (Arc::clone(&tables), Arc::clone(&link));
        let lane = Lane::new(
            Arc::clone(&address),
            node,
            remote.durability,
            lane_tables,
            lane_link,
            session,
        );
        let views = Pool::new(address, tables, Arc::clone(&link));
        let engine = Self {
            lane,
            heartbeat,
            runtime,
            _lock: lock,
        };
        Ok(Opened {
            engine,
            views,
            link,
        })
    }

    /// Brings the schema of a database to the step of this program, and says how many steps that took.
    pub(crate) fn migrate(remote: &Remote) -> Result<u32, Error> {
        on_a_thread(|| {
            let address = Address::parse(&remote.url)?;
            let migrating = async {
                let mut session = Session::open(&address, "").await?;
                schema::migrate(&mut session, &address, &remote.tables).await
            };
            let migrated: Result<u32, Failure> = runtime()?.block_on(migrating);
            migrated.map_err(|failure| failure.into_error(address.shown()))
        })
    }
}

impl Engine for Postgres {
    fn apply(&mut self, group: &[Batch]) -> Result<Vec<Result<(), Error>>, Error> {
        self.runtime.block_on(self.lane.apply(group))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.heartbeat.stop();
        let (lane, runtime) = (&mut self.lane, &self.runtime);
        runtime.block_on(lane.leave());
    }
}

fn runtime() -> Result<Runtime, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.map_err(Error::io("start a runtime for", "the store"))
}

/// Runs this on a thread of its own: a runtime cannot be entered from a thread that is inside another one.
fn on_a_thread<T: Send>(run: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    thread::scope(|scope| match scope.spawn(run).join() {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Warns of settings under which a power failure takes acknowledged commits.
async fn warn_of_settings(session: &mut Session, address: &Address) -> Result<(), Failure> {
    let sql = "SELECT name, setting FROM pg_catalog.pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off'";
    for row in session.run(&Command::plain(sql)).await? {
        let setting: &str = statements::cell(&row, 0)?;
        tracing::warn!(
            database = address.shown(),
            setting,
            "the database has this setting off: a power failure may take acknowledged work"
        );
    }
    Ok(())
}
