//! The macros in places where names mean other things.

/// Without a prelude, and with the usual names taken.
#[no_implicit_prelude]
pub(crate) mod bare {
    use ::capnweb::{FromValue, IntoValue, target};

    pub(crate) struct T;
    pub(crate) struct Result;
    pub(crate) struct Option;
    pub(crate) struct Value;
    pub(crate) struct Stub;
    pub(crate) struct Target;
    pub(crate) struct Output;

    #[target]
    pub(crate) trait Named {
        fn echo(&self, arguments: f64, name: f64, value: f64, error: f64) -> f64 {
            arguments + name + value + error
        }

        async fn later(&self, description: Point) -> Point {
            description
        }
    }

    impl Named for T {}

    #[target(pub(crate))]
    impl Result {
        pub fn echo(&self, arguments: f64, object: f64) -> f64 {
            arguments + object
        }
    }

    #[derive(FromValue, IntoValue)]
    pub(crate) struct Point {
        pub(crate) name: f64,
        pub(crate) value: f64,
        pub(crate) object: f64,
        pub(crate) from: Kind,
    }

    #[derive(FromValue, IntoValue)]
    pub(crate) enum Kind {
        Some,
        None,
    }
}

#[tokio::test]
async fn works_inside_a_function_and_without_a_prelude() {
    use bare::Named as _;

    #[capnweb::target]
    trait Inner {
        fn one(&self) -> u32;
    }

    struct One;

    impl Inner for One {
        fn one(&self) -> u32 {
            1
        }
    }

    struct Two;

    #[capnweb::target(pub(self))]
    impl Two {
        pub fn two(&self) -> u32 {
            2
        }
    }

    assert_eq!(One.into_stub().one().await.unwrap(), 1);
    assert_eq!(Two.into_stub().two().await.unwrap(), 2);
    assert_eq!(bare::Result.into_stub().echo(1.0, 2.0).await.unwrap(), 3.0);
    let named = bare::T.into_stub();
    assert_eq!(named.echo(1.0, 2.0, 3.0, 4.0).await.unwrap(), 10.0);
    let point = bare::Point {
        name: 1.0,
        value: 2.0,
        object: 3.0,
        from: bare::Kind::None,
    };
    assert_eq!(named.later(point).await.unwrap().object, 3.0);
    let _ = (
        bare::Option,
        bare::Value,
        bare::Stub,
        bare::Target,
        bare::Output,
        bare::Kind::Some,
    );
}
