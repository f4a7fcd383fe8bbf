//! Every command names its server in the same way, says which one it asked, and fails with the same codes.

use std::path::Path;
use std::process::Stdio;

use access::Hash;
use rcgen::{BasicConstraints, CertificateParams, CertifiedKey, IsCa, Issuer, KeyPair};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::support::program::{Ended, Monas, living, run};

async fn monas(home: &Path, line: &str, variables: &[(&str, &str)]) -> Ended {
    let mut command = living(home);
    command.args(line.split(' ').map(|word| word.replace('_', " ")));
    command.envs(variables.iter().copied()).stdin(Stdio::null());
    run(&mut command).await
}

/// Commands of every kind that ask a server and change nothing.
const COMMANDS: [&str; 12] = [
    "send /help",
    "task list",
    "card get",
    "why Ada",
    "law show",
    "memory audit",
    "approvals",
    "status",
    "webhook dead",
    "audit --limit 1",
    "board list",
    "grant list",
];

#[tokio::test]
async fn every_command_finds_the_server_on_the_data_and_says_so() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut living(home.path())).await;
    for line in COMMANDS {
        let ended = monas(home.path(), line, &[]).await;
        assert!(ended.status.success(), "{line}: {ended:?}");
        let asked = format!("asking {} (it runs on ", server.url);
        assert!(ended.stderr.contains(&asked), "{line}: {ended:?}");
    }
    server.stop().await;
    // Without a server the data is read, which is said, too.
    let read = monas(home.path(), "law show", &[]).await;
    assert!(read.status.success(), "{read:?}");
    assert!(read.stderr.contains("(no server runs on it)"), "{read:?}");
}

#[tokio::test]
async fn every_command_asks_the_server_that_is_named() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let here = Monas::start(&mut living(first.path())).await;
    let there = Monas::start(&mut living(second.path())).await;
    for line in COMMANDS {
        for variable in ["MONAS_SERVER", "A2ACLI_AGENT_CARD"] {
            let ended = monas(first.path(), line, &[(variable, &there.url)]).await;
            let asked = format!("asking {} ({variable})", there.url);
            assert!(ended.status.success(), "{line}: {ended:?}");
            assert!(ended.stderr.contains(&asked), "{line}: {ended:?}");
        }
        // A flag counts more than a variable, and needs no words.
        let line = format!("{line} --server {}", here.url);
        let ended = monas(first.path(), &line, &[("MONAS_SERVER", &there.url)]).await;
        assert!(ended.status.success(), "{line}: {ended:?}");
        assert!(!ended.stderr.contains("asking"), "{line}: {ended:?}");
    }
    // What was said to one server is asked of that server.
    let named = [("MONAS_SERVER", &*there.url)];
    let told = monas(first.path(), "send remember_that_Ada_likes_coffee", &named).await;
    assert!(told.status.success(), "{told:?}");
    let why = monas(first.path(), "why coffee", &named).await;
    assert!(why.stdout.contains("coffee"), "{why:?}");
    let elsewhere = monas(first.path(), "why coffee", &[]).await;
    assert!(elsewhere.stdout.contains("I do not know"), "{elsewhere:?}");
    // A flag that names the data counts more than a variable that names a server.
    let data = first.path().join(".local/share/monas");
    let line = format!("status --data {}", data.display());
    let ended = monas(first.path(), &line, &named).await;
    assert!(ended.stderr.contains(&here.url), "{ended:?}");
    let both = format!("status --server {} -a {}", here.url, there.url);
    let both = monas(first.path(), &both, &[]).await;
    assert_eq!(both.status.code(), Some(2), "{both:?}");
    here.stop().await;
    there.stop().await;
}

