//! The page of the workspace at `/`: the files of `web/dist`, which are part of the program.
//!
//! The files are built by `web/build.mjs` and committed, so that building the server needs no node. Their names do not
//! change from build to build; the server puts them below `assets/BUILD/`, where `BUILD` is the hash of all of them that
//! `manifest.json` has, so that a browser may keep them for ever and still never mixes two builds.

use std::io::Write as _;
use std::sync::{Arc, LazyLock, OnceLock};

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use include_dir::{Dir, include_dir};

#[cfg(test)]
#[path = "web_tests.rs"]
mod tests;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../web/dist");

/// Where the files are below the base path; the build follows.
const ASSETS: &str = "assets";

/// The empty places of `index.html` that are filled for each response and each server.
const NONCE: &str = r#"<meta name="style-nonce" content="">"#;
const BASE: &str = r#"<meta name="base-path" content="./">"#;

/// The hash of all files, as `web/build.mjs` wrote it. A page that was loaded from another build tells its reader to load it
/// again.
pub(crate) static BUILD: LazyLock<&'static str> = LazyLock::new(|| {
    let manifest = FILES.get_file("manifest.json");
    let manifest = manifest.and_then(|file| file.contents_utf8()).unwrap_or("");
    let mut words = manifest.split('"').skip_while(|word| *word != "build");
    words.nth(2).unwrap_or("unknown")
});

/// The routes of the page for a server with this base path (empty, or `/name`).
pub(crate) fn routes(base: &str) -> Router {
    let index: Arc<str> = index(base).into();
    Router::new()
        .route(
            "/",
            get(async move |headers: HeaderMap| front(&index, &headers)),
        )
        .route("/assets/{build}/{*name}", get(file))
}

/// The document with absolute addresses: a browser that opened `/name` without a slash at its end would look for
/// `assets/` beside it.
fn index(base: &str) -> String {
    let document = FILES.get_file("index.html");
    let document = document.and_then(|file| file.contents_utf8()).unwrap_or("");
    let filled = format!(r#"<meta name="base-path" content="{base}/">"#);
    let assets = format!("\"{base}/{ASSETS}/{}/", *BUILD);
    document
        .replace(BASE, &filled)
        .replace(&format!("\"./{ASSETS}/"), &assets)
}

/// The document, with a nonce of its own for the styles that the terminal adds.
fn front(index: &str, headers: &HeaderMap) -> Response {
    let nonce = uuid::Uuid::new_v4().simple().to_string();
    let filled = format!(r#"<meta name="style-nonce" content="{nonce}">"#);
    let body = Bytes::from(index.replace(NONCE, &filled));
    let policy = HeaderValue::try_from(policy(&nonce)).expect("a nonce is printable");
    let mut response = packed(&body, headers, None, "text/html; charset=utf-8");
    let added = response.headers_mut();
    added.insert(CONTENT_SECURITY_POLICY, policy);
    added.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    added.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// What the page may do: run its own files, and speak with its own server. Text becomes HTML only through the two policies
/// of Trusted Types that are named.
fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; \
         font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types monas dompurify"
    )
}

/// One file. Of another build than this one there are none: the page is loaded again.
async fn file(Path((build, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let path = format!("{ASSETS}/{name}");
    let found = asset(&path).filter(|_| build == *BUILD);
    let Some((number, contents)) = found else {
        let text = "no such file in this build of the page: load the page again\n";
        return (StatusCode::NOT_FOUND, text).into_response();
    };
    let kind = mime_guess::from_path(&name).first_or_octet_stream();
    let kind = match kind.type_() {
        mime_guess::mime::TEXT => format!("{kind}; charset=utf-8"),
        _ => kind.to_string(),
    };
    let body = Bytes::from_static(contents);
    let mut response = packed(&body, &headers, PACKED.get(number), &kind);
    let kept = HeaderValue::from_static("public, max-age=31536000, immutable");
    response.headers_mut().insert(CACHE_CONTROL, kept);
    response
}

/// The content of a file, and its place among [`PACKED`].
fn asset(path: &str) -> Option<(usize, &'static [u8])> {
    let mut files = FILES.get_dir(ASSETS)?.files().enumerate();
    let (number, file) = files.find(|(_, file)| file.path().to_str() == Some(path))?;
    Some((number, file.contents()))
}

/// Each file in gzip, packed when it is first asked for: a start need not wait for it.
static PACKED: LazyLock<Vec<OnceLock<Bytes>>> = LazyLock::new(|| {
    let count = FILES.get_dir(ASSETS).map_or(0, |it| it.files().count());
    std::iter::repeat_with(OnceLock::new).take(count).collect()
});

/// A response in gzip where the browser takes it.
fn packed(
    body: &Bytes,
    headers: &HeaderMap,
    kept: Option<&OnceLock<Bytes>>,
    kind: &str,
) -> Response {
    let accepts = headers.get_all(ACCEPT_ENCODING).iter();
    let gzip = accepts
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','))
        .any(|it| it.trim().split(';').next() == Some("gzip"));
    let fixed: [(HeaderName, HeaderValue); 2] = [
        (VARY, HeaderValue::from_static("accept-encoding")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    let kind = [(CONTENT_TYPE, kind.to_owned())];
    match gzip.then(|| {
        kept.map_or_else(
            || compress(body),
            |kept| kept.get_or_init(|| compress(body)).clone(),
        )
    }) {
        Some(packed) => (fixed, kind, [(CONTENT_ENCODING, "gzip")], packed).into_response(),
        None => (fixed, kind, body.clone()).into_response(),
    }
}

fn compress(body: &[u8]) -> Bytes {
    let mut packed = GzEncoder::new(Vec::with_capacity(body.len() / 3), Compression::best());
    packed.write_all(body).expect("a vector grows");
    packed.finish().expect("a vector grows").into()
}
