//! The agent runs a command after a person agreed, in a sandbox, and no process of it outlives the server.

use std::fs;
use std::time::Duration;

use a2a::types::{Message, TaskState};

use crate::living::{client, say, state, words};
use crate::support::program::{Monas, living, run};

#[tokio::test]
async fn a_command_is_run_after_a_yes_and_cannot_read_the_data_of_the_server() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let client = client(&server).await;
    let asked = say(&client, "run echo rain > here.txt; cat here.txt", None).await;
    assert_eq!(state(&asked), TaskState::InputRequired, "{asked:?}");
    let question = words(&asked);
    assert!(
        question.contains("echo rain > here.txt; cat here.txt"),
        "{question}"
    );
    assert!(question.contains("Sandbox: "), "{question}");
    let done = say(&client, "yes", Some(&asked)).await;
    assert_eq!(state(&done), TaskState::Completed, "{done:?}");
    assert!(words(&done).contains("rain"), "{done:?}");

    let data = data(home.path());
    assert!(data.join("monas.db").exists());
    let asked = say(
        &client,
        &format!("run cat {}/monas.db", data.display()),
        None,
    )
    .await;
    let done = say(&client, "yes", Some(&asked)).await;
    assert!(!words(&done).contains("SQLite"), "{done:?}");
    assert!(
        words(&done).contains("ermission denied") || words(&done).contains("No such file"),
        "{done:?}"
    );
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_is_killed_leaves_no_process_of_its_commands() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let client = client(&server).await;
    let mark = format!("5{}.375", server.id());
    let asked = say(
        &client,
        &format!("run setsid sleep {mark} & sleep {mark}"),
        None,
    )
    .await;
    assert_eq!(state(&asked), TaskState::InputRequired, "{asked:?}");
    let mut yes = Message::user(uuid::Uuid::new_v4().to_string(), "yes");
    yes.task_id.clone_from(&asked.id);
    yes.context_id.clone_from(&asked.context_id);
    let answered = tokio::spawn(async move { drop(client.send_message(yes.into()).await) });
    wait(|| processes(&mark) >= 2).await;
    server.signal("KILL").await;
    wait(|| processes(&mark) == 0).await;
    answered.abort();
}

/// The folder of the data that a server in this home uses.
fn data(home: &std::path::Path) -> std::path::PathBuf {
    let found = [".local/share/monas", ".monas", "monas-data"];
    let mut found = found.iter().map(|it| home.join(it));
    found.find(|it| it.is_dir()).expect("a data folder")
}

/// How many processes have this text in their command line.
fn processes(text: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    let sleeping = lines.filter(|it| it.starts_with(b"sleep\0"));
    sleeping
        .filter(|it| String::from_utf8_lossy(it).contains(text))
        .count()
}

async fn wait(what: impl Fn() -> bool) {
    let waited = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waited)
        .await
        .expect("it happens");
}

#[tokio::test]
async fn the_word_undo_takes_back_what_the_agent_wrote_also_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let file = data(home.path()).join("workspace/notes.md");
    fs::write(&file, "rain\n").unwrap();
    let caller = client(&server).await;
    let asked = say(&caller, "write \"sun\" into notes.md", None).await;
    let done = say(&caller, "yes", Some(&asked)).await;
    assert_eq!(state(&done), TaskState::Completed, "{done:?}");
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), "sun");
    server.stop().await;

    let server = Monas::start(&mut living(home.path())).await;
    let caller = client(&server).await;
    let asked = say(&caller, "undo", None).await;
    assert_eq!(state(&asked), TaskState::InputRequired, "{asked:?}");
    assert!(words(&asked).contains("+rain"), "{asked:?}");
    let done = say(&caller, "yes", Some(&asked)).await;
    assert_eq!(state(&done), TaskState::Completed, "{done:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "rain\n");
    server.stop().await;
}

#[tokio::test]
async fn the_command_undo_lists_what_agents_changed_and_takes_it_back() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let file = data(home.path()).join("workspace/notes.md");
    fs::write(&file, "rain\n").unwrap();
    let caller = client(&server).await;
    let undo =
        async |arguments: &[&str]| run(living(home.path()).arg("undo").args(arguments)).await;
    let none = undo(&["--list"]).await;
    assert!(none.stdout.contains("no change"), "{none:?}");
    let asked = say(&caller, "write \"sun\" into notes.md", None).await;
    say(&caller, "yes", Some(&asked)).await;
    let listed = undo(&["--list"]).await.stdout;
    let (id, rest) = listed.split_once("  ").unwrap();
    assert!(
        rest.contains("modified notes.md, by file-write for "),
        "{listed}"
    );
    let undone = undo(&[id]).await;
    assert!(undone.status.success(), "{undone:?}");
    assert!(
        undone.stdout.starts_with("/project/notes.md is as it was"),
        "{undone:?}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "rain\n");
    let again = undo(&[]).await;
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    assert!(again.stderr.contains("no change"), "{again:?}");
    server.stop().await;
    let stopped = undo(&[]).await;
    assert!(
        stopped.stderr.contains("begin one with `monas`"),
        "{stopped:?}"
    );
}

/// It went wrong: a person was asked to agree to a change of nothing.
#[tokio::test]
async fn writing_what_is_there_already_needs_no_answer() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    let file = data(home.path()).join("workspace/notes.md");
    fs::write(&file, "sun").unwrap();
    let caller = client(&server).await;
    let done = say(&caller, "write \"sun\" into notes.md", None).await;
    assert_eq!(state(&done), TaskState::Completed, "{done:?}");
    assert!(words(&done).contains("unchanged"), "{done:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "sun");
    let asked = say(&caller, "write \"rain\" into notes.md", None).await;
    assert_eq!(state(&asked), TaskState::InputRequired, "{asked:?}");
    // What is changed to the same while the question is open needs no second question.
    fs::write(&file, "rain").unwrap();
    let done = say(&caller, "yes", Some(&asked)).await;
    assert_eq!(state(&done), TaskState::Completed, "{done:?}");
    // There is nothing that an agent has changed.
    let done = say(&caller, "undo", None).await;
    assert!(
        words(&done).contains("could not undo anything: no change of a file by an agent is left"),
        "{done:?}"
    );
    server.stop().await;
}
