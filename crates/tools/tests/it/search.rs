//! Searching files: hits, globs, `.gitignore`, limits.

use tools::{Case, Incomplete, Limits, ProjectPath, Query, Syntax};

use crate::support::Bed;

fn bed() -> Bed {
    let bed = Bed::new();
    bed.put("src/main.rs", "fn main() {\n    greet(\"Ada\");\n}\n");
    bed.put("src/greet.rs", "pub fn greet(who: &str) {}\n");
    bed.put("README.md", "Greet somebody.\r\nfn is a word.\r\n");
    bed.put("image", b"fn \0 fn");
    bed
}

#[test]
fn text_is_found_with_its_file_and_line() {
    let found = bed().find(&Query::new("greet("));
    assert_eq!(
        found,
        [
            "/project/src/greet.rs:1:pub fn greet(who: &str) {}",
            "/project/src/main.rs:2:    greet(\"Ada\");",
        ]
    );
}

#[test]
fn a_query_says_what_where_and_how() {
    let bed = bed();
    let check = |change: &dyn Fn(&mut Query), expected: &[&str]| {
        let mut query = Query::new("fn");
        change(&mut query);
        let found = bed.project.search(&query, &|| false).unwrap().hits;
        let places = found.iter().map(|hit| format!("{}:{}", hit.path, hit.line));
        let places = Vec::from_iter(places);
        assert_eq!(places, expected, "{query:?}");
    };
    let all = [
        "/project/README.md:2",
        "/project/src/greet.rs:1",
        "/project/src/main.rs:1",
    ];
    check(&|_| {}, &all);
    check(&|it| it.hits = 2, &all[..2]);
    check(&|it| it.glob = Some("*.rs".into()), &all[1..]);
    check(&|it| it.glob = Some("src/*.rs".into()), &all[1..]);
    check(&|it| it.glob = Some("/project/src/m*".into()), &all[2..]);
    check(&|it| it.glob = Some("**/*.{md,txt}".into()), &all[..1]);
    check(
        &|it| it.path = ProjectPath::parse("/project/src").unwrap(),
        &all[1..],
    );
    check(
        &|it| it.path = ProjectPath::parse("src/main.rs").unwrap(),
        &all[2..],
    );
    check(&|it| it.text = "FN".into(), &[]);
    check(
        &|it| {
            it.text = "FN".into();
            it.case = Case::Ignored;
        },
        &all,
    );
    check(
        &|it| {
            it.text = "^fn.*[.{]$".into();
            it.syntax = Syntax::Regex;
        },
        &[all[0], all[2]],
    );
    check(&|it| it.text = "f.".into(), &[]);
}

#[test]
fn what_git_ignores_is_not_searched() {
    let bed = Bed::new();
    bed.put(".gitignore", "*.log\n/build/\n!keep.log\n");
    bed.put("sub/.gitignore", "secret\n!extra.log\n");
    for name in [
        "a.txt",
        "a.log",
        "keep.log",
        "build/a.txt",
        "sub/build/a.txt",
        "sub/secret/a.txt",
        "sub/a.log",
        "sub/extra.log",
        ".git/config",
        ".hidden",
        ".monas-half",
    ] {
        bed.put(name, "here\n");
    }
    let all = [
        "/project/.hidden:1:here",
        "/project/a.txt:1:here",
        "/project/keep.log:1:here",
    ];
    let sub = [
        "/project/sub/build/a.txt:1:here",
        "/project/sub/extra.log:1:here",
    ];
    assert_eq!(bed.find(&Query::new("here")), [&all[..], &sub[..]].concat());
    // The `.gitignore` of parent folders applies; a path that the query names itself is searched even if ignored.
    let mut query = Query::new("here");
    query.path = ProjectPath::parse("sub").unwrap();
    assert_eq!(bed.find(&query), sub);
    query.path = ProjectPath::parse("build").unwrap();
    assert_eq!(bed.find(&query), ["/project/build/a.txt:1:here"]);
}

