//! The keys of issuers that publish them: fetched in the background, and when a token names a key that is not here.
//!
//! A [`Door`] fetches nothing; it verifies with the [`KeySet`] of each issuer. Here is what fills the sets: one tokio task for
//! each issuer, which asks as often as the issuer's `Cache-Control` says, within bounds, and at once when a token of the
//! issuer names an unknown key, though for that reason at most once a minute: any caller can write such a token. A request
//! with such a token waits for the answer before it goes on to its route, so that no caller is refused when an issuer
//! begins to sign with a new key. Keys stay while an issuer is not reached, for a day.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use access::{Door, KeySet, Keys, Presented};
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use dial::{Backoff, Dialer, Jitter};
use oauth::{Address, Web};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::config::access::{Access, Keys as ConfiguredKeys, Kind};

/// How often keys are fetched: as the issuer says, within these bounds, and this often if it says nothing.
const OFTEN: Duration = Duration::from_secs(5 * 60);
const SELDOM: Duration = Duration::from_secs(24 * 60 * 60);
const ORDINARY: Duration = Duration::from_secs(60 * 60);

/// The pause between two questions because of unknown keys.
const PAUSE: Duration = Duration::from_secs(60);

/// How long a request waits for the keys of its token.
const WAIT: Duration = Duration::from_secs(5);

/// How long keys are used after the last answer of their issuer.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// The issuers of a server that publish their keys, by the names of their schemes. Dropping it ends their tasks.
#[derive(Debug, Default)]
pub(crate) struct Issuers {
    published: BTreeMap<String, Arc<Published>>,
    tasks: JoinSet<()>,
}

/// One issuer, as the requests see it.
#[derive(Debug)]
struct Published {
    keys: KeySet,
    /// A token named an unknown key.
    missing: Arc<Notify>,
    /// How often the issuer was asked, and when it will be asked next because of an unknown key.
    asked: watch::Sender<KeySetRequest>,
}

#[derive(Clone, Copy, Debug)]
struct KeySetRequest {
    is_under_way: bool,
    times: u64,
    next: Instant,
}

/// What fetches the keys of one issuer.
struct Fetching {
    name: String,
    issuer: String,
    metadata: Option<Address>,
    web: Web,
    published: Arc<Published>,
}

impl Issuers {
    /// The issuers of a configuration; nothing is fetched before [`start`](Self::start).
    pub(crate) fn of(config: &Access) -> Self {
        let mut published = BTreeMap::new();
        for scheme in &config.schemes {
            if let Kind::OAuth2 { tokens, .. } | Kind::OpenIdConnect { tokens, .. } = &scheme.kind
                && let ConfiguredKeys::Published(_) = &tokens.keys
            {
                published.insert(scheme.name.clone(), Arc::new(Published::new()));
            }
        }
        Self {
            published,
            tasks: JoinSet::new(),
        }
    }

    /// The set that the keys of a scheme's issuer are put into.
    pub(crate) fn keys(&self, scheme: &str) -> KeySet {
        let published = self.published.get(scheme);
        published.map(|it| it.keys.clone()).unwrap_or_default()
    }

    /// Begins to fetch. The server does not wait for it: an issuer that is not there keeps no other caller out.
    pub(crate) fn start(&mut self, config: &Access, dialer: &Dialer) -> Result<(), oauth::Error> {
        for scheme in &config.schemes {
            let Some(published) = self.published.get(&scheme.name) else {
                continue;
            };
            if let Kind::OAuth2 { tokens, .. } | Kind::OpenIdConnect { tokens, .. } = &scheme.kind
                && let ConfiguredKeys::Published(metadata) = &tokens.keys
            {
                let metadata = metadata.as_deref().map(str::parse).transpose()?;
                let fetching = Fetching {
                    name: scheme.name.clone(),
                    web: Web::of(&tokens.issuer.parse()?, dialer)?,
                    issuer: tokens.issuer.clone(),
                    metadata,
                    published: published.clone(),
                };
                self.tasks.spawn(fetching.run());
            }
        }
        Ok(())
    }

