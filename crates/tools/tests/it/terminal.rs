//! The skill `terminal-run`, called in memory.

use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::{Value, json};
use skill::{MemoryCall, Registry};
use tools::sandbox::{Network, SandboxKind};
use tools::terminal::{Ended, Size, Terminal, TerminalRun, Terminals, run_skill};

use crate::sandbox::{kinds, processes};
use crate::support::Bed;

fn skills(bed: &Bed, kind: SandboxKind) -> Registry {
    run_skill(Registry::new(), bed.shell(kind)).unwrap()
}

async fn output(skills: &Registry, input: Value) -> Value {
    let call = MemoryCall::new(skills.clone());
    call.output("terminal-run", input).await.unwrap()
}

#[tokio::test]
async fn a_command_gives_its_output_as_it_comes_and_its_exit_code() {
    let bed = Bed::new();
    let skills = skills(&bed, kinds()[0]);
    let call = MemoryCall::new(skills.clone());
    let input = json!({ "command": "echo rain; sleep 0.5; echo sun >&2; exit 4" });
    let mut ran = call.output("terminal-run", input).await.unwrap();
    assert!(ran["milliseconds"].as_u64().unwrap() >= 500);
    ran["milliseconds"] = json!(0);
    let expected = json!({
        "command": "echo rain; sleep 0.5; echo sun >&2; exit 4", "output": "rain\nsun\n", "exit_code": 4,
        "success": false, "sandbox": kinds()[0].name(), "network": false, "timed_out": false, "left_out": 0,
        "milliseconds": 0,
    });
    assert_eq!(ran, expected);
    // What came before the pause was passed on before the end.
    let streamed = call.artifacts();
    let streamed: Vec<&str> = streamed
        .iter()
        .filter_map(|it| it.parts[0].as_text())
        .collect();
    assert_eq!(streamed[0], "rain\n");
    assert_eq!(streamed.concat(), "rain\nsun\n");
    let told = |output: &Value| skills.entry("terminal-run").unwrap().tell(output).unwrap();
    assert_eq!(told(&ran), "rain\nsun\nIt ended with exit code 4.");
    let ran = output(&skills, json!({ "command": "true" })).await;
    assert_eq!(told(&ran), "It ended without an error, and wrote nothing.");
}

