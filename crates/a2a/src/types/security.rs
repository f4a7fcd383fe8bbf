//! Security schemes: how callers of an agent can prove who they are.

use std::collections::BTreeMap;

use super::wire::{messages, oneofs};

messages! { "lf.a2a.v1";
    /// Schemes that must all be satisfied together.
    SecurityRequirement {
        /// The scopes that are needed, by the name of the scheme.
        schemes: BTreeMap<String, StringList> = 1,
    }

    /// A list, where a map needs one as a value.
    StringList {
        list: Vec<String> = 1,
    }

    /// A way to prove who one is.
    SecurityScheme [
        scheme: Scheme
    ] {}

    /// A secret key, sent in a header, a query parameter or a cookie.
    APIKeySecurityScheme {
        description: String = 1,
        /// Where it is sent: `query`, `header` or `cookie`.
        location: String = 2 required,
        /// The name of that parameter, header or cookie.
        name: String = 3 required,
    }

    /// A scheme of HTTP authentication.
    HTTPAuthSecurityScheme {
        description: String = 1,
        /// Its registered name: `Bearer`, `Basic`, and others.
        scheme: String = 2 required,
        /// What a bearer token looks like, such as `JWT`; a hint.
        bearer_format: String = 3,
    }

    /// OAuth 2.0, with the flows that the agent supports.
    OAuth2SecurityScheme {
        description: String = 1,
        /// How a token is got.
        flows: Option<OAuthFlows> = 2 required,
        /// Where the authorization server describes itself (RFC 8414).
        oauth2_metadata_url: String = 3,
    }

    /// OpenID Connect, described by its discovery document.
    OpenIdConnectSecurityScheme {
        description: String = 1,
        /// Where the provider describes itself.
        open_id_connect_url: String = 2 required,
    }

    /// A certificate of the caller's.
    MutualTlsSecurityScheme {
        description: String = 1,
    }

    /// How an OAuth 2.0 token is got.
    OAuthFlows [
        flow: Flow
    ] {}

    /// A person agrees in a browser, and a code is exchanged for a token.
    AuthorizationCodeOAuthFlow {
        /// Where the person agrees.
        authorization_url: String = 1 required,
        /// Where the token is got.
        token_url: String = 2 required,
        /// Where a new token is got for an old one.
        refresh_url: String = 3,
        /// The permissions of each scope, by its name.
        scopes: BTreeMap<String, String> = 4 required,
        /// Whether the code must be bound to its requester (RFC 7636).
        pkce_required: bool = 5,
    }

    /// A program gets a token in its own name.
    ClientCredentialsOAuthFlow {
        /// Where the token is got.
        token_url: String = 1 required,
        /// Where a new token is got for an old one.
        refresh_url: String = 2,
        /// The permissions of each scope, by its name.
        scopes: BTreeMap<String, String> = 3 required,
    }

    /// A person agrees in a browser, which is handed the token. Deprecated by the protocol.
    ImplicitOAuthFlow {
        /// Where the person agrees.
        authorization_url: String = 1,
        /// Where a new token is got for an old one.
        refresh_url: String = 2,
        /// The permissions of each scope, by its name.
        scopes: BTreeMap<String, String> = 3,
    }

    /// A program sends a person's password. Deprecated by the protocol.
    PasswordOAuthFlow {
        /// Where the token is got.
        token_url: String = 1,
        /// Where a new token is got for an old one.
        refresh_url: String = 2,
        /// The permissions of each scope, by its name.
        scopes: BTreeMap<String, String> = 3,
    }

    /// A person agrees on another device (RFC 8628).
    DeviceCodeOAuthFlow {
        /// Where the codes for person and device are got.
        device_authorization_url: String = 1 required,
        /// Where the token is got.
        token_url: String = 2 required,
        /// Where a new token is got for an old one.
        refresh_url: String = 3,
        /// The permissions of each scope, by its name.
        scopes: BTreeMap<String, String> = 4 required,
    }
}

oneofs! {
    /// The ways to prove who one is.
    Scheme {
        /// By a secret key.
        ApiKey api_key_security_scheme: APIKeySecurityScheme = 1,
        HttpAuth http_auth_security_scheme: HTTPAuthSecurityScheme = 2,
        /// By a token from an authorization server.
        OAuth2 oauth2_security_scheme: OAuth2SecurityScheme = 3,
        /// By a token from an identity provider.
        OpenIdConnect open_id_connect_security_scheme: OpenIdConnectSecurityScheme = 4,
        MutualTls mtls_security_scheme: MutualTlsSecurityScheme = 5,
    }

    /// The ways to get an OAuth 2.0 token.
    Flow {
        /// By a person's consent and a code.
        AuthorizationCode authorization_code: AuthorizationCodeOAuthFlow = 1,
        /// By a program for itself.
        ClientCredentials client_credentials: ClientCredentialsOAuthFlow = 2,
        /// By a person's consent alone. Deprecated by the protocol.
        Implicit implicit: ImplicitOAuthFlow = 3,
        /// By a person's password. Deprecated by the protocol.
        Password password: PasswordOAuthFlow = 4,
        /// By a person's consent on another device.
        DeviceCode device_code: DeviceCodeOAuthFlow = 5,
    }
}
