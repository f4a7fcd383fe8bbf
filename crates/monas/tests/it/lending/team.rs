//! A server that is given to a team: encrypted, each member with a key of its own, a link for a guest, a trail of what was approved
//! by which member, and one command that takes back any of it.

use std::net::TcpListener;
use std::path::Path;

use serde_json::Value as Json;

use crate::support::program::{Ended, Monas, command, living, run};

/// The program in a home, for the server at an address.
struct Team<'a> {
    home: &'a Path,
    url: String,
}

impl Team<'_> {
    /// A command of a member, by its key.
    async fn by(&self, key: &str, words: &[&str]) -> Ended {
        let mut command = command(self.home);
        command.args(words).args(["--bearer", key]);
        command.args(["--server", &self.url]);
        command.arg("--ca-cert").arg(self.home.join("tls/ca.pem"));
        run(&mut command).await
    }

    /// One that succeeds; gives what it printed.
    async fn done(&self, key: &str, words: &[&str]) -> String {
        let ended = self.by(key, words).await;
        assert_eq!(ended.status.code(), Some(0), "{words:?}: {ended:?}");
        ended.stdout.trim().to_owned()
    }

    /// One that is refused: 4 for credentials, 1 for what its role may not do.
    async fn refused(&self, key: &str, words: &[&str], code: i32) {
        let ended = self.by(key, words).await;
        assert_eq!(ended.status.code(), Some(code), "{words:?}: {ended:?}");
    }
}

#[tokio::test]
async fn a_server_is_given_to_a_team_and_taken_back_member_by_member() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let made = run(command(home.path()).args(["tls", "init", "--dir", &path("tls")])).await;
    assert!(made.status.success(), "{made:?}");
    let words = ["user", "add", "root", "--role", "admin", "--key"];
    let root = run(command(home.path()).args(words)).await;
    assert!(root.status.success(), "{root:?}");
    let root = root.stdout.trim();
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = port.local_addr().unwrap().to_string();
    drop(port);
    let url = format!("https://{address}");
    let text = format!(
        "public_url = '{url}'\ntls.cert = 'tls/cert.pem'\ntls.key = 'tls/key.pem'\nworkspace = 'files'\n"
    );
    std::fs::create_dir(path("files")).unwrap();
    std::fs::write(path("monas.toml"), text).unwrap();
    let mut served = living(home.path());
    served.env_remove("MONAS_OPEN");
    served.args(["--config", &path("monas.toml")]);
    let monas = Monas::start_at(&address, &mut served).await;
    let team = Team {
        home: home.path(),
        url,
    };

    let add = async |name: &str, role: &str| {
        let words = ["user", "add", name, "--role", role, "--key"];
        team.done(root, &words).await
    };
    let vera = add("vera", "viewer").await;
    let uma = add("uma", "user").await;
    let olga = add("olga", "operator").await;
    team.refused(&olga, &["user", "list"], 4).await;
    let lend = ["capability", "create", "--read-only", "--for", "10m"];
    let guest = team.done(&uma, &lend).await;

    let wanted = team
        .by(&uma, &["send", "write \"rain\" into notes.md"])
        .await;
    assert!(
        wanted.stdout.contains("May I call file-write?"),
        "{wanted:?}"
    );
    team.done(&guest, &["task", "list"]).await;
    team.refused(&guest, &["send", "hello"], 4).await;
    let listed = team.done(&olga, &["approvals", "-o", "json"]).await;
    let listed: Json = serde_json::from_str(&listed).unwrap();
    let id = listed["approvals"][0]["id"].as_str().unwrap();
    let yes = ["approvals", "answer", id, "yes"];
    team.refused(&vera, &yes, 4).await;
    assert!(!Path::new(&path("files/notes.md")).exists());
    team.done(&olga, &yes).await;
    let why = team.done(&olga, &["why", "notes.md"]).await;
    assert!(
        why.contains("olga (permission operate) approved it."),
        "{why}"
    );
    assert_eq!(
        std::fs::read_to_string(path("files/notes.md")).unwrap(),
        "rain"
    );
    // The trail is written within a second.
    let mut trail = String::new();
    for _ in 0..100 {
        trail = team
            .done(&olga, &["audit", "--user", "olga", "-o", "json"])
            .await;
        if trail.contains("POST /api/approvals/{id}") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let trail: Json = serde_json::from_str(&trail).unwrap();
    let mut records = trail["records"].as_array().unwrap().iter();
    let approved = records.find(|it| it["operation"] == "POST /api/approvals/{id}");
    let approved = approved.unwrap_or_else(|| panic!("{trail}"));
    assert_eq!(approved["scheme"], "monas-key", "{approved}");

    // One command takes back the member, with its key and what it has lent.
    team.done(root, &["user", "remove", "uma"]).await;
    for key in [&uma, &guest] {
        team.refused(key, &["task", "list"], 4).await;
    }
    team.done(root, &["user", "role", "olga", "viewer"]).await;
    team.refused(&olga, &["audit"], 4).await;
    team.done(&vera, &["task", "list"]).await;
    monas.stop().await;
}
