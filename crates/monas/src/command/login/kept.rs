//! The token that was kept for a server, renewed if it has expired.

use std::path::Path;
use std::time::SystemTime;

use dial::Dialer;
use oauth::{Address, Error, IssuerMetadata, Kept, Token, TokenEndpoint, Vault, Web};

/// The token for a server, if this user has signed in there.
pub(crate) async fn token(
    server: &str,
    folder: &Path,
    dialer: &Dialer,
) -> Result<Option<String>, Error> {
    let vault = Vault::folder(folder);
    let Some(mut kept) = vault.load(server)? else {
        return Ok(None);
    };
    let is_usable = |token: &&Token| !token.is_over(SystemTime::now());
    if let Some(token) = kept.token.as_ref().filter(is_usable) {
        return Ok(Some(token.access_token.clone()));
    }
    let address: Address = server.parse()?;
    let token = renewed(&kept, &Web::of(&address, dialer)?).await;
    let token = token.map_err(|error| match error {
        Error::Refused { issuer, code, .. } => Error::NeedsPerson {
            issuer,
            hint: format!("the token was not renewed ({code}); monas login --server {server}"),
        },
        error => error,
    })?;
    let shown = token.access_token.clone();
    kept.token = Some(token);
    vault.save(&kept)?;
    Ok(Some(shown))
}

/// The next token: by the refresh token, or for a client with a secret by asking again.
async fn renewed(kept: &Kept, web: &Web) -> Result<Token, Error> {
    let issuer = IssuerMetadata::discover(web, &kept.issuer).await?;
    let endpoint = TokenEndpoint {
        web,
        issuer: &issuer,
        client: &kept.client,
        proof: None,
        resource: kept.identifier.as_deref(),
    };
    let refresh = kept.token.as_ref().and_then(|it| it.refresh_token.as_ref());
    match refresh {
        Some(refresh) => endpoint.refresh(refresh).await,
        None if kept.client.secret.is_some() => endpoint.client_credentials(&kept.scopes).await,
        None => Err(Error::Refused {
            issuer: kept.issuer.clone(),
            code: "it has expired".to_owned(),
            description: String::new(),
        }),
    }
}
