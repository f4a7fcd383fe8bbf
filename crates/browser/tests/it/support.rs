//! One Chromium for most tests, and what they share.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use browser::{Browser, ElementList, Options, Policy, Sandbox, Session, Turn, WaitUntil};

use crate::site::Site;

/// The browser for tests, as `cargo xtask test` names it.
pub(crate) fn options(folder: &std::path::Path, site: &Site) -> Options {
    let mut options = Options::new(folder);
    options.program = std::env::var_os("MONAS_CHROMIUM").map(PathBuf::from);
    // Tests run as root, where Chromium has no sandbox.
    options.sandbox = Sandbox::Off;
    // Nothing leaves this machine, whatever a page or Chromium itself asks for.
    let allowed = ["127.0.0.1", "rebind.example"].map(str::to_owned);
    options.policy = Policy::parse(&allowed, &[], &[site.address.to_string()]).unwrap();
    options.secrets = Arc::new(|name| match name {
        "shop-password" => Ok("correct horse".to_owned()),
        _ => Err("there is no such secret".to_owned()),
    });
    options.limits.look = Duration::from_millis(250);
    options.limits.file_bytes = 2 << 20;
    options
}

/// The shared site.
pub(crate) fn site() -> &'static Site {
    static SITE: OnceLock<Site> = OnceLock::new();
    SITE.get_or_init(Site::serve)
}

/// The one runtime of all tests that share a browser: its tasks must not end with the first test.
fn runtime() -> &'static tokio::runtime::Runtime {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(2).enable_all().build().unwrap()
    })
}

/// Runs a test against a time limit.
pub(crate) fn run(test: impl Future<Output = ()> + Send + 'static) {
    let limited = async { tokio::time::timeout(Duration::from_secs(60), test).await };
    let ended = runtime().block_on(runtime().spawn(limited));
    ended.unwrap().expect("the test ends in time");
}

/// The shared browser. Its pipe closes with the process of the tests, and its profile is removed by the next start: a static is
/// never dropped.
pub(crate) fn browser() -> &'static Browser {
    static BROWSER: OnceLock<Browser> = OnceLock::new();
    BROWSER.get_or_init(|| {
        let folder = std::env::temp_dir().join("monas-browser-tests");
        Browser::new(options(&folder, site()))
    })
}

/// A page of the shared browser in a session of its own, which ends with the test.
pub(crate) struct Bed {
    pub(crate) session: Session,
    pub(crate) turn: Turn,
}

pub(crate) async fn open(name: &str, path: &str) -> Bed {
    let session = browser().session(name).await.unwrap();
    let turn = session.turn().await.unwrap();
    turn.navigate(&site().url(path), WaitUntil::Load, None)
        .await
        .unwrap();
    Bed { session, turn }
}

impl Bed {
    pub(crate) async fn list(&self) -> ElementList {
        self.turn.elements().await.unwrap()
    }

    /// The number of the element of this name.
    pub(crate) async fn number(&self, name: &str) -> u32 {
        let list = self.list().await;
        number(&list, name)
    }

    pub(crate) async fn click(&self, name: &str) -> bool {
        let element = self.number(name).await;
        self.turn.click(element, None, false, None).await.unwrap()
    }

    pub(crate) async fn text(&self, selector: &str) -> String {
        let part = browser::Part {
            from: 0,
            bytes: 100_000,
        };
        let page = self
            .turn
            .extract(browser::Extract::Text, Some(selector), part)
            .await;
        page.unwrap().text
    }

    pub(crate) async fn end(self) {
        let id = self.session.id().to_owned();
        drop(self.turn);
        browser().close_session(&id).await;
    }
}

pub(crate) fn number(list: &ElementList, name: &str) -> u32 {
    let found = list.elements.iter().find(|it| it.text == name);
    found
        .unwrap_or_else(|| panic!("{name} is in:\n{}", list.text(None, 20_000)))
        .index
}
