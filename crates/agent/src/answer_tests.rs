//! Words of people, as answers.

use super::{Reading, reading};

#[test]
fn a_yes_is_a_yes_and_nothing_else() {
    let agreed = [
        "yes",
        "Yes.",
        "OK",
        "y",
        "approve!",
        "yes please",
        "Yes, please!",
        "sure, go ahead",
        "ok, do it",
        "sounds good",
        "go ahead",
        "that's fine",
        "of course",
        "yes, thank you",
        "please do",
        "I agree",
        "all right then",
        "Sure thanks",
        "ok cool",
        "👍",
        "👍🏽 ",
    ];
    for text in agreed {
        assert_eq!(reading(text), Some(Reading::Yes), "{text}");
    }
    let unclear = [
        "yes but not that file",
        "ok, what does it do?",
        "approve the other one",
        "sure about that?",
        "it is fine weather",
        "hello",
        "please",
        "what is that",
        "",
        "no problem",
        "go",
        "yes, and delete the folder",
        "do you mean it",
        "why",
        "yes?",
        "ok?",
        "approve all",
        "no files were found yesterday, list them",
        "no idea",
        "stop the other server",
        "👍?",
        // They went wrong: the waiting call was done with these words as its input, or cancelled.
        "edit notes.md so that it says hi",
        "edit a.txt",
        "don't forget to call Bob",
        "do not remind me of it",
        "don't you know that?",
    ];
    for text in unclear {
        assert_eq!(reading(text), None, "{text}");
    }
}

#[test]
fn a_no_may_have_a_reason() {
    let no = |text: &str| match reading(text) {
        Some(Reading::No(why)) => why,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(no("no"), "");
    assert_eq!(no("No."), "");
    assert_eq!(no("no, because I like it"), "because I like it");
    assert_eq!(no("Don\u{2019}t: it is mine"), "it is mine");
    assert_eq!(no("please don't"), "");
    assert_eq!(no("don't write that file"), "write that file");
    assert_eq!(no("👎"), "");
    assert_eq!(no("reject - wrong file"), "wrong file");
    assert_eq!(reading("nothing"), None);
    assert_eq!(reading("notes.md"), None);
}

#[test]
fn another_input_follows_the_word() {
    let modify = |text: &str| Some(Reading::Modify(text.to_owned()));
    assert_eq!(reading("modify farewell"), modify("farewell"));
    assert_eq!(reading("Modify: Farewell\n"), modify("Farewell"));
    assert_eq!(reading(r#"modify {"a": 1}"#), modify(r#"{"a": 1}"#));
    assert_eq!(reading("modify"), modify(""));
    assert_eq!(reading("session"), Some(Reading::Session));
    assert_eq!(reading("session please"), Some(Reading::Session));
}
