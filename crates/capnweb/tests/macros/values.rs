//! `#[derive(FromValue)]` and `#[derive(IntoValue)]`.

use capnweb::{ErrorKind, FromValue, IntoValue, Result, Stub, Type, Value, target};
use expect_test::{Expect, expect};

use crate::joined::Joined;

#[derive(Clone, Debug, PartialEq, FromValue, IntoValue)]
pub(crate) struct Person {
    full_name: String,
    #[value(rename = "type")]
    kind: Kind,
    lucky_number: Option<u32>,
    friends: Vec<Person>,
}

#[derive(Clone, Copy, Debug, PartialEq, FromValue, IntoValue)]
pub(crate) enum Kind {
    Human,
    WaterSpirit,
    #[value(rename = "AI")]
    Artificial,
}

#[derive(Clone, Debug, PartialEq, FromValue, IntoValue)]
pub(crate) struct PersonId(String);

#[derive(FromValue, IntoValue)]
pub(crate) struct Account {
    id: PersonId,
    directory: Stub<Directory>,
}

#[derive(Clone)]
pub(crate) struct Directory;

#[target(pub(crate))]
impl Directory {
    pub fn befriend(&self, person: Person, id: PersonId) -> Result<Person> {
        let friend = Person {
            full_name: id.0,
            kind: Kind::Artificial,
            lucky_number: None,
            friends: Vec::new(),
        };
        Ok(Person {
            friends: vec![friend],
            ..person
        })
    }

    pub fn account(&self) -> Account {
        Account {
            id: PersonId("ada".to_owned()),
            directory: self.clone().into_stub(),
        }
    }
}

fn ada() -> Person {
    Person {
        full_name: "Ada".to_owned(),
        kind: Kind::Human,
        lucky_number: None,
        friends: Vec::new(),
    }
}

#[tokio::test]
async fn travels_as_objects_and_strings() {
    let joined = Joined::new(Directory);
    let directory = joined.stub::<Directory>();
    let friends = directory
        .befriend(ada(), PersonId("Eve".to_owned()))
        .into_future();
    expect![[r#"
        ["push",["pipeline",0,["befriend"],[{"fullName":"Ada","type":"human","friends":[[]]},"Eve"]]]
        ["pull",1]
    "#]]
    .assert_eq(&joined.sent());
    let eve = Person {
        full_name: "Eve".to_owned(),
        kind: Kind::Artificial,
        ..ada()
    };
    assert_eq!(
        joined.wait(friends).await.unwrap(),
        Person {
            friends: vec![eve],
            ..ada()
        }
    );

    let account = joined.wait(directory.account()).await.unwrap();
    assert_eq!(account.id, PersonId("ada".to_owned()));
    joined
        .wait(account.directory.befriend(ada(), account.id))
        .await
        .unwrap();
    drop((directory, account.directory));
    joined.end().await;
}

#[test]
fn comes_back_as_it_was() {
    let eve = Person {
        kind: Kind::WaterSpirit,
        lucky_number: Some(7),
        ..ada()
    };
    let person = Person {
        friends: vec![eve],
        ..ada()
    };
    assert_eq!(Person::from_value(person.clone().into()).unwrap(), person);
}

#[test]
fn ignores_unknown_fields() {
    let value = Value::object([
        ("fullName", Value::from("Ada")),
        ("type", "human".into()),
        ("friends", Value::Array(vec![])),
        ("more", 1.0.into()),
    ]);
    assert_eq!(Person::from_value(value).unwrap(), ada());
}

fn check_error<T: FromValue + std::fmt::Debug>(value: impl Into<Value>, expected: &Expect) {
    let error = T::from_value(value.into()).expect_err("of the wrong type");
    assert_eq!(error.kind(), ErrorKind::TypeError);
    expected.assert_eq(error.message());
}

#[test]
fn says_which_field_is_wrong() {
    check_error::<Person>("Ada", &expect!["expected an object, got a string"]);
    check_error::<Person>(
        Value::object::<&str, Value>([]),
        &expect!["field 'fullName': expected a string, got undefined"],
    );
    check_error::<Person>(
        Value::object([("fullName", "Ada"), ("type", "robot")]),
        &expect!["field 'type': expected 'human' or 'waterSpirit' or 'AI'"],
    );
    let inner = Value::object([("fullName", 1.0)]);
    let outer = [
        ("fullName", Value::from("Ada")),
        ("type", "human".into()),
        ("friends", Value::Array(vec![inner])),
    ];
    check_error::<Person>(
        Value::object(outer),
        &expect!["field 'friends': element 0: field 'fullName': expected a string, got a number"],
    );
    check_error::<Kind>(1.0, &expect!["expected a string, got a number"]);
    check_error::<PersonId>(1.0, &expect!["expected a string, got a number"]);
}

#[test]
fn describes_itself_even_when_recursive() {
    let Type::Object(person) = Person::describe() else {
        panic!("a struct is an object")
    };
    let fields = person.describe().fields.into_iter();
    let fields = fields.map(|field| format!("{}: {:?}\n", field.name, field.holds));
    expect![[r#"
        fullName: String
        type: Choice(Kind)
        luckyNumber: Optional(Number)
        friends: Array(Object(Person))
    "#]]
    .assert_eq(&fields.collect::<String>());
    assert_eq!(PersonId::describe(), Type::String);
}
