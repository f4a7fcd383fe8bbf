//! Everything outbound: the one place that opens connections to other machines.
//!
//! A [`Dialer`] holds how connections are made (trusted authorities, the caller's certificate, proxies, the time a
//! connection may take, which addresses may be reached). An [`HttpClient`] is made from it and keeps a pool of
//! connections; [`Dialer::open`] gives a bare stream for WebSockets. Nothing is read from the environment: the
//! program that owns the configuration passes it in as [`Settings`].
//!
//! ```
//! # #[cfg(feature = "http")]
//! # async fn example() -> Result<(), dial::Error> {
//! let dialer = dial::Dialer::new(&dial::Settings::default())?;
//! let request = http::Request::get("https://example.com/").body(bytes::Bytes::new()).unwrap();
//! let response = dialer.http().send(request, dial::Redirects::None).await?;
//! let body = response.into_body().read(1 << 20).await?;
//! # let _ = body; Ok(()) }
//! ```
//!
//! Layout, in the order a request takes:
//!
//! - `settings`: what a dialer is told; `tls`: the trusted authorities; `proxy`: which proxy carries an address
//! - `client`: requests, the pool, `redirect`; `body`: what comes back, read within a limit
//! - `connect`: one connection: resolve, check, dial, tunnel, TLS, in this order; `resolve`, `guard`: the first two
//! - `sse`: events of a stream; `backoff`: pauses between attempts; `jwk`: public keys of others
//! - [`trace`]: the trace that a request belongs to
//!
//! Each feature stands alone, so that a crate which only reads keys builds neither HTTP nor TLS.

mod backoff;
#[cfg(feature = "http")]
mod body;
#[cfg(feature = "http")]
mod client;
#[cfg(feature = "http")]
mod connect;
#[cfg(feature = "http")]
mod error;
mod guard;
#[cfg(feature = "jwk")]
pub mod jwk;
#[cfg(feature = "http")]
mod proxy;
#[cfg(feature = "http")]
mod redirect;
#[cfg(feature = "http")]
mod resolve;
#[cfg(feature = "http")]
mod settings;
#[cfg(feature = "sse")]
pub mod sse;
#[cfg(feature = "http")]
mod tls;
pub mod trace;

pub use backoff::{Backoff, Jitter};
#[cfg(feature = "http")]
pub use body::Body;
#[cfg(feature = "http")]
pub use client::HttpClient;
#[cfg(feature = "http2")]
pub use client::{Http2Pool, is_connect_error};
#[cfg(feature = "http")]
pub use connect::{Connector, Dialer, Socket};
#[cfg(feature = "http")]
pub use error::{Error, error_chain};
pub use guard::{Reach, ip_literal, is_local_name, is_public};
#[cfg(feature = "http")]
pub use proxy::Proxies;
#[cfg(feature = "http")]
pub use redirect::Redirects;
#[cfg(feature = "http")]
pub use resolve::{Resolve, Resolving};
#[cfg(feature = "http")]
pub use settings::{Identity, Settings, Trust, certificates};
