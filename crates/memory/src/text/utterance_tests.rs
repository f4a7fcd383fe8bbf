//! What sentences that people say to an agent do.

use super::utterance::Utterance::{self, Command, Greeting, Question, Speculation, Statement};

#[test]
fn tells_statements_from_questions_commands_greetings_and_speculations() {
    for (text, does) in [
        ("what do you know about Zed?", Question),
        ("what do you know about Zed", Question),
        ("does Ada like coffee?", Question),
        ("how many files are there", Question),
        ("recall Ada", Command),
        ("/recall question=Ada", Command),
        ("please remind me in 1 minute to drink water", Command),
        ("read WELCOME.md", Command),
        ("hello", Greeting),
        ("Thank you very much!", Greeting),
        ("Maybe Ada likes tea.", Speculation),
        ("I think Ada might live in Riga", Speculation),
        ("Ada could be ill.", Speculation),
        ("Ada likes coffee", Statement),
        ("When I was young I lived in Riga.", Statement),
        ("What a day it was in Riga.", Statement),
        ("May 4 is my birthday", Statement),
        ("Hi there! My name is Grace. What can you do?", Statement),
        ("Run 5 took place in Riga? Perhaps. It was fast.", Statement),
    ] {
        assert_eq!(Utterance::of(text), does, "{text}");
    }
}
