//! Weights are fetched from a server that cuts, knows no ranges, lies or is not there.

use std::collections::VecDeque;
use std::fs;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::RANGE;
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use futures_util::{StreamExt as _, future, stream};
use tempfile::TempDir;

use super::line;
use super::pull::{Error, Progress, Source, pull};
use crate::serve::models::weights::{ALL, File, Weights};

const TEXT: &[u8] = b"a small file\n";
/// 300,000 bytes that are not all the same.
fn large() -> Vec<u8> {
    (0..300_000_u32).map(|n| (n % 251) as u8).collect()
}

const WEIGHTS: Weights = Weights {
    name: "test",
    about: "weights of a test",
    url: "",
    files: &[
        File {
            name: "config.json",
            size: 13,
            sha256: "283de18a92b91eca91b96146822214f63c5a6a08238ab8acf97896a6036b5ab5",
        },
        File {
            name: "model.safetensors",
            size: 300_000,
            sha256: "3c65ea93424a9c362fec0e3a69ea36031e8a358441479dd665cc6110eabe7b08",
        },
    ],
};

/// What a server does with a request for the large file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    /// Gives what is asked for.
    Give,
    /// Gives so many bytes of it, and breaks off.
    Cut(usize),
    /// Sends the whole file to every request.
    NoRange,
    /// Gives something else of that length.
    Lie,
    /// Gives a byte too many.
    Long,
    Fail(u16),
}

#[derive(Clone, Default)]
struct Acts {
    acts: Arc<Mutex<VecDeque<Act>>>,
    /// The ranges that were asked for.
    ranges: Arc<Mutex<Vec<String>>>,
}

