//! Tool servers that are programs: their environment, how they end, and that they are started again.

use std::path::Path;

use mcp::ToolLimits;
use serde_json::json;
use skill::ToolServer;

use crate::client::caller::Caller;

/// A tool server as a shell script. It writes a line into the folder `$1` each time it is started.
const SCRIPT: &str = r#"
echo started >> "$1/starts"
say() { printf '%s\n' "$1"; }
text() { say '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"'"$1"'"}]}}'; }
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"initialize"'*) say '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}';;
    *'"tools/list"'*) say '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"env","inputSchema":{}},{"name":"die","inputSchema":{}},{"name":"flood","inputSchema":{}}]}}';;
    *'"name":"env"'*) text "$(env | cut -d= -f1 | sort | tr '\n' ' ')$MODE";;
    *'"name":"die"'*) exit 1;;
    *'"name":"flood"'*) head -c 200000 /dev/zero | tr '\0' x; say '';;
    *'"id"'*) say '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"what?"}}';;
  esac
done
echo ended >> "$1/ends"
"#;

fn program(command: &str) -> ToolServer {
    ToolServer {
        command: Some(command.to_owned()),
        ..ToolServer::default()
    }
}

fn shell(folder: &Path) -> ToolServer {
    let words = ["-c", SCRIPT, "sh", folder.to_str().unwrap()];
    ToolServer {
        args: words.map(str::to_owned).to_vec(),
        env: [("MODE".to_owned(), "quiet".to_owned())].into(),
        ..program("sh")
    }
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path)
        .unwrap_or_default()
        .lines()
        .count()
}

#[tokio::test]
async fn a_program_sees_the_environment_it_is_given_and_nothing_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let caller = Caller::with(shell(folder.path()), &ToolLimits::default()).await;
    assert!(
        std::env::var_os("CARGO_MANIFEST_DIR").is_some(),
        "there is something to hide"
    );
    let seen = caller.gives("box-env").await;
    let seen: Vec<_> = seen.as_str().unwrap().split(' ').collect();
    // The shell adds variables of its own.
    let given = seen
        .iter()
        .filter(|name| !["OLDPWD", "PWD", "SHLVL", "_"].contains(name));
    assert_eq!(given.collect::<Vec<_>>(), [&"MODE", &"PATH", &"quiet"]);
}

#[tokio::test]
async fn a_program_that_dies_fails_its_call_and_is_started_again_for_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let caller = Caller::with(shell(folder.path()), &ToolLimits::default()).await;
    let starts = || lines(&folder.path().join("starts"));
    assert_eq!(starts(), 1, "it is started once for its list");
    let (code, said) = caller.fails("box-die").await;
    assert_eq!(code, "tool-server", "{said}");
    caller.gives("box-env").await;
    assert_eq!(starts(), 2);
}

#[tokio::test]
async fn a_line_that_is_too_long_ends_the_connection_and_not_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let mut limits = ToolLimits::default();
    limits.max_message = 100_000;
    let caller = Caller::with(shell(folder.path()), &limits).await;
    assert_eq!(caller.fails("box-flood").await.0, "tool-server");
    caller.gives("box-env").await;
}

#[tokio::test]
async fn a_program_ends_in_good_order_when_the_agent_stops() {
    let folder = tempfile::tempdir().unwrap();
    let caller = Caller::with(shell(folder.path()), &ToolLimits::default()).await;
    caller.agent.close().await;
    assert_eq!(lines(&folder.path().join("ends")), 1);
    let (code, said) = caller.fails("box-env").await;
    assert_eq!(code, "unreachable");
    assert!(said.contains("the agent has stopped"), "{said}");
}

#[tokio::test]
async fn a_program_that_gives_up_at_an_unknown_method_is_asked_with_initialize() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = shell(folder.path());
    let touchy = r#"    *'"server/discover"'*) exit 1;;"#;
    server.args[1] = SCRIPT.replacen(
        "case \"$line\" in\n",
        &format!("case \"$line\" in\n{touchy}\n"),
        1,
    );
    let caller = Caller::with(server, &ToolLimits::default()).await;
    caller.gives("box-env").await;
    caller.fails("box-die").await;
    caller.gives("box-env").await;
    let starts = lines(&folder.path().join("starts"));
    assert_eq!(starts, 3, "what it does not know it is not asked again");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said_to_be_not_there() {
    let caller = Caller::with(program("no-such-program"), &ToolLimits::default()).await;
    assert!(
        caller.problems[0].contains("start no-such-program: "),
        "{:?}",
        caller.problems
    );

    let caller = Caller::with(program("true"), &ToolLimits::default()).await;
    assert_eq!(caller.problems.len(), 1, "{:?}", caller.problems);
    let task = caller.call("greet", json!({ "who": "Ada" })).await;
    assert!(skill::extension::output(&task).is_some(), "{task:?}");
}
