//! What the programs beside this one do, without their faults.

use std::sync::Arc;

use capnweb::{FromValue, IntoValue, target};

#[derive(FromValue, IntoValue)]
struct Fields {
    json: f64,
    #[value(rename = "same")]
    other: f64,
}

#[derive(FromValue, IntoValue)]
enum Word {
    Nothing,
    Something,
}

#[target]
trait Plain {
    fn read_all(&self, fields: Fields) -> f64;
    #[getter(name = "all")]
    fn count(&self) -> f64;
    #[method(name = "clone")]
    fn copy(&self) -> f64;
}

struct Object;

#[target(pub(crate))]
impl Object {
    #[method(cancel)]
    pub async fn waits(&self, name: String) -> Word {
        let _ = name;
        Word::Nothing
    }

    #[method(name = "shared")]
    pub fn other(self: Arc<Self>) {}

    #[getter]
    pub fn property(&self) -> u32 {
        0
    }

    // Not exposed, so it may have any name.
    fn to_string(&self) {}
}

fn main() {}
