//! `#[target]` on an inherent impl.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use capnweb::{ErrorKind, Result, Stub, Value, target};

use crate::joined::Joined;

/// A room.
struct Room {
    topic: String,
    visits: AtomicU32,
}

#[target(pub(crate))]
impl Room {
    const DOORS: u32 = 2;

    /// Not for peers: it makes an object.
    pub(crate) fn new(topic: &str) -> Self {
        Self {
            topic: topic.to_owned(),
            visits: AtomicU32::new(0),
        }
    }

    /// Not for peers: it consumes the object.
    #[expect(unreachable_pub, reason = "public, as it would be in a library")]
    pub fn with_topic(mut self, topic: String) -> Self {
        self.topic = topic;
        self
    }

    fn secret(&self) -> u32 {
        Self::DOORS
    }

    pub(crate) fn internal(&self) -> u32 {
        self.secret()
    }

    pub fn visit(&self) -> u32 {
        self.visits.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub async fn enter(self: Arc<Self>, nick_name: String) -> Result<Visitor> {
        tokio::task::yield_now().await;
        self.visit();
        Ok(Visitor {
            room: self,
            nick_name,
        })
    }

    pub fn enter_now(self: Arc<Self>, mut nick_name: String) -> Visitor {
        nick_name.push('!');
        Visitor {
            room: self,
            nick_name,
        }
    }

    #[getter]
    pub fn topic(&self) -> &str {
        &self.topic
    }

    #[getter(name = "doorCount")]
    pub async fn doors(&self) -> u32 {
        self.internal()
    }

    #[method(name = "type")]
    pub fn kind(&self) -> &'static str {
        "room"
    }

    pub fn r#move(&self, r#in: Option<String>) -> Option<String> {
        r#in
    }

    pub fn beside(&self) -> Self {
        Self::new("beside")
    }

    pub fn all_beside(&self) -> Result<Vec<Self>> {
        Ok(vec![Self::new("one"), Self::new("two")])
    }

    pub async fn join(&self, other: Stub<Self>) -> Result<String> {
        Ok(format!("{} and {}", self.topic, other.topic().await?))
    }

    #[cfg(any())]
    pub fn not_there(&self) -> DoesNotExist {}

    #[cfg(test)]
    pub fn there(&self) -> bool {
        true
    }
}

struct Visitor {
    room: Arc<Room>,
    nick_name: String,
}

#[target(pub(crate))]
impl Visitor {
    #[getter]
    pub fn name(&self) -> String {
        self.nick_name.clone()
    }

    pub async fn leave(&self) -> Result<String> {
        Ok(self.room.topic.clone())
    }
}

/// An object that only says that it is there.
struct Empty;

#[target(pub(crate))]
impl Empty {}

#[tokio::test]
async fn exposes_public_methods_with_an_object() {
    let room = Room::new("tea").with_topic("coffee".to_owned()).into_stub();
    assert_eq!(room.visit().await.unwrap(), 1);
    assert_eq!(room.topic().await.unwrap(), "coffee");
    assert_eq!(room.doors().await.unwrap(), 2);
    assert_eq!(room.kind().await.unwrap(), "room");
    assert_eq!(room.r#move("in").await.unwrap().as_deref(), Some("in"));
    assert!(room.there().await.unwrap());
    for name in [
        "new",
        "withTopic",
        "secret",
        "internal",
        "doors",
        "kind",
        "DOORS",
        "visits",
        "intoStub",
        "notThere",
    ] {
        assert!(
            matches!(room.property(name).await.unwrap(), Value::Undefined),
            "{name}"
        );
    }
}

#[tokio::test]
async fn gives_a_stub_where_a_method_gives_an_object() {
    let joined = Joined::new(Room::new("tea"));
    let room = joined.stub::<Room>();
    let visitor = room.enter("Ada").pipeline();
    assert_eq!(joined.wait(visitor.name()).await.unwrap(), "Ada");
    assert_eq!(joined.wait(visitor.leave()).await.unwrap(), "tea");
    let hasty = joined.wait(room.enter_now("Ada")).await.unwrap();
    assert_eq!(joined.wait(hasty.name()).await.unwrap(), "Ada!");
    assert_eq!(
        joined.wait(room.beside().pipeline().topic()).await.unwrap(),
        "beside"
    );
    let rooms = joined.wait(room.all_beside()).await.unwrap();
    assert_eq!(joined.wait(rooms[1].topic()).await.unwrap(), "two");
    drop((room, visitor, hasty, rooms));
    joined.end().await;
}

#[tokio::test]
async fn takes_an_object_where_a_stub_is_expected() {
    let joined = Joined::new(Room::new("tea"));
    let room = joined.stub::<Room>();
    assert_eq!(
        joined.wait(room.join(Room::new("coffee"))).await.unwrap(),
        "tea and coffee"
    );
    assert_eq!(joined.wait(room.join(&room)).await.unwrap(), "tea and tea");
    assert_eq!(
        joined.wait(room.join(room.beside())).await.unwrap(),
        "tea and beside"
    );
    drop(room);
    joined.end().await;
}

#[tokio::test]
async fn converts_into_what_others_take() {
    let stub: Stub<Room> = Room::new("tea").into();
    assert_eq!(stub.topic().await.unwrap(), "tea");
    assert!(matches!(Value::from(Room::new("tea")), Value::Stub(_)));
    let shared = Arc::new(Room::new("tea"));
    let stub = Stub::<Room>::from_capability(capnweb::Capability::from_target(shared.clone()));
    stub.visit().await.unwrap();
    assert_eq!(shared.visit(), 2);
}

#[tokio::test]
async fn names_the_argument_that_is_wrong() {
    let room = Room::new("tea").into_stub();
    let error = room.call("enter", (1.0,)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TypeError);
    assert_eq!(
        error.message(),
        "argument 'nickName': expected a string, got a number"
    );
}

#[tokio::test]
async fn an_object_may_have_no_members() {
    let empty = Empty.into_stub();
    assert_eq!(
        empty.call("anything", ()).await.unwrap_err().kind(),
        ErrorKind::TypeError
    );
}
