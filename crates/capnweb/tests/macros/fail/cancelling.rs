use capnweb::target;

struct Object;

#[target]
impl Object {
    #[method(cancel)]
    pub fn plain(&self) {}

    #[method(cancel = true)]
    pub async fn valued(&self) {}

    #[method(abort)]
    pub async fn unknown(&self) {}
}

fn main() {}
