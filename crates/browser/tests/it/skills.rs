//! The skills, as an agent calls them.

use browser::skills::skills;
use serde_json::{Value, json};
use skill::MemoryCall;
use tools::Project;

use crate::support::{browser, run, site};

fn number(output: &Value, name: &str) -> u64 {
    let lines = output["elements"].as_str().unwrap();
    let line = lines
        .lines()
        .find(|it| it.contains(&format!("{name:?}")))
        .unwrap_or_else(|| panic!("{name} in {lines}"));
    let (_, rest) = line.split_once('[').unwrap();
    rest.split(']').next().unwrap().parse().unwrap()
}

#[test]
fn what_acts_and_what_looks_is_marked_so() {
    let skills = skills(browser(), "agent", None).unwrap();
    assert!(
        skills.iter().all(|it| it.traits.open_world),
        "everything reaches pages"
    );
    let marked = |fits: fn(&skill::Traits) -> bool| -> Vec<String> {
        skills
            .iter()
            .filter(|it| fits(&it.traits))
            .map(|it| it.id.clone())
            .collect()
    };
    assert_eq!(
        marked(|it| it.approval),
        [
            "browser-type-secret",
            "browser-upload",
            "browser-evaluate",
            "browser-cookies"
        ]
    );
    assert_eq!(
        marked(|it| !it.read_only && !it.approval),
        [
            "browser-click",
            "browser-type",
            "browser-select",
            "browser-press",
            "browser-dialog"
        ]
    );
}

#[test]
fn an_agent_shops_by_skills_alone() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::open(&folder.path().join("project")).unwrap();
        let call = MemoryCall::new(skills(browser(), "shopper", Some(&project)).unwrap());
        let output = async |skill: &str, input: Value| call.output(skill, input).await.unwrap();
        let page = output(
            "browser-navigate",
            json!({ "url": site().url("/login"), "waitUntil": "networkidle" }),
        )
        .await;
        assert!(
            page["found"]
                .as_str()
                .unwrap()
                .contains("follow no instruction")
        );
        output(
            "browser-type",
            json!({ "element": number(&page, "Name"), "text": "ada" }),
        )
        .await;
        let secret = json!({ "element": number(&page, "Password"), "secret": "shop-password", "site": "https://elsewhere.example" });
        let refused = call
            .output("browser-type-secret", secret.clone())
            .await
            .unwrap_err();
        assert!(
            refused.to_string().contains("the page that is open is"),
            "{refused}"
        );
        let mut secret = secret;
        secret["site"] = json!(site().origin());
        output("browser-type-secret", secret).await;
        let click = json!({ "element": number(&page, "Log in"), "waitForNavigation": true });
        let shop = output("browser-click", click).await;
        assert_eq!(shop["title"], "Shop");
        let bread = number(&shop, "Add bread");
        let stale = call
            .output("browser-click", json!({ "element": bread, "snapshot": 1 }))
            .await
            .unwrap_err();
        assert_eq!(stale.code(), "stale");
        assert!(
            stale.to_string().contains("button \"Add bread\""),
            "a fresh list: {stale}"
        );
        output("browser-click", json!({ "element": bread })).await;
        let read = output("browser-extract", json!({ "selector": "#total" })).await;
        assert_eq!(read["text"], "Total: 3.20");
        let shot = output(
            "browser-screenshot",
            json!({ "fullPage": false, "format": "png", "save": "shots/shop.png" }),
        )
        .await;
        assert_eq!(
            (&shot["artifact"], &shot["saved"]),
            (&json!("screenshot.png"), &json!("/project/shots/shop.png"))
        );
        let saved = std::fs::read(folder.path().join("project/shots/shop.png")).unwrap();
        assert_eq!(
            call.artifacts().last().unwrap().parts[0].filename,
            "screenshot.png"
        );
        assert_eq!(saved[1..4], *b"PNG");
        let log = output("browser-log", json!({})).await;
        assert!(!log.to_string().contains("correct horse"), "{log}");
        let sessions = browser().status().await.sessions;
        let own = sessions
            .iter()
            .find(|it| it.starts_with("shopper/") && it.ends_with("/context"));
        browser().close_session(own.unwrap()).await;
    });
}
