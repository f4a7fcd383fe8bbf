//! The real program with a file of its own, called by the real command line.

use std::path::Path;

use access::Hash;

use crate::support::program::{Ended, Monas, closed, command, run};

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
    let mut served = closed(home.path());
    served.args(["--config", &file(home.path())]);
    let monas = Monas::start(&mut served).await;
    // Of another account: on its own data the command line has a token.
    let elsewhere = tempfile::tempdir().unwrap();
    let ask = async |words: &[&str]| -> Ended {
        let mut command = command(elsewhere.path());
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
    assert!(ended.stderr.contains("unauthorized"), "{ended:?}");
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
            "[access]\ndefault_role = 'king'\n",
            "monas.toml:2: access.default_role: expected viewer, user, operator or admin",
        ),
        (
            "[access]\nsignatures = 'required'\n",
            "it needs a scheme in [access] of the type \"signature\"",
        ),
        (
            "[access.monas]\ntype = 'oauth2'\nissuer = 'i'\naudience = 'a'\ntoken_url = 'https://id.example'\n\
             keys = '{\"kty\": \"oct\", \"k\": \"c2VjcmV0IG9mIDMyIGJ5dGVzIG9yIG1vcmUsIGZvciB0ZXN0cw\"}'\n",
            "use the scheme \"monas\": the name is taken",
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

#[tokio::test]
async fn a_key_signs_and_a_certificate_is_made_and_renewed() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).display().to_string();
    let ask = async |words: &[&str]| -> Ended { run(command(home.path()).args(words)).await };

    let made = ask(&[
        "tls",
        "init",
        "--dir",
        &path("tls"),
        "--name",
        "agents.example",
    ])
    .await;
    assert!(made.status.success(), "{made:?}");
    let again = ask(&["tls", "init", "--dir", &path("tls")]).await;
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    assert!(again.stderr.contains("not overwritten"), "{again:?}");

    let key = ask(&["card", "key", "--alg", "eddsa"]).await;
    std::fs::write(path("ada.pem"), &key.stdout).unwrap();
    let owner = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(path("ada.pem"), owner).unwrap();
    let public = ask(&["card", "public-key", &path("ada.pem")]).await.stdout;
    std::fs::write(path("keys.json"), &public).unwrap();
    let public: serde_json::Value = serde_json::from_str(&public).unwrap();
    let settings = format!(
        "tls.cert = 'tls/cert.pem'\ntls.key = 'tls/key.pem'\n\
         [access]\nsignatures = 'required'\n\
         [access.signed]\ntype = 'signature'\nkeys = 'keys.json'\ncallers.ada = {}\n",
        public["kid"]
    );
    std::fs::write(path("monas.toml"), settings).unwrap();
    let mut served = closed(home.path());
    served.args(["--config", &path("monas.toml")]);
    let mut monas = Monas::start(&mut served).await;

    let ask = async |words: &[&str]| -> Ended {
        let mut command = command(home.path());
        command.args(words).args(["--ca-cert", &path("tls/ca.pem")]);
        run(command.args(["--server", &monas.url])).await
    };
    for binding in ["jsonrpc", "rest", "grpc", "capnweb", "websocket"] {
        let send = ["send", "whoami", "--transport", binding];
        let key = path("ada.pem");
        let signed = [&send[..], &["--sign-key", &key]].concat();
        let ended = ask(&signed).await;
        assert!(
            ended.stdout.contains("ada by signed"),
            "{binding}: {ended:?}"
        );
        let ended = ask(&send).await;
        assert_eq!(ended.status.code(), Some(4), "{binding}: {ended:?}");
    }
    let status = ask(&["status", "--sign-key", &path("ada.pem")]).await;
    assert!(status.status.success(), "{status:?}");

    // SIGHUP reads the files again instead of ending the process, also where they are of no use.
    let url = monas.url.clone();
    monas.signal("HUP").await;
    monas.logged("TLS files read again").await;
    std::fs::write(path("tls/key.pem"), "no key").unwrap();
    monas.signal("HUP").await;
    let log = monas.logged("go on with the TLS files").await;
    assert!(log.contains("no private key in PEM form"), "{log}");
    let mut command = command(home.path());
    let signed = [
        "--sign-key",
        &path("ada.pem"),
        "--ca-cert",
        &path("tls/ca.pem"),
    ];
    command
        .args(["send", "whoami", "--server", &url])
        .args(signed);
    let ended = run(&mut command).await;
    assert!(ended.stdout.contains("ada by signed"), "{ended:?}");
    monas.stop().await;
}
