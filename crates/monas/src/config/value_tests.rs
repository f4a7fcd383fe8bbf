//! The values that each kind takes and refuses.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::time::Duration;

use toml::de::DeTable;

use super::{AllowedOrigins, Kind, Size};
use crate::listen::Origin;
use crate::log::Filter;

fn text<T: Kind>(text: &str) -> Option<T> {
    T::from_text(text)
}

fn toml<T: Kind>(text: &str) -> Option<T> {
    let table = format!("it = {text}");
    let table = DeTable::parse(&table).unwrap().into_inner();
    T::from_toml(table.get("it").unwrap().get_ref())
}

#[test]
fn times_have_a_unit() {
    for (written, milliseconds) in [
        ("500ms", 500),
        ("30s", 30_000),
        ("5m", 300_000),
        ("2h", 7_200_000),
        ("1d", 86_400_000),
        ("1 d", 86_400_000),
    ] {
        let expected = Some(Duration::from_millis(milliseconds));
        assert_eq!(text::<Duration>(written), expected, "{written}");
        assert_eq!(toml::<Duration>(&format!("'{written}'")), expected);
    }
    for written in [
        "",
        "30",
        "s",
        "-1s",
        "1.5s",
        "1w",
        "99999999999999999999s",
        "9999999999999999999d",
    ] {
        assert_eq!(text::<Duration>(written), None, "{written}");
    }
    assert_eq!(toml::<Duration>("30"), None);
}

#[test]
fn sizes_have_a_unit() {
    assert_eq!(text("512B"), Some(Size(512)));
    assert_eq!(text("16 MiB"), Some(Size(16 << 20)));
    assert_eq!(toml("'2GiB'"), Some(Size(2 << 30)));
    for written in ["", "0B", "16", "16MB", "16mib", "18446744073709551615GiB"] {
        assert_eq!(text::<Size>(written), None, "{written}");
    }
}

#[test]
fn a_name_or_a_port_alone_means_the_loopback_address() {
    let expected: Option<SocketAddr> = "127.0.0.1:8080".parse().ok();
    for written in ["127.0.0.1:8080", "localhost:8080", "8080"] {
        assert_eq!(text::<SocketAddr>(written), expected, "{written}");
        assert_eq!(toml::<SocketAddr>(&format!("'{written}'")), expected);
    }
    assert_eq!(toml::<SocketAddr>("8080"), expected);
    assert_eq!(toml::<SocketAddr>("0x1f90"), expected);
    assert_eq!(text::<SocketAddr>("[::1]:7"), "[::1]:7".parse().ok());
    for written in ["", "localhost", "here:80", "80800", "127.0.0.1"] {
        assert_eq!(text::<SocketAddr>(written), None, "{written}");
    }
}

#[test]
fn a_log_filter_names_levels() {
    for written in ["info", "off", "warn,monas=debug", "info,monas[span]=trace"] {
        assert!(text::<Filter>(written).is_some(), "{written}");
    }
    for written in ["banana", "info,monas", "monas=banana", ""] {
        assert!(text::<Filter>(written).is_none(), "{written}");
    }
}

#[test]
fn counts_are_above_zero() {
    assert_eq!(text("7"), NonZeroU64::new(7));
    assert_eq!(toml("7"), NonZeroU64::new(7));
    assert_eq!(toml("0x10"), NonZeroU64::new(16));
    assert_eq!(toml("1_000"), NonZeroU64::new(1000));
    for written in ["0", "-1", "1.0", "'7'", "true"] {
        assert_eq!(toml::<NonZeroU64>(written), None, "{written}");
    }
}

#[test]
fn switches_are_words_in_a_text_and_booleans_in_the_file() {
    assert_eq!(text("true"), Some(true));
    assert_eq!(text("false"), Some(false));
    assert_eq!(text::<bool>("yes"), None);
    assert_eq!(toml("true"), Some(true));
    assert_eq!(toml::<bool>("'true'"), None);
}

#[test]
fn lists_have_commas_in_a_text_and_brackets_in_the_file() {
    let listed: Vec<Origin> = ["https://one.example", "http://two.example:8080"]
        .iter()
        .map(|text| text.parse().unwrap())
        .collect();
    let origins = AllowedOrigins { any: false, listed };
    assert_eq!(
        text("https://one.example, http://two.example:8080"),
        Some(origins.clone())
    );
    assert_eq!(
        toml("['https://one.example', 'http://two.example:8080']"),
        Some(origins)
    );
    let any = text::<AllowedOrigins>("*").unwrap();
    assert!(any.any && any.listed.is_empty());
    assert_eq!(text::<AllowedOrigins>("https://one.example,null"), None);
    assert_eq!(toml::<AllowedOrigins>("['https://one.example', 7]"), None);
    assert_eq!(toml::<AllowedOrigins>("'https://one.example'"), None);
}
