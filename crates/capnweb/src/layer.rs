//! Layers: code around every call of a peer, which can let it pass, refuse it, and see its result.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::error::Result;
use crate::peer::Peer;
use crate::target::Target;
use crate::value::Value;

#[cfg(test)]
#[path = "layer_tests.rs"]
mod tests;

/// Code around every call that a peer makes: authentication, rate limits, audit, measuring.
///
/// A layer sees a call before it begins and runs it with [`Next::run`], which returns the result. It can refuse
/// the call with an error instead; it can change neither arguments nor result, so a session means the same with
/// and without layers. Layers nest in the order they were added, the first one outermost.
///
/// All calls of a peer pass through one place: direct calls, calls along a pipeline, in a mapped function, on a
/// callback, and reads of properties. That place is `hook/local`. Calls that are forwarded to another session
/// pass through layers in `hook/import`. The application's own calls have no permit and pass through none.
///
/// The order in which calls start is kept up to the first wait of a layer: code before it runs in the order in
/// which calls arrive. A layer that waits may let later calls begin earlier; a layer that must keep the order
/// does not wait before `next.run()`.
///
/// The future is dropped with the call: when the owner of the session's tasks stops, and for a cancellable
/// method when its result is released. Measure in `Drop` what must be counted in that case too. A session
/// without layers pays nothing: no future is boxed and no description of the call is made.
///
/// ```
/// use capnweb::{CallResult, Call, Error, Layer, Next, Options, Result};
///
/// struct OnlyReading;
///
/// impl Layer for OnlyReading {
///     async fn call(&self, call: &Call, next: Next<'_>) -> Result<CallResult> {
///         if call.member().is_some_and(|name| name.starts_with("delete")) {
///             return Err(Error::new("this session may only read").with_code("forbidden"));
///         }
///         let outcome = next.run().await;
///         if let Err(error) = &outcome {
///             eprintln!("{}: {error}", call.interface());
///         }
///         outcome
///     }
/// }
///
/// let options = Options::default().layer(OnlyReading);
/// ```
pub trait Layer: Send + Sync + 'static {
    /// Runs a call with `next` and returns its result, or refuses it.
    fn call(&self, call: &Call, next: Next<'_>) -> impl Future<Output = Result<CallResult>> + Send;
}

/// A call of a peer that has not begun.
pub struct Call {
    /// `None` when it is passed on to another session.
    target: Option<Arc<dyn Target>>,
    member: Option<String>,
    kind: CallKind,
    argument_bytes: usize,
    peer: Peer,
}

/// The kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallKind {
    /// A method is called.
    Method,
    /// A property is read.
    Getter,
    /// The object itself is called.
    Function,
    /// A method is called that the object does not have; it is about to fail.
    Absent,
    /// It is passed on to an object at the other end of another session.
    Forwarded,
}

impl Call {
    pub(crate) fn new(
        target: Option<Arc<dyn Target>>,
        member: Option<String>,
        kind: CallKind,
        arguments: &[Value],
        peer: Peer,
    ) -> Self {
        Self {
            target,
            member,
            kind,
            argument_bytes: arguments.iter().map(Value::weight).sum(),
            peer,
        }
    }

    /// The name of the object's type, as [`Target::interface`] gives it; empty when that is not known.
    pub fn interface(&self) -> &'static str {
        self.target.as_ref().map_or("", |target| target.interface())
    }

    /// The name of the method or property; of a forwarded call, its path with dots between the parts.
    /// `None` when the object itself is called.
    ///
    /// The peer chose it: it need not be one that the object has, and may be long.
    pub fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }

    pub fn kind(&self) -> CallKind {
        self.kind
    }

    /// Whether the object's description has the member. Only such names are bounded in number, the others are
    /// chosen by the peer. It builds the whole description, so cache the answer.
    pub fn is_described(&self) -> bool {
        let (Some(target), Some(member)) = (&self.target, &self.member) else {
            return false;
        };
        self.kind != CallKind::Absent
            && target
                .describe()
                .members
                .iter()
                .any(|described| described.name == member.as_str())
    }

    /// Roughly how many bytes the arguments take.
    pub fn argument_bytes(&self) -> usize {
        self.argument_bytes
    }

    pub fn peer(&self) -> &Peer {
        &self.peer
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("interface", &self.interface())
            .field("member", &self.member)
            .field("kind", &self.kind)
            .field("argument_bytes", &self.argument_bytes)
            .finish_non_exhaustive()
    }
}

/// The result of a call. Only [`Next::run`] makes one, so a layer cannot invent a result.
#[derive(Debug)]
pub struct CallResult(Value);

impl CallResult {
    /// Roughly how many bytes it takes. What a promise in it will become is not known yet.
    pub fn bytes(&self) -> usize {
        self.0.weight()
    }
}

/// The rest of the way to the object: further layers, then the handler.
#[must_use = "a call that is not run never begins"]
pub struct Next<'a> {
    call: &'a Call,
    rest: &'a [Arc<dyn DynLayer>],
    handler: Handler,
}

impl Next<'_> {
    /// Runs the call to its end.
    pub async fn run(self) -> Result<CallResult> {
        match self.rest {
            [first, rest @ ..] => first.call(self.call, Next { rest, ..self }).await,
            [] => self.handler.await.map(CallResult),
        }
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next")
            .field("layers", &self.rest.len())
            .finish_non_exhaustive()
    }
}

/// Begins when it is first polled.
pub(crate) type Handler = Pin<Box<dyn Future<Output = Result<Value>> + Send>>;

/// The layers of a session, outermost first.
#[derive(Clone, Default)]
pub(crate) struct Layers(Option<Arc<[Arc<dyn DynLayer>]>>);

impl Layers {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Adds one inside the others.
    pub(crate) fn push(&mut self, layer: impl Layer) {
        let outer = self.0.iter().flat_map(|layers| layers.iter().cloned());
        let layer: Arc<dyn DynLayer> = Arc::new(layer);
        self.0 = Some(outer.chain([layer]).collect());
    }

    /// The handler inside the layers.
    pub(crate) fn around(&self, call: Call, handler: Handler) -> Handler {
        let layers = self.0.clone();
        Box::pin(async move {
            let next = Next {
                call: &call,
                rest: layers.as_deref().unwrap_or_default(),
                handler,
            };
            next.run().await.map(|answer| answer.0)
        })
    }
}

impl fmt::Debug for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.as_deref().map_or(0, <[_]>::len);
        write!(f, "{count} layers")
    }
}

/// A [`Layer`] of any type.
trait DynLayer: Send + Sync {
    fn call<'a>(
        &'a self,
        call: &'a Call,
        next: Next<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<CallResult>> + Send + 'a>>;
}

impl<L: Layer> DynLayer for L {
    fn call<'a>(
        &'a self,
        call: &'a Call,
        next: Next<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<CallResult>> + Send + 'a>> {
        Box::pin(Layer::call(self, call, next))
    }
}
