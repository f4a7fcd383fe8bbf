use super::*;
use crate::component::Component;
use crate::source::Source;

#[test]
fn options_are_read_from_comments_and_their_own_list_is_left_alone() {
    let text = "# size: small, large\nOPTIONS = ['red', 'blue', 'green']\ncolour = 'red'\nsize = \"small\"\nname = 'other'\n";
    let component = Component::of_files("c", vec![Source::parse("x.py", text).unwrap()]);
    let content = component.content();
    let files = component.parse(&content);
    let found = slots(Parent {
        component: &component,
        content: &content,
        files: &files,
    });
    let others: Vec<&[String]> = found.iter().map(|it| &*it.others).collect();
    assert_eq!(others, [&["'blue'", "'green'"][..], &["\"large\""]]);
    let order: Vec<usize> = neighbours(&found, &[0]).iter().map(|it| it.0).collect();
    assert_eq!(order, [1, 0, 0]);
}
