use capnweb::target;

#[target]
struct Struct;

trait Plain {}

#[target]
impl Plain for Struct {}

#[target(rename = "x")]
trait Renamed {}

#[target(pub(crate))]
trait Visible {}

#[target]
trait Items {
    type Item;
    const NUMBER: u32;
    fn same(&self) -> Self;
    #[method]
    #[getter]
    fn both(&self);
    #[method(title = "x")]
    fn titled(&self);
    unsafe fn dangerous(&self);
}

fn main() {}
