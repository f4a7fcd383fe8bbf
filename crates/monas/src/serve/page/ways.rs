//! Commands to try each binding, made of what the card says.

use a2a::types::AgentInterface;

use super::Way;

/// What a binding is called, and commands to try it: what they do, and what to type. `None` for a
/// binding that is not known here.
pub(super) fn try_it(
    interface: &AgentInterface,
    encrypted: bool,
) -> Option<(&'static str, Vec<(&'static str, String)>)> {
    let url = &interface.url;
    let version = &interface.protocol_version;
    let curl = format!("-H 'Content-Type: application/json' -H 'A2A-Version: {version}'");
    Some(match &*interface.protocol_binding {
        "JSONRPC" => {
            let call = |method: &str, id: &str, text: &str| {
                let params = message(id, text);
                format!(
                    "{{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"{method}\", \"params\":\n    {params}}}"
                )
            };
            let send = call("SendMessage", "jsonrpc", "/help");
            let stream = call("SendStreamingMessage", "jsonrpc-stream", "/help");
            (
                "JSON-RPC",
                vec![
                    (
                        "Send a message",
                        format!("curl -s {url} \\\n  {curl} \\\n  -d '{send}'"),
                    ),
                    (
                        "Watch a task at work",
                        format!("curl -sN {url} \\\n  {curl} \\\n  -d '{stream}'"),
                    ),
                ],
            )
        }
        "HTTP+JSON" => {
            let (send, stream) = (message("rest", "/help"), message("rest-stream", "/help"));
            (
                "HTTP+JSON (REST)",
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
                ],
            )
        }
        "GRPC" => {
            let plain = if encrypted { "" } else { " -plaintext" };
            let call = |method: &str, id: &str, text: &str| {
                let request = message(id, text);
                format!(
                    "grpcurl{plain} -H 'A2A-Version: {version}' \\\n  -d '{request}' \\\n  {url} lf.a2a.v1.A2AService/{method}"
                )
            };
            (
                "gRPC",
                vec![
                    ("Send a message", call("SendMessage", "grpc", "/help")),
                    (
                        "Watch a task at work",
                        call("SendStreamingMessage", "grpc-stream", "/help"),
                    ),
                ],
            )
        }
        "urn:monas:a2a:binding:capnweb:1" => {
            let script = format!(
                "import {{ newWebSocketRpcSession }} from \"capnweb\"\n\
                 const agent = newWebSocketRpcSession(\"{}\")\n\
                 console.log(await agent.sendMessage({{ messageId: crypto.randomUUID(),\n  \
                 role: \"ROLE_USER\", parts: [{{ text: \"/help\" }}] }}))\n\
                 agent[Symbol.dispose]()",
                socket(url)
            );
            (
                "Cap'n Web",
                vec![(
                    "Send a message, after npm install capnweb",
                    format!("node --input-type=module -e '{script}'"),
                )],
            )
        }
        "urn:monas:a2a:binding:websocket:1" => {
            let script = format!(
                "const socket = new WebSocket(\"{url}\", \"a2a.v1\")\n\
                 socket.onmessage = ({{ data }}) => {{ console.log(data); socket.close() }}\n\
                 socket.onopen = () => socket.send(JSON.stringify({{ jsonrpc: \"2.0\", id: 1,\n  \
                 method: \"SendMessage\", params: {{ message: {{ messageId: crypto.randomUUID(),\n    \
                 role: \"ROLE_USER\", parts: [{{ text: \"/help\" }}] }} }} }}))"
            );
            (
                "JSON-RPC over WebSockets",
                vec![("Send a message", format!("node -e '{script}'"))],
            )
        }
        _ => return None,
    })
}

/// The address of a WebSocket that is served where this is.
fn socket(url: &str) -> String {
    url.replacen("http", "ws", 1)
}

/// A request with one message. The shell adds the time to its id, because a message that is sent again
/// gets the answer of the first time.
fn message(id: &str, text: &str) -> String {
    format!(
        "{{\"message\": {{\"messageId\": \"{id}-'$(date +%s)'\",\n    \
         \"role\": \"ROLE_USER\", \"parts\": [{{\"text\": \"{text}\"}}]}}}}"
    )
}

/// Other protocols by which the same skills are called, at the server of this address.
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
