use capnweb::{FromValue, IntoValue};

#[derive(FromValue)]
struct Generic<T> {
    value: T,
}

#[derive(IntoValue)]
struct Borrowed<'a> {
    value: &'a str,
}

#[derive(FromValue)]
struct Unit;

#[derive(FromValue)]
struct Two(f64, f64);

#[derive(FromValue)]
enum Data {
    Nothing,
    Something(f64),
}

#[derive(FromValue)]
enum Never {}

#[derive(FromValue)]
struct Fields {
    to_json: f64,
    #[value(rename = "toJSON")]
    json: f64,
    value_of: f64,
    same: f64,
    #[value(rename = "same")]
    other: f64,
    #[value(name = "x")]
    unknown: f64,
}

fn main() {}
