//! Stubs: references to objects, here or at a peer, with methods to call.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;

use crate::account::Account;
use crate::connection;
use crate::convert::{FromValue, IntoArguments, Output};
use crate::describe::{Description, Reference, Type};
use crate::error::{Error, Result};
use crate::expression::PathPart;
use crate::hook::local::LocalTarget;
use crate::hook::{Action, Hook, Operation};
use crate::promise::{Pipelined, Promise};
use crate::target::{Arguments, Target};
use crate::value::Value;

/// A reference to an object, without a type: any method may be called on it.
///
/// Clone it to keep it, drop it to release it. It does not matter where the object lives: in this process, at a
/// peer, or at a peer's peer. Inside is a hook, which knows.
#[derive(Clone)]
pub struct Capability {
    hook: Hook,
}

impl Capability {
    /// A capability to an object of this process.
    pub fn new(target: impl Target) -> Self {
        Self::from_target(Arc::new(target))
    }

    /// As [`Capability::new`], for a target that is shared already.
    pub fn from_target(target: Arc<dyn Target>) -> Self {
        LocalTarget::hook(target).into()
    }

    /// A capability to an async function: a callback.
    pub fn from_fn<F, R>(function: F) -> Self
    where
        F: Fn(Arguments) -> R + Send + Sync + 'static,
        R: Future<Output: Output> + Send + 'static,
    {
        Self::new(crate::target::Function::new(function))
    }

    /// What a peer that offers nothing has as its main object.
    pub fn nothing() -> Self {
        connection::nothing().into()
    }

    /// A capability that fails every call with `error`.
    pub fn broken(error: Error) -> Self {
        Hook::Broken(error).into()
    }

    /// Calls a method. The call is on its way when this returns; await the promise for the result, or
    /// use it at once in further calls.
    pub fn call(&self, method: &str, arguments: impl IntoArguments) -> Promise {
        self.apply(
            vec![PathPart::Name(method.to_owned())],
            Action::Call(arguments.into_arguments()),
        )
    }

    /// Calls the object itself, when it is a function.
    pub fn invoke(&self, arguments: impl IntoArguments) -> Promise {
        self.apply(Vec::new(), Action::Call(arguments.into_arguments()))
    }

    /// A property, or a method as a value. Nothing is sent until it is used.
    pub fn property(&self, name: &str) -> Promise {
        Pipelined::new(self.hook.clone(), vec![PathPart::Name(name.to_owned())]).into()
    }

    /// Waits until the capability is of no more use, because its session has ended or what it was to
    /// become has failed, and says why. Never ends for an object of this process.
    pub async fn closed(&self) -> Error {
        match self.hook.shortened() {
            Hook::Broken(error) => error,
            Hook::Import(import) => import.link().closed().await,
            _ => std::future::pending().await,
        }
    }

    /// Whether both are known to refer to the same object. A peer may pass one object under several ids, as JavaScript
    /// does each time, and then this is false.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self.hook.shortened(), other.hook.shortened()) {
            (Hook::Import(one), Hook::Import(other)) => Arc::ptr_eq(&one, &other),
            (Hook::Target(one), Hook::Target(other)) => Arc::ptr_eq(&one, &other),
            _ => false,
        }
    }

    fn apply(&self, path: Vec<PathPart>, action: Action) -> Promise {
        let operation = Operation {
            path,
            action,
            account: self.account(),
            permit: None,
        };
        Pipelined::new(self.hook.apply(operation), Vec::new()).into()
    }

    pub(crate) fn account(&self) -> Account {
        account_of(&self.hook)
    }

    pub(crate) fn hook(&self) -> &Hook {
        &self.hook
    }

    pub(crate) fn into_hook(self) -> Hook {
        self.hook
    }
}

/// The account for operations on a hook: that of its session, or a default one.
pub(crate) fn account_of(hook: &Hook) -> Account {
    match hook {
        Hook::Import(import) => import.link().account().clone(),
        _ => Account::default(),
    }
}

impl From<Hook> for Capability {
    fn from(hook: Hook) -> Self {
        Self { hook }
    }
}

