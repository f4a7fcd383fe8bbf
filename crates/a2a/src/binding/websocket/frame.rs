//! What a frame holds.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::binding::Parameters;
use crate::binding::jsonrpc::{Envelope, Id};
use crate::error::Error;
use crate::types::wire::json;

/// What a caller sends.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A call, with the service parameters that are its own.
    Call(Envelope, Parameters),
    /// The stream under this id is wanted no more.
    CancelStream(Id),
}

/// The members that JSON-RPC does not know.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extra<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    cancel_stream: bool,
    #[serde(rename = "a2a-service-parameters", default)]
    parameters: Parameters,
}

impl Incoming {
    /// Reads a frame. A failure comes with the id to answer under, if one was found.
    pub(super) fn read(frame: &Bytes) -> Result<Self, (Id, Error)> {
        // What is wrong with the rest of a frame is for the envelope to say.
        let Ok(extra) = json::<Extra<'_>>(frame) else {
            return match Envelope::read(frame) {
                Ok(envelope) => Err((
                    envelope.id,
                    Error::InvalidRequest(
                        "cancelStream must be a boolean, a2a-service-parameters an object of strings"
                            .to_owned(),
                    ),
                )),
                Err(refused) => Err(refused),
            };
        };
        match extra.id {
            Some(id) if extra.cancel_stream && Id::can_be_read(id.get()) => {
                let id = frame.slice_ref(id.get().as_bytes());
                Ok(Self::CancelStream(Id::from_raw(id)))
            }
            _ => Ok(Self::Call(Envelope::read(frame)?, extra.parameters)),
        }
    }
}

/// The frame that ends a stream.
pub(super) fn stream_end(id: &Id) -> Vec<u8> {
    let mut out = br#"{"jsonrpc":"2.0","id":"#.to_vec();
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","streamEnd":true}"#);
    out
}
