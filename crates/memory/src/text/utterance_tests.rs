//! The purpose of sentences that people say to an agent.

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
        ("copy notes.md to notes2.md", Command),
        ("touch src/main.rs", Command),
        ("what's the name of my dog", Question),
        ("Who’s Ada", Question),
        ("whats my name", Question),
        ("Notes.md is in the folder", Statement),
        ("Report 4.5 was late", Statement),
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

#[test]
fn whatever_verb_it_begins_with_a_request_is_no_statement() {
    for text in [
        "turn off the lights",
        "Buy milk.",
        "buy milk on the way home, please",
        "Tomorrow buy milk",
        "book a table for two",
        "water the plants",
        "Order three pizzas",
        "email it to Bob",
        "deploy version 2 to production",
        "switch on the heating",
        "Scout, close the window",
        "When I leave, turn off the lights.",
        "If it rains, bring the chairs in",
        "hey, play some music",
        "don't touch my files",
        "Do not disturb me before nine",
        "let's meet on Monday",
        "I want you to call Bob",
        "I'd like you to fix the report",
        "You should ask Ada first",
        "make sure the door is locked",
        "list files in src",
        "run cargo test",
        "fix what is broken",
        "set an alarm for seven",
        "be quiet",
        "reboot the server",
        "reset my password",
        "archive the old logs",
        "format the disk",
        "sync all folders",
        "migrate the database to the new host",
        "vacuum the living room",
        "sweep the floor",
        "frobnicate the widget",
        "yeet this file",
    ] {
        assert_eq!(Utterance::of(text), Command, "{text}");
    }
    for text in [
        "I wonder who has the key",
        "i want to know where Ada lives",
        "can you buy milk",
    ] {
        assert_eq!(Utterance::of(text), Question, "{text}");
    }
}

#[test]
fn a_statement_that_begins_with_such_a_word_is_one() {
    for text in [
        "Help is on the way.",
        "Water boils at 100 degrees.",
        "Book prices rose in May",
        "Run 5 took place in Riga.",
        "The lights turn off at ten",
        "Work is in Riga on Mondays",
        "List prices are wrong.",
        "Test results were good",
        "Plan B has failed",
        "Milk is in the fridge, buy some was Ada's note",
        "We buy milk on Fridays",
        "Ada, Bob and Carol live in Riga",
        "After lunch, Ada walks",
        "Set is the Egyptian god of storms",
        "My sister will buy milk tomorrow",
        "You live in Riga",
        "Place of birth: Riga",
        "Name: Grace",
        "Turn 3 was slow",
        "Book on the table by the window is mine",
        "Update notes are on the wiki",
        "Yesterday the server failed",
        "Near the harbour a bell rang",
        "Ada the baker sings",
        "Bob my brother lives in Riga",
        "Zed the cat slept all day",
        "Without a key nothing works",
        "Format of the disk: ext4",
        "Reset is on page 4",
    ] {
        assert_eq!(Utterance::of(text), Statement, "{text}");
    }
}