#[tokio::test]
async fn a_long_output_keeps_its_beginning_and_its_end() {
    let bed = Bed::new();
    let ran = output(
        &skills(&bed, kinds()[0]),
        json!({ "command": "seq 1 100000" }),
    )
    .await;
    let text = ran["output"].as_str().unwrap();
    assert!(text.starts_with("1\n2\n3\n") && text.ends_with("99999\n100000\n"));
    let left_out = ran["left_out"].as_u64().unwrap();
    assert!(
        left_out > 400_000 && text.contains(&format!("… {left_out} bytes are left out here …"))
    );
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_with_all_that_it_began() {
    let bed = Bed::new();
    let mark = format!("8{}.25", std::process::id());
    let began = Instant::now();
    let command = format!("echo begun; sleep {mark} & sleep {mark}");
    let ran = output(
        &skills(&bed, kinds()[0]),
        json!({ "command": command, "seconds": 1 }),
    )
    .await;
    assert_eq!(
        (&ran["timed_out"], &ran["output"]),
        (&json!(true), &json!("begun\n"))
    );
    assert_ne!(ran["exit_code"], 0);
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(processes(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn the_question_shows_the_exact_command_and_what_the_sandbox_allows() {
    let bed = Bed::new();
    bed.put("src/a.txt", "");
    let ask = async |kind, input: Value| {
        let skills = skills(&bed, kind);
        let entry = skills.entry("terminal-run").unwrap();
        let traits = entry.definition().traits;
        assert!(traits.approval && traits.destructive && !traits.replayable);
        assert_eq!(traits.ask_each_time, kind == SandboxKind::None);
        let bound = entry.bind(input).await.unwrap();
        entry
            .preview(bound)
            .await
            .map(Option::unwrap)
            .map_err(|it| it.to_string())
    };
    let input = json!({ "command": "rm -rf target && cargo test", "folder": "/project/src" });
    expect![[r#"
        rm -rf target && cargo test

        in /project/src, for at most 120 seconds.
        Sandbox: landlock. The project is writable, everything else read-only, the server's data unreadable; no network."#]]
    .assert_eq(&ask(SandboxKind::Landlock, input).await.unwrap());
    let shown = ask(
        SandboxKind::Landlock,
        json!({ "command": "curl x", "network": true }),
    )
    .await;
    assert!(shown.unwrap().ends_with("network allowed."));
    let shown = ask(SandboxKind::None, json!({ "command": "ls" }))
        .await
        .unwrap();
    assert!(shown.contains("Sandbox: none."), "{shown}");
    for (input, problem) in [
        (json!({ "command": " " }), "could not run command: empty"),
        (
            json!({ "command": "ls", "folder": "../x" }),
            "could not run \"../x\": `..` is not allowed in a path",
        ),
        (
            json!({ "command": "ls", "folder": "src/a.txt" }),
            "could not run /project/src/a.txt: it is not a folder",
        ),
    ] {
        let skills = skills(&bed, SandboxKind::Landlock);
        let refused = MemoryCall::new(skills).output("terminal-run", input).await;
        assert_eq!(refused.unwrap_err().to_string(), problem);
    }
}

#[tokio::test]
async fn a_data_folder_inside_of_the_project_is_not_given_to_commands() {
    let bed = Bed::new();
    bed.put("data/key", "KEY");
    let shell = bed.shell_with(SandboxKind::Landlock, |it| {
        it.hidden.push(bed.root.join("data"))
    });
    let skills = Registry::new().with(TerminalRun::new(shell)).unwrap();
    let call = MemoryCall::new(skills);
    let refused = call
        .output("terminal-run", json!({ "command": "cat data/key" }))
        .await;
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("data is inside of the project"),
        "{refused}"
    );
}

#[tokio::test]
async fn without_a_sandbox_commands_still_end_with_all_that_they_began() {
    let bed = Bed::new();
    let mark = format!("9{}.125", std::process::id());
    let command = format!("setsid sleep {mark} & echo begun");
    let ran = output(
        &skills(&bed, SandboxKind::None),
        json!({ "command": command }),
    )
    .await;
    assert_eq!(
        (&ran["output"], &ran["sandbox"]),
        (&json!("begun\n"), &json!("none"))
    );
    assert_eq!(processes(&mark), Vec::<String>::new());
}

/// Reads a terminal until it shows a text, and returns all from the cursor on.
async fn shows(terminal: &Terminal, cursor: &mut u64, text: &str) -> String {
    let mut seen = String::new();
    let wait = async {
        while !seen.contains(text) {
            let followed = terminal.follow(*cursor).await;
            *cursor = followed.cursor;
            seen.push_str(&String::from_utf8_lossy(&followed.bytes));
            assert!(followed.ended.is_none() || seen.contains(text), "{seen}");
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(30), wait).await;
    waited.unwrap_or_else(|_| panic!("no {text:?}"));
    seen
}

#[tokio::test]
async fn a_person_and_an_agent_share_a_terminal_and_who_typed_what_is_kept() {
    for kind in kinds() {
        let bed = Bed::new();
        let terminals = Terminals::new(bed.shell(kind));
        let size = Size {
            rows: 30,
            columns: 77,
        };
        let terminal = terminals.open("ada", size, Network::Off).await.unwrap();
        let mut cursor = 0;
        terminal
            .write("ada", b"stty size; tty; echo sum $((20 + 3))\n")
            .await
            .unwrap();
        let shown = shows(&terminal, &mut cursor, "sum 23").await;
        // In bubblewrap the terminal is the console of a `/dev` of its own.
        let is_terminal = shown.contains("/dev/pts/") || shown.contains("/dev/console");
        assert!(shown.contains("30 77") && is_terminal, "{kind}: {shown}");

        // An agent reads along from the beginning, and types when it holds the terminal.
        let refused = terminal.write("agent:default", b"ls\n").await.unwrap_err();
        assert!(
            refused.to_string().contains("ada holds the terminal"),
            "{refused}"
        );
        assert_eq!(terminal.take("agent:default").as_deref(), Some("ada"));
        terminal
            .resize(Size {
                rows: 11,
                columns: 44,
            })
            .unwrap();
        terminal
            .write(
                "agent:default",
                b"stty size; echo x > made.txt; echo end $((1 + 1))\n",
            )
            .await
            .unwrap();
        assert!(
            shows(&terminal, &mut cursor, "end 2")
                .await
                .contains("11 44")
        );
        assert!(bed.root.join("made.txt").exists());
        let again = shows(&terminal, &mut 0, "end 2").await;
        assert!(again.contains("sum 23"), "{again}");
        let typed = terminal.typed();
        let by: Vec<&str> = typed.iter().map(|it| &*it.by).collect();
        assert_eq!(by, ["ada", "agent:default"]);
        assert!(typed[0].at < typed[1].at);

        // Closing it ends all that it began, also jobs in groups of their own.
        let mark = format!("4{}.6{}", std::process::id(), kind as u8);
        let line = format!("set -m; sleep {mark} & setsid sleep {mark} & echo jobs $((2 + 2))\n");
        terminal
            .write("agent:default", line.as_bytes())
            .await
            .unwrap();
        shows(&terminal, &mut cursor, "jobs 4").await;
        // The shell goes on before its jobs have become the programs that they run.
        let begun = async {
            while processes(&mark).is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), begun)
            .await
            .unwrap();
        assert!(terminals.close(terminal.id()) && terminals.list().is_empty());
        let gone = async {
            while !processes(&mark).is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            while terminal.follow(cursor).await.ended.is_none() {}
        };
        tokio::time::timeout(Duration::from_secs(30), gone)
            .await
            .expect("all processes end");
    }
}

#[tokio::test]
async fn a_terminal_ends_with_its_shell() {
    let bed = Bed::new();
    let terminals = Terminals::new(bed.shell(kinds()[0]));
    let terminal = terminals
        .open("ada", Size::default(), Network::Off)
        .await
        .unwrap();
    terminal.write("ada", b"exit 7\n").await.unwrap();
    let mut cursor = 0;
    let ended = async {
        loop {
            let followed = terminal.follow(cursor).await;
            cursor = followed.cursor;
            if let Some(ended) = followed.ended {
                return ended;
            }
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(30), ended)
        .await
        .unwrap();
    assert_eq!(ended, Ended::Exited(7));
    assert!(terminal.write("ada", b"ls\n").await.is_err());
}

#[tokio::test]
async fn a_project_has_at_most_sixteen_terminals() {
    let bed = Bed::new();
    let terminals = Terminals::new(bed.shell(kinds()[0]));
    // At the same time, so that none is counted before the others ask.
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..18 {
        let terminals = terminals.clone();
        asked.spawn(async move { terminals.open("ada", Size::default(), Network::Off).await });
    }
    let asked = asked.join_all().await.into_iter();
    let (open, refused): (Vec<_>, Vec<_>) = asked.partition(Result::is_ok);
    assert_eq!((open.len(), refused.len()), (16, 2));
    let refused = refused[0].as_ref().unwrap_err().to_string();
    assert!(refused.contains("close one first"), "{refused}");
    let first = open[0].as_ref().unwrap();
    assert!(terminals.close(first.id()));
    let again = terminals.open("ada", Size::default(), Network::Off).await;
    assert!(again.is_ok());
}
