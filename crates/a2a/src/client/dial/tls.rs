//! Whose certificates are believed.

use std::sync::Arc;

use rustls::client::WantsClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ConfigBuilder, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::client::{Error, Identity, Tls};

/// The configuration of encrypted connections.
pub(super) fn config(tls: &Tls, identity: Option<&Identity>) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("ring has what the default versions need");
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    match tls {
        Tls::Public => {}
        Tls::Also(more) => {
            for authority in more {
                let wrong = |error| Error::Settings(format!("a certificate authority: {error}"));
                roots.add(authority.clone()).map_err(wrong)?;
            }
        }
        Tls::Anyone => {
            let anyone = Arc::new(Anyone(provider));
            let builder = builder.dangerous().with_custom_certificate_verifier(anyone);
            return identified(builder, identity);
        }
    }
    identified(builder.with_root_certificates(roots), identity)
}

/// With the caller's own certificate, for servers that ask for it.
fn identified(
    builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    identity: Option<&Identity>,
) -> Result<ClientConfig, Error> {
    let Some(identity) = identity else {
        return Ok(builder.with_no_client_auth());
    };
    let (chain, key) = identity.parts();
    let wrong = |error| Error::Settings(format!("the caller's certificate: {error}"));
    builder.with_client_auth_cert(chain, key).map_err(wrong)
}

/// Believes whatever a certificate says. Signatures are still checked.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
