//! The cost of finding out who calls: `cargo bench -p access --bench credentials`.
//!
//! For each kind of credential the processor time of `Door::admit` and of `Rule::check` together: once with the same credential
//! again and again, and once with a new token in every call, beside the bare verification of the same signatures with the
//! same keys in the same run. One line each: name, microseconds, microseconds of the bare signature.
#![expect(clippy::print_stdout, reason = "it prints what it measures")]

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use access::{Callers, Door, Hash, Issuer, Keys, Presented, Rule, Scheme};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair,
    Ed25519KeyPair, KeyPair as _, UnparsedPublicKey,
};
use serde_json::json;

/// How many different tokens are shown in a round, and how many rounds there are. The median counts.
const TOKENS: usize = 500;
const ROUNDS: usize = 21;

const SECRET: &[u8] = b"a secret of thirty-two bytes, ok";
const RULE: Rule = Rule::reads("ListTasks");

/// What this thread has used of the processor.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|it| it.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

/// The median of the microseconds that one of so many pieces of work takes.
fn micros(count: usize, mut work: impl FnMut()) -> f64 {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let before = cpu();
            work();
            (cpu() - before).as_secs_f64() * 1e6 / count as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

type Sign = dyn Fn(&[u8]) -> Vec<u8>;
type Verify = dyn Fn(&[u8], &[u8]) -> bool;

/// A way to sign, to verify bare, and the public key as a door gets it.
struct Algorithm {
    name: &'static str,
    sign: Box<Sign>,
    verify: Box<Verify>,
    key: serde_json::Value,
}

fn algorithms() -> Result<Vec<Algorithm>, Box<dyn Error>> {
    let random = SystemRandom::new();
    let secret = hmac::Key::new(hmac::HMAC_SHA256, SECRET);
    let same = secret.clone();
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let hs256 = Algorithm {
        name: "HS256",
        sign: Box::new(move |message| hmac::sign(&secret, message).as_ref().to_vec()),
        verify: Box::new(move |message, tag| hmac::verify(&same, message, tag).is_ok()),
        key: json!({ "kty": "oct", "alg": "HS256", "k": encode(SECRET) }),
    };
    let failed = |_| "a key could not be made";
    let kind = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(kind, &random).map_err(failed)?;
    let pair =
        EcdsaKeyPair::from_pkcs8(kind, pkcs8.as_ref(), &random).map_err(|it| it.to_string())?;
    let point = pair.public_key().as_ref().to_vec();
    let (x, y) = point.get(1..).ok_or("a point has two parts")?.split_at(32);
    let key = json!({ "kty": "EC", "crv": "P-256", "x": encode(x), "y": encode(y) });
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    let es256 = Algorithm {
        name: "ES256",
        sign: Box::new(move |message| {
            let signed = pair.sign(&random, message);
            signed.map(|it| it.as_ref().to_vec()).unwrap_or_default()
        }),
        verify: Box::new(move |message, signature| public.verify(message, signature).is_ok()),
        key,
    };
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(failed)?;
    let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).map_err(|it| it.to_string())?;
    let point = pair.public_key().as_ref().to_vec();
    let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(&point) });
    let public = UnparsedPublicKey::new(&ED25519, point);
    let eddsa = Algorithm {
        name: "EdDSA",
        sign: Box::new(move |message| pair.sign(message).as_ref().to_vec()),
        verify: Box::new(move |message, signature| public.verify(message, signature).is_ok()),
        key,
    };
    Ok(vec![hs256, es256, eddsa])
}

/// Headers with a bearer token.
fn bearer(token: &str) -> Result<HeaderMap, Box<dyn Error>> {
    let mut headers = HeaderMap::new();
    let value = HeaderValue::from_str(&format!("Bearer {token}"))?;
    headers.insert("authorization", value);
    Ok(headers)
}

/// Admits and checks; whether the caller may.
fn admitted(door: &Door, headers: &HeaderMap, now: SystemTime) -> bool {
    let caller = door.admit(&Presented::headers(headers), now);
    caller.is_ok_and(|caller| black_box(RULE.check(&caller)).is_ok())
}

fn main() -> Result<(), Box<dyn Error>> {
    let now = SystemTime::now();
    let mut callers = Callers::default();
    callers.add("ada", Hash::of("a-long-random-token"), &[])?;
    let door = Door::new(vec![("tokens".to_owned(), Scheme::Bearer(callers))])?;
    let headers = bearer("a-long-random-token")?;
    let time = micros(TOKENS, || {
        (0..TOKENS).for_each(|_| assert!(admitted(&door, &headers, now)));
    });
    println!("known bearer token\t{time:.2}\t");
    for Algorithm {
        name,
        sign,
        verify,
        key,
    } in algorithms()?
    {
        let keys = Keys::read(&key.to_string())?;
        let issuer = Issuer::new("https://issuer.example", "monas", keys);
        let door = Door::new(vec![("signed".to_owned(), Scheme::Token(issuer))])?;
        let until = now.duration_since(UNIX_EPOCH)?.as_secs() + 3600;
        let header = URL_SAFE_NO_PAD.encode(json!({ "alg": name }).to_string());
        // A door may remember tokens, so that each round has its own.
        let mut round = 0;
        let mut tokens = || {
            round += 1;
            let tokens = (0..TOKENS).map(|number| {
                let claims = json!({
                    "iss": "https://issuer.example", "aud": "monas", "sub": "ada", "exp": until,
                    "jti": format!("{round}-{number}"),
                });
                let message = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
                let signature = sign(message.as_bytes());
                (message, signature)
            });
            tokens.collect::<Vec<_>>()
        };
        let (mut new, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let tokens = tokens();
            let shown = tokens.iter().map(|(message, signature)| {
                bearer(&format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
            });
            let shown = shown.collect::<Result<Vec<_>, _>>()?;
            let before = cpu();
            for headers in &shown {
                assert!(admitted(&door, headers, now));
            }
            let between = cpu();
            for (message, signature) in &tokens {
                assert!(black_box(verify(message.as_bytes(), signature)));
            }
            let each = |time: Duration| time.as_secs_f64() * 1e6 / TOKENS as f64;
            new.push(each(between - before));
            bare.push(each(cpu() - between));
        }
        new.sort_by(f64::total_cmp);
        bare.sort_by(f64::total_cmp);
        println!(
            "new {name} token\t{:.2}\t{:.2}",
            new[ROUNDS / 2],
            bare[ROUNDS / 2]
        );
        let last = tokens();
        let (message, signature) = last.first().ok_or("there are tokens")?;
        let headers = bearer(&format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))?;
        let time = micros(TOKENS, || {
            (0..TOKENS).for_each(|_| assert!(admitted(&door, &headers, now)));
        });
        println!("known {name} token\t{time:.2}\t");
    }
    Ok(())
}