impl fmt::Debug for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Capability({:?})", self.hook)
    }
}

/// The type of an object that a [`Stub`] refers to. Written by `#[target]`.
pub trait Interface {
    /// The methods a holder of a stub has.
    type Client: TypedCapability;

    /// Its name, members and their types.
    fn describe() -> Description;

    /// What a stub of it is to a caller.
    fn refer() -> Type {
        Type::Stub(Reference::to::<Self>())
    }
}

/// A typed view of a capability. Written by `#[target]`.
pub trait TypedCapability: Clone + Send + Sync + 'static {
    /// Views a capability as this type, unchecked: a peer can always be of another kind.
    fn from_capability(capability: Capability) -> Self;

    fn capability(&self) -> &Capability;
}

impl TypedCapability for Capability {
    fn from_capability(capability: Capability) -> Self {
        capability
    }

    fn capability(&self) -> &Capability {
        self
    }
}

/// The interface of an object nothing is known about: its stub has the methods of [`Capability`].
#[derive(Clone, Copy, Debug)]
pub struct Any;

impl Interface for Any {
    type Client = Capability;

    fn describe() -> Description {
        Description::new("Any", "An object nothing is known about.")
    }

    fn refer() -> Type {
        Type::AnyStub
    }
}

/// A reference to an object of type `T`, in this process or at a peer.
///
/// It is the using side of an object; the serving side is a [`Target`]. Its methods are those of `T`, each
/// returning a [`Promise`] at once; a call is sent when the method returns, not when the promise is awaited.
///
/// Clones refer to the same object. When the last one is dropped the object is released: a local target is
/// dropped, a peer gets a release message. Since the release is sent after all calls made before, a stub may be
/// dropped right after its last call. Stubs keep their session open; [`Capability::closed`] tells when it ends,
/// and after that every call fails with the reason.
///
/// The type is not checked: the peer may run another version, and a wrong type shows as a failed call. `T` only
/// provides the methods; a stub of an unknown type is `Stub<Any>`, with the methods of [`Capability`].
pub struct Stub<T: Interface + ?Sized = Any> {
    client: T::Client,
}

impl<T: Interface + ?Sized> Stub<T> {
    /// Views a capability as a `T`, unchecked.
    pub fn from_capability(capability: Capability) -> Self {
        Self {
            client: T::Client::from_capability(capability),
        }
    }

    pub fn capability(&self) -> &Capability {
        self.client.capability()
    }

    /// The same object seen as another type.
    pub fn cast<U: Interface + ?Sized>(&self) -> Stub<U> {
        Stub::from_capability(self.capability().clone())
    }
}

impl Stub {
    /// A stub of an object of this process.
    pub fn new(target: impl Target) -> Self {
        Self::from_capability(Capability::new(target))
    }
}

impl<T: Interface + ?Sized> Deref for Stub<T> {
    type Target = T::Client;

    fn deref(&self) -> &T::Client {
        &self.client
    }
}

impl<T: Interface + ?Sized> Clone for Stub<T> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
        }
    }
}

impl<T: Interface + ?Sized> fmt::Debug for Stub<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stub({:?})", self.capability().hook())
    }
}

impl<T: Interface + ?Sized> From<Stub<T>> for Value {
    fn from(stub: Stub<T>) -> Self {
        Self::Stub(stub.capability().clone())
    }
}

impl<T: Interface + ?Sized> From<Stub<T>> for Capability {
    fn from(stub: Stub<T>) -> Self {
        stub.capability().clone()
    }
}

impl<T: Interface + ?Sized> FromValue for Stub<T> {
    fn from_value(value: Value) -> Result<Self> {
        Capability::from_value(value).map(Self::from_capability)
    }

    fn describe() -> Type {
        T::refer()
    }
}

impl FromValue for Capability {
    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Stub(capability) => Ok(capability),
            other => Err(Error::type_error(format!(
                "expected a stub, got {}",
                other.describe_kind()
            ))),
        }
    }

    fn describe() -> Type {
        Type::AnyStub
    }
}
