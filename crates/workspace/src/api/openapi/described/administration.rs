//! Descriptions of the routes for users, keys, secrets and signing in.

use super::{Described, Fields, json};

const USER: Fields = &[
    ("name!", "string"),
    ("role!", "viewer|user|operator|admin"),
    ("keys!", "integer"),
    ("created!", "string"),
    ("note", "string"),
];

const LINK: Fields = &[
    ("url!", "string"),
    ("user!", "string"),
    ("expires!", "string"),
];

const KEY: Fields = &[
    ("id!", "string"),
    ("user!", "string"),
    ("name", "string"),
    ("scopes!", "strings"),
    ("parent", "string"),
    ("created!", "string"),
    ("expires", "string"),
    ("last_used", "string"),
];

const NEW_KEY: Fields = &[
    ("secret!", "string"),
    ("id!", "string"),
    ("user!", "string"),
    ("name", "string"),
    ("scopes!", "strings"),
    ("parent", "string"),
    ("created!", "string"),
    ("expires", "string"),
];

const SECRET: Fields = &[
    ("name!", "string"),
    ("created!", "string"),
    ("changed!", "string"),
];

pub(super) fn administration(verb: &str, path: &str) -> Option<Described> {
    Some(match (verb, path) {
        ("GET", "/api/users") => json("The users.", &[], &[], &[("users!", "User[]")]),
        ("POST", "/api/users") => json(
            "Adds a user, with a sign-in link or an API key.",
            &[],
            &[
                ("name!", "string"),
                ("role", "viewer|user|operator|admin"),
                ("key", "boolean"),
            ],
            &[("user!", "User"), ("link", "SignInLink"), ("key", "ApiKey")],
        ),
        ("PUT", "/api/users/{name}") => json(
            "Gives a user another role.",
            &[],
            &[("role!", "viewer|user|operator|admin")],
            USER,
        ),
        ("DELETE", "/api/users/{name}") => json(
            "Removes a user; its keys, tokens and open connections end.",
            &[],
            &[],
            USER,
        ),
        ("POST", "/api/users/{name}/link") => json("A new sign-in link.", &[], &[], LINK),
        ("GET", "/api/keys") => json(
            "The API keys of the caller; with the permission admin, those of all users.",
            &[],
            &[],
            &[("keys!", "ApiKey[]")],
        ),
        ("POST", "/api/keys") => json(
            "Makes an API key; its secret is in this reply alone.",
            &[],
            &[
                ("user", "string"),
                ("name", "string"),
                ("scopes", "strings"),
                ("for", "any"),
            ],
            NEW_KEY,
        ),
        ("DELETE", "/api/keys/{id}") => json("Revokes an API key.", &[], &[], KEY),
        ("GET", "/api/secrets") => json(
            "The names of the secrets that agents use.",
            &[],
            &[],
            &[("secrets!", "SecretName[]")],
        ),
        ("PUT", "/api/secrets/{name}") => {
            json("Sets a secret.", &[], &[("value!", "string")], SECRET)
        }
        ("DELETE", "/api/secrets/{name}") => json("Removes a secret.", &[], &[], SECRET),
        ("GET", "/api/session") => json(
            "Who the caller is, and what it may do.",
            &[],
            &[],
            &[
                ("user!", "string"),
                ("scheme!", "string"),
                ("role", "viewer|user|operator|admin"),
                ("permissions!", "strings"),
                ("expires", "string"),
                ("read_only", "boolean"),
                ("session", "string"),
            ],
        ),
        ("POST", "/api/session") => json(
            "Redeems the sign-in link that is sent as the bearer token.",
            &[],
            &[],
            &[
                ("token!", "string"),
                ("user!", "string"),
                ("expires!", "string"),
            ],
        ),
        _ => return None,
    })
}
