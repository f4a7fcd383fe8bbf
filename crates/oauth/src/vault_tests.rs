//! Tokens that are kept: for which resource, and with which rights.

use super::*;

fn kept(resource: &str) -> Kept {
    Kept {
        resource: resource.to_owned(),
        issuer: "https://id.example.com".to_owned(),
        client: OAuthClient {
            private_key: Some("never kept".to_owned()),
            ..OAuthClient::public("monas")
        },
        token: Some(Token {
            access_token: "secret".to_owned(),
            needs_proof: false,
            expires: Some(1),
            refresh_token: None,
            scopes: Vec::new(),
        }),
        scopes: vec!["a2a".to_owned()],
        proof_key: None,
        identifier: None,
    }
}

#[test]
fn keeps_a_sign_in_for_one_resource_and_its_owner() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("state/tokens");
    let vault = Vault::folder(&folder);
    let one = kept("https://a.example.com");
    assert_eq!(vault.load(&one.resource), Ok(None));
    vault.save(&one).unwrap();
    let loaded = vault.load(&one.resource).unwrap().unwrap();
    assert_eq!(loaded.token, one.token);
    assert_eq!(loaded.client.private_key, None);
    assert_eq!(vault.load("https://a.example.com/other"), Ok(None));
    assert!(!format!("{loaded:?}").contains("secret"));

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = file(&folder, &one.resource);
        assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(vault.load(&one.resource).is_err());
    }

    assert_eq!(vault.remove(&one.resource), Ok(true));
    assert_eq!(vault.remove(&one.resource), Ok(false));
}
