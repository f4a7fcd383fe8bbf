//! Reading the audit trail: `/api/audit`, and whether its chain is whole.

use std::sync::Arc;
use std::time::SystemTime;

use a2a::server::end_of_credentials;
use a2a::types::Timestamp;
use access::Principal;
use access::audit::{self, Chain};
use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use futures_util::stream::{self, Stream, StreamExt as _};
use serde_json::{Value, json};
use store::{Entry, Store, StreamState, View};
use tokio_util::sync::CancellationToken;
use workspace::api::refusal;

use super::{ENDS, End, FIRST, LAST, millis};

/// How many lines are read at once.
const PAGE: usize = 1_000;
const PAGE_BYTES: usize = 1 << 20;

/// The route of the trail.
pub(crate) const PATH: &str = "/api/audit";
pub(crate) const VERIFY: &str = "/api/audit/verify";

#[derive(Clone)]
struct Reader {
    store: Store,
    stopping: CancellationToken,
}

/// `/api/audit` and `/api/audit/verify`, for operators.
pub(crate) fn routes(store: Store, stopping: CancellationToken) -> Router {
    Router::new()
        .route(PATH, get(show))
        .route(VERIFY, get(verify))
        .with_state(Reader { store, stopping })
}

/// Which lines are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Question {
    user: Option<String>,
    /// In milliseconds since 1970.
    since: Option<i64>,
    /// The newest of them.
    limit: Option<usize>,
    /// And those to come.
    follow: bool,
}

impl Question {
    /// Reads `user`, `since` (a time, or an age such as `1h`), `limit` and `follow`; the error names the field.
    fn read(query: &str) -> Result<Self, &'static str> {
        let mut question = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                _ if value.is_empty() => {}
                "user" => question.user = Some(value.into_owned()),
                "since" => question.since = Some(time(&value).ok_or("since")?),
                "limit" => question.limit = Some(value.parse().map_err(|_| "limit")?),
                "follow" => question.follow = value == "true",
                _ => {}
            }
        }
        Ok(question)
    }

    fn wants(&self, line: &str) -> bool {
        let Some(user) = &self.user else { return true };
        let line: Value = serde_json::from_str(line).unwrap_or_default();
        line["caller"] == user.as_str()
    }

    /// The lines among these that are asked for.
    fn of(&self, links: &[Arc<Entry>]) -> Vec<String> {
        let links = links.iter().map(|it| it.payload());
        let texts = links.filter_map(|it| std::str::from_utf8(it).ok());
        let lines = texts.filter_map(audit::line).filter(|it| self.wants(it));
        lines.map(str::to_owned).collect()
    }
}

/// A time as RFC 3339 has it, or an age.
fn time(text: &str) -> Option<i64> {
    if let Some(age) = crate::config::duration(text) {
        let age = i64::try_from(age.as_millis()).ok()?;
        return Some(millis(SystemTime::now()).saturating_sub(age));
    }
    text.parse::<Timestamp>().ok().map(Timestamp::millis)
}