struct Site {
    url: Source,
    acts: Acts,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A server that does these in turn, and then gives what is asked for.
async fn site(acts: &[Act]) -> Site {
    let state = Acts::default();
    state.acts.lock().unwrap().extend(acts);
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .unwrap();
    let address = listener.local_addr().unwrap();
    let routes = Router::new().fallback(give).with_state(state.clone());
    let serving = tokio::spawn(async move {
        let _ = axum::serve(listener, routes).await;
    });
    let url = format!("http://{address}/weights").parse().unwrap();
    Site {
        url: Source::Url(url),
        acts: state,
        serving,
    }
}

async fn give(State(state): State<Acts>, uri: Uri, headers: HeaderMap) -> Response<Body> {
    let range = headers[RANGE].to_str().unwrap().to_owned();
    let start: usize = range
        .strip_prefix("bytes=")
        .unwrap()
        .trim_end_matches('-')
        .parse()
        .unwrap();
    let (content, act) = match uri.path() {
        "/weights/config.json" => (TEXT.to_vec(), Act::Give),
        "/weights/model.safetensors" => {
            state.ranges.lock().unwrap().push(range);
            let act = state.acts.lock().unwrap().pop_front();
            (large(), act.unwrap_or(Act::Give))
        }
        _ => (Vec::new(), Act::Fail(404)),
    };
    let rest = content[start..].to_vec();
    let (status, body) = match act {
        Act::Give => (206, Body::from(rest)),
        Act::NoRange => (200, Body::from(content)),
        Act::Lie => (206, Body::from(vec![7; rest.len()])),
        Act::Long => (206, Body::from([&rest[..], b"!"].concat())),
        Act::Fail(status) => (status, Body::empty()),
        Act::Cut(count) => {
            let some = stream::once(future::ok(Bytes::from(rest[..count].to_vec())));
            let broken = stream::once(future::err(std::io::Error::other("cut")));
            (206, Body::from_stream(some.chain(broken)))
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

/// The progress that was reported.
#[derive(Default)]
struct Told {
    done: Vec<String>,
    last: Option<(u64, u64)>,
}

impl Progress for Told {
    fn at(&mut self, _file: &str, bytes: u64, of: u64) {
        assert!(bytes <= of);
        self.last = Some((bytes, of));
    }

    fn done(&mut self, file: &str) {
        self.done.push(file.to_owned());
    }
}

async fn pulled(source: &Source, data: &Path) -> Result<Told, Error> {
    let mut told = Told::default();
    let client = dial::Dialer::default().http();
    pull(&WEIGHTS, source, data, &client, &mut told).await?;
    Ok(told)
}

fn check_whole(data: &Path) {
    assert!(WEIGHTS.are_in(data));
    let folder = WEIGHTS.folder(data);
    assert_eq!(fs::read(folder.join("config.json")).unwrap(), TEXT);
    assert!(fs::read(folder.join("model.safetensors")).unwrap() == large());
    // Nothing else was left.
    assert_eq!(fs::read_dir(folder).unwrap().count(), 2);
}

#[tokio::test]
async fn weights_are_fetched_and_not_fetched_again() {
    let data = TempDir::new().unwrap();
    let site = site(&[]).await;
    let told = pulled(&site.url, data.path()).await.unwrap();
    check_whole(data.path());
    assert_eq!(told.done, ["config.json", "model.safetensors"]);
    assert_eq!(told.last, Some((300_000, 300_000)));
    pulled(&site.url, data.path()).await.unwrap();
    assert_eq!(*site.acts.ranges.lock().unwrap(), ["bytes=0-"]);
}

#[tokio::test]
async fn what_breaks_off_is_gone_on_with() {
    let data = TempDir::new().unwrap();
    let site = site(&[Act::Cut(100_000), Act::Fail(503), Act::Cut(50_000)]).await;
    pulled(&site.url, data.path()).await.unwrap();
    check_whole(data.path());
    let ranges = site.acts.ranges.lock().unwrap().clone();
    // A connection that breaks may take with it what was not read yet.
    assert_eq!(ranges.len(), 4);
    assert_eq!(ranges[1], ranges[2]);
    assert!(
        ranges[3] != "bytes=0-" || ranges[1] == "bytes=0-",
        "{ranges:?}"
    );
}

#[tokio::test]
async fn a_later_run_goes_on_where_an_earlier_one_ended() {
    let data = TempDir::new().unwrap();
    let folder = WEIGHTS.folder(data.path());
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("model.safetensors.part"), &large()[..123_456]).unwrap();
    let site = site(&[]).await;
    pulled(&site.url, data.path()).await.unwrap();
    check_whole(data.path());
    assert_eq!(*site.acts.ranges.lock().unwrap(), ["bytes=123456-"]);
}

#[tokio::test]
async fn a_server_without_ranges_sends_the_whole_file() {
    let data = TempDir::new().unwrap();
    let folder = WEIGHTS.folder(data.path());
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("model.safetensors.part"), [1; 1000]).unwrap();
    let site = site(&[Act::NoRange]).await;
    pulled(&site.url, data.path()).await.unwrap();
    check_whole(data.path());
}

#[tokio::test]
async fn what_is_not_what_it_should_be_is_not_kept() {
    let data = TempDir::new().unwrap();
    let site = site(&[Act::Lie]).await;
    let refused = pulled(&site.url, data.path()).await.err().unwrap();
    assert!(
        matches!(&refused, Error::Hash { file, .. } if file == "model.safetensors"),
        "{refused}"
    );
    assert!(!WEIGHTS.are_in(data.path()));
    assert!(
        !WEIGHTS
            .folder(data.path())
            .join("model.safetensors.part")
            .exists()
    );
    pulled(&site.url, data.path()).await.unwrap();
    check_whole(data.path());
}

#[tokio::test]
async fn more_than_there_should_be_is_refused() {
    let data = TempDir::new().unwrap();
    let site = site(&[Act::Long]).await;
    let refused = pulled(&site.url, data.path()).await.err().unwrap();
    assert!(
        refused.to_string().contains("longer than 300000 bytes"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_refusal_is_not_retried_and_a_failure_not_forever() {
    let data = TempDir::new().unwrap();
    let site_of = site(&[Act::Fail(403), Act::Give]).await;
    let refused = pulled(&site_of.url, data.path()).await.err().unwrap();
    assert!(
        refused
            .to_string()
            .ends_with("model.safetensors: 403 Forbidden"),
        "{refused}"
    );
    assert_eq!(site_of.acts.ranges.lock().unwrap().len(), 1);

    let site_of = site(&[Act::Fail(500); 9]).await;
    assert!(pulled(&site_of.url, data.path()).await.is_err());
    assert_eq!(site_of.acts.ranges.lock().unwrap().len(), 5);
}

#[tokio::test]
async fn a_folder_and_an_archive_will_do() {
    let from = TempDir::new().unwrap();
    fs::write(from.path().join("config.json"), TEXT).unwrap();
    fs::write(from.path().join("model.safetensors"), large()).unwrap();
    let data = TempDir::new().unwrap();
    pulled(&Source::Path(from.path().to_owned()), data.path())
        .await
        .unwrap();
    check_whole(data.path());

    let archive = from.path().join("weights.whl");
    let mut zip = zip::ZipWriter::new(fs::File::create(&archive).unwrap());
    let deflated = zip::write::SimpleFileOptions::default();
    for (name, content) in [
        ("package/other/config.json", b"{}".to_vec()),
        ("package/model/config.json", TEXT.to_vec()),
        ("package/model/model.safetensors", large()),
    ] {
        zip.start_file(name, deflated).unwrap();
        zip.write_all(&content).unwrap();
    }
    zip.finish().unwrap();
    let data = TempDir::new().unwrap();
    pulled(&Source::Path(archive), data.path()).await.unwrap();
    check_whole(data.path());
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let (empty, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let missing = pulled(&Source::Path(empty.path().to_owned()), data.path()).await;
    assert!(matches!(missing, Err(Error::Missing { .. })));
    let nowhere = Source::Path(empty.path().join("no.zip"));
    assert!(matches!(
        pulled(&nowhere, data.path()).await,
        Err(Error::Read { .. })
    ));
    fs::write(empty.path().join("no.zip"), "no archive").unwrap();
    assert!(matches!(
        pulled(&nowhere, data.path()).await,
        Err(Error::Read { .. })
    ));
}

#[test]
fn the_bar_shows_how_far_it_is() {
    let half = line("model.safetensors", 1 << 20, 2 << 20);
    let bar = format!("[{}{}]", "#".repeat(20), ".".repeat(20));
    assert_eq!(half, format!("model.safetensors  {bar} 1.0 of 2.0 MiB"));
    assert!(line("empty", 0, 0).contains(&"#".repeat(40)));
}

#[test]
fn what_is_known_can_be_fetched() {
    for weights in ALL {
        assert!(weights.url.starts_with("https://") && weights.url.ends_with('/'));
        for file in weights.files {
            assert_eq!(file.sha256.len(), 64);
        }
    }
}
