//! What the macros say of an object.

use capnweb::{
    Callback, Description, Interface, ReadableStream, Result, Stub, Target, Value, WritableStream,
    target,
};
use expect_test::expect;

use crate::values::{Person, PersonId};

/// A library.
///
/// It lends books.
#[target]
trait Library {
    /// Finds a book.
    ///
    /// By its title.
    async fn find_book(
        &self,
        book_title: String,
        max_count: Option<u32>,
    ) -> Result<Vec<Stub<dyn Book>>>;
    fn close(&self);
    /// All that happens.
    fn watch(
        &self,
        on_event: Callback<(String,), ()>,
        log: WritableStream,
    ) -> ReadableStream<Value>;
    fn reader(&self, id: PersonId) -> Option<Person>;
    /// How many books there are.
    #[getter(name = "size")]
    async fn book_count(&self) -> Result<u32>;
    fn branch(&self) -> Stub<dyn Library>;
    fn shelf(&self) -> Shelf;
}

#[target]
trait Book {}

struct Shelf;

/// A shelf.
#[target(pub(crate))]
impl Shelf {
    /// The one above.
    pub fn above(&self) -> Result<Option<Self>> {
        Ok(None)
    }
}

fn show(description: &Description) -> String {
    let members = description.members.iter().map(|member| {
        let parameters = member
            .parameters
            .iter()
            .flatten()
            .map(|p| format!("\n  {}: {:?}", p.name, p.takes));
        let kind = if member.parameters.is_some() {
            "method"
        } else {
            "getter"
        };
        let parameters: String = parameters.collect();
        format!(
            "\n{kind} {} {:?}{parameters}\n  gives {:?}",
            member.name, member.docs, member.gives
        )
    });
    format!(
        "{} {:?}{}\n",
        description.name,
        description.docs,
        members.collect::<String>()
    )
}

#[test]
fn describes_a_trait() {
    expect![[r#"
        Library "A library.\n\nIt lends books."
        method findBook "Finds a book.\n\nBy its title."
          bookTitle: String
          maxCount: Optional(Number)
          gives Array(Stub(Book))
        method close ""
          gives Void
        method watch "All that happens."
          onEvent: Function { takes: [String], gives: Void }
          log: Writable
          gives Readable(Any)
        method reader ""
          id: String
          gives Optional(Object(Person))
        getter size "How many books there are."
          gives Number
        method branch ""
          gives Stub(Library)
        method shelf ""
          gives Stub(Shelf)
    "#]]
    .assert_eq(&show(&<dyn Library>::describe()));
}

#[test]
fn describes_an_impl() {
    let description = Target::describe(&Shelf);
    expect![[r#"
        Shelf "A shelf."
        method above "The one above."
          gives Optional(Stub(Shelf))
    "#]]
    .assert_eq(&show(&description));
    assert_eq!(description, <Shelf as Interface>::describe());
}
