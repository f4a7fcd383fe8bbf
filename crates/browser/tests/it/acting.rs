//! Acting in pages: clicks, typing, dialogs, files, tabs.

use std::time::Duration;

use browser::{Condition, Typed, WaitUntil};
use tools::Project;

use crate::support::{number, open, run, site};

#[test]
fn a_shop_is_used_with_a_password_that_is_in_no_text() {
    run(async {
        let bed = open("shop", "/login").await;
        let list = bed.list().await;
        let (name, password) = (number(&list, "Name"), number(&list, "Password"));
        let refused = bed
            .turn
            .type_into(password, None, Typed::Text("guess"), false, false)
            .await
            .unwrap_err();
        assert!(
            refused.to_string().contains("browser-type-secret"),
            "{refused}"
        );
        bed.turn
            .type_into(name, None, Typed::Text("ada"), false, false)
            .await
            .unwrap();
        let unknown = bed
            .turn
            .type_into(password, None, Typed::Secret("other"), false, false)
            .await
            .unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "use the secret \"other\": there is no such secret"
        );
        bed.turn
            .type_into(password, None, Typed::Secret("shop-password"), false, true)
            .await
            .unwrap();
        assert!(bed.turn.url().await.unwrap().ends_with("/shop"));
        bed.click("Add bread").await;
        assert_eq!(bed.text("#total").await, "Total: 3.20");
        assert!(
            site()
                .seen("/login")
                .iter()
                .any(|it| it.body.contains("correct+horse")),
            "it was sent"
        );
        let deeds: Vec<String> = bed
            .session
            .deeds_after(0)
            .into_iter()
            .map(|it| it.what)
            .collect();
        assert!(deeds.contains(&"typed the secret shop-password into element 2 ([2] textbox \"Password\" (password, empty))".to_owned()), "{deeds:#?}");
        let said = bed.turn.evaluate("'correct horse'").await.unwrap();
        assert_eq!(said, "[secret shop-password]");
        bed.turn
            .evaluate("setTimeout(() => alert('it is correct horse'), 0)")
            .await
            .unwrap();
        let told = bed.turn.elements().await.unwrap_err().to_string();
        assert!(told.contains("it is [secret shop-password]"), "{told}");
        bed.turn.answer(true, None).await.unwrap();
        let cookies = bed.turn.cookies().await.unwrap();
        assert_eq!((&*cookies[0].name, cookies[0].http_only), ("session", true));
        bed.end().await;
    });
}

#[test]
fn a_stale_number_and_a_covered_element_are_errors() {
    run(async {
        let bed = open("covered", "/covered").await;
        let list = bed.list().await;
        let under = number(&list, "Under");
        let covered = bed
            .turn
            .click(under, Some(list.snapshot), false, None)
            .await
            .unwrap_err();
        assert_eq!(covered.code(), "covered");
        assert!(
            covered
                .to_string()
                .starts_with("click element 1: div#cover"),
            "{covered}"
        );
        bed.click("Close").await;
        let stale = bed
            .turn
            .click(under, Some(list.snapshot), false, None)
            .await
            .unwrap_err();
        assert_eq!(stale.code(), "stale");
        let list = bed.list().await;
        assert_eq!(
            bed.turn
                .click(99, None, false, None)
                .await
                .unwrap_err()
                .code(),
            "stale"
        );
        bed.turn
            .click(under, Some(list.snapshot), false, None)
            .await
            .unwrap();
        assert_eq!(bed.turn.title().await.unwrap(), "hit");
        bed.turn
            .evaluate("document.querySelector('button').remove()")
            .await
            .unwrap();
        let gone = bed.turn.click(under, None, false, None).await.unwrap_err();
        assert_eq!(gone.code(), "stale", "{gone}");
        bed.end().await;
    });
}

