use capnweb::{Value, target};

#[target]
trait Generic<T> {
    fn get(&self) -> f64;
}

#[target]
trait Methods {
    fn generic<T>(&self, value: T);
    fn hidden(&self, value: impl Into<Value>);
    fn opaque(&self) -> impl Into<Value>;
    fn lifetime<'a>(&'a self) -> &'a str;
}

struct Wrapper<T>(T);

#[target]
impl<T: Send + Sync + 'static> Wrapper<T> {
    pub fn get(&self) -> f64 {
        0.0
    }
}

#[target]
impl Wrapper<f64> {
    pub fn get_number(&self) -> f64 {
        self.0
    }
}

fn main() {}
