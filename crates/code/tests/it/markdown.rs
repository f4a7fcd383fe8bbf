//! Headings of Markdown.

use expect_test::expect;

use super::{outline_of, shown};

#[test]
fn headings_have_the_lines_up_to_the_next_of_their_level() {
    let text = "\
Title
=====

words
## First ##
```sh
# no heading
```
### Deeper
## Second
#tag
- item
---
";
    let outline = outline_of("README.md", text);
    expect![[r#"
        markdown:
        1-13 heading Title
        5-9 heading First in Title
        9-9 heading Deeper in First
        10-13 heading Second in Title
    "#]]
    .assert_eq(&shown(&outline));
}
