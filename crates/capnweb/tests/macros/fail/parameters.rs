use capnweb::target;

struct Object;

#[target]
impl Object {
    pub fn pattern(&self, (one, two): (f64, f64)) -> f64 {
        one + two
    }

    pub fn wildcard(&self, _: f64) {}

    pub fn borrowed(&self, name: &str) {
        let _ = name;
    }

    #[getter]
    pub fn property(&self, index: u32) -> u32 {
        index
    }
}

fn main() {}
