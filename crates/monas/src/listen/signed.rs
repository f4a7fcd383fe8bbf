//! Signed requests (RFC 9421): the address that a client signed, and the body that its digest is of.

use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use access::signature::Target;
use access::{Door, SignatureCheck};
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::http::request::Parts;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::body::Timed;
use super::guard::authority;
use super::origin::PublicUrl;

/// What a listener needs to check signatures: the keys of callers are behind the door.
#[derive(Clone, Debug)]
pub struct SignedRequests {
    /// It is there before the first request: the address is taken before the door is made.
    pub door: Arc<OnceLock<Arc<Door>>>,
    /// The URL that clients are told to call, and may have signed.
    pub public_url: Option<PublicUrl>,
    /// The largest body of a signed request: it is held until its digest is known.
    pub max_body: usize,
}

impl SignedRequests {
    /// Checks the signature of a request as it arrived, before its address is brought into another form.
    pub(super) fn check(&self, scheme: &str, request: &mut Parts) {
        let targets = self.targets(scheme, request);
        if let Some(door) = self.door.get() {
            door.check_signature(request, &targets, SystemTime::now());
        }
    }

    /// The addresses that the client may have signed: the one that arrived, and the one below the public URL, which a proxy
    /// may have changed.
    fn targets(&self, scheme: &str, request: &Parts) -> Vec<Target> {
        let (path, query) = (request.uri.path(), request.uri.query());
        let mut targets = Vec::new();
        if let Some(authority) = authority(request) {
            targets.push(Target::new(scheme, &authority, path, query));
        }
        if let Some(url) = &self.public_url
            && let Ok(authority) = url.origin().authority().parse()
        {
            let scheme = url.origin().scheme();
            let below = match path.strip_prefix(url.path()) {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => path.to_owned(),
                _ => format!("{}{path}", url.path()),
            };
            let public = Target::new(scheme, &authority, &below, query);
            if !targets.contains(&public) {
                targets.push(public);
            }
        }
        targets
    }

    /// The body of a request with a right signature, held until its digest is checked; other bodies pass as they are. What is
    /// wrong with it is left in the request, for the door to refuse.
    pub(super) async fn hold(
        &self,
        request: &mut Parts,
        body: Timed,
    ) -> Result<Body, (StatusCode, &'static str)> {
        let checked = request.extensions.get_mut::<SignatureCheck>();
        let Some(SignatureCheck(checked @ Ok(_))) = checked else {
            return Ok(Body::new(body));
        };
        let read = Limited::new(body, self.max_body).collect().await;
        let bytes: Bytes = match read {
            Ok(read) => read.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                let why = "the body of the signed request is too large";
                return Err((StatusCode::PAYLOAD_TOO_LARGE, why));
            }
            Err(_) => {
                let why = "the body of the signed request did not arrive";
                return Err((StatusCode::BAD_REQUEST, why));
            }
        };
        let fits = checked.as_ref().map(|signed| signed.check_body(&bytes));
        if let Ok(Err(fault)) = fits {
            *checked = Err(fault);
        }
        Ok(Body::from(bytes))
    }

    /// The same for a request without a body: its digest, if there is one, must be that of nothing.
    pub(super) fn check_empty(&self, request: &mut Parts) {
        if let Some(SignatureCheck(checked)) = request.extensions.get_mut::<SignatureCheck>()
            && let Ok(signed) = checked
            && let Err(fault) = signed.check_body(b"")
        {
            *checked = Err(fault);
        }
    }
}
