//! Commands to try each binding, made of what the card says.

use a2a::types::AgentInterface;

use super::Way;

/// A command to try something: what it does, and what to type.
type Example = (&'static str, String);

/// Commands to try a binding, by its key in [`a2a::binding::BINDINGS`]. One that has none here is shown without.
pub(super) fn examples(key: &str, interface: &AgentInterface, encrypted: bool) -> Vec<Example> {
    let url = &interface.url;
    let version = &interface.protocol_version;
    let curl = format!("-H 'Content-Type: application/json' -H 'A2A-Version: {version}'");
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
                    format!("curl -s {url}/tasks -H 'A2A-Version: {version}'"),
                ),
            ]
        }
        "grpc" => {
            let plain = if encrypted { "" } else { " -plaintext" };
            let call = |method: &str, id: &str, text: &str| {
                let request = message(id, text);
                format!(
                    "grpcurl{plain} -H 'A2A-Version: {version}' \\\n  -d '{request}' \\\n  {url} lf.a2a.v1.A2AService/{method}"
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
            let script = format!(
                "import {{ newWebSocketRpcSession }} from \"capnweb\"\n\
                 const agent = newWebSocketRpcSession(\"{}\")\n\
                 console.log(await agent.sendMessage({{ messageId: crypto.randomUUID(),\n  \
                 role: \"ROLE_USER\", parts: [{{ text: \"/help\" }}] }}))\n\
                 agent[Symbol.dispose]()",
                socket(url)
            );
            vec![(
                "Send a message, after npm install capnweb",
                format!("node --input-type=module -e '{script}'"),
            )]
        }
        "websocket" => {
            let script = format!(
                "const socket = new WebSocket(\"{url}\", \"a2a.v1\")\n\
                 socket.onmessage = ({{ data }}) => {{ console.log(data); socket.close() }}\n\
                 socket.onopen = () => socket.send(JSON.stringify({{ jsonrpc: \"2.0\", id: 1,\n  \
                 method: \"SendMessage\", params: {{ message: {{ messageId: crypto.randomUUID(),\n    \
                 role: \"ROLE_USER\", parts: [{{ text: \"/help\" }}] }} }} }}))"
            );
            vec![("Send a message", format!("node -e '{script}'"))]
        }
        _ => Vec::new(),
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

/// The sections for MCP and ACP, which call the same skills.
pub(super) fn beside(url: &str) -> [Way; 2] {
    let url = url.trim_end_matches('/');
    let mcp = format!("{url}{}", ::mcp::PATH);
    let acp = format!("{url}{}", acp::PATH);
    let list = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "curl", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {}}}}"#;
    let headers = "-H 'Content-Type: application/json' \\\n  \
                   -H 'Accept: application/json, text/event-stream' \\\n  \
                   -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/list'";
    [
        Way {
            title: "MCP",
            commands: vec![(
                "List the tools",
                format!("curl -s {mcp} \\\n  {headers} \\\n  -d '{list}'"),
            )],
            url: mcp,
            deprecated: false,
        },
        Way {
            title: "ACP",
            commands: vec![("List the agents", format!("curl -s {acp}/agents"))],
            url: acp,
            deprecated: false,
        },
    ]
}