#[test]
fn what_is_outside_of_the_view_is_scrolled_to_and_clicked() {
    run(async {
        let bed = open("tall", "/tall").await;
        bed.click("Bottom").await;
        assert_eq!(bed.turn.title().await.unwrap(), "hit");
        bed.end().await;
    });
}

#[test]
fn fields_are_filled_as_their_kind_needs_it() {
    run(async {
        let bed = open("form", "/form").await;
        let list = bed.list().await;
        let at = |name| number(&list, name);
        let typed = async |name, text, append| {
            let done = bed
                .turn
                .type_into(at(name), None, Typed::Text(text), append, false);
            done.await.map(drop)
        };
        typed("Text", "new", false).await.unwrap();
        assert_eq!(bed.text("#out").await, "new");
        typed("Text", "er", true).await.unwrap();
        assert_eq!(bed.text("#out").await, "newer");
        typed("Text", "", false).await.unwrap();
        assert_eq!(bed.text("#out").await, "");
        typed("Day", "2026-11-18", false).await.unwrap();
        assert_eq!(bed.text("#out").await, "2026-11-18");
        assert_eq!(
            typed("Day", "tomorrow", false).await.unwrap_err().code(),
            "does-not-fit"
        );
        assert_eq!(
            typed("Fixed", "y", false).await.unwrap_err().to_string(),
            format!("type into element {}: the field is read-only", at("Fixed"))
        );
        typed("Rich", "text", false).await.unwrap();
        typed("Long", "one\ntwo", false).await.unwrap();
        let chosen = bed
            .turn
            .select(at("Land"), None, &["Estonia".to_owned()])
            .await
            .unwrap();
        assert_eq!(
            (chosen, bed.text("#out").await),
            (vec!["Estonia".to_owned()], "ee".to_owned())
        );
        let missing = bed
            .turn
            .select(at("Land"), None, &["Finland".to_owned()])
            .await
            .unwrap_err();
        assert!(
            missing
                .to_string()
                .ends_with("it has no option \"Finland\"; it has \"Latvia\", \"Estonia\""),
            "{missing}"
        );
        bed.turn.press("Escape").await.unwrap();
        assert_eq!(bed.text("#out").await, "escaped");
        assert_eq!(
            bed.turn.press("Hyper+X").await.unwrap_err().code(),
            "does-not-fit"
        );
        let now = bed.list().await;
        assert_eq!(
            now.find(at("Long")).unwrap().value.as_deref(),
            Some("one two")
        );
        bed.end().await;
    });
}

#[test]
fn a_dialog_blocks_until_it_is_answered() {
    run(async {
        let bed = open("dialog", "/dialog").await;
        bed.click("Ask").await;
        let dialog = bed.turn.dialog().await.unwrap().unwrap();
        assert_eq!((&*dialog.kind, &*dialog.message), ("confirm", "Really?"));
        let blocked = bed.turn.elements().await.unwrap_err();
        assert!(blocked.to_string().contains("browser-dialog"), "{blocked}");
        bed.turn.answer(true, None).await.unwrap();
        assert_eq!(bed.text("#out").await, "yes");
        bed.click("Prompt").await;
        bed.turn.answer(true, Some("Ada")).await.unwrap();
        assert_eq!(bed.text("#out").await, "Ada");
        assert_eq!(
            bed.turn.answer(true, None).await.unwrap_err().code(),
            "does-not-fit"
        );
        bed.end().await;
    });
}

