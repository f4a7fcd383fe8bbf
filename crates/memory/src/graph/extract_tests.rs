//! Entities and relations that the rules find in texts.

use proptest::prelude::*;

use super::extract::{EntityKind, extract};
use super::{Graph, Seen};

fn names(text: &str) -> Vec<(String, EntityKind)> {
    extract(text, None).entities
}

fn named(name: &str, kind: EntityKind) -> (String, EntityKind) {
    (name.to_owned(), kind)
}

#[test]
fn names_are_found_where_they_are_not_just_the_beginning_of_a_sentence() {
    let found =
        names("Yesterday we met Ada Lovelace in Paris. Great weather! Bob lives in Lisbon.");
    let expected = [
        named("Ada Lovelace", EntityKind::Name),
        named("Paris", EntityKind::Name),
        named("Bob", EntityKind::Name),
        named("Lisbon", EntityKind::Name),
    ];
    assert_eq!(found, expected);
}

/// It went wrong: after a file was read, "content", "hash" and the hash itself were concepts.
#[test]
fn of_json_the_texts_are_read_and_not_the_names_of_members() {
    let output = r#"{"content":"Ada Lovelace met Bob.\n","hash":"9852e6a290320926fde1ce5096510aebd80887b57db7ce0eace17103e80ea429","path":"/project/auth/auth.go","total_lines":7}"#;
    let expected = [
        named("Ada Lovelace", EntityKind::Name),
        named("Bob", EntityKind::Name),
        named("/project/auth/auth.go", EntityKind::File),
    ];
    assert_eq!(names(output), expected);
}

#[test]
fn identifiers_files_dates_and_quoted_terms_are_found() {
    let found = names(
        "The function parse_header in src/http.rs, see PAY-2291, returns a HeaderMap since 8 May 2023; \
         we call it \"the gate\".",
    );
    for expected in [
        named("parse_header", EntityKind::Symbol),
        named("src/http.rs", EntityKind::File),
        named("PAY-2291", EntityKind::Symbol),
        named("HeaderMap", EntityKind::Symbol),
        named("8 May 2023", EntityKind::Date),
        named("the gate", EntityKind::Term),
    ] {
        assert!(
            found.contains(&expected),
            "{expected:?} is not in {found:?}"
        );
    }
}

#[test]
fn verbs_between_entities_are_relations() {
    let relations = extract("Bob lives in Lisbon. JWT implements OAuth for us.", None).relations;
    let has = |from: &str, to: &str, kind: &str| {
        relations.contains(&(from.to_owned(), to.to_owned(), kind.to_owned()))
    };
    assert!(has("Bob", "Lisbon", "LIVE_IN"), "{relations:?}");
    assert!(has("JWT", "OAuth", "IMPLEMENT"), "{relations:?}");
}

#[test]
fn what_a_speaker_says_of_themselves_is_a_relation_of_the_speaker() {
    let relations = extract("I moved to Utrecht with Lieke.", Some("Noor")).relations;
    let moved = (
        "Noor".to_owned(),
        "Utrecht".to_owned(),
        "MOVE_TO".to_owned(),
    );
    assert!(relations.contains(&moved), "{relations:?}");
}

#[test]
fn what_only_one_record_supported_goes_with_it() {
    let mut graph = Graph::default();
    graph.insert(0, extract("Bob lives in Lisbon.", None));
    graph.insert(1, extract("Bob works in Porto.", None));
    graph.remove(0);
    assert!(graph.node("Bob", Seen::All).is_some() && graph.node("Porto", Seen::All).is_some());
    assert!(graph.node("Lisbon", Seen::All).is_none());
    assert_eq!(graph.all_edges().len(), 1);
    assert_eq!(graph.neighbours("bob", 10), [("Porto".to_owned(), 1)]);
    graph.remove(1);
    assert_eq!(
        (graph.nodes(Seen::All).count(), graph.all_edges().len()),
        (0, 0)
    );
}

proptest! {
    #[test]
    fn a_graph_is_what_its_records_say_however_it_came_about(
        texts in proptest::collection::vec("(Ada|Bob|Eve) (lives in|met|uses) (Rome|Oslo|Rust)\\.", 1..12),
        gone in proptest::collection::vec(any::<bool>(), 12),
    ) {
        let mut graph = Graph::default();
        for (slot, text) in texts.iter().enumerate() {
            graph.insert(slot as u32, extract(text, None));
        }
        let mut fresh = Graph::default();
        for (slot, text) in texts.iter().enumerate() {
            if gone[slot] {
                graph.remove(slot as u32);
            } else {
                fresh.insert(slot as u32, extract(text, None));
            }
        }
        let shown = |graph: &Graph| {
            let mut nodes: Vec<_> = graph.nodes(Seen::All).map(|node| (node.name, node.mentions)).collect();
            let mut edges: Vec<_> = graph.all_edges().into_iter().map(|it| (it.from, it.kind, it.to, it.support)).collect();
            nodes.sort();
            edges.sort();
            (nodes, edges)
        };
        prop_assert_eq!(shown(&graph), shown(&fresh));
    }

    #[test]
    fn any_text_can_be_read(text in any::<String>(), speaker in any::<Option<String>>()) {
        let found = extract(&text, speaker.as_deref());
        prop_assert!(found.entities.len() <= 64 && found.relations.len() <= 64);
    }
}
