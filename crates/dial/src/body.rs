//! A reply's body, read whole within a limit or chunk by chunk.

use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;

use crate::error::{Error, error_chain};

/// The body of a response. Dropping it before its end closes the connection.
#[derive(Debug)]
pub struct Body(pub(crate) Incoming);

impl Body {
    /// The next chunk of data; `None` at the end. It waits as long as the server takes.
    pub async fn chunk(&mut self) -> Option<Result<Bytes, Error>> {
        loop {
            match self.0.frame().await? {
                // Trailers are not data.
                Ok(frame) => match frame.into_data() {
                    Ok(data) => return Some(Ok(data)),
                    Err(_) => continue,
                },
                Err(error) => return Some(Err(Error::Interrupted(error_chain(&error)))),
            }
        }
    }

    /// The whole body. Reading stops at `limit` bytes: nothing beyond them is held.
    pub async fn read(self, limit: usize) -> Result<Bytes, Error> {
        match Limited::new(self.0, limit).collect().await {
            Ok(body) => Ok(body.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => Err(Error::TooLarge(limit)),
            Err(error) => Err(Error::Interrupted(error_chain(&*error))),
        }
    }
}
