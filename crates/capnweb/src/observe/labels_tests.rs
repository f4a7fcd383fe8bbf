//! Which names become labels.

use super::*;
use crate::account::Account;
use crate::peer::Peer;
use crate::testing::Sample;
use crate::{Target, target};

struct Shop;

#[target(pub(crate))]
impl Shop {
    pub fn price(&self) -> f64 {
        1.0
    }

    #[getter]
    pub fn name(&self) -> String {
        String::new()
    }
}

fn call(target: Option<Arc<dyn Target>>, member: Option<&str>, kind: CallKind) -> Call {
    let peer = Peer::new(&Account::default());
    Call::new(target, member.map(str::to_owned), kind, &[], peer)
}

fn of_shop(member: &str, kind: CallKind) -> Call {
    call(Some(Arc::new(Shop)), Some(member), kind)
}

#[track_caller]
fn check(labels: &Labels<()>, call: &Call, expected: &str) {
    let label = labels.of(call);
    assert_eq!(format!("{}.{}", label.interface, label.member), expected);
    // A second call has the same one.
    assert!(Arc::ptr_eq(&label, &labels.of(call)));
}

#[test]
fn names_that_are_described_are_labels_and_all_others_are_one() {
    let labels = Labels::default();
    check(&labels, &of_shop("price", CallKind::Method), "Shop.price");
    check(&labels, &of_shop("name", CallKind::Getter), "Shop.name");
    check(&labels, &of_shop("prize", CallKind::Absent), "Shop.other");
    // One that the object says it has, by an `Absent` that never came.
    check(&labels, &of_shop("prize", CallKind::Method), "Shop.other");
    // An object that answers to any name describes none.
    let any = |name| call(Some(Sample::new()), Some(name), CallKind::Method);
    check(&labels, &any("square"), ".other");
    check(&labels, &any("anything"), ".other");
    let function = call(Some(Arc::new(Shop)), None, CallKind::Function);
    check(&labels, &function, "Shop.");
    let forwarded = call(None, Some("a.path.of.theirs"), CallKind::Forwarded);
    check(&labels, &forwarded, "forwarded.");
    assert_eq!(labels.all().len(), 7);
}

#[test]
fn no_peer_makes_more_labels_than_there_may_be() {
    let labels = Labels::new(1);
    check(&labels, &of_shop("price", CallKind::Method), "Shop.price");
    check(&labels, &of_shop("name", CallKind::Getter), "other.other");
    let any = call(Some(Sample::new()), Some("x"), CallKind::Method);
    check(&labels, &any, "other.other");
    check(&labels, &of_shop("price", CallKind::Method), "Shop.price");
    assert_eq!(labels.all().len(), 2);

    let labels = Labels::<()>::default();
    for number in 0..10_000 {
        labels.of(&of_shop(&format!("name{number}"), CallKind::Method));
        labels.of(&of_shop(&format!("name{number}"), CallKind::Absent));
    }
    assert_eq!(labels.all().len(), 2);
}
