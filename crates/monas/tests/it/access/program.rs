//! The real program with a file of its own, called by the real command line.

use std::path::Path;

use access::Hash;

use crate::support::program::{Ended, Monas, command, run};

/// A file with three schemes, all for callers of the same secret.
fn file(folder: &Path) -> String {
    let hash = Hash::of("s3cret");
    let text = format!(
        "[access.tokens]\ntype = 'bearer'\ncallers.ada = {{ secret = '{hash}', scopes = ['operator'] }}\n\
         [access.passwords]\ntype = 'basic'\ncallers.bob = '{hash}'\n\
         [access.keys]\ntype = 'apiKey'\nquery = 'key'\ncallers.robot = '{hash}'\n"
    );
    let path = folder.join("monas.toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[tokio::test]
async fn a_file_has_the_callers_and_flags_have_the_credentials() {
    let home = tempfile::tempdir().unwrap();
    let mut served = command(home.path());
    served.args(["--config", &file(home.path())]);
    let monas = Monas::start(&mut served).await;
    let ask = async |words: &[&str]| -> Ended {
        let mut command = command(home.path());
        command.args(words).env("A2ACLI_AGENT_CARD", &monas.url);
        run(&mut command).await
    };
    for binding in ["jsonrpc", "rest", "grpc", "capnweb", "websocket"] {
        let send = ["send", "whoami", "--transport", binding];
        for (flags, expected) in [
            (["--bearer", "s3cret"], "ada by tokens for operator"),
            (["--basic", "bob:s3cret"], "bob by passwords"),
            (["--api-key", "s3cret"], "robot by keys"),
        ] {
            let ended = ask(&[&send[..], &flags[..]].concat()).await;
            assert!(ended.stdout.contains(expected), "{binding}: {ended:?}");
        }
        for flags in [&[][..], &["--bearer", "wrong"], &["--basic", "ada:s3cret"]] {
            let ended = ask(&[&send[..], flags].concat()).await;
            assert_eq!(ended.status.code(), Some(4), "{binding}: {ended:?}");
        }
    }
    let dead = ["webhook", "dead", "--server", &monas.url];
    let ended = ask(&dead).await;
    assert!(ended.stderr.contains("no credentials"), "{ended:?}");
    let ended = ask(&[&dead[..], &["--bearer", "s3cret"]].concat()).await;
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    monas.stop().await;
}

#[tokio::test]
async fn a_door_that_cannot_be_is_said_before_anything_is_served() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("monas.toml");
    for (text, expected) in [
        (
            "[access.machines]\ntype = 'mutualTLS'\nca = 'clients.pem'\n",
            "use [access.machines]: mutualTLS needs tls.cert and tls.key",
        ),
        (
            "[access.sso]\ntype = 'openIdConnect'\nissuer = 'i'\naudience = 'a'\nkeys = 'none.json'\n",
            "none.json: No such file",
        ),
        (
            "[access.sso]\ntype = 'openIdConnect'\nissuer = 'i'\naudience = 'a'\nkeys = '{}'\n",
            "use [access]: could not read keys: ",
        ),
        (
            "open = false\n",
            "serve with open = false: [access] has no scheme, so every caller would be refused",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let mut served = command(home.path());
        served.args(["--listen", "127.0.0.1:0", "--config"]);
        let ended = run(served.arg(&path)).await;
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{ended:?}");
    }
}
