use capnweb::target;

#[target]
trait Twice {
    fn read_all(&self);
    #[getter(name = "readAll")]
    fn all(&self) -> f64;
}

struct Object;

#[target]
impl Object {
    pub fn one(&self) {}

    #[method(name = "one")]
    pub fn two(&self) {}
}

fn main() {}
