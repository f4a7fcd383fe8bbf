//! The rule of each route outside of the protocols' bindings for its caller: the list that `serve/door.rs` asks.

use access::{FoundRule, RouteRule, route_rules};

/// The rules of the routes of this crate; those below `/api` are in `workspace`.
pub static RULES: &[RouteRule] = route_rules! {
    // Metrics are not for anonymous callers, also with `--open`.
    "GET" "/metrics": reads for named;
    // The audit trail has the calls of all callers.
    "GET" "/api/audit": reads needs Operate;
    "GET" "/api/audit/verify": reads needs Operate;
    "GET" "/operator/webhooks/dead": reads needs Operate;
    "POST" "/operator/webhooks/replay": changes needs Operate;
    "GET" "/operator/backup": reads needs Operate;
};

/// Every rule of a route.
pub fn all() -> impl Iterator<Item = &'static RouteRule> {
    RULES.iter().chain(workspace::api::rules::RULES)
}

/// The rule of a request that was routed to this path.
pub(crate) fn find(verb: &str, path: &str) -> Option<FoundRule> {
    RouteRule::find(all(), verb, path)
}
