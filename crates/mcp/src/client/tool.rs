//! Makes skills of the tools of other servers.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use rmcp::model::Tool;
use serde_json::{Value, json};
use skill::{Context, Definition, Handler, Outcome, SkillError, Traits};

use super::clean::{NAME, TEXT, clean, is_name, line};
use super::content::outcome;
use super::id::mint;
use super::peer::Peer;
use super::{ToolProblem, Tools};

/// A tool that is allowed and can become a skill.
pub(super) struct UsableTool {
    peer: Arc<Peer>,
    tool: Tool,
}

/// Those of a server's tools that are allowed and valid; the others are added to `problems`.
pub(super) fn usable(
    peer: &Arc<Peer>,
    tools: Vec<Tool>,
    problems: &mut Vec<ToolProblem>,
) -> Vec<UsableTool> {
    let listed: HashSet<_> = tools.iter().map(|tool| tool.name.to_string()).collect();
    for name in peer.server().allow.iter().flatten() {
        if !listed.contains(name) {
            problems.push(ToolProblem::Missing {
                server: peer.name().to_owned(),
                tool: name.clone(),
            });
        }
    }
    let mut names = HashSet::new();
    let mut usable = Vec::new();
    for tool in tools.into_iter().filter(|tool| peer.allows(&tool.name)) {
        let size = serde_json::to_vec(&tool).map_or(usize::MAX, |json| json.len());
        let max = peer.limits.max_definition;
        let problem = if !is_name(&tool.name) {
            "its name is empty, too long or holds control characters".to_owned()
        } else if size > max {
            format!("definition larger than {max} bytes")
        } else if !names.insert(tool.name.clone()) {
            "listed twice".to_owned()
        } else {
            let peer = peer.clone();
            usable.push(UsableTool { peer, tool });
            continue;
        };
        problems.push(unusable(peer, &tool, problem));
    }
    usable
}

/// Makes skills of tools and adds them to `tools`. Each gets an id that is not taken.
pub(super) fn add(found: &[UsableTool], taken: impl Fn(&str) -> bool, tools: &mut Tools) {
    let names: Vec<_> = found
        .iter()
        .map(|it| (it.peer.name(), &*it.tool.name))
        .collect();
    let ids = mint(&names, &taken);
    let mut times: HashMap<&str, usize> = HashMap::new();
    for id in &ids {
        *times.entry(id).or_default() += 1;
    }
    for (UsableTool { peer, tool }, id) in found.iter().zip(&ids) {
        // A server can choose a name that becomes the hashed id of another tool; then neither is used.
        if times[&**id] > 1 || taken(id) {
            let problem = format!("id {id:?} already in use");
            tools.problems.push(unusable(peer, tool, problem));
            continue;
        }
        let handler = Arc::new(RemoteTool {
            peer: peer.clone(),
            tool: tool.name.to_string(),
        });
        let place = match peer.server().hidden {
            true => &mut tools.hidden,
            false => &mut tools.offered,
        };
        match place
            .clone()
            .with_handler(definition(id.clone(), peer, tool), handler)
        {
            Ok(more) => *place = more,
            Err(error) => {
                let problem = line(&error.to_string(), TEXT);
                tools.problems.push(unusable(peer, tool, problem));
            }
        }
    }
}

fn unusable(peer: &Peer, tool: &Tool, problem: String) -> ToolProblem {
    ToolProblem::Unusable {
        server: peer.name().to_owned(),
        tool: line(&tool.name, NAME),
        problem,
    }
}

pub(super) fn definition(id: String, peer: &Peer, tool: &Tool) -> Definition {
    let server = line(peer.name(), NAME);
    let title = tool.title.as_deref().map(|title| line(title, NAME));
    let title = title.filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| tool.name.to_string());
    let description = tool.description.as_deref().map(|text| clean(text, TEXT));
    let mut input = Value::Object((*tool.input_schema).clone());
    if input.get("type").is_none() {
        input["type"] = json!("object");
    }
    // A hint that is missing gets the cautious value, as MCP defines the defaults.
    let hints = tool.annotations.clone().unwrap_or_default();
    let mut traits = Traits::new();
    traits.read_only = hints.read_only_hint.unwrap_or(false);
    traits.destructive = hints.destructive_hint.unwrap_or(!traits.read_only);
    traits.idempotent = hints.idempotent_hint.unwrap_or(false);
    traits.open_world = hints.open_world_hint.unwrap_or(true);
    traits.claimed = !peer.server().trust_hints;
    traits.timeout = peer.server().seconds.map(Duration::from_secs);
    let output = tool.output_schema.as_deref().cloned();
    Definition {
        id,
        examples: vec![format!("Use {title} of {server}.")],
        description: description.unwrap_or_else(|| title.clone()),
        name: title,
        tags: vec!["mcp".to_owned(), server],
        input,
        output: output.map(Value::Object),
        permission: Some(
            peer.server()
                .permission
                .unwrap_or_else(|| traits.permission()),
        ),
        scopes: peer.server().scopes.clone(),
        traits,
        origin: Some(tool.name.to_string()),
    }
}

/// The handler of such a skill: calls the tool at its server.
pub(super) struct RemoteTool {
    pub(super) peer: Arc<Peer>,
    pub(super) tool: String,
}

impl Handler for RemoteTool {
    fn run(&self, input: Value, ctx: Context) -> BoxFuture<'static, Outcome> {
        let (peer, tool) = (self.peer.clone(), self.tool.clone());
        Box::pin(async move {
            let Value::Object(arguments) = input else {
                return Err(SkillError::failed("the input of a tool must be an object"));
            };
            let result = peer.call(&tool, arguments, &ctx).await?;
            outcome(result, peer.limits.max_files, &ctx).await
        })
    }
}
