//! Tests of rules: permissions, names, bounds, scopes, and routes.

use crate::{
    Bounds, FoundRule, Permission, Permissions, Principal, Role, RouteRule, Rule, route_rules,
};

fn caller(role: Role) -> Principal {
    Principal::named("ada").permitted(role.permissions())
}

#[test]
fn a_rule_without_a_permission_allows_every_admitted_caller() {
    let nothing = Principal::named("ada").permitted(Permissions::NONE);
    assert!(Rule::reads("GetTask").check(&nothing).is_ok());
    assert!(Rule::changes("SendMessage").check(&nothing).is_ok());
}

#[test]
fn each_permission_is_refused_without_it_and_named() {
    for permission in Permission::ALL {
        let rule = Rule::changes("it").needs(permission);
        for role in Role::ALL {
            let checked = rule.check(&caller(role));
            assert_eq!(checked.is_ok(), role.permissions().has(permission));
            if let Err(refusal) = checked {
                assert!(refusal.is_forbidden());
                assert_eq!(refusal.missing_permission(), Some(permission));
                assert!(refusal.to_string().contains(permission.name()), "{refusal}");
            }
        }
    }
}

#[test]
fn a_rule_for_named_callers_refuses_the_anonymous_one_unless_it_operates() {
    let rule = Rule::reads("it").named();
    let anonymous = |role: Role| Principal::anonymous().permitted(role.permissions());
    assert!(rule.check(&caller(Role::Viewer)).is_ok());
    assert!(rule.check(&anonymous(Role::Operator)).is_ok());
    let refusal = rule.check(&anonymous(Role::User)).unwrap_err();
    assert!(refusal.has_no_credentials() && !refusal.is_forbidden());
}

#[test]
fn bounds_are_checked_without_and_with_the_task() {
    let lent = Bounds {
        methods: Some(["GetTask".to_owned(), "CancelTask".to_owned()].into()),
        read_only: true,
        task: Some("t1".to_owned()),
    };
    let lent = caller(Role::Admin).attenuated(&lent, None);
    let get = Rule::reads("GetTask");
    assert!(get.check(&lent).is_ok());
    assert!(get.check_task(&lent, Some("t1")).is_ok());
    assert!(get.check_task(&lent, Some("t2")).is_err());
    assert!(get.check_task(&lent, None).is_err());
    assert!(Rule::changes("CancelTask").check(&lent).is_err());
    assert!(Rule::reads("ListTasks").check(&lent).is_err());
    // A skill that an agent calls is a part of a call that was checked.
    let part = Rule::part().needs(Permission::ReadFiles);
    assert!(part.check(&lent).is_ok());
}

#[test]
fn scopes_are_needed_beside_the_permission() {
    let scopes = ["deploy".to_owned()];
    let rule = Rule::part().needs(Permission::ExecuteCommands);
    let refusal = rule.check_scopes(&caller(Role::User), &scopes).unwrap_err();
    assert!(refusal.to_string().contains("deploy"), "{refusal}");
    let refusal = rule
        .check_scopes(&caller(Role::Viewer), &scopes)
        .unwrap_err();
    let missing = refusal.missing_permission();
    assert_eq!(missing, Some(Permission::ExecuteCommands));
}

#[test]
fn a_route_is_found_by_its_path_and_its_method() {
    static RULES: &[RouteRule] = route_rules! {
        "GET" "/api/approvals": reads;
        "POST" "/api/approvals/{id}": changes needs Approve for named;
    };
    let find = |verb: &str, path: &str| RouteRule::find(RULES.iter(), verb, path);
    assert_eq!(
        find("HEAD", "/api/approvals"),
        Some(FoundRule::Rule(RULES[0].rule))
    );
    let Some(FoundRule::Rule(rule)) = find("POST", "/api/approvals/a%2Fb") else {
        panic!("no rule");
    };
    assert_eq!(rule.method(), "POST /api/approvals/{id}");
    assert!(rule.is_change() && rule.is_named());
    assert_eq!(rule.permission(), Some(Permission::Approve));
    assert_eq!(find("PUT", "/api/approvals/7"), Some(FoundRule::OtherVerb));
    for unknown in [
        "/api/approvals/",
        "/api/approvals/1/2",
        "/api",
        "/api/Approvals",
    ] {
        assert_eq!(find("GET", unknown), None, "{unknown}");
    }
}
