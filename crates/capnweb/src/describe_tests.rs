//! Descriptions, and what is written from them.

use expect_test::expect;

use super::{Description, ErrorDescription, Parameter, Schema, Structure, Type};
use crate::describe::{Choice, Reference};

fn errors_of(docs: &'static str) -> (String, Vec<ErrorDescription>) {
    let mut described = Description::new("T", "").method("m", docs, Vec::new(), Type::Void);
    let member = described.members.remove(0);
    (member.docs.into_owned(), member.errors)
}

#[test]
fn errors_are_read_from_the_documentation() {
    let (docs, errors) = errors_of(
        "Does it.\n\n# Errors\n\n- `not_found`: there is none,\n  or no more\n- `gone`\n\n# Panics\n\nNever.",
    );
    assert_eq!(docs, "Does it.\n# Panics\n\nNever.");
    let errors: Vec<_> = errors
        .iter()
        .map(|error| (error.code.as_str(), error.when.as_str()))
        .collect();
    assert_eq!(
        errors,
        [("not_found", "there is none, or no more"), ("gone", "")]
    );
}

#[test]
fn prose_about_errors_stays_in_the_documentation() {
    for docs in [
        "Does it.\n\n# Errors\n\nWhen it cannot.",
        "## Errors\n\n- `x`: y",
    ] {
        assert_eq!(errors_of(docs), (docs.to_owned(), Vec::new()));
    }
}

struct Named;
struct Other;
struct Nameless;

fn parameter(name: &'static str, takes: Type) -> Parameter {
    Parameter::new(name, takes)
}

fn optional(of: Type) -> Type {
    Type::Optional(Box::new(of))
}

/// What cannot be got by `#[target]` in a file, or not easily.
fn odd() -> Description {
    let one = Reference::new::<Named>(|| Structure::new("Event", "").field("at", "", Type::Date));
    let two = Reference::new::<Other>(|| {
        Structure::new("Event", "Another.").field("not a name", "A \"*/\" in it.", Type::Url)
    });
    let written_out = Reference::new::<Nameless>(|| {
        Structure::new("", "").field("n", "", optional(Type::Integer))
    });
    let choice = Reference::new::<u8>(|| Choice::new("", "").variant("a\"b", ""));
    let call = Type::Function {
        takes: vec![Type::String, Type::Rest(Box::new(Type::Any))],
        gives: Box::new(optional(Type::Number)),
    };
    Description::new("Odd", "")
        .method(
            "second-hand",
            "",
            vec![
                parameter("default", optional(Type::Number)),
                parameter("then", Type::Object(one)),
                parameter("last", optional(Type::Array(Box::new(Type::Integer)))),
            ],
            Type::Object(two),
        )
        .method("call", "", vec![parameter("back", call.clone())], call)
        .getter("out", "", Type::Array(Box::new(Type::Object(written_out))))
        .getter("choice", "", Type::Record(Box::new(Type::Choice(choice))))
}

#[test]
fn names_and_types_that_clash_with_typescript_are_declared_all_the_same() {
    expect![[r#"
        // Written from the Rust targets by `Schema::typescript`. Changes here are lost: change the targets.

        import type { RpcStub, RpcTarget } from "capnweb";

        export interface Odd extends RpcTarget {
          "second-hand"(_default: number | null | undefined, then: Event, last?: (number | bigint)[] | null): Promise<Event2>;
          call(back: (arg0: string, ...rest: any[]) => number | null | undefined | Promise<number | null | undefined>): Promise<(arg0: string, ...rest: any[]) => number | undefined | Promise<number | undefined>>;
          readonly out: { n?: number | bigint | null }[];
          readonly choice: Record<string, "a\"b">;
        }

        export interface Event {
          at: Date;
        }

        /** Another. */
        export interface Event2 {
          /** A "* /" in it. */
          "not a name": URL;
        }
    "#]]
    .assert_eq(&Schema::of([odd()]).typescript());
}

#[test]
fn a_target_that_is_given_twice_is_declared_once() {
    let once = Schema::of([odd()]).typescript();
    assert_eq!(Schema::of([odd(), odd()]).typescript(), once);
}

#[test]
fn a_reference_is_readable_as_it_stands() {
    expect![[r#"
        <!-- Written from the Rust targets by `Schema::reference`. Changes here are lost: change the targets. -->

        # Reference

        ## Odd

        ### `"second-hand"(_default: number | undefined, then: Event, last?: (number | bigint)[]): Event2`

        ### `call(back: (arg0: string, ...rest: any[]) => number | undefined): (arg0: string, ...rest: any[]) => number | undefined`

        ### `readonly out: { n?: number | bigint }[]`

        ### `readonly choice: Record<string, "a\"b">`

        # Types

        ## Event

        | field | type | |
        |---|---|---|
        | `at` | `Date` |  |

        ## Event2

        Another.

        | field | type | |
        |---|---|---|
        | `not a name` | `URL` | A "*/" in it. |
    "#]]
    .assert_eq(&Schema::of([odd()]).reference());
}
