//! `/api/agent/law/...`: proposals to change a law, their tests, decisions about them, and the way back.

use agent::{AgentHandle, Edit, Population};
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, State};
use axum::routing::{MethodRouter, post};
use serde::Deserialize;
use serde_json::{Value, to_value};

use super::super::reply::{LawProposal, LawProposals};
use super::super::{Caller, Failure, Fields, Guarded, by_query, read, respond, whole};
use super::{author, diff, failure};

/// The routes of proposals.
pub(super) fn routes() -> Router<Guarded<Population>> {
    Router::new()
        .route("/api/agent/law/proposals", by_query(proposals))
        .route("/api/agent/law/propose", about(Request::Propose))
        .route("/api/agent/law/reflect", about(Request::Reflect))
        .route("/api/agent/law/test", about(Request::Test))
        .route("/api/agent/law/approve", about(Request::Approve))
        .route("/api/agent/law/reject", about(Request::Reject))
        .route("/api/agent/law/rollback", about(Request::RollBack))
}

async fn proposals(agent: AgentHandle, _: Fields) -> Result<LawProposals, Failure> {
    Ok(LawProposals {
        agent: agent.id().to_owned(),
        proposals: agent.proposals().await.map_err(failure)?,
    })
}

/// What is asked for about a proposal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Request {
    Propose,
    Reflect,
    Test,
    Approve,
    Reject,
    RollBack,
}

/// A change of the law that is proposed: `{"target", "change", "justification", "evidence"}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Proposed {
    agent: Option<String>,
    #[serde(alias = "path")]
    target: String,
    #[serde(alias = "value")]
    change: Value,
    #[serde(alias = "why")]
    justification: String,
    /// Numbers of events of the agent's journal that support the change.
    #[serde(default)]
    evidence: Vec<u64>,
}

/// A proposal or a version that something is to be done with: without a number, the one that waits, or the one before.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Decided {
    agent: Option<String>,
    proposal: Option<u64>,
    version: Option<u64>,
    #[serde(alias = "reason")]
    why: String,
}

fn about(request: Request) -> MethodRouter<Guarded<Population>> {
    post(
        async move |State(guarded): State<Guarded<Population>>,
                    caller: Caller,
                    RawQuery(raw): RawQuery,
                    body: Result<Bytes, BytesRejection>| {
            respond(answer(request, &guarded, &caller, &Fields::of(raw), body).await)
        },
    )
}

async fn answer(
    request: Request,
    guarded: &Guarded<Population>,
    caller: &Caller,
    fields: &Fields,
    body: Result<Bytes, BytesRejection>,
) -> Result<Value, Failure> {
    let body = whole(body)?;
    let by = author(caller);
    if request == Request::Propose {
        let proposed: Proposed = read(&body)?;
        let named = proposed.agent.as_deref().or_else(|| fields.get("agent"));
        let agent = guarded.subject(caller, named).await?;
        let edit = Edit {
            target: proposed.target,
            change: proposed.change,
            justification: proposed.justification,
        };
        let proposal = agent.propose(edit, &by, &proposed.evidence).await;
        return shown(&agent, proposal);
    }
    let decided: Decided = match body.is_empty() {
        true => Decided::default(),
        false => read(&body)?,
    };
    let named = decided.agent.as_deref().or_else(|| fields.get("agent"));
    let agent = guarded.subject(caller, named).await?;
    let (proposal, why) = (decided.proposal, decided.why.as_str());
    let proposal = match request {
        Request::Test => agent.retest(proposal).await,
        Request::Approve => agent.decide(proposal, &by, true, why).await,
        Request::Reject | Request::Propose => agent.decide(proposal, &by, false, why).await,
        Request::Reflect => {
            let proposed = agent.reflect().await.map_err(failure)?;
            return Ok(to_value(LawProposals {
                agent: agent.id().to_owned(),
                proposals: proposed.into_iter().collect(),
            })
            .unwrap_or_default());
        }
        Request::RollBack => {
            let rolled_back = agent.roll_back(decided.version, &by, why).await;
            rolled_back.map_err(failure)?;
            let changed = diff(agent, Fields::default()).await?;
            return Ok(to_value(changed).unwrap_or_default());
        }
    };
    shown(&agent, proposal)
}

fn shown(
    agent: &AgentHandle,
    proposal: Result<agent::ProposalView, agent::Error>,
) -> Result<Value, Failure> {
    let reply = LawProposal {
        agent: agent.id().to_owned(),
        proposal: proposal.map_err(failure)?,
    };
    Ok(to_value(reply).unwrap_or_default())
}