async fn show(
    State(reader): State<Reader>,
    caller: Option<Extension<Principal>>,
    RawQuery(query): RawQuery,
) -> Response {
    let question = match Question::read(&query.unwrap_or_default()) {
        Ok(question) => question,
        Err(field) => {
            let expected = match field {
                "since" => "expected a time such as 2026-01-31T12:00:00Z, or an age such as 1h",
                _ => "expected a whole number",
            };
            let message = format!("{field}: {expected}");
            return workspace::api::refusal_of_field(field, &message);
        }
    };
    let begun = begin(&reader.store, &question).await;
    let (after, newest) = match begun {
        Ok(begun) => begun,
        Err(error) => return failed(&error),
    };
    let follow = question.follow;
    let lines = lines(reader, question, after, newest);
    let (kind, body) = match follow {
        // The reader may be revoked while it waits for the next line.
        true => {
            // The command that opens the data itself comes without one.
            let caller = caller.map_or_else(Principal::anonymous, |it| it.0);
            let over = Box::pin(end_of_credentials(&caller));
            let lines = each(lines).take_until(over);
            ("application/x-ndjson", Body::from_stream(lines))
        }
        false => ("application/json", Body::from_stream(listed(lines))),
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// After which line reading begins, and the lines that are known already because only the newest are wanted.
async fn begin(store: &Store, question: &Question) -> Result<(u64, Vec<String>), store::Error> {
    let question = question.clone();
    let read = store.read(move |view| {
        let Some(state) = view.stream(&super::stream())? else {
            return Ok((0, Vec::new()));
        };
        let oldest = match question.since {
            Some(since) => before(view, state, since)?,
            None => 0,
        };
        let oldest = oldest.max(state.first.saturating_sub(1));
        let Some(limit) = question.limit else {
            return Ok((oldest, Vec::new()));
        };
        let mut newest: Vec<String> = Vec::new();
        let mut end = state.last;
        while end > oldest && newest.len() < limit {
            let after = end.saturating_sub(PAGE as u64).max(oldest);
            let count = usize::try_from(end - after).unwrap_or(PAGE);
            let links = view.events(&super::stream(), after, count)?;
            let mut lines = question.of(&links);
            lines.append(&mut newest);
            newest = lines;
            end = after;
        }
        let spare = newest.len().saturating_sub(limit);
        newest.drain(..spare);
        Ok((state.last, newest))
    });
    read.await
}

/// The number of the last line before a time: lines have the order of their times, so that halving finds it.
pub(super) fn before(view: &dyn View, state: StreamState, time: i64) -> Result<u64, store::Error> {
    let (mut low, mut high) = (state.first.saturating_sub(1), state.last);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        let link = view.events(&super::stream(), middle - 1, 1)?;
        let at = link.first().and_then(|link| {
            let line = audit::line(std::str::from_utf8(link.payload()).ok()?)?;
            let line: Value = serde_json::from_str(line).ok()?;
            line["at"].as_str()?.parse::<Timestamp>().ok()
        });
        match at.is_some_and(|at| at.millis() < time) {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    Ok(low)
}

/// The rest of a trail, still to be read.
struct Reading {
    reader: Reader,
    question: Question,
    after: u64,
    ready: Vec<String>,
    over: bool,
}

/// The lines that are asked for, in portions. It ends with the trail, or with the server when it follows.
fn lines(
    reader: Reader,
    question: Question,
    after: u64,
    newest: Vec<String>,
) -> impl Stream<Item = Result<Vec<String>, store::Error>> + Send {
    let reading = Reading {
        over: question.limit.is_some() && !question.follow,
        reader,
        question,
        after,
        ready: newest,
    };
    stream::try_unfold(reading, async |mut reading| {
        if !reading.ready.is_empty() {
            let ready = std::mem::take(&mut reading.ready);
            return Ok(Some((ready, reading)));
        }
        if reading.over {
            return Ok(None);
        }
        let links = reading.next().await?;
        let Some(last) = links.last() else {
            return Ok(None);
        };
        reading.after = last.sequence();
        let lines = reading.question.of(&links);
        Ok(Some((lines, reading)))
    })
}

impl Reading {
    /// The next links; none at the end.
    async fn next(&self) -> Result<Vec<Arc<Entry>>, store::Error> {
        let after = self.after;
        let page = self.reader.store.read(move |view| {
            let first = view.stream(&super::stream())?.map_or(1, |it| it.first);
            let after = after.max(first.saturating_sub(1));
            view.page(&super::stream(), after, PAGE, PAGE_BYTES)
        });
        let page = page.await?;
        if !page.is_empty() || !self.question.follow {
            return Ok(page);
        }
        let mut follow = self.reader.store.follow(&super::stream(), after);
        let next = follow.next_many(PAGE);
        match self.reader.stopping.run_until_cancelled(next).await {
            Some(Some(links)) => links,
            Some(None) | None => Ok(Vec::new()),
        }
    }
}

type Portion = Result<Bytes, store::Error>;

/// One line of text for each.
fn each(
    lines: impl Stream<Item = Result<Vec<String>, store::Error>> + Send,
) -> impl Stream<Item = Portion> + Send {
    lines.map(|portion| {
        let mut text = String::new();
        for line in portion? {
            text.push_str(&line);
            text.push('\n');
        }
        Ok(text.into())
    })
}

/// One value with all of them.
fn listed(
    lines: impl Stream<Item = Result<Vec<String>, store::Error>> + Send,
) -> impl Stream<Item = Portion> + Send {
    let mut begun = false;
    let lines = lines.map(move |portion| {
        let mut text = String::new();
        for line in portion? {
            if begun {
                text.push_str(",\n");
            }
            begun = true;
            text.push_str(&line);
        }
        Ok(text.into())
    });
    let fixed = |text: &'static str| stream::iter([Ok(Bytes::from_static(text.as_bytes()))]);
    fixed("{\"records\":[").chain(lines).chain(fixed("]}\n"))
}

fn failed(error: &store::Error) -> Response {
    tracing::error!(%error, "the audit trail was not read");
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    refusal(status, "failed", &format!("could not {error}"))
}

async fn verify(State(reader): State<Reader>) -> Response {
    match check(&reader.store).await {
        Ok(report) => workspace::api::reply_json(&report),
        Err(error) => failed(&error),
    }
}

/// Follows the chain from its first line to its last: `{"whole": true, "records", "head"}`, or where it is broken.
pub(crate) async fn check(store: &Store) -> Result<Value, store::Error> {
    let ends = store.read(|view| {
        let end = |key: &str| {
            let row = view.row(&ENDS, key)?;
            Ok::<_, store::Error>(row.as_ref().and_then(End::read))
        };
        let state = view.stream(&super::stream())?;
        Ok((end(FIRST)?, end(LAST)?, state))
    });
    let (first, last, state) = ends.await?;
    let End { through, mut chain } = first.unwrap_or_default();
    let last = last.unwrap_or_default();
    let mut after = through;
    let broken = |at: u64, problem: String| json!({ "whole": false, "at": at, "problem": problem });
    if let Some(state) = state
        && state.first > through + 1
    {
        let problem = format!("lines {} to {} were removed", through + 1, state.first - 1);
        return Ok(broken(through + 1, problem));
    }
    loop {
        // What is written meanwhile is not checked: its end is not the one that was read.
        let most = usize::try_from(last.through.saturating_sub(after)).unwrap_or(usize::MAX);
        if most == 0 {
            break;
        }
        let page =
            store.read(move |view| view.page(&super::stream(), after, PAGE.min(most), PAGE_BYTES));
        let page = page.await?;
        let Some(end) = page.last().map(|it| it.sequence()) else {
            break;
        };
        for link in &page {
            let text = std::str::from_utf8(link.payload()).unwrap_or_default();
            if let Err(problem) = chain.follow(text) {
                return Ok(broken(link.sequence(), problem.to_string()));
            }
        }
        after = end;
    }
    let found = state.map_or(0, |it| it.last);
    if after != last.through || chain != last.chain || found < last.through {
        let problem = format!(
            "the trail ends with line {after}, and it had {} lines",
            last.through
        );
        return Ok(broken(after + 1, problem));
    }
    let head = Chain::head(&chain);
    Ok(json!({ "whole": true, "records": after - through, "last": after, "head": head }))
}
