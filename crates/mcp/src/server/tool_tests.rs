//! The description of a tool.

use skill::{Definition, Id, OneOrMore, Spec};

#[test]
fn tags_and_examples_are_lines_of_their_own_and_escaped() {
    const SPEC: Spec = Spec::new(
        Id::new("compare"),
        "Compare",
        "Compares two numbers.",
        OneOrMore::new(&["maths", "a < b"]),
        OneOrMore::new(&["is 1 > 2 & 3?", "say \"equal\" or 'less'"]),
    );
    let schema = serde_json::json!({ "type": "object" });
    let tool = super::of(&Definition::new(&SPEC, schema, None));
    assert_eq!(
        tool.description.unwrap(),
        "Compares two numbers.\n\n\
         <tags><tag>maths</tag><tag>a &lt; b</tag></tags>\n\
         <examples><example>is 1 &gt; 2 &amp; 3?</example>\
         <example>say &quot;equal&quot; or &#39;less&#39;</example></examples>"
    );
}