    /// Lets requests wait for the key of their token. Applied to all routes, since every wire begins with a request.
    pub(crate) fn before(&self, door: &Arc<Door>, routes: Router) -> Router {
        if self.published.is_empty() {
            return routes;
        }
        let state = (door.clone(), Arc::new(self.published.clone()));
        routes.layer(from_fn_with_state(state, wait_for_key))
    }
}

type Waiting = (Arc<Door>, Arc<BTreeMap<String, Arc<Published>>>);

async fn wait_for_key(
    State((door, published)): State<Waiting>,
    request: Request,
    next: Next,
) -> Response {
    let (head, body) = request.into_parts();
    let deadline = Instant::now() + WAIT;
    while let Some(issuer) = door
        .wanted_key(&Presented::by(&head))
        .and_then(|scheme| published.get(scheme))
    {
        if !issuer.was_asked(deadline).await {
            break;
        }
    }
    next.run(Request::from_parts(head, body)).await
}

impl Published {
    fn new() -> Self {
        let missing = Arc::new(Notify::new());
        let notified = missing.clone();
        Self {
            keys: KeySet::published(move || notified.notify_one()),
            missing,
            asked: watch::Sender::new(KeySetRequest {
                is_under_way: false,
                times: 0,
                next: Instant::now(),
            }),
        }
    }

    /// Waits until the issuer was asked once more. False if that will not be soon enough.
    async fn was_asked(&self, deadline: Instant) -> bool {
        let mut asked = self.asked.subscribe();
        let KeySetRequest {
            is_under_way,
            times,
            next,
        } = *asked.borrow_and_update();
        self.missing.notify_one();
        if !is_under_way && next > deadline {
            return false;
        }
        let again = asked.wait_for(|asked| asked.times != times);
        timeout_at(deadline, again).await.is_ok_and(|it| it.is_ok())
    }
}

impl Fetching {
    async fn run(self) {
        let mut failures = Backoff::new(Duration::from_secs(1), PAUSE, Jitter::Half);
        let mut answered = Instant::now();
        loop {
            let asked = &self.published.asked;
            asked.send_modify(|asked| asked.is_under_way = true);
            let pause = match self.fetch().await {
                Ok(pause) => {
                    failures.reset();
                    answered = Instant::now();
                    pause
                }
                Err(problem) => {
                    tracing::warn!(
                        scheme = self.name,
                        issuer = self.issuer,
                        "keys of an issuer not fetched: {problem}"
                    );
                    if answered.elapsed() > STALE {
                        self.published.keys.replace(None);
                    }
                    failures.next_pause()
                }
            };
            asked.send_modify(|asked| {
                asked.is_under_way = false;
                asked.times += 1;
            });
            self.until_due(Instant::now() + pause).await;
        }
    }

    /// Waits until keys are to be fetched again: at the time, or because of an unknown key.
    async fn until_due(&self, time: Instant) {
        tokio::select! {
            () = sleep_until(time) => return,
            () = self.published.missing.notified() => {}
        }
        let next = self.published.asked.borrow().next;
        tokio::select! {
            () = sleep_until(time) => {}
            () = sleep_until(next) => {
                let next = Instant::now() + PAUSE;
                self.published.asked.send_modify(|asked| asked.next = next);
            }
        }
    }

    /// Fetches the keys; gives the pause until the next time.
    async fn fetch(&self) -> Result<Duration, String> {
        let fetched = oauth::keys(&self.web, &self.issuer, self.metadata.as_ref()).await;
        let fetched = fetched.map_err(|error| format!("could not {error}"))?;
        let keys = Keys::read_published(&fetched.text);
        let keys = keys.map_err(|error| format!("could not {error}"))?;
        self.published.keys.replace(Some(keys));
        tracing::debug!(scheme = self.name, "fetched the keys of an issuer");
        Ok(fetched.max_age.unwrap_or(ORDINARY).clamp(OFTEN, SELDOM))
    }
}
