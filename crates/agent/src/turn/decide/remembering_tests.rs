//! The messages that are kept without a model, and what of them.

use super::told;

#[test]
fn what_a_person_tells_it_to_remember_is_taken_whole() {
    for (said, text) in [
        ("remember that my badge is 5512", "my badge is 5512"),
        ("Remember Ada likes tea", "Ada likes tea"),
        ("please remember: my cat is Tom", "my cat is Tom"),
        (
            "Remember that the list is:\nmilk\nbread",
            "the list is:\nmilk\nbread",
        ),
        ("keep in mind that the gate is locked", "the gate is locked"),
        ("could you remember that my cat is Tom?", "my cat is Tom"),
        ("Remember that my cat is Tom, please", "my cat is Tom"),
        ("don\u{2019}t forget that Ada is away.", "Ada is away."),
        (
            "Hey, please note that port 8.080 is taken",
            "port 8.080 is taken",
        ),
        (
            "Remember that Tom is a cat. He is old.",
            "Tom is a cat. He is old.",
        ),
    ] {
        assert_eq!(told(said).as_deref(), Some(text), "{said}");
    }
}

#[test]
fn what_asks_for_something_else_is_for_the_model() {
    for said in [
        "remember to buy milk",
        "remember when we met?",
        "do you remember that Ada likes tea?",
        "remember my birthday",
        "remember it",
        "Remember that Tom is a cat. What is the time?",
        "Remember that Tom is a cat.\nAlso list my files",
        "note the time",
        "I remember that Ada is away",
    ] {
        assert_eq!(told(said), None, "{said}");
    }
}
