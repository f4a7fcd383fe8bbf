//! Messages as servers write them.

use super::*;

#[test]
fn reads_what_servers_send() {
    let read = |text: &'static str| Message::parse(text.as_bytes()).unwrap();
    assert_eq!(read(r#"["resolve",7,49]"#), Message::Resolve(7, "49"));
    assert_eq!(
        read(r#"["push",["pipeline",-1,[],[5]]]"#),
        Message::Push(r#"["pipeline",-1,[],[5]]"#)
    );
    assert_eq!(read(r#"["pull",12]"#), Message::Pull(12));
    assert_eq!(read(r#"["release",-3,1]"#), Message::Release(-3));
}

#[test]
fn refuses_what_no_scenario_expects() {
    let abort = br#"["abort",["error","Error","bad"]]"#;
    assert!(Message::parse(abort).is_err());
}
