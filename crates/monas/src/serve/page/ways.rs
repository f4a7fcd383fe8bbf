//! Commands to try each binding, made of what the card says.

use a2a::types::AgentInterface;

use super::PageSection;

/// A command to try something: what it does, and what to type.
type Example = (&'static str, String);

/// Commands to try a binding, by its key in [`a2a::binding::BINDINGS`]. One that has none here is shown without.
pub(super) fn examples(
    key: &str,
    interface: &AgentInterface,
    encrypted: bool,
    shown: Shown,
) -> Vec<Example> {
    let url = &interface.url;
    let version = &interface.protocol_version;
    let header = shown.header();
    let curl = format!("{header}-H 'Content-Type: application/json' -H 'A2A-Version: {version}'");
    match key {
        "jsonrpc" => {
            let call = |method: &str, id: &str, text: &str| {
                let params = message(id, text);
                format!(
                    "{{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"{method}\", \"params\":\n    {params}}}"
                )
            };
            let send = call("SendMessage", "jsonrpc", "/help");
            let stream = call("SendStreamingMessage", "jsonrpc-stream", "/help");
            vec![
                (
                    "Send a message",
                    format!("curl -s {url} \\\n  {curl} \\\n  -d '{send}'"),
                ),
                (
                    "Watch a task at work",
                    format!("curl -sN {url} \\\n  {curl} \\\n  -d '{stream}'"),
                ),
            ]
        }
        "rest" => {
            let (send, stream) = (message("rest", "/help"), message("rest-stream", "/help"));
            vec![
                (
                    "Send a message",
                    format!("curl -s {url}/message:send \\\n  {curl} \\\n  -d '{send}'"),
                ),
                (
                    "Watch a task at work",
                    format!("curl -sN {url}/message:stream \\\n  {curl} \\\n  -d '{stream}'"),
                ),
                (
                    "List tasks, newest first",
                    format!("curl -s {url}/tasks {header}-H 'A2A-Version: {version}'"),
                ),
            ]
        }
        "grpc" => {
            let plain = if encrypted { "" } else { " -plaintext" };
            let call = |method: &str, id: &str, text: &str| {
                let request = message(id, text);
                format!(
                    "grpcurl{plain} {header}-H 'A2A-Version: {version}' \\\n  -d '{request}' \\\n  {url} lf.a2a.v1.A2AService/{method}"
                )
            };
            vec![
                ("Send a message", call("SendMessage", "grpc", "/help")),
                (
                    "Watch a task at work",
                    call("SendStreamingMessage", "grpc-stream", "/help"),
                ),
            ]
        }
        "capnweb" => {
            let authenticated = match shown {
                Shown::Nothing => "",
                Shown::Token => ".authenticate(process.env.TOKEN)",
            };
            let script = format!(
                "import {{ newWebSocketRpcSession }} from \"capnweb\"\n\
                 const agent = newWebSocketRpcSession(\"{}\")\n\
                 console.log(await agent{authenticated}.sendMessage({{ messageId: crypto.randomUUID(),\n  \
                 role: \"ROLE_USER\", parts: [{{ text: \"/help\" }}] }}))\n\
                 agent[Symbol.dispose]()",
                socket(url)
            );
            vec![(
                "Send a message, with node 22 or newer, after npm install capnweb",
                format!("node --input-type=module -e '{script}'"),
            )]
        }
        "websocket" => {
            let address = match shown {
                Shown::Nothing => format!("\"{url}\""),
                Shown::Token => format!("\"{url}?token=\" + process.env.TOKEN"),
            };
            let script = format!(
                "const socket = new WebSocket({address}, \"a2a.v1\")\n\
                 socket.onmessage = ({{ data }}) => {{ console.log(data); socket.close() }}\n\
                 socket.onopen = () => socket.send(JSON.stringify({{ jsonrpc: \"2.0\", id: 1,\n  \
                 method: \"SendMessage\", params: {{ message: {{ messageId: crypto.randomUUID(),\n    \
                 role: \"ROLE_USER\", parts: [{{ text: \"/help\" }}] }} }} }}))"
            );
            vec![(
                "Send a message, with node 22 or newer",
                format!("node -e '{script}'"),
            )]
        }
        _ => Vec::new(),
    }
}

/// What the commands show to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Nothing,
    /// The token in the variable `TOKEN`, which the shell has after the command of [`token`].
    Token,
}

impl Shown {
    /// The header of a command with curl or grpcurl, and a space.
    fn header(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Token => "-H \"Authorization: Bearer $TOKEN\" ",
        }
    }
}

/// The section with the command that makes the token for the others.
pub(super) fn token(url: &str) -> PageSection {
    PageSection {
        title: "Credentials",
        commands: vec![(
            "Every call needs a token: this one is for the commands below, in the same shell, where the data of the server is",
            "export TOKEN=$(monas token)".to_owned(),
        )],
        url: url.trim_end_matches('/').to_owned(),
        deprecated: false,
    }
}

/// The WebSocket URL of an HTTP URL.
fn socket(url: &str) -> String {
    url.replacen("http", "ws", 1)
}

/// A request with one message. The shell adds the time to its id: a message with the id of an earlier one would get the
/// earlier answer.
fn message(id: &str, text: &str) -> String {
    format!(
        "{{\"message\": {{\"messageId\": \"{id}-'$(date +%s)'\",\n    \
         \"role\": \"ROLE_USER\", \"parts\": [{{\"text\": \"{text}\"}}]}}}}"
    )
}

/// The section for the command line, which is the shortest way for a person.
pub(super) fn shell(url: &str) -> PageSection {
    let url = url.trim_end_matches('/');
    PageSection {
        title: "Command line",
        commands: vec![
            ("Talk with it", format!("monas chat --server {url}")),
            (
                "Send one message",
                format!("monas send --server {url} 'what can you do?'"),
            ),
            (
                "See what waits for your approval",
                format!("monas approvals --server {url}"),
            ),
        ],
        url: url.to_owned(),
        deprecated: false,
    }
}

/// The sections for MCP and ACP, which call the same skills, and for the routes that people and their programs use.
pub(super) fn beside(url: &str, shown: Shown) -> [PageSection; 3] {
    let url = url.trim_end_matches('/');
    let header = shown.header();
    let mcp = format!("{url}{}", ::mcp::PATH);
    let acp = format!("{url}{}", acp::PATH);
    let list = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "curl", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {}}}}"#;
    let headers = format!(
        "{header}-H 'Content-Type: application/json' \\\n  \
         -H 'Accept: application/json, text/event-stream' \\\n  \
         -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/list'"
    );
    [
        PageSection {
            title: "MCP",
            commands: vec![(
                "List the tools",
                format!("curl -s {mcp} \\\n  {headers} \\\n  -d '{list}'"),
            )],
            url: mcp,
            deprecated: false,
        },
        PageSection {
            title: "ACP",
            commands: vec![("List the agents", format!("curl -s {header}{acp}/agents"))],
            url: acp,
            deprecated: false,
        },
        PageSection {
            title: "For people: agents, approvals, reasons, memory",
            commands: vec![
                (
                    "List the agents, and what waits for a person",
                    format!(
                        "curl -s {header}{url}/api/agents; curl -s {header}{url}/api/approvals"
                    ),
                ),
                (
                    "What the agent does, and why it did something",
                    format!(
                        "curl -s {header}{url}/api/agent/status; curl -s {header}'{url}/api/agent/why?question=last'"
                    ),
                ),
                (
                    "What it remembers",
                    format!("curl -s {header}{url}/api/memory/audit"),
                ),
            ],
            url: format!("{url}/api"),
            deprecated: false,
        },
    ]
}
