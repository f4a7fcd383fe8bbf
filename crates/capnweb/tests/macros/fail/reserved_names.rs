use capnweb::target;

#[target]
trait Reserved {
    fn constructor(&self);
    fn to_string(&self) -> String;
    fn to_locale_string(&self) -> String;
    fn value_of(&self) -> f64;
    fn has_own_property(&self, name: String) -> bool;
    fn is_prototype_of(&self) -> bool;
    fn property_is_enumerable(&self) -> bool;
    #[method(name = "__proto__")]
    fn proto(&self);
    #[method(name = "__defineGetter__")]
    fn define_getter(&self);
    #[method(name = "__defineSetter__")]
    fn define_setter(&self);
    #[method(name = "__lookupGetter__")]
    fn lookup_getter(&self);
    #[getter(name = "__lookupSetter__")]
    fn lookup_setter(&self) -> f64;
    async fn then(&self);
    fn catch(&self);
    fn finally(&self);
    fn dup(&self);
    #[getter]
    fn map(&self) -> f64;
    fn on_rpc_broken(&self);
    #[method(name = "")]
    fn nameless(&self);
}

struct Object;

#[target]
impl Object {
    pub fn then(&self) {}

    // Not exposed, so it may have any name.
    fn to_string(&self) {}
}

fn main() {}
