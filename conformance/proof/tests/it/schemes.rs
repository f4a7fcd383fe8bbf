//! A server that knows every scheme, and callers that use one each.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a::Client;
use a2a::client::{Error, Identity, Settings, Trust};
use a2a::types::{APIKeySecurityScheme, Answer, Part};
use access::{Callers, Hash, Place, Unauthenticated};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use monas::config::access::{Access, Keys, Kind, Scheme, Tokens};
use monas::config::{Data, TlsFiles};
use proof::{Wire, World};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;
use tempfile::TempDir;

use crate::support::script;

/// The server, and what its callers need.
pub(crate) struct Guarded {
    pub(crate) world: World,
    /// Who signs the tokens of OAuth, and who those of OpenID Connect.
    issuers: [Ed25519KeyPair; 2],
    /// Who signs the certificates of clients.
    clients: Authority,
    /// Holds files that the server has read.
    _folder: TempDir,
}

/// A way to show who one is: the settings of a client, and the caller that the agent sees.
pub(crate) struct Shown {
    pub(crate) scheme: &'static str,
    pub(crate) settings: Settings,
    pub(crate) caller: &'static str,
}

impl Guarded {
    /// Starts a server over TLS that refuses anonymous callers.
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| -> PathBuf {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let (servers, clients) = (Authority::new(), Authority::new());
        let (certificate, key) = servers.certify("127.0.0.1");
        let issuers = [(); 2].map(|()| {
            let random = ring::rand::SystemRandom::new();
            let der = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
            Ed25519KeyPair::from_pkcs8(der.as_ref()).unwrap()
        });
        let scheme = |name: &str, kind| Scheme {
            name: name.to_owned(),
            description: String::new(),
            kind,
        };
        let robot = || callers("robot", "key of robot");
        let mut config = monas::Config::new(Data::Memory);
        config.tls = Some(TlsFiles {
            certificate: write("certificate.pem", &certificate),
            key: write("key.pem", &key),
        });
        config.access = Access {
            schemes: vec![
                scheme("bearer", Kind::Bearer(callers("ada", "token-of-ada"))),
                scheme("basic", Kind::Basic(callers("bob", "password of bob"))),
                scheme(
                    "header",
                    Kind::ApiKey(Place::header("X-Key").unwrap(), robot()),
                ),
                scheme(
                    "query",
                    Kind::ApiKey(Place::query("api_key").unwrap(), robot()),
                ),
                scheme(
                    "cookie",
                    Kind::ApiKey(Place::cookie("key").unwrap(), robot()),
                ),
                scheme(
                    "oauth",
                    Kind::OAuth2 {
                        tokens: tokens("https://oauth.example", &issuers[0]),
                        token_url: "https://oauth.example/token".to_owned(),
                        authorization_url: None,
                        metadata_url: None,
                    },
                ),
                scheme(
                    "openid",
                    Kind::OpenIdConnect {
                        tokens: tokens("https://openid.example", &issuers[1]),
                        url: "https://openid.example/.well-known/openid-configuration".to_owned(),
                    },
                ),
                scheme(
                    "machines",
                    Kind::MutualTls(write("clients.pem", &clients.pem)),
                ),
            ],
            unauthenticated: Unauthenticated::Refused,
            ..Access::open()
        };
        let trusted = Trust::PublicAnd(vec![servers.der()]);
        Self {
            world: World::with(config, Some(trusted)).await,
            issuers,
            clients,
            _folder: folder,
        }
    }

    /// Each scheme over a wire, shown as it should be.
    pub(crate) fn all(&self, wire: Wire) -> Vec<Shown> {
        let settings = || self.world.settings(wire);
        let key = |location: &str, name: &str| {
            let scheme = APIKeySecurityScheme {
                location: location.to_owned(),
                name: name.to_owned(),
                ..APIKeySecurityScheme::default()
            };
            settings().key(&scheme, "key of robot").unwrap()
        };
        let signed = |issuer: &str, pair| settings().bearer(&token(issuer, pair)).unwrap();
        let mut with_certificate = settings();
        with_certificate.dial.identity = Some(self.clients.identity("worker.example"));
        let shown = |scheme, settings, caller| Shown {
            scheme,
            settings,
            caller,
        };
        vec![
            shown("bearer", settings().bearer("token-of-ada").unwrap(), "ada"),
            shown(
                "basic",
                settings().basic("bob", "password of bob").unwrap(),
                "bob",
            ),
            shown("header", key("header", "X-Key"), "robot"),
            shown("query", key("query", "api_key"), "robot"),
            shown("cookie", key("cookie", "key"), "robot"),
            shown(
                "oauth",
                signed("https://oauth.example", &self.issuers[0]),
                "oauth:eve",
            ),
            shown(
                "openid",
                signed("https://openid.example", &self.issuers[1]),
                "openid:eve",
            ),
            shown("machines", with_certificate, "machines:worker.example"),
        ]
    }
}

/// The name of the caller as the agent sees it.
pub(crate) async fn whoami(client: &Client) -> Result<String, Error> {
    match client.send_message(script("whoami")).await?.payload {
        Answer::Message(message) => Ok(message.parts.iter().filter_map(Part::as_text).collect()),
        other => panic!("no message: {other:?}"),
    }
}

/// Whether the call was refused for missing credentials.
pub(crate) fn is_refused<T>(answer: &Result<T, Error>) -> bool {
    matches!(answer, Err(Error::Unauthorized { status: 401, .. }))
}

pub(crate) fn callers(name: &str, secret: &str) -> Callers {
    let mut callers = Callers::default();
    callers.add(name, Hash::of(secret), &[]).unwrap();
    callers
}

/// Tokens of an issuer count here.
fn tokens(issuer: &str, pair: &Ed25519KeyPair) -> Tokens {
    let x = URL_SAFE_NO_PAD.encode(pair.public_key());
    let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": x });
    Tokens {
        issuer: issuer.to_owned(),
        audience: vec!["the proof".to_owned()],
        keys: Keys::Text(key.to_string()),
        scopes: Vec::new(),
    }
}

/// A token that says that Eve calls.
fn token(issuer: &str, pair: &Ed25519KeyPair) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let until = (now + Duration::from_secs(600)).as_secs();
    let claims = json!({ "iss": issuer, "aud": "the proof", "sub": "eve", "exp": until });
    let parts = [json!({ "alg": "EdDSA" }), claims];
    let signed = parts
        .map(|part| URL_SAFE_NO_PAD.encode(part.to_string()))
        .join(".");
    let signature = URL_SAFE_NO_PAD.encode(pair.sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}

/// A certificate authority of the test.
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

    /// A client certificate and its key.
    fn certify(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    fn identity(&self, name: &str) -> Identity {
        let (certificate, key) = self.certify(name);
        Identity::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap()
    }

    fn der(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()
    }
}
