//! The process: how it starts, what it says, how it ends.

use tempfile::TempDir;

use crate::support::program::{Ended, Monas, command, run};

fn home() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// What it says when it does not start, and that it ends with this code.
async fn complaint(home: &TempDir, arguments: &[&str], code: i32) -> String {
    let Ended { status, stderr, .. } = run(command(home.path()).args(arguments)).await;
    assert_eq!(status.code(), Some(code), "{stderr}");
    stderr
}

#[tokio::test]
async fn says_what_it_does_and_stops_when_told_to() {
    let home = home();
    for signal in ["TERM", "INT"] {
        let mut monas = Monas::start(&mut command(home.path())).await;
        let log = monas.logged("serving").await;
        assert!(log.contains(&monas.url), "{log}");
        monas.signal(signal).await;
        let (code, log) = monas.ended().await;
        assert_eq!(code, Some(0), "{log}");
        assert!(log.contains("stopping"), "{log}");
        assert!(log.contains("stopped"), "{log}");
    }
}

#[tokio::test]
async fn says_what_is_wrong_with_an_address() {
    let home = home();
    let monas = Monas::start(&mut command(home.path())).await;
    let taken = monas.authority();
    let data = home.path().join("other");
    let arguments = ["--listen", taken, "--data", data.to_str().unwrap()];
    let said = complaint(&home, &arguments, 1).await;
    assert!(
        said.starts_with(&format!("monas: could not listen on {taken}: ")),
        "{said}"
    );
    assert_eq!(
        complaint(&home, &["--listen", "0.0.0.0:8080"], 2).await,
        "monas: could not listen on 0.0.0.0:8080: only loopback addresses are allowed until there is access control\n"
    );
    monas.stop().await;
}

#[tokio::test]
async fn says_what_is_wrong_with_a_setting_and_where() {
    let home = home();
    let file = home.path().join("monas.toml");
    std::fs::write(&file, "open = true\nlisten = \"here\"\n").unwrap();
    let said = complaint(&home, &["--config", file.to_str().unwrap()], 2).await;
    let expected = format!(
        "monas: could not use {}:2: listen: expected an address and a port, such as 127.0.0.1:8080\n",
        file.display()
    );
    assert_eq!(said, expected);

    assert_eq!(
        complaint(&home, &["serve", "--max-connections", "0"], 2).await,
        "monas: could not use --max-connections=\"0\": expected a number above 0\n"
    );
    let Ended { status, stderr, .. } = run(command(home.path()).env("MONAS_OPEN", "perhaps")).await;
    assert_eq!(status.code(), Some(2));
    assert_eq!(
        stderr,
        "monas: could not use MONAS_OPEN=\"perhaps\": expected true or false\n"
    );

    let said = complaint(&home, &["--listn", "127.0.0.1:0"], 2).await;
    assert!(said.contains("'--listen'"), "{said}");
    let said = complaint(&home, &["--tls-cert", "missing", "--tls-key", "missing"], 2).await;
    assert!(
        said.starts_with("monas: could not read missing: No such file"),
        "{said}"
    );
}

#[tokio::test]
async fn finds_its_file_in_the_users_folder() {
    let home = home();
    let folder = home.path().join(".config/monas");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("monas.toml"), "lisen = 1\n").unwrap();
    let said = complaint(&home, &[], 2).await;
    assert!(
        said.contains("monas.toml:1: `lisen` is not a setting; did you mean `listen`?"),
        "{said}"
    );
}

#[tokio::test]
async fn warns_of_variables_that_are_almost_settings() {
    let home = home();
    let mut monas = Monas::start(command(home.path()).env("MONAS_LISTN", "x")).await;
    monas
        .logged("MONAS_LISTN is not a setting; did you mean MONAS_LISTEN?")
        .await;
    monas.stop().await;
}

#[tokio::test]
async fn helps() {
    let home = home();
    for arguments in [["--help"].as_slice(), &["serve", "--help"]] {
        let Ended { status, stdout, .. } = run(command(home.path()).args(arguments)).await;
        assert_eq!(status.code(), Some(0));
        for expected in [
            "--listen <ADDRESS>",
            "MONAS_LISTEN",
            "127.0.0.1:8080",
            "--open",
            "--tls-cert <FILE>",
        ] {
            assert!(stdout.contains(expected), "{expected}\n{stdout}");
        }
    }
    let Ended { stdout, .. } = run(command(home.path()).args(["sut", "--help"])).await;
    assert!(stdout.contains("--store <memory|DIR>"), "{stdout}");
    assert!(!stdout.contains("--commit-delay"), "{stdout}");
    let Ended { stdout, .. } = run(command(home.path()).arg("--version")).await;
    assert_eq!(stdout, format!("monas {}\n", env!("CARGO_PKG_VERSION")));
}
