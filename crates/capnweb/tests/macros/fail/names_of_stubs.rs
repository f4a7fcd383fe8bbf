use capnweb::target;

#[target]
trait Hidden {
    fn clone(&self) -> f64;
    fn into_stub(&self);
    #[method(name = "other")]
    fn cast(&self);

    // On the wire the name is free.
    #[method(name = "clone")]
    fn copy(&self) -> f64;
}

fn main() {}
