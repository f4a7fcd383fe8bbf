//! `/api/watch`: alerts of the watchdog and what people say of them, and its rules with their counts.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use watch::Judgement;

use super::{Caller, Failure, Fields, Rights, invalid, read, respond, whole};
use crate::chat::show::now;
use crate::watchdog::{Watchdog, shown};

/// How many alerts a reply has by default, and at most.
const PAGE: (usize, usize) = (50, 500);
/// For how many minutes something is muted by default, and at most.
const MINUTES: (i64, i64) = (24 * 60, 365 * 24 * 60);

#[derive(Clone, Debug)]
struct Watched {
    watchdog: Watchdog,
    rights: Rights,
}

/// The routes of `/api/watch`.
pub fn routes(watchdog: Watchdog, rights: Rights) -> Router {
    Router::new()
        .route("/api/watch/alerts", get(alerts))
        .route("/api/watch/alerts/{id}", post(judge))
        .route("/api/watch/rules", get(rules))
        .route("/api/watch/rules/{id}", post(mute))
        .with_state(Watched { watchdog, rights })
}

async fn alerts(State(watched): State<Watched>, RawQuery(raw): RawQuery) -> Response<Body> {
    let fields = Fields::of(raw);
    let limit = match fields.get("limit").map(str::parse::<usize>) {
        None => PAGE.0,
        Some(Ok(limit)) if (1..=PAGE.1).contains(&limit) => limit,
        Some(_) => {
            return respond::<Value>(Err(invalid(
                "limit",
                format!("expected a number from 1 to {}", PAGE.1),
            )));
        }
    };
    let fits = |field: &str, value: &str| fields.get(field).is_none_or(|it| it == value);
    let all = watched.watchdog.alerts();
    let found = all.iter().filter(|it| {
        fits("agent", &it.agent)
            && fits("state", it.state.name())
            && fits("severity", it.severity.name())
            && fits("rule", &it.rule)
    });
    let found: Vec<Value> = found.take(limit).map(shown).collect();
    respond(Ok(json!({ "alerts": found, "total": all.len() })))
}

/// The word of a person about an alert.
#[derive(Debug, Deserialize)]
struct Said {
    /// `acknowledge`, `mute` or `false_alarm`.
    judgement: String,
    #[serde(default)]
    minutes: Option<i64>,
}

async fn judge(
    State(watched): State<Watched>,
    Path(id): Path<String>,
    caller: Caller,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let judged = async {
        let said: Said = read(&whole(body)?)?;
        let judgement = match said.judgement.as_str() {
            "acknowledge" => Judgement::Acknowledge,
            "false_alarm" => Judgement::FalseAlarm,
            "mute" => Judgement::Mute {
                until: until(said.minutes)?,
            },
            other => {
                let why = format!("{other:?} is none of acknowledge, mute, false_alarm");
                return Err(invalid("judgement", why));
            }
        };
        let by = watched.rights.caller(&caller).to_string();
        let alert = watched.watchdog.judge(&id, &judgement, &by).await;
        let alert = alert.ok_or_else(|| unknown("alert", &id))?;
        Ok(json!({ "success": true, "alert": shown(&alert) }))
    };
    respond(judged.await)
}

async fn rules(State(watched): State<Watched>) -> Response<Body> {
    let rules = watched.watchdog.rules();
    respond(Ok(
        json!({ "rules": rules, "packs": watched.watchdog.packs() }),
    ))
}

#[derive(Debug, Deserialize)]
struct MuteRule {
    /// For how long; 0 ends it.
    #[serde(default)]
    minutes: Option<i64>,
}

async fn mute(
    State(watched): State<Watched>,
    Path(id): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Response<Body> {
    let muted = async {
        let said: MuteRule = read(&whole(body)?)?;
        let until = until(said.minutes)?;
        match watched.watchdog.mute_rule(&id, until).await {
            true => Ok(json!({ "success": true, "rule": id, "until": memory::format_time(until) })),
            false => Err(unknown("rule", &id)),
        }
    };
    respond(muted.await)
}

/// The time at which so many minutes are over.
fn until(minutes: Option<i64>) -> Result<i64, Failure> {
    let minutes = minutes.unwrap_or(MINUTES.0);
    match (0..=MINUTES.1).contains(&minutes) {
        true => Ok(now() + minutes * 60_000),
        false => Err(invalid(
            "minutes",
            format!("expected a number from 0 to {}", MINUTES.1),
        )),
    }
}

fn unknown(what: &str, id: &str) -> Failure {
    Failure::new(
        StatusCode::NOT_FOUND,
        "not_found",
        format!("there is no {what} {id:?}"),
    )
}
