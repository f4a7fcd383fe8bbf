use std::sync::Arc;

use capnweb::target;

#[target]
trait Receivers {
    fn mutable(&mut self);
    fn missing(by: f64);
    fn owned(self);
    fn shared(self: Arc<Self>);
}

struct Object;

#[target]
impl Object {
    pub fn mutable(&mut self) {}

    #[method]
    pub fn missing() {}

    #[method]
    pub fn owned(self) {}

    #[getter]
    fn private(&self) -> f64 {
        0.0
    }
}

fn main() {}
