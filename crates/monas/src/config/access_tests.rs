//! The settings of `[access]`, and the errors about them.

use std::path::Path;

use access::{Callers, Hash, Place, SigningCaller};

use super::{Keys, Kind, Scheme, Tokens};
use crate::config::file::parse;

fn schemes(text: &str) -> Vec<Scheme> {
    parse(Path::new("monas.toml"), text).unwrap().1
}

fn complaint(text: &str) -> String {
    let hash = Hash::of("secret").to_string();
    let text = text.replace("HASH", &hash);
    let error = parse(Path::new("monas.toml"), &text).unwrap_err();
    error.to_string()
}

#[test]
fn every_type_of_scheme_is_read() {
    let (one, two) = (Hash::of("one"), Hash::of("two"));
    let text = format!(
        "[access.tokens]\ntype = 'bearer'\ndescription = 'For friends.'\n\
         callers.ada = ['{one}', '{two}']\n\
         callers.bob = {{ secret = '{two}', scopes = ['operator'] }}\n\
         [access.keys]\ntype = 'apiKey'\nquery = 'key'\ncallers = {{ robot = '{one}' }}\n\
         [access.sso]\ntype = 'openIdConnect'\nissuer = 'https://id.example/'\naudience = 'monas'\n\
         keys = 'jwks.json'\n\
         [access.auth]\ntype = 'oauth2'\nissuer = 'i'\naudience = 'a'\nkeys = '{{}}'\nscopes = ['a2a']\n\
         token_url = 'https://id.example/token'\n\
         [access.machines]\ntype = 'mutualTLS'\nca = 'clients.pem'\n\
         [access.signed]\ntype = 'signature'\nkeys = 'callers.json'\ncallers.ada = 'ada-1'\n\
         callers.bob = {{ keys = ['bob-1', 'bob-2'], scopes = ['operator'], required = true }}\n"
    );
    let scheme = |name: &str, description: &str, kind: Kind| Scheme {
        name: name.to_owned(),
        description: description.to_owned(),
        kind,
    };
    let mut known = Callers::default();
    known.add("ada", one, &[]).unwrap();
    known.add("ada", two, &[]).unwrap();
    known.add("bob", two, &["operator".to_owned()]).unwrap();
    let mut robots = Callers::default();
    robots.add("robot", one, &[]).unwrap();
    let expected = [
        scheme("tokens", "For friends.", Kind::Bearer(known)),
        scheme(
            "keys",
            "",
            Kind::ApiKey(Place::Query("key".to_owned()), robots),
        ),
        scheme(
            "sso",
            "",
            Kind::OpenIdConnect {
                tokens: Tokens {
                    issuer: "https://id.example/".to_owned(),
                    audience: vec!["monas".to_owned()],
                    keys: Keys::File("jwks.json".into()),
                    scopes: Vec::new(),
                },
                url: "https://id.example/.well-known/openid-configuration".to_owned(),
            },
        ),
        scheme(
            "auth",
            "",
            Kind::OAuth2 {
                tokens: Tokens {
                    issuer: "i".to_owned(),
                    audience: vec!["a".to_owned()],
                    keys: Keys::Text("{}".to_owned()),
                    scopes: vec!["a2a".to_owned()],
                },
                token_url: "https://id.example/token".to_owned(),
                authorization_url: None,
                metadata_url: None,
            },
        ),
        scheme("machines", "", Kind::MutualTls("clients.pem".into())),
        scheme(
            "signed",
            "",
            Kind::Signature {
                keys: Keys::File("callers.json".into()),
                callers: vec![
                    SigningCaller {
                        name: "ada".to_owned(),
                        keys: vec!["ada-1".to_owned()],
                        ..SigningCaller::default()
                    },
                    SigningCaller {
                        name: "bob".to_owned(),
                        keys: vec!["bob-1".to_owned(), "bob-2".to_owned()],
                        scopes: vec!["operator".to_owned()],
                        required: true,
                    },
                ],
            },
        ),
    ];
    assert_eq!(schemes(&text), expected);
}

