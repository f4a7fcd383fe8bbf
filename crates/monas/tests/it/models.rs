//! `monas models`, as a process: what is configured is listed and asked, and weights are fetched.

use model::scripted::{Failure, Scripted, Server, Turn};
use tempfile::TempDir;

use crate::support::program::{Ended, command, run};

/// What the program says to these arguments and variables, and what it ends with.
async fn models(arguments: &[&str], variables: &[(&str, &str)]) -> (i32, String) {
    let home = TempDir::new().unwrap();
    let mut command = command(home.path());
    command
        .arg("models")
        .args(arguments)
        .envs(variables.iter().copied());
    let Ended {
        status,
        stdout,
        stderr,
    } = run(&mut command).await;
    (status.code().unwrap(), stdout + &stderr)
}

#[tokio::test]
async fn without_any_it_says_so() {
    let (code, said) = models(&[], &[]).await;
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("model     none; rules understand direct requests"),
        "{said}"
    );
    assert!(
        said.contains("embedder  none; memory is searched by words"),
        "{said}"
    );
    assert!(
        said.contains("not fetched; `monas models pull all-minilm-l6-v2` fetches them"),
        "{said}"
    );
}

#[tokio::test]
async fn what_is_configured_is_asked() {
    let script = Scripted::new([Turn::text("OK").usage(5, 1)]);
    let server = Server::start_with(script, Some("secret")).await.unwrap();
    let url = format!("{}/v1", server.url());
    let variables = [
        ("MONAS_MODEL_URL", url.as_str()),
        ("MONAS_MODEL_KEY", "secret"),
        ("MONAS_EMBEDDER_URL", url.as_str()),
        ("MONAS_EMBEDDER_KEY", "secret"),
    ];
    let arguments = ["--model", "openai:small", "--embedder", "openai:words"];
    let (code, said) = models(&arguments, &variables).await;
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains(&format!("model     openai:small at {url}: answers (")),
        "{said}"
    );
    assert!(said.contains("6 tokens)"), "{said}");
    assert!(said.contains("64 dimensions)"), "{said}");
    assert_eq!(server.seen()[0].body["model"], "small");
}

#[tokio::test]
async fn what_does_not_answer_is_told_with_the_reason() {
    let server = Server::start_with(Scripted::default(), Some("secret"))
        .await
        .unwrap();
    let url = format!("{}/v1", server.url());
    let variables = [
        ("MONAS_MODEL_NAME", "openai:small"),
        ("MONAS_MODEL_URL", url.as_str()),
        // The variable holds a key for the provider; it is not sent to another URL.
        ("OPENAI_API_KEY", "secret"),
    ];
    let (code, said) = models(&[], &variables).await;
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("API key missing or rejected: this is not the key (401)"),
        "{said}"
    );
    assert!(said.contains("1 of 2 did not answer"), "{said}");
    assert!(!said.contains("secret"), "{said}");

    let silent = Server::start(Scripted::new([Turn::fails(Failure::Refused)]))
        .await
        .unwrap();
    let url = silent.url();
    let (code, said) = models(
        &["--model", "ollama:gemma3"],
        &[("MONAS_MODEL_URL", url.as_str())],
    )
    .await;
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("request refused: as the script says (400)"),
        "{said}"
    );
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    for (arguments, variables, why) in [
        (
            &["--model", "gpt-5"][..],
            &[][..],
            "expected a provider (openai, anthropic, gemini or ollama)",
        ),
        (&["--model", "opneai:gpt-5"], &[], "expected a provider"),
        (&["--embedder", "words"], &[], "expected none, local:"),
        (
            &[],
            &[("MONAS_MODEL_URL", "localhost:1234")],
            "expected a URL",
        ),
        (
            &[],
            &[("MONAS_MODEL_MAX_COST", "a lot")],
            "expected an amount",
        ),
        (&[], &[("MONAS_MODEL_MAX_COST", "5")], "without a price"),
        (&["pull", "gpt-5"], &[], "known are all-minilm-l6-v2"),
    ] {
        let (code, said) = models(arguments, variables).await;
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(why), "{said}");
    }
}

#[tokio::test]
async fn weights_that_are_not_what_they_should_be_are_not_taken() {
    let from = TempDir::new().unwrap();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::write(from.path().join(name), "{}").unwrap();
    }
    let place = from.path().to_str().unwrap();
    let (code, said) = models(&["pull", "all-minilm-l6-v2", "--from", place], &[]).await;
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("could not use config.json: its hash is"),
        "{said}"
    );
}
