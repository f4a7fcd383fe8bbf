//! What each route below `/api` needs of its caller. A route without a row here is not served.

use access::{RouteRule, route_rules};

/// The rules of the routes of this crate. `for named`: not for the anonymous caller, because it must not
/// see the texts of callers, also with `--open`.
pub static RULES: &[RouteRule] = route_rules! {
    "GET" "/api/agents": reads;
    // The document gives these three to users. What a caller is shown is its own, unless it operates the server.
    "GET" "/api/agent/status": reads needs Approve;
    "POST" "/api/agent/pause": changes needs Approve;
    "POST" "/api/agent/resume": changes needs Approve;
    // What the agent then does is checked skill by skill.
    "POST" "/api/agent/command": changes;
    "POST" "/api/agent/initialize": changes;
    "GET" "/api/agent/tools": reads;
    // The messages of the chat are checked like the routes that do the same.
    "GET" "/ws/chat": reads;
    // A command as well; the answers to interrupts are checked like those of approvals.
    "POST" "/ag-ui": changes;
    // A caller sees its own sessions; the anonymous caller has none of its own.
    "GET" "/api/sessions": reads for named;
    "GET" "/api/sessions/{id}": reads for named;
    "PATCH" "/api/sessions/{id}": changes for named;
    "DELETE" "/api/sessions/{id}": changes for named;
    "GET" "/api/sessions/{id}/messages": reads for named;
    "GET" "/api/sessions/{id}/export": reads for named;
    "GET" "/api/files/tree": reads needs ReadFiles;
    "GET" "/api/files/content": reads needs ReadFiles;
    "PUT" "/api/files/content": changes needs WriteFiles;
    "GET" "/api/files/search": reads needs ReadFiles;
    "GET" "/api/files/changes": reads needs ReadFiles;
    "POST" "/api/files/undo": changes needs WriteFiles;
    "POST" "/api/files/diff": changes needs WriteFiles;
    // A terminal runs what is typed, without a question for each command.
    "GET" "/api/terminals": reads needs ExecuteCommands;
    "POST" "/api/terminals": changes needs ExecuteCommands;
    "DELETE" "/api/terminals/{id}": changes needs ExecuteCommands;
    // The law is for all callers, and the journal has the requests of all.
    "GET" "/api/agent/law": reads needs Operate;
    "PUT" "/api/agent/law": changes needs Operate;
    "POST" "/api/agent/law/accept": changes needs Operate;
    "GET" "/api/agent/law/proposals": reads needs Operate;
    "POST" "/api/agent/law/propose": changes needs Operate;
    "POST" "/api/agent/law/reflect": changes needs Operate;
    "POST" "/api/agent/law/test": changes needs Operate;
    "POST" "/api/agent/law/approve": changes needs Operate;
    "POST" "/api/agent/law/reject": changes needs Operate;
    "POST" "/api/agent/law/rollback": changes needs Operate;
    "GET" "/api/agent/laws": reads needs Operate;
    "GET" "/api/agent/diff": reads needs Operate;
    "GET" "/api/agent/why": reads needs Operate;
    "GET" "/api/journal": reads needs Operate;
    "GET" "/api/journal/{event}": reads needs Operate;
    "GET" "/api/journal/{event}/state": reads needs Operate;
    "GET" "/api/journal/{event}/prompt": reads needs Operate;
    // A caller finds and sees what it said, and its own tasks.
    "GET" "/api/search": reads for named;
    "GET" "/api/tasks": reads;
    "GET" "/api/tasks/{id}": reads;
    "POST" "/api/tasks/{id}/cancel": changes;
    // Callers see and answer what was asked for them; with `operate`, what was asked for all.
    "GET" "/api/approvals": reads;
    "POST" "/api/approvals/{id}": changes needs Approve;
    "GET" "/api/grants": reads;
    "DELETE" "/api/grants/{id}": changes needs Approve;
    // A caller lends no more than it has, and takes back what it lent.
    "GET" "/api/capabilities": reads for named;
    "POST" "/api/capabilities": changes for named;
    "DELETE" "/api/capabilities/{id}": changes for named;
    "GET" "/api/status": reads;
    "GET" "/api/model": reads needs Operate;
    "PUT" "/api/model": changes needs Admin;
    "DELETE" "/api/model": changes needs Admin;
    // Alerts are about the work of all callers.
    "GET" "/api/watch/alerts": reads needs Operate;
    "POST" "/api/watch/alerts/{id}": changes needs Operate;
    "GET" "/api/watch/rules": reads needs Operate;
    "POST" "/api/watch/rules/{id}": changes needs Operate;
    // Users, and the secrets that agents use.
    "GET" "/api/users": reads needs Admin;
    "POST" "/api/users": changes needs Admin;
    "PUT" "/api/users/{name}": changes needs Admin;
    "DELETE" "/api/users/{name}": changes needs Admin;
    "POST" "/api/users/{name}/link": changes needs Admin;
    "GET" "/api/secrets": reads needs Admin;
    "PUT" "/api/secrets/{name}": changes needs Admin;
    "DELETE" "/api/secrets/{name}": changes needs Admin;
    // A user has keys of its own; with `admin`, those of all.
    "GET" "/api/keys": reads for named;
    "POST" "/api/keys": changes for named;
    "DELETE" "/api/keys/{id}": changes for named;
    // A caller may know what it is; a sign-in link may become a token and nothing else.
    "GET" "/api/session": reads;
    "POST" "/api/session": changes;
    "GET" "/api/boards": reads for named;
    "GET" "/api/boards/{name}": reads for named;
    "POST" "/api/boards/{name}": changes needs Remember for named;
    "POST" "/api/memory/query": reads for named;
    "POST" "/api/memory/vector-search": reads for named;
    "GET" "/api/memory/context": reads for named;
    "GET" "/api/memory/graph": reads for named;
    "GET" "/api/memory/records": reads for named;
    "GET" "/api/memory/audit": reads for named;
    "GET" "/api/memory/export": reads for named;
    "POST" "/api/memory/store": changes needs Remember for named;
    "POST" "/api/memory/forget": changes needs Remember for named;
    // An import writes records of others.
    "POST" "/api/memory/import": changes needs Operate for named;
};
