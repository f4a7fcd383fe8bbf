//! A server for each scheme, and what its callers show.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a::client::{Identity, Settings, Trust};
use a2a::signature::{Algorithm, SigningKey};
use a2a::types::APIKeySecurityScheme;
use access::{Callers, Hash, Place, SigningCaller, Unauthenticated};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use monas::config::access::{Access, Keys, Kind, Scheme, Tokens};
use monas::config::{Config, TlsFiles};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};
use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::server::{Running, config};

/// A scheme, credentials for it, and the caller's name that they lead to.
pub(super) struct Case {
    /// The scheme's name in the card.
    pub(super) name: &'static str,
    /// What the agent says of the right caller.
    pub(super) caller: &'static str,
    pub(super) config: Config,
    stranger: Settings,
    wrong: Settings,
    right: Settings,
    /// Holds the files until the test is over.
    _folder: Option<TempDir>,
}

impl Case {
    fn new(name: &'static str, caller: &'static str, kind: Kind) -> Self {
        let mut config = config();
        config.access = Access {
            schemes: vec![Scheme {
                name: name.to_owned(),
                description: String::new(),
                kind,
            }],
            unauthenticated: Unauthenticated::Refused,
            ..Access::open()
        };
        Self {
            name,
            caller,
            config,
            stranger: Settings::default(),
            wrong: Settings::default(),
            right: Settings::default(),
            _folder: None,
        }
    }

    fn shown(
        mut self,
        show: impl Fn(Settings, bool) -> Result<Settings, a2a::client::Error>,
    ) -> Self {
        self.wrong = show(Settings::default(), false).unwrap();
        self.right = show(Settings::default(), true).unwrap();
        self
    }

    pub(super) async fn start(&self) -> Running {
        Running::sut_with(&self.config).await
    }

    pub(super) fn stranger(&self) -> Settings {
        self.stranger.clone()
    }

    pub(super) fn wrong(&self) -> Settings {
        self.wrong.clone()
    }

    pub(super) fn right(&self) -> Settings {
        self.right.clone()
    }

    fn kind(&self) -> &Kind {
        &self.config.access.schemes[0].kind
    }

    pub(super) fn is_certificate(&self) -> bool {
        matches!(self.kind(), Kind::MutualTls(_))
    }

    /// The scopes that the card names.
    pub(super) fn scopes(&self) -> Vec<String> {
        match self.kind() {
            Kind::OAuth2 { tokens, .. } | Kind::OpenIdConnect { tokens, .. } => {
                tokens.scopes.clone()
            }
            _ => Vec::new(),
        }
    }

    /// What 0.3 calls the scheme.
    pub(super) fn old_type(&self) -> &'static str {
        match self.kind() {
            Kind::Bearer(_) | Kind::Basic(_) | Kind::Signature { .. } => "http",
            Kind::ApiKey(..) => "apiKey",
            Kind::OAuth2 { .. } => "oauth2",
            Kind::OpenIdConnect { .. } => "openIdConnect",
            Kind::MutualTls(_) => "mutualTLS",
        }
    }
}

/// One case for each kind of scheme.
pub(super) fn cases() -> [Case; 9] {
    [
        bearer_tokens_are_known_over_every_binding(),
        passwords_are_known_over_every_binding(),
        keys_in_headers_are_known_over_every_binding(),
        keys_in_addresses_are_known_over_every_binding(),
        keys_in_cookies_are_known_over_every_binding(),
        tokens_of_oauth_are_known_over_every_binding(),
        tokens_of_openid_connect_are_known_over_every_binding(),
        certificates_are_known_over_every_binding(),
        signatures_are_known_over_every_binding(),
    ]
}

/// Callers with a secret each; Ada is the operator.
fn callers(all: &[(&str, &str)]) -> Callers {
    let mut callers = Callers::default();
    for (name, secret) in all {
        let scopes = match *name {
            "ada" => vec!["operator".to_owned()],
            _ => Vec::new(),
        };
        callers.add(name, Hash::of(secret), &scopes).unwrap();
    }
    callers
}

pub(super) fn bearer_tokens_are_known_over_every_binding() -> Case {
    let known = callers(&[("ada", "token-of-ada"), ("bob", "token-of-bob")]);
    let case = Case::new("tokens", "ada by tokens for operator", Kind::Bearer(known));
    case.shown(|settings, right| {
        settings.bearer(if right {
            "token-of-ada"
        } else {
            "token-of-eve"
        })
    })
}

pub(super) fn passwords_are_known_over_every_binding() -> Case {
    let known = callers(&[("bob", "pass: word"), ("eve", "other")]);
    let case = Case::new("passwords", "bob by passwords", Kind::Basic(known));
    case.shown(|settings, right| settings.basic("bob", if right { "pass: word" } else { "other" }))
}

fn keys(place: Place, location: &str, name: &str) -> Case {
    let known = callers(&[("robot", "key 1/2&3")]);
    let case = Case::new("keys", "robot by keys", Kind::ApiKey(place, known));
    let scheme = APIKeySecurityScheme {
        location: location.to_owned(),
        name: name.to_owned(),
        ..APIKeySecurityScheme::default()
    };
    case.shown(|settings, right| settings.key(&scheme, if right { "key 1/2&3" } else { "key" }))
}

pub(super) fn keys_in_headers_are_known_over_every_binding() -> Case {
    keys(Place::header("X-Robot").unwrap(), "header", "X-Robot")
}

pub(super) fn keys_in_addresses_are_known_over_every_binding() -> Case {
    keys(Place::query("robot_key").unwrap(), "query", "robot_key")
}

