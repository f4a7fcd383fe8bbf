//! Roles contain one another, names are read back, and bounds only narrow.

use crate::{Bounds, Permission, Permissions, Role};

#[test]
fn each_role_has_what_the_one_before_it_has() {
    let sets: Vec<_> = Role::ALL.into_iter().map(Role::permissions).collect();
    assert!(sets.is_sorted_by_key(|set| set.iter().count()));
    for pair in sets.windows(2) {
        assert_eq!(pair[0].intersect(pair[1]), pair[0]);
    }
    let viewer: Vec<_> = Role::Viewer.permissions().iter().collect();
    assert_eq!(viewer, [Permission::ReadFiles]);
    assert!(Role::User.permissions().has(Permission::Approve));
    assert!(!Role::User.permissions().has(Permission::Operate));
    assert!(Role::Operator.permissions().has(Permission::Operate));
    assert!(!Role::Operator.permissions().has(Permission::Admin));
    assert_eq!(Role::Admin.permissions(), Permissions::ALL);
}

#[test]
fn names_are_read_back() {
    for permission in Permission::ALL {
        assert_eq!(permission.name().parse(), Ok(permission));
    }
    for role in Role::ALL {
        assert_eq!(role.name().parse(), Ok(role));
    }
    assert!("root".parse::<Role>().is_err());
}

#[test]
fn bounds_only_narrow() {
    let bounds = |methods: &[&str], task: &str| Bounds {
        methods: Some(methods.iter().map(|it| (*it).to_owned()).collect()),
        read_only: false,
        task: Some(task.to_owned()),
    };
    let one = bounds(&["GetTask", "CancelTask"], "t1");
    assert!(one.allow("CancelTask", true, Some("t1")));
    assert!(!one.allow("CancelTask", true, Some("t2")));
    assert!(!one.allow("CancelTask", true, None));
    assert!(!one.allow("ListTasks", false, Some("t1")));

    let read_only = Bounds {
        read_only: true,
        ..Bounds::default()
    };
    let both = one.narrowed(&read_only);
    assert!(both.allow("GetTask", false, Some("t1")));
    assert!(!both.allow("CancelTask", true, Some("t1")));

    let neither = one.narrowed(&bounds(&["GetTask"], "t2"));
    assert!(!neither.allow("GetTask", false, Some("t1")));
    assert!(!neither.allow("GetTask", false, Some("t2")));
    assert!(Bounds::default().are_open() && !one.are_open());
}