#[tokio::test]
async fn an_agent_of_a_server_is_named_in_one_way() {
    let home = tempfile::tempdir().unwrap();
    let agents = home.path().join("agents");
    std::fs::create_dir(&agents).unwrap();
    let scout = "name = 'Scout'\ndescription = 'Finds paths.'\nobjectives = ['find paths']\n";
    std::fs::write(agents.join("scout.toml"), scout).unwrap();
    let server = Monas::start(living(home.path()).arg("--agents").arg(&agents)).await;
    let listed = monas(home.path(), "agents", &[]).await;
    assert!(
        listed
            .stdout
            .contains("scout  Scout  /agents/scout  Finds paths.\n"),
        "{listed:?}"
    );
    let card = monas(home.path(), "card get --for scout", &[]).await;
    assert!(card.stdout.starts_with("Scout "), "{card:?}");
    let status = monas(home.path(), "status --for scout", &[]).await;
    assert!(status.stdout.starts_with("scout: idle\n"), "{status:?}");
    let by_address = format!("status -a {}/agents/scout", server.url);
    let status = monas(home.path(), &by_address, &[]).await;
    assert!(status.stdout.starts_with("scout: idle\n"), "{status:?}");
    let typo = monas(home.path(), "status --for scuot", &[]).await;
    assert_eq!(typo.status.code(), Some(1), "{typo:?}");
    let meant = "there is no agent \"scuot\"; did you mean \"scout\"?";
    assert!(typo.stderr.contains(meant), "{typo:?}");
    let typo = monas(home.path(), "send hello --for scuot", &[]).await;
    assert_eq!(typo.status.code(), Some(1), "{typo:?}");
    assert!(typo.stderr.contains("`monas agents` lists"), "{typo:?}");

    let paused = monas(home.path(), "pause --for scout", &[]).await;
    assert!(paused.stdout.starts_with("scout: paused\n"), "{paused:?}");
    let listed = monas(home.path(), "agents -o json", &[]).await;
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let is_paused = |id: &str| {
        let agents = listed["agents"].as_array().unwrap();
        agents.iter().find(|it| it["id"] == id).unwrap()["paused"].clone()
    };
    assert_eq!(
        (is_paused("scout"), is_paused("default")),
        (true.into(), false.into())
    );
    let resumed = monas(home.path(), "resume --for scout", &[]).await;
    assert!(resumed.stdout.starts_with("scout: idle\n"), "{resumed:?}");
    server.stop().await;
}

#[tokio::test]
async fn every_command_takes_every_credential_over_tls() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name);
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let clients = authority.self_signed(&authority_key).unwrap();
    std::fs::write(path("clients.pem"), clients.pem()).unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let client_key = KeyPair::generate().unwrap();
    let client = CertificateParams::new(vec!["machine.example".to_owned()]).unwrap();
    let client = client.signed_by(&client_key, &issuer).unwrap();
    std::fs::write(path("client.pem"), client.pem()).unwrap();
    std::fs::write(path("client.key"), client_key.serialize_pem()).unwrap();
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(path("cert.pem"), cert.pem()).unwrap();
    std::fs::write(path("key.pem"), signing_key.serialize_pem()).unwrap();
    let hash = Hash::of("s3cret");
    let caller = format!("{{ secret = '{hash}', scopes = ['operator'] }}");
    std::fs::write(
        path("monas.toml"),
        format!(
            "data = 'kept'\ntls.cert = 'cert.pem'\ntls.key = 'key.pem'\n\
             [access.tokens]\ntype = 'bearer'\ncallers.ada = {caller}\n\
             [access.passwords]\ntype = 'basic'\ncallers.bob = {caller}\n\
             [access.keys]\ntype = 'apiKey'\nheader = 'x-key'\ncallers.robot = {caller}\n\
             [access.machines]\ntype = 'mutualTLS'\nca = 'clients.pem'\n"
        ),
    )
    .unwrap();
    let mut served = living(home.path());
    served.env_remove("MONAS_OPEN").arg("--config");
    let server = Monas::start(served.arg(path("monas.toml"))).await;
    let certificate = format!(
        "--client-cert {} --client-key {}",
        path("client.pem").display(),
        path("client.key").display()
    );
    let trusted = format!(
        "--server {} --ca-cert {}",
        server.url,
        path("cert.pem").display()
    );
    for line in [
        "send /help",
        "task list",
        "law show",
        "memory audit",
        "approvals",
        "status",
        "webhook dead",
        "board list",
        "key list",
        "capability list",
    ] {
        for credentials in ["--bearer s3cret", "--basic bob:s3cret", "--api-key s3cret"] {
            let line = format!("{line} {trusted} {credentials}");
            let ended = monas(home.path(), &line, &[]).await;
            assert!(ended.status.success(), "{line}: {ended:?}");
        }
        let insecure = format!("{line} --server {} --insecure --bearer s3cret", server.url);
        let ended = monas(home.path(), &insecure, &[]).await;
        assert!(ended.status.success(), "{line}: {ended:?}");
        for (flags, code, hint) in [
            (trusted.clone(), 4, "set credentials with --bearer"),
            (
                format!("{trusted} --bearer wrong"),
                4,
                "set credentials with --bearer",
            ),
            (
                format!("--server {} --bearer s3cret", server.url),
                3,
                "--ca-cert FILE",
            ),
            (
                format!(
                    "--server {} --bearer s3cret",
                    server.url.replace("https", "http")
                ),
                3,
                "write https://",
            ),
        ] {
            let line = format!("{line} {flags}");
            let ended = monas(home.path(), &line, &[]).await;
            assert_eq!(ended.status.code(), Some(code), "{line}: {ended:?}");
            assert!(ended.stderr.contains(hint), "{line}: {ended:?}");
        }
    }
    // A certificate proves a name; what an operator may do it may not.
    let list = format!("task list {trusted} {certificate}");
    let ended = monas(home.path(), &list, &[]).await;
    assert!(ended.status.success(), "{ended:?}");
    let why = format!("why Ada {trusted} {certificate}");
    assert_eq!(monas(home.path(), &why, &[]).await.status.code(), Some(4));
    server.stop().await;
}