#[test]
fn files_go_into_the_project_and_out_of_it_and_nowhere_else() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::open(&folder.path().join("project")).unwrap();
        std::fs::write(folder.path().join("project/note.txt"), "hello").unwrap();
        std::fs::write(folder.path().join("secret.txt"), "SECRET").unwrap();
        let bed = open("files", "/files").await;
        let list = bed.list().await;
        let field = number(&list, "A file");
        bed.turn
            .upload(&project, field, None, &["note.txt".to_owned()])
            .await
            .unwrap();
        bed.turn
            .wait(
                &Condition::Text("note.txt: hello".to_owned()),
                Duration::from_secs(5),
            )
            .await
            .unwrap();
        let outside = bed
            .turn
            .upload(&project, field, None, &["../secret.txt".to_owned()])
            .await
            .unwrap_err();
        assert_eq!(outside.code(), "file");

        let mut paths = Vec::new();
        for _ in 0..2 {
            bed.click("Report").await;
            bed.turn
                .wait(&Condition::Download, Duration::from_secs(10))
                .await
                .unwrap();
            let downloads = bed.turn.downloads(Some(&project)).await;
            assert_eq!(downloads.len(), 1);
            assert_eq!((downloads[0].bytes, &downloads[0].failed), (8, &None));
            let path = downloads[0].path.clone().unwrap();
            let name = path.strip_prefix("/project/downloads/").unwrap();
            assert!(!name.contains('/') && !name.starts_with('.'), "{name}");
            let kept = folder.path().join("project/downloads").join(name);
            assert_eq!(std::fs::read_to_string(kept).unwrap(), "a,b\n1,2\n");
            paths.push(path);
        }
        assert_ne!(paths[0], paths[1], "the first one is not replaced");
        bed.click("Large").await;
        bed.turn
            .wait(&Condition::Download, Duration::from_secs(10))
            .await
            .unwrap();
        let large = bed.turn.downloads(Some(&project)).await;
        assert!(
            large[0].failed.as_ref().unwrap().contains("larger than"),
            "{large:?}"
        );
        bed.end().await;
    });
}

#[test]
fn popups_are_tabs_and_tabs_are_chosen_by_number() {
    run(async {
        let bed = open("tabs", "/popup").await;
        bed.click("Open").await;
        let opened = async {
            loop {
                let tabs = bed.turn.tabs().await;
                if tabs.len() == 2 && tabs[1].url.ends_with("/article") {
                    return tabs;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let tabs = tokio::time::timeout(Duration::from_secs(10), opened)
            .await
            .unwrap();
        bed.turn.select_tab(tabs[1].tab).unwrap();
        let loaded = Condition::Stage(WaitUntil::Load);
        bed.turn
            .wait(&loaded, Duration::from_secs(10))
            .await
            .unwrap();
        assert_eq!(bed.turn.title().await.unwrap(), "Article");
        bed.turn.close_tab(tabs[1].tab).await.unwrap();
        assert!(bed.turn.url().await.unwrap().ends_with("/popup"));
        assert_eq!(bed.turn.select_tab(77).unwrap_err().code(), "does-not-fit");
        bed.end().await;
    });
}

#[test]
fn history_goes_back_and_forward_and_a_click_waits_for_its_page() {
    run(async {
        let bed = open("history", "/").await;
        let link = bed.number("Article").await;
        assert!(
            bed.turn
                .click(link, None, false, Some(WaitUntil::Load))
                .await
                .unwrap()
        );
        assert_eq!(bed.turn.title().await.unwrap(), "Article");
        assert!(bed.turn.go(-1).await.unwrap());
        assert_eq!(bed.turn.title().await.unwrap(), "Home");
        assert!(bed.turn.go(1).await.unwrap());
        assert!(!bed.turn.go(1).await.unwrap(), "there is no next page");
        bed.turn.reload().await.unwrap();
        assert_eq!(bed.turn.title().await.unwrap(), "Article");
        let network = bed.turn.network().await.unwrap();
        assert!(
            network
                .iter()
                .any(|it| it.url.ends_with("/article") && it.status == Some(200)),
            "{network:?}"
        );
        bed.turn.evaluate("console.warn('look', 7)").await.unwrap();
        let console = bed.turn.console().await.unwrap();
        assert!(
            console
                .iter()
                .any(|it| it.level == "warning" && it.text == "look 7"),
            "{console:?}"
        );
        bed.end().await;
    });
}