#[test]
fn a_mistake_is_named_by_its_line() {
    for (text, expected) in [
        (
            "access = true\n",
            "use monas.toml:1: `access` is a table: write [access]",
        ),
        (
            "[access]\ntokens = 'bearer'\n",
            "use monas.toml:2: `access.tokens` is a table: write [access.tokens]",
        ),
        (
            "[access.tokens]\ncallers = { ada = 'HASH' }\n",
            "use monas.toml:1: access.tokens: type is missing",
        ),
        (
            "[access.tokens]\ntype = 'barer'\n",
            "use monas.toml:1: access.tokens.type: expected bearer, basic, ",
        ),
        (
            "[access.tokens]\ntype = 'bearer'\n",
            "use monas.toml:1: access.tokens.callers: expected names with hashes",
        ),
        (
            "[access.tokens]\ntype = 'bearer'\ncallers = {}\n",
            "use monas.toml:3: access.tokens.callers: expected names with hashes",
        ),
        (
            "[access.tokens]\ntype = 'bearer'\n[access.tokens.callers]\nada = 'a secret'\n",
            "use monas.toml:4: access.tokens.callers.ada: could not read a hash: ",
        ),
        (
            "[access.tokens]\ntype = 'bearer'\ncallers = { 'sso:ada' = 'HASH' }\n",
            "use monas.toml:3: access.tokens.callers.sso:ada: could not use the name ",
        ),
        (
            "[access.tokens]\ntype = 'bearer'\ncallers = { anonymous = 'HASH' }\n",
            "use monas.toml:3: access.tokens.callers.anonymous: could not use the name \"anonymous\": it stands for \
             callers without credentials",
        ),
        (
            "[access.tokens]\ntype = 'bearer'\ncallers = { ada = 'HASH' }\ncaller = 1\n",
            "use monas.toml:4: `access.tokens.caller` is not a setting; did you mean `callers`?",
        ),
        (
            "[access.tokens]\ntype = 'bearer'\ncallers = { ada = 'HASH' }\nca = 'x'\n",
            "use monas.toml:4: `access.tokens.ca` does not belong to this type",
        ),
        (
            "[access.keys]\ntype = 'apiKey'\nheader = 'a'\nquery = 'b'\n",
            "use monas.toml:1: access.keys: set one of header, query and cookie",
        ),
        (
            "[access.keys]\ntype = 'apiKey'\nheader = 'Authorization'\n",
            "use monas.toml:1: access.keys: could not use \"authorization\": ",
        ),
        (
            "[access.sso]\ntype = 'openIdConnect'\nkeys = 'k'\nissuer = 'i'\n",
            "use monas.toml:1: access.sso: audience is missing",
        ),
        (
            "[access.sso]\ntype = 'openIdConnect'\nkeys = 'k'\nissuer = 'i'\naudience = 'a'\nscopes = 1\n",
            "use monas.toml:6: access.sso.scopes: expected a text, or a list of texts",
        ),
        (
            "[access]\nsignatures = 'always'\n",
            "use monas.toml:2: access.signatures: expected optional or required",
        ),
        (
            "[access.signed]\ntype = 'signature'\nkeys = 'k'\n",
            "use monas.toml:1: access.signed.callers: expected names with ids of keys",
        ),
        (
            "[access.signed]\ntype = 'signature'\nkeys = 'k'\n[access.signed.callers]\nada = []\n",
            "use monas.toml:5: access.signed.callers.ada: expected the id of a key",
        ),
        (
            "[access.signed]\ntype = 'signature'\nkeys = 'k'\ncallers.ada = { keys = 'a', required = 1 }\n",
            "use monas.toml:4: access.signed.callers.ada.required: expected true or false",
        ),
    ] {
        let said = complaint(text);
        assert!(said.starts_with(expected), "{text}: {said}");
    }
}