#[tokio::test]
async fn a_certificate_of_an_authority_is_explained() {
    let home = tempfile::tempdir().unwrap();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let (cert, pem) = (home.path().join("cert.pem"), home.path().join("key.pem"));
    std::fs::write(&cert, params.self_signed(&key).unwrap().pem()).unwrap();
    std::fs::write(&pem, key.serialize_pem()).unwrap();
    let mut serve = living(home.path());
    serve
        .arg("--tls-cert")
        .arg(&cert)
        .arg("--tls-key")
        .arg(&pem);
    let server = Monas::start(&mut serve).await;
    for line in ["send /help", "status"] {
        let line = format!(
            "{line} --server {} --ca-cert {}",
            server.url,
            cert.display()
        );
        let ended = monas(home.path(), &line, &[]).await;
        assert_eq!(ended.status.code(), Some(3), "{line}: {ended:?}");
        assert!(
            ended.stderr.contains("basicConstraints"),
            "{line}: {ended:?}"
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn failures_have_the_same_codes_and_the_same_form_in_all_commands() {
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}", listener.local_addr().unwrap());
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    for line in COMMANDS {
        let unreachable = format!("{line} --server {closed}");
        let ended = monas(home.path(), &unreachable, &[]).await;
        assert_eq!(ended.status.code(), Some(3), "{line}: {ended:?}");
        assert!(ended.stderr.contains("error: "), "{line}: {ended:?}");
        assert!(
            ended.stderr.contains("hint: is the server running?"),
            "{line}: {ended:?}"
        );
        let ended = monas(home.path(), &format!("{unreachable} -o json"), &[]).await;
        let said: Value = serde_json::from_str(&ended.stderr).unwrap();
        assert_eq!(said["error"]["code"], "UNREACHABLE", "{line}: {ended:?}");
        // The socket is open, and nothing ever answers on it.
        let late = format!("{line} --server {silent} --timeout 300ms");
        let ended = monas(home.path(), &late, &[]).await;
        assert_eq!(ended.status.code(), Some(5), "{line}: {ended:?}");
        let usage = format!("{line} --no-such-flag");
        assert_eq!(
            monas(home.path(), &usage, &[]).await.status.code(),
            Some(2),
            "{line}"
        );
    }
    let version = monas(home.path(), "version", &[]).await;
    assert_eq!(
        version.stdout,
        format!("monas {}\n", env!("CARGO_PKG_VERSION"))
    );
}

/// The commands that the program has, as its help lists them.
async fn commands(home: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut groups = vec![String::new()];
    while let Some(group) = groups.pop() {
        let help = monas(home, format!("{group} --help").trim(), &[]).await;
        assert!(help.status.success(), "{group}: {help:?}");
        let listed = help.stdout.split_once("\nCommands:\n");
        let listed = listed.map_or("", |(_, rest)| {
            rest.split("\n\n").next().unwrap_or_default()
        });
        let names = listed.lines().filter_map(|line| {
            // Further lines of a description stand deeper.
            let name = line.strip_prefix("  ").filter(|it| !it.starts_with(' '))?;
            name.split_whitespace().next().filter(|it| *it != "help")
        });
        let mut names = names.peekable();
        if names.peek().is_none() {
            found.push(group.clone());
        }
        groups.extend(names.map(|name| format!("{group} {name}").trim().to_owned()));
    }
    found.sort();
    found
}

#[tokio::test]
async fn every_command_has_help_with_an_example() {
    let home = tempfile::tempdir().unwrap();
    let commands = commands(home.path()).await;
    for known in ["send", "task push-config set", "user add", "memory forget"] {
        assert!(
            commands.iter().any(|it| it == known),
            "{known}: {commands:?}"
        );
    }
    assert!(commands.len() > 60, "{commands:?}");
    for line in &commands {
        let help = monas(home.path(), &format!("{line} --help"), &[]).await;
        assert!(help.status.success(), "{line}: {help:?}");
        let example = format!("monas {}", line.split(' ').next().unwrap_or_default());
        let usage = format!("Usage: {example}");
        let shown = help.stdout.replace(&usage, "").matches(&example).count();
        assert!(shown > 0, "{line} has no example:\n{}", help.stdout);
    }
}