pub(super) fn keys_in_cookies_are_known_over_every_binding() -> Case {
    keys(Place::cookie("robot").unwrap(), "cookie", "robot")
}

fn text(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A token that holds for a while from now.
fn token(algorithm: &str, change: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut claims = json!({
        "iss": "https://id.example", "aud": "monas", "sub": "ada", "scope": "a2a",
        "exp": (now + Duration::from_secs(300)).as_secs(),
    });
    for (name, value) in change.as_object().unwrap() {
        claims[name] = value.clone();
    }
    let header = json!({ "alg": algorithm });
    let message = format!("{}.{}", text(header.to_string()), text(claims.to_string()));
    let signature = text(sign(message.as_bytes()));
    format!("{message}.{signature}")
}

fn tokens(key: &Value, scopes: &[&str]) -> Tokens {
    Tokens {
        issuer: "https://id.example".to_owned(),
        audience: vec!["monas".to_owned()],
        keys: Keys::Text(key.to_string()),
        scopes: scopes.iter().map(|it| (*it).to_owned()).collect(),
    }
}

pub(super) fn tokens_of_oauth_are_known_over_every_binding() -> Case {
    let (random, how) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
    let der = EcdsaKeyPair::generate_pkcs8(how, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(how, der.as_ref(), &random).unwrap();
    let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
    let key = json!({ "kty": "EC", "crv": "P-256", "x": text(x), "y": text(y) });
    let kind = Kind::OAuth2 {
        tokens: tokens(&key, &["a2a"]),
        token_url: "https://id.example/token".to_owned(),
        authorization_url: None,
        metadata_url: None,
    };
    let sign = |message: &[u8]| pair.sign(&random, message).unwrap().as_ref().to_vec();
    Case::new("oauth", "oauth:ada by oauth for a2a", kind).shown(|settings, right| {
        // The wrong token has another audience.
        let change = if right {
            json!({})
        } else {
            json!({ "aud": "other" })
        };
        settings.bearer(&token("ES256", &change, sign))
    })
}

pub(super) fn tokens_of_openid_connect_are_known_over_every_binding() -> Case {
    let der = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(der.as_ref()).unwrap();
    let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": text(pair.public_key()) });
    let kind = Kind::OpenIdConnect {
        tokens: tokens(&key, &[]),
        url: "https://id.example/.well-known/openid-configuration".to_owned(),
    };
    let sign = |message: &[u8]| pair.sign(message).as_ref().to_vec();
    Case::new("sso", "sso:ada by sso for a2a", kind).shown(|settings, right| {
        // The wrong one has expired.
        let change = if right {
            json!({})
        } else {
            json!({ "exp": 1 })
        };
        settings.bearer(&token("EdDSA", &change, sign))
    })
}

/// A server that knows tokens, and one of them that expires in so many seconds. Clocks may differ by 30 s, so its `exp`
/// has passed already.
pub(super) fn token_that_expires_in(seconds: u64) -> (Config, String) {
    let der = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(der.as_ref()).unwrap();
    let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": text(pair.public_key()) });
    let kind = Kind::OpenIdConnect {
        tokens: tokens(&key, &[]),
        url: "https://id.example/.well-known/openid-configuration".to_owned(),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let change = json!({ "exp": (now + Duration::from_secs(seconds)).as_secs() - 30 });
    let sign = |message: &[u8]| pair.sign(message).as_ref().to_vec();
    let token = token("EdDSA", &change, sign);
    (Case::new("sso", "sso:ada", kind).config, token)
}

/// An authority, as PEM, and one of the certificates that it signs.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        Self { pem, issuer }
    }

    /// Issues a certificate for this name; gives it and its key as PEM.
    fn certify(&self, name: &str) -> (String, String) {
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    fn identity(&self, name: &str) -> Identity {
        let (certificate, key) = self.certify(name);
        Identity::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap()
    }

    fn der(&self) -> CertificateDer<'static> {
        use rustls::pki_types::pem::PemObject as _;
        CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()
    }
}

pub(super) fn certificates_are_known_over_every_binding() -> Case {
    let (servers, clients, others) = (Authority::new(), Authority::new(), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (certificate, key) = servers.certify("127.0.0.1");
    let ca = write("clients.pem", &clients.pem);
    let mut case = Case::new(
        "machines",
        "machines:worker.example by machines",
        Kind::MutualTls(ca),
    );
    case.config.tls = Some(TlsFiles {
        certificate: write("cert.pem", &certificate),
        key: write("key.pem", &key),
    });
    case.stranger.dial.trust = Trust::PublicAnd(vec![servers.der()]);
    case.wrong = case.stranger.clone();
    case.wrong.dial.identity = Some(others.identity("worker.example"));
    case.right = case.stranger.clone();
    case.right.dial.identity = Some(clients.identity("worker.example"));
    case._folder = Some(folder);
    case
}

pub(super) fn signatures_are_known_over_every_binding() -> Case {
    let key = |algorithm| {
        let pem = SigningKey::generate(algorithm).unwrap();
        SigningKey::from_pem(&pem).unwrap()
    };
    let (right, wrong) = (key(Algorithm::EdDsa), key(Algorithm::Es256));
    let kind = Kind::Signature {
        keys: Keys::Text(right.public_jwk().to_string()),
        callers: vec![SigningCaller {
            name: "ada".to_owned(),
            keys: vec![right.id().to_owned()],
            ..SigningCaller::default()
        }],
    };
    // Another key under the id that is known.
    let wrong = wrong.with_id(right.id());
    let mut case = Case::new("signed", "ada by signed", kind);
    case.right.signer = Some(right.into_signer());
    case.wrong.signer = Some(wrong.into_signer());
    case
}