#[test]
fn a_line_is_found_once_and_counted_right() {
    let bed = Bed::new();
    bed.put("file.txt", "x x x\n\n\nx\ny x");
    assert_eq!(
        bed.find(&Query::new("x")),
        [
            "/project/file.txt:1:x x x",
            "/project/file.txt:4:x",
            "/project/file.txt:5:y x"
        ]
    );
    let mut empty = Query::new("^");
    empty.syntax = Syntax::Regex;
    assert_eq!(bed.find(&empty).len(), 5);
    bed.put("file.txt", "x\ny\n");
    assert_eq!(bed.find(&empty).len(), 2);
    bed.put("file.txt", "");
    assert_eq!(bed.find(&empty).len(), 1);
}

#[test]
fn of_a_long_line_what_is_around_the_hit_is_shown() {
    let bed = Bed::new();
    bed.put(
        "file.txt",
        format!("{}needle{}", "ä".repeat(1000), "ö".repeat(1000)),
    );
    let found = bed
        .project
        .search(&Query::new("needle"), &|| false)
        .unwrap();
    let text = &found.hits[0].text;
    assert!(text.len() < 420 && text.contains("äneedleö"), "{text}");
    assert!(text.starts_with('…') && text.ends_with('…'), "{text}");
}

#[test]
fn a_query_that_is_none_is_refused_in_words() {
    let bed = bed();
    let check = |change: &dyn Fn(&mut Query), problem: &str| {
        let mut query = Query::new("x");
        change(&mut query);
        let failed = bed.project.search(&query, &|| false).unwrap_err();
        assert!(failed.to_string().starts_with(problem), "{failed}");
        assert_eq!(failed.code(), "invalid-query");
    };
    check(&|it| it.text = String::new(), "query: empty");
    check(
        &|it| it.text = "x".repeat(2000),
        "query: longer than 1024 bytes",
    );
    check(&|it| it.glob = Some("[".into()), "glob: ");
    check(&|it| it.glob = Some("*".repeat(2000)), "glob: longer");
    for text in ["(", "a{1000}{1000}{1000}", &"(".repeat(1000)] {
        check(
            &|it| {
                it.text = text.to_owned();
                it.syntax = Syntax::Regex;
            },
            "query: ",
        );
    }
    // The longest query allowed, and an expensive one.
    let mut query = Query::new("x");
    query.glob = Some("?".repeat(1024));
    assert!(bed.find(&query).is_empty());
}

#[test]
fn a_search_says_when_there_may_be_more() {
    let check = |set: &dyn Fn(&mut Limits), stop: bool, expected: Option<Incomplete>| {
        let mut limits = Limits::default();
        set(&mut limits);
        let bed = Bed::with(limits);
        for count in 0..10 {
            bed.put(&format!("a/b/c/{count}.txt"), "here");
        }
        let found = bed.project.search(&Query::new("here"), &|| stop).unwrap();
        assert_eq!(found.incomplete, expected);
        found.hits.len()
    };
    assert_eq!(check(&|_| {}, false, None), 10);
    assert_eq!(check(&|it| it.hits = 10, false, None), 10);
    assert_eq!(check(&|it| it.hits = 9, false, Some(Incomplete::Hits)), 9);
    assert_eq!(
        check(&|it| it.entries = 8, false, Some(Incomplete::Entries)),
        5
    );
    assert_eq!(check(&|it| it.depth = 3, false, Some(Incomplete::Depth)), 0);
    assert_eq!(
        check(&|it| it.searched_bytes = 19, false, Some(Incomplete::Bytes)),
        4
    );
    assert_eq!(check(&|it| it.searched_file_bytes = 3, false, None), 0);
    assert_eq!(
        check(
            &|it| it.search_time = std::time::Duration::ZERO,
            false,
            Some(Incomplete::Time)
        ),
        0
    );
    assert_eq!(check(&|_| {}, true, Some(Incomplete::Stopped)), 0);
}
