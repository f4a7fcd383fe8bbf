//! The grammar: every form read and written, and what is refused.

use std::sync::Arc;

use bytes::Bytes;
use expect_test::expect;
use indexmap::IndexMap;
use num_bigint::BigInt;
use proptest::prelude::*;

use super::*;
use crate::limits::Limits;
use crate::message::Message;

/// Each text is how its expression is written, and is read as that expression.
#[track_caller]
fn check(forms: &[(&str, Expression)]) {
    for (text, expression) in forms {
        assert_eq!(expression.print(), *text);
        assert_same(&parse(text).unwrap(), expression);
    }
}

/// Each text is read as the expression that is written as the other.
#[track_caller]
fn check_read(texts: &[(&str, &str)]) {
    for (read, written) in texts {
        assert_eq!(
            parse(read).map(|it| it.print()),
            Ok((*written).to_owned()),
            "{read}"
        );
    }
}

/// Each text is refused with this complaint.
#[track_caller]
fn check_refused(texts: &[(&str, &str)]) {
    for (text, complaint) in texts {
        let error = parse(text).expect_err(text);
        assert_eq!(format!("{}: {error}", error.name()), *complaint, "{text}");
    }
}

/// Equality under which NaN is itself.
#[track_caller]
fn assert_same(left: &Expression, right: &Expression) {
    assert_eq!(format!("{left:?}"), format!("{right:?}"));
}

fn parse(text: &str) -> Result<Expression, ParseError> {
    Expression::parse(text, &Limits::default())
}

fn string(text: &str) -> Expression {
    Expression::String(text.to_owned())
}

fn object<T>(members: impl IntoIterator<Item = (&'static str, T)>) -> IndexMap<String, T> {
    members
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

#[test]
fn literals_stand_for_themselves() {
    check(&[
        ("null", Expression::Null),
        ("true", Expression::Bool(true)),
        ("false", Expression::Bool(false)),
        (r#""""#, string("")),
        (r#""Grüße, 世界 🦀""#, string("Grüße, 世界 🦀")),
        (
            r#""\"\\\b\f\n\r\t\u0000\u001f/""#,
            string("\"\\\u{8}\u{c}\n\r\t\0\u{1f}/"),
        ),
        ("{}", Expression::Object(Box::default())),
        (
            r#"{"b":1,"a":{"":null},"toJSON":2,"__proto__":3}"#,
            Expression::Object(Box::new(object([
                ("b", Expression::Number(1.0)),
                (
                    "a",
                    Expression::Object(Box::new(object([("", Expression::Null)]))),
                ),
                ("toJSON", Expression::Number(2.0)),
                ("__proto__", Expression::Number(3.0)),
            ]))),
        ),
    ]);
}

#[test]
fn numbers_are_written_as_javascript_writes_them() {
    check(&[
        ("0", Expression::Number(0.0)),
        ("-1", Expression::Number(-1.0)),
        (
            "9007199254740991",
            Expression::Number(9_007_199_254_740_991.0),
        ),
        (
            "-9007199254740992",
            Expression::Number(-9_007_199_254_740_992.0),
        ),
        (
            "123456789012345680000",
            Expression::Number(123_456_789_012_345_680_000.0),
        ),
        ("1e+21", Expression::Number(1e21)),
        ("0.1", Expression::Number(0.1)),
        ("0.000001", Expression::Number(1e-6)),
        ("1.5e-7", Expression::Number(1.5e-7)),
        ("5e-324", Expression::Number(5e-324)),
        ("1.7976931348623157e+308", Expression::Number(f64::MAX)),
        (r#"["inf"]"#, Expression::Number(f64::INFINITY)),
        (r#"["-inf"]"#, Expression::Number(f64::NEG_INFINITY)),
        (r#"["nan"]"#, Expression::Number(f64::NAN)),
    ]);
    assert_eq!(Expression::Number(-0.0).print(), "0");
}

#[test]
fn values_json_lacks_are_tagged() {
    check(&[
        (r#"["undefined"]"#, Expression::Undefined),
        (
            r#"["bigint","-12345678901234567890"]"#,
            bigint("-12345678901234567890"),
        ),
        (
            r#"["date",1700000000000.5]"#,
            Expression::Date(Some(1_700_000_000_000.5)),
        ),
        (r#"["date",null]"#, Expression::Date(None)),
        ("[[]]", Expression::Array(vec![])),
        (r#"[["a",[[1]]]]"#, {
            let inner = Expression::Array(vec![Expression::Number(1.0)]);
            Expression::Array(vec![string("a"), inner])
        }),
        (r#"["url","https://example.org/?q=1"]"#, {
            Expression::Url("https://example.org/?q=1".to_owned())
        }),
        (r#"["regexp","a+\\d"]"#, regexp("a+\\d", "")),
        (r#"["regexp","a/b","gi"]"#, regexp("a/b", "gi")),
    ]);
}

#[test]
fn bytes_name_their_container_unless_it_is_the_usual_one() {
    check(&[
        (r#"["bytes",""]"#, bytes(b"", ByteContainer::Uint8Array)),
        (
            r#"["bytes","AQID+/8"]"#,
            bytes(&[1, 2, 3, 0xFB, 0xFF], ByteContainer::Uint8Array),
        ),
        (
            r#"["bytes","AQ","ArrayBuffer"]"#,
            bytes(&[1], ByteContainer::ArrayBuffer),
        ),
        (
            r#"["bytes","AQI","Int16Array"]"#,
            bytes(&[1, 2], ByteContainer::Int16Array),
        ),
    ]);
    for container in ByteContainer::ALL {
        let expression = bytes(&[7; 8], container);
        assert_eq!(parse(&expression.print()), Ok(expression));
    }
}

#[test]
fn errors_carry_a_stack_and_properties_when_there_are_any() {
    let error = |stack: Option<&str>, props| {
        Expression::Error(Box::new(ErrorExpression {
            name: "RangeError".to_owned(),
            message: "too far".to_owned(),
            stack: stack.map(str::to_owned),
            props,
        }))
    };
    let props = || object([("code", string("E7")), ("cause", Expression::Undefined)]);
    check(&[
        (r#"["error","RangeError","too far"]"#, error(None, None)),
        (
            r#"["error","RangeError","too far","at x"]"#,
            error(Some("at x"), None),
        ),
        (
            r#"["error","RangeError","too far",null,{"code":"E7","cause":["undefined"]}]"#,
            error(None, Some(props())),
        ),
        (
            r#"["error","RangeError","too far","at x",{}]"#,
            error(Some("at x"), Some(object([]))),
        ),
    ]);
}

#[test]
fn http_types_carry_raw_pairs_and_plain_json() {
    let headers = || vec![("accept".to_owned(), "*/*".to_owned())];
    let plain_list = Plain::Array(vec![Plain::Null, Plain::Bool(true), Plain::Number(1.5)]);
    check(&[
        (r#"["headers",[]]"#, Expression::Headers(vec![])),
        (
            r#"["headers",[["accept","*/*"]]]"#,
            Expression::Headers(headers()),
        ),
        (
            r#"["request","https://example.org/",{}]"#,
            Expression::Request(Box::new(RequestExpression {
                url: "https://example.org/".to_owned(),
                headers: vec![],
                body: None,
                init: object([]),
            })),
        ),
        (
            r#"["request","x:",{"method":"POST","cf":[null,true,1.5],"headers":[["accept","*/*"]],"body":["readable",3]}]"#,
            Expression::Request(Box::new(RequestExpression {
                url: "x:".to_owned(),
                headers: headers(),
                body: Some(Expression::Readable(3)),
                init: object([
                    ("method", Plain::String("POST".to_owned())),
                    ("cf", plain_list),
                ]),
            })),
        ),
        (
            r#"["response",["bytes","AQ"],{"status":404,"headers":[["accept","*/*"]]}]"#,
            Expression::Response(Box::new(ResponseExpression {
                body: bytes(&[1], ByteContainer::Uint8Array),
                headers: headers(),
                init: object([("status", Plain::Number(404.0))]),
            })),
        ),
        (
            r#"["blob","text/plain",["readable",4]]"#,
            Expression::Blob(Box::new(BlobExpression {
                mime: "text/plain".to_owned(),
                readable: 4,
            })),
        ),
    ]);
}

#[test]
fn capabilities_are_named_by_id() {
    let reference = |path, args| Box::new(Reference { id: -3, path, args });
    let name = |name: &str| PathPart::Name(name.to_owned());
    let path = || Some(vec![name("items"), PathPart::Number(1.0)]);
    check(&[
        (r#"["readable",1]"#, Expression::Readable(1)),
        (r#"["writable",-1]"#, Expression::Writable(-1)),
        (r#"["export",-2]"#, Expression::Export(-2)),
        (
            r#"["promise",-9007199254740991]"#,
            Expression::Promise(-9_007_199_254_740_991),
        ),
        (
            r#"["import",-3]"#,
            Expression::Import(reference(None, None)),
        ),
        (
            r#"["import",-3,["items",1]]"#,
            Expression::Import(reference(path(), None)),
        ),
        (
            r#"["pipeline",-3,[]]"#,
            Expression::Pipeline(reference(Some(vec![]), None)),
        ),
        (
            r#"["pipeline",-3,["items",1],[[[]],["undefined"]]]"#,
            Expression::Pipeline(reference(
                path(),
                Some(vec![Expression::Array(vec![]), Expression::Undefined]),
            )),
        ),
        (
            r#"["remap",0,["list"],[["import",1],["export",-4]],[["pipeline",-1,["f"],[["pipeline",0]]]]]"#,
            Expression::Remap(Box::new(Remap {
                id: 0,
                path: vec![name("list")],
                captures: vec![Capture::Import(1), Capture::Export(-4)],
                instructions: Arc::new([Expression::Pipeline(Box::new(Reference {
                    id: -1,
                    path: Some(vec![name("f")]),
                    args: Some(vec![Expression::Pipeline(Box::new(Reference {
                        id: 0,
                        path: None,
                        args: None,
                    }))]),
                }))]),
            })),
        ),
    ]);
}

#[test]
fn reads_every_way_of_writing_the_same() {
    check_read(&[
        (
            " \t\r\n[ [ 1 , { \"a\" : [ \"undefined\" ] } ] ] \n",
            r#"[[1,{"a":["undefined"]}]]"#,
        ),
        (r#""\u0041\/\u00e9\ud83e\udd80""#, r#""A/é🦀""#),
        ("-0", "0"),
        ("1E2", "100"),
        ("1.0", "1"),
        ("0.1e1", "1"),
        ("12345678901234567890123", "1.2345678901234568e+22"),
        ("1e999", r#"["inf"]"#),
        ("-1e999", r#"["-inf"]"#),
        ("1e-999", "0"),
        (r#"["export",2.0]"#, r#"["export",2]"#),
        (r#"["export",-1e2]"#, r#"["export",-100]"#),
        (r#"["date",1e999]"#, r#"["date",null]"#),
        // Of equal keys the last wins, at the place of the first.
        (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#),
    ]);
}

#[test]
fn replaces_lone_surrogates() {
    check_read(&[
        (r#""\ud800""#, "\"\u{FFFD}\""),
        (r#""\udc00x""#, "\"\u{FFFD}x\""),
        (r#""\ud800\n""#, "\"\u{FFFD}\\n\""),
        (r#""\ud800\ud83e\udd80""#, "\"\u{FFFD}🦀\""),
        (r#""\ud800A\ud800""#, "\"\u{FFFD}A\u{FFFD}\""),
        (r#"{"\udfff":1}"#, "{\"\u{FFFD}\":1}"),
    ]);
}

#[test]
fn reads_every_base64() {
    check_read(&[
        (r#"["bytes","AQ=="]"#, r#"["bytes","AQ"]"#),
        (r#"["bytes","AQ="]"#, r#"["bytes","AQ"]"#),
        (r#"["bytes","AQI="]"#, r#"["bytes","AQI"]"#),
        (r#"["bytes","-_-_"]"#, r#"["bytes","+/+/"]"#),
        (r#"["bytes","-/+_"]"#, r#"["bytes","+/+/"]"#),
        (r#"["bytes","\/\u002b8="]"#, r#"["bytes","/+8"]"#),
        // The bits that no byte uses are ignored.
        (r#"["bytes","AR"]"#, r#"["bytes","AQ"]"#),
        (r#"["bytes","AQ","Uint8Array"]"#, r#"["bytes","AQ"]"#),
    ]);
}

#[test]
fn reads_every_bigint_that_javascript_does() {
    check_read(&[
        (r#"["bigint",""]"#, r#"["bigint","0"]"#),
        (r#"["bigint"," 12\n"]"#, r#"["bigint","12"]"#),
        (r#"["bigint","-0"]"#, r#"["bigint","0"]"#),
        (r#"["bigint","+7"]"#, r#"["bigint","7"]"#),
        (r#"["bigint","007"]"#, r#"["bigint","7"]"#),
        (r#"["bigint","0x1F"]"#, r#"["bigint","31"]"#),
        (r#"["bigint","0O17"]"#, r#"["bigint","15"]"#),
        (r#"["bigint","0b101"]"#, r#"["bigint","5"]"#),
    ]);
    for text in [
        "-", "0x", "-0x10", "+-1", "1_000", "1.5", "1e3", "x", "0b2", "٣",
    ] {
        check_refused(&[(
            &format!(r#"["bigint","{text}"]"#),
            &format!("SyntaxError: Cannot convert {text} to a BigInt"),
        )]);
    }
}

#[test]
fn ignores_what_the_reference_ignores() {
    check_read(&[
        (r#"["inf",1,[]]"#, r#"["inf"]"#),
        (r#"["-inf",{"a":[2]}]"#, r#"["-inf"]"#),
        (r#"["nan",null]"#, r#"["nan"]"#),
        (r#"["bigint","1",2]"#, r#"["bigint","1"]"#),
        (r#"["date",1,2]"#, r#"["date",1]"#),
        (r#"["export",-1,[]]"#, r#"["export",-1]"#),
        (r#"["promise",-1,"x"]"#, r#"["promise",-1]"#),
        (r#"["readable",1,true]"#, r#"["readable",1]"#),
        (r#"["writable",-1,false]"#, r#"["writable",-1]"#),
        (
            r#"["bytes","AQ","DataView",3]"#,
            r#"["bytes","AQ","DataView"]"#,
        ),
        (
            r#"["error","E","m",{"not":"a stack"}]"#,
            r#"["error","E","m"]"#,
        ),
        (
            r#"["error","E","m",5,{"a":1},6]"#,
            r#"["error","E","m",null,{"a":1}]"#,
        ),
        (
            r#"["request","u",{"headers":null}]"#,
            r#"["request","u",{}]"#,
        ),
    ]);
}

#[test]
fn refuses_forms_it_does_not_know() {
    for text in [
        "[]",
        "[1,2]",
        "[null]",
        "[[1],2]",
        "[[],[]]",
        "[{}]",
        r#"["frobnicate"]"#,
        r#"["undefined",1]"#,
        r#"["bigint"]"#,
        r#"["bigint",1]"#,
        r#"["date"]"#,
        r#"["date","2020-01-01"]"#,
        r#"["bytes"]"#,
        r#"["bytes",1]"#,
        r#"["bytes","AQ",1]"#,
        r#"["bytes","AQ",null]"#,
        r#"["error"]"#,
        r#"["error","E"]"#,
        r#"["error","E",1]"#,
        r#"["error",1,"m"]"#,
        r#"["error","E","m",null,null]"#,
        r#"["error","E","m",null,[[]]]"#,
        r#"["regexp"]"#,
        r#"["regexp","a",1]"#,
        r#"["regexp","a","g",1]"#,
        r#"["url"]"#,
        r#"["url","a","b"]"#,
        r#"["headers"]"#,
        r#"["headers",{}]"#,
        r#"["headers",[["a"]]]"#,
        r#"["headers",[["a","b","c"]]]"#,
        r#"["headers",[["a",1]]]"#,
        r#"["headers",["a"]]"#,
        r#"["headers",[],1]"#,
        r#"["request","u"]"#,
        r#"["request",1,{}]"#,
        r#"["request","u",null]"#,
        r#"["request","u",{},1]"#,
        r#"["request","u",{"headers":{"a":"b"}}]"#,
        r#"["response"]"#,
        r#"["response",null]"#,
        r#"["response",null,[]]"#,
        r#"["response",null,{},1]"#,
        r#"["blob","t"]"#,
        r#"["blob",1,["readable",1]]"#,
        r#"["blob","t",["readable",1],1]"#,
        r#"["export"]"#,
        r#"["export","1"]"#,
        r#"["export",1.5]"#,
        r#"["export",9007199254740992]"#,
        r#"["promise",-1e300]"#,
        r#"["readable",1e999]"#,
        r#"["import"]"#,
        r#"["import",null]"#,
        r#"["import",1,null]"#,
        r#"["import",1,"x"]"#,
        r#"["import",1,[true]]"#,
        r#"["import",1,[["x"]]]"#,
        r#"["pipeline",1,[],null]"#,
        r#"["pipeline",1,[],[],1]"#,
        r#"["remap",1,[],[]]"#,
        r#"["remap",1,[],[],[],1]"#,
        r#"["remap",1,[],[],{}]"#,
        r#"["remap",1,{},[],[]]"#,
        r#"["remap","1",[],[],[]]"#,
    ] {
        check_refused(&[(text, &format!("TypeError: unknown special value: {text}"))]);
    }
}

#[test]
fn says_what_is_wrong_inside_a_form() {
    check_refused(&[
        (
            r#"["bytes","A"]"#,
            r#"TypeError: invalid base64: ["bytes","A"]"#,
        ),
        (
            r#"["bytes","A*=="]"#,
            r#"TypeError: invalid base64: ["bytes","A*=="]"#,
        ),
        (
            r#"["bytes","AQ","Uint7Array"]"#,
            "TypeError: Unknown bytes type marker: Uint7Array",
        ),
        (
            r#"["bytes","AQID","Int16Array"]"#,
            "TypeError: Invalid byte length 3 for Int16Array; expected a multiple of 2",
        ),
        (
            r#"["remap",0,[],[["promise",1]],[1]]"#,
            r#"TypeError: unknown map capture: ["promise",1]"#,
        ),
        (
            r#"["remap",0,[],[["import",1,2]],[1]]"#,
            r#"TypeError: unknown map capture: ["import",1,2]"#,
        ),
        (
            r#"["remap",0,[],[7],[1]]"#,
            "TypeError: unknown map capture: 7",
        ),
        (
            r#"["request","u",{"body":{}}]"#,
            "TypeError: Request body must be of type ReadableStream.",
        ),
        (
            r#"["request","u",{"signal":{}}]"#,
            "TypeError: Request signal must be of type AbortSignal.",
        ),
        (
            r#"["response",["bytes","AQ","DataView"],{}]"#,
            "TypeError: Response body must be of type ReadableStream.",
        ),
        (
            r#"["response",null,{"webSocket":1}]"#,
            "TypeError: Can't deserialize a Response containing a webSocket.",
        ),
        (
            r#"["blob","t",["bytes","AQ"]]"#,
            "TypeError: Blob content must be serialized as a ReadableStream.",
        ),
        // The innermost array is the one to blame.
        (
            r#"{"a":[[["x", 1 ] ]]}"#,
            r#"TypeError: unknown special value: ["x", 1 ]"#,
        ),
    ]);
}

#[test]
fn cuts_long_excerpts_between_characters() {
    let text = format!(r#"["wörld","{}"]"#, "é".repeat(200));
    let error = parse(&text).unwrap_err().to_string();
    let excerpt = error.strip_prefix("unknown special value: ").unwrap();
    assert_eq!(excerpt.chars().count(), 100);
    assert!(text.starts_with(excerpt));
}

#[test]
fn refuses_what_is_not_json_and_says_where() {
    let texts = [
        "",
        " ",
        "nul",
        "nulls",
        "True",
        "undefined",
        "NaN",
        "+1",
        "01",
        "-",
        "-01",
        "1.",
        ".5",
        "1.e1",
        "1e",
        "1e+",
        "0x10",
        "1 2",
        "'a'",
        "\"",
        "\"a",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12G4\"",
        "\"\\ud800\\u\"",
        "\"tab\tinside\"",
        "\"\0\"",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "]",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "[[1]]]",
        "[\"unknown\",",
        "[\"undefined\"",
        "[\"export\",-]",
        "/* */ 1",
        "\u{FEFF}1",
        "\u{A0}1",
        "1\0",
    ];
    let mut report = String::new();
    for text in texts {
        let error = parse(text).expect_err(text);
        assert_eq!(error.name(), "SyntaxError", "{text}");
        report += &format!("{text:?} {error}\n");
    }
    expect![[r#"
        "" invalid JSON at byte 0: unexpected end
        " " invalid JSON at byte 1: unexpected end
        "nul" invalid JSON at byte 0: expected a value
        "nulls" invalid JSON at byte 4: unexpected text after the value
        "True" invalid JSON at byte 0: expected a value
        "undefined" invalid JSON at byte 0: expected a value
        "NaN" invalid JSON at byte 0: expected a value
        "+1" invalid JSON at byte 0: expected a value
        "01" invalid JSON at byte 1: unexpected digit after 0
        "-" invalid JSON at byte 1: unexpected end
        "-01" invalid JSON at byte 2: unexpected digit after 0
        "1." invalid JSON at byte 2: unexpected end
        ".5" invalid JSON at byte 0: expected a value
        "1.e1" invalid JSON at byte 2: expected a digit
        "1e" invalid JSON at byte 2: unexpected end
        "1e+" invalid JSON at byte 3: unexpected end
        "0x10" invalid JSON at byte 1: unexpected text after the value
        "1 2" invalid JSON at byte 2: unexpected text after the value
        "'a'" invalid JSON at byte 0: expected a value
        "\"" invalid JSON at byte 1: unexpected end
        "\"a" invalid JSON at byte 2: unexpected end
        "\"\\" invalid JSON at byte 2: unexpected end
        "\"\\x\"" invalid JSON at byte 2: unknown escape
        "\"\\u12\"" invalid JSON at byte 5: expected four hex digits
        "\"\\u12G4\"" invalid JSON at byte 5: expected four hex digits
        "\"\\ud800\\u\"" invalid JSON at byte 9: expected four hex digits
        "\"tab\tinside\"" invalid JSON at byte 4: control character in a string
        "\"\0\"" invalid JSON at byte 1: control character in a string
        "[" invalid JSON at byte 1: unexpected end
        "[1" invalid JSON at byte 2: unexpected end
        "[1," invalid JSON at byte 3: unexpected end
        "[1,]" invalid JSON at byte 3: expected a value
        "[,1]" invalid JSON at byte 1: expected a value
        "[1 2]" invalid JSON at byte 3: expected `,` or `]`
        "]" invalid JSON at byte 0: expected a value
        "{" invalid JSON at byte 1: unexpected end
        "{\"a\"" invalid JSON at byte 4: unexpected end
        "{\"a\":" invalid JSON at byte 5: unexpected end
        "{\"a\":1" invalid JSON at byte 6: unexpected end
        "{\"a\":1,}" invalid JSON at byte 7: expected a string
        "{a:1}" invalid JSON at byte 1: expected a string
        "{1:1}" invalid JSON at byte 1: expected a string
        "{\"a\" 1}" invalid JSON at byte 5: expected `:`
        "[[1]]]" invalid JSON at byte 5: unexpected text after the value
        "[\"unknown\"," invalid JSON at byte 11: unexpected end
        "[\"undefined\"" invalid JSON at byte 12: unexpected end
        "[\"export\",-]" invalid JSON at byte 11: expected a value
        "/* */ 1" invalid JSON at byte 0: expected a value
        "\u{feff}1" invalid JSON at byte 0: expected a value
        "\u{a0}1" invalid JSON at byte 0: expected a value
        "1\0" invalid JSON at byte 1: unexpected text after the value
    "#]]
    .assert_eq(&report);
}

#[test]
fn nests_up_to_the_limit_and_no_deeper() {
    let limits = Limits {
        max_depth: 4,
        ..Limits::default()
    };
    for (open, leaf, close) in NESTINGS {
        let nested = |levels| format!("{}{leaf}{}", open.repeat(levels), close.repeat(levels));
        assert!(Expression::parse(&nested(3), &limits).is_ok(), "{open}");
        let error = Expression::parse(&nested(4), &limits).unwrap_err();
        assert_eq!(error, ParseError::TooDeep(4), "{open}");
        assert_eq!(error.name(), "TypeError");
    }
    let arrays = |levels| format!("{}1{}", "[[".repeat(levels), "]]".repeat(levels));
    assert!(parse(&arrays(255)).is_ok());
    expect!["Deserialization exceeded maximum allowed message depth of 256."]
        .assert_eq(&parse(&arrays(256)).unwrap_err().to_string());
}

/// Ways to nest by one level: what goes before, the innermost value, what goes behind.
const NESTINGS: [(&str, &str, &str); 6] = [
    ("[[", "1", "]]"),
    (r#"{"a":"#, "1", "}"),
    (r#"["pipeline",0,[],["#, "1", "]]"),
    (r#"["import",0,[],[0,"#, "1", "]]"),
    (r#"["remap",0,[],[],["#, "1", "]]"),
    (r#"["error","E","m",null,{"cause":"#, "1", "}]"),
];

#[test]
fn plain_json_counts_towards_the_depth() {
    let limits = Limits {
        max_depth: 3,
        ..Limits::default()
    };
    let request = |cf: &str| format!(r#"["request","u",{{"cf":{cf}}}]"#);
    assert!(Expression::parse(&request("[1]"), &limits).is_ok());
    let error = Expression::parse(&request("[[1]]"), &limits).unwrap_err();
    assert_eq!(error, ParseError::TooDeep(3));
}

#[test]
fn no_limit_lets_a_peer_exhaust_the_stack() {
    let limits = Limits {
        max_depth: usize::MAX,
        ..Limits::default()
    };
    for (open, leaf, close) in NESTINGS {
        let nested =
            |levels: usize| format!("{}{leaf}{}", open.repeat(levels), close.repeat(levels));
        let error = Expression::parse(&nested(5_000), &limits).unwrap_err();
        assert_eq!(error, ParseError::TooDeep(512), "{open}");
        // A message of this size may be refused for its weight before its depth is known.
        let error = Expression::parse(&nested(100_000), &limits).unwrap_err();
        let refused = matches!(error, ParseError::TooDeep(512) | ParseError::TooHeavy(_));
        assert!(refused, "{open}: {error:?}");
        let deepest = Expression::parse(&nested(511), &limits).unwrap();
        assert_eq!(deepest.clone().print(), nested(511));
    }
    // What is ignored may nest however deep.
    let ignored = format!(r#"["inf",{}{}]"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(parse(&ignored), Ok(Expression::Number(f64::INFINITY)));
}

#[test]
fn limits_the_length_of_bigints_and_texts() {
    let limits = Limits {
        max_bigint_digits: 4,
        max_message_bytes: 20,
        ..Limits::default()
    };
    assert!(Expression::parse(r#"["bigint","-123"]"#, &limits).is_ok());
    let long = Expression::parse(r#"["bigint","-1234"]"#, &limits).unwrap_err();
    expect!["Deserialized bigint exceeds maximum length of 4 digits."].assert_eq(&long.to_string());
    assert!(Expression::parse(r#""123456789012345678""#, &limits).is_ok());
    let large = Expression::parse(r#""1234567890123456789""#, &limits).unwrap_err();
    expect!["Incoming message exceeds maximum size of 20 bytes."].assert_eq(&large.to_string());
    assert_eq!((long.name(), large.name()), ("TypeError", "TypeError"));
}

#[test]
fn prints_once_what_means_the_same_to_every_peer() {
    let shared =
        parse(r#"{"a":[[["bytes","AQ"],["error","E","m",null,{"b":["undefined"]}]]]}"#).unwrap();
    let raw = Raw::print(&shared).unwrap();
    assert_eq!(raw.as_str(), shared.print());
    let around = Expression::Array(vec![Expression::Raw(raw.clone()), Expression::Null]);
    assert_eq!(around.print(), format!("[[{},null]]", raw.as_str()));
    assert!(Raw::print(&around).is_some());
}

#[test]
fn prints_nothing_once_that_holds_an_id() {
    for text in [
        r#"["export",-1]"#,
        r#"["promise",-1]"#,
        r#"["import",0]"#,
        r#"["pipeline",0,["a"],[]]"#,
        r#"["readable",1]"#,
        r#"["writable",-1]"#,
        r#"["blob","",["readable",1]]"#,
        r#"["remap",0,[],[],[1]]"#,
        r#"{"a":[[["export",-1]]]}"#,
        r#"["error","E","m",null,{"cause":["export",-1]}]"#,
        r#"["request","u",{"body":["readable",1]}]"#,
        r#"["response",["readable",1],{}]"#,
    ] {
        assert_eq!(Raw::print(&parse(text).unwrap()), None, "{text}");
    }
}

#[test]
fn knows_the_members_every_object_has() {
    assert!(is_prototype_member("constructor"));
    assert!(is_prototype_member("__proto__"));
    assert!(!is_prototype_member("toJSON"));
    assert!(!is_prototype_member("then"));
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_the_same(expression in expressions()) {
        let text = expression.print();
        assert_same(&parse(&text).unwrap(), &expression);
    }

    #[test]
    fn what_is_printed_once_reads_back_the_same(expression in expressions()) {
        if let Some(raw) = Raw::print(&expression) {
            assert_same(&parse(raw.as_str()).unwrap(), &expression);
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in text()) {
        let _ = parse(&text);
        let _ = Message::parse(&text, &Limits::default());
    }

    #[test]
    fn no_damage_to_a_message_makes_the_parser_panic(
        expression in expressions(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), scraps()), 1..4),
    ) {
        let mut text: Vec<char> = Message::Push(expression).print().chars().collect();
        for (place, (removed, added)) in damage {
            let at = place.index(text.len() + 1);
            let behind = text.len().min(at + removed);
            text.splice(at..behind, added.chars());
        }
        let text: String = text.into_iter().collect();
        // What is still a message must be the same message when it is printed and read again.
        if let Ok(message) = Message::parse(&text, &Limits::default()) {
            let again = Message::parse(&message.print(), &Limits::default()).unwrap();
            prop_assert_eq!(again.print(), message.print());
        }
    }
}

/// How much to cut out of a message, and what to put there.
fn scraps() -> impl Strategy<Value = (usize, String)> {
    let tokens = prop::sample::select(vec![
        "",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "\"",
        "\\",
        "\\ud800",
        "1e999",
        "-",
        "null",
        " ",
        "[[",
        "]]",
        "\"bytes\"",
        "\"error\"",
        "\"pipeline\"",
        "\"remap\"",
        "\"request\"",
        "0x",
        "é",
        "🦀",
    ]);
    (
        0_usize..6,
        prop_oneof![4 => tokens.prop_map(str::to_owned), 1 => text()],
    )
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<char>(), 0..40).prop_map(String::from_iter)
}

fn expressions() -> impl Strategy<Value = Expression> {
    leaves().prop_recursive(5, 60, 5, |inner| {
        let list = || prop::collection::vec(inner.clone(), 0..5);
        let members = || prop::collection::vec((text(), inner.clone()), 0..5);
        prop_oneof![
            list().prop_map(Expression::Array),
            members().prop_map(|it| Expression::Object(Box::new(it.into_iter().collect()))),
            (
                text(),
                text(),
                prop::option::of(text()),
                prop::option::of(members())
            )
                .prop_map(|(name, message, stack, props)| {
                    let props = props.map(|props| props.into_iter().collect());
                    Expression::Error(Box::new(ErrorExpression {
                        name,
                        message,
                        stack,
                        props,
                    }))
                }),
            (ids(), paths(), list()).prop_map(|(id, path, args)| {
                let reference = Reference {
                    id,
                    path: Some(path),
                    args: Some(args),
                };
                Expression::Pipeline(Box::new(reference))
            }),
            (
                ids(),
                paths(),
                prop::collection::vec(captures(), 0..3),
                list()
            )
                .prop_map(|(id, path, captures, instructions)| {
                    let instructions = instructions.into();
                    Expression::Remap(Box::new(Remap {
                        id,
                        path,
                        captures,
                        instructions,
                    }))
                }),
        ]
    })
}

fn leaves() -> impl Strategy<Value = Expression> {
    let container = prop::sample::select(ByteContainer::ALL.to_vec());
    let octets = || prop::collection::vec(any::<u8>(), 0..40);
    let pairs = || prop::collection::vec((text(), text()), 0..3);
    let init = || prop::collection::vec(("[a-g]{1,3}", plain()), 0..3);
    let body = prop_oneof![
        Just(Expression::Null),
        text().prop_map(Expression::String),
        octets().prop_map(|it| bytes(&it, ByteContainer::Uint8Array)),
        ids().prop_map(Expression::Readable),
    ];
    prop_oneof![
        Just(Expression::Null),
        Just(Expression::Undefined),
        any::<bool>().prop_map(Expression::Bool),
        numbers().prop_map(Expression::Number),
        any::<i32>().prop_map(|it| Expression::Number(it.into())),
        text().prop_map(Expression::String),
        "-?[1-9][0-9]{0,60}".prop_map(|digits| bigint(&digits)),
        prop::option::of(numbers())
            .prop_map(|time| Expression::Date(time.filter(|it| it.is_finite()))),
        (octets(), container).prop_map(|(mut octets, container)| {
            octets.truncate(octets.len() / container.element_size() * container.element_size());
            bytes(&octets, container)
        }),
        (text(), text()).prop_map(|(source, flags)| regexp(&source, &flags)),
        text().prop_map(|it| Expression::Url(format!("urn:{it}"))),
        pairs().prop_map(Expression::Headers),
        (text(), pairs(), prop::option::of(body.clone()), init()).prop_map(
            |(url, headers, body, init)| {
                let init = init.into_iter().collect();
                Expression::Request(Box::new(RequestExpression {
                    url,
                    headers,
                    body,
                    init,
                }))
            }
        ),
        (body, pairs(), init()).prop_map(|(body, headers, init)| {
            let init = init.into_iter().collect();
            Expression::Response(Box::new(ResponseExpression {
                body,
                headers,
                init,
            }))
        }),
        (text(), ids()).prop_map(|(mime, readable)| {
            Expression::Blob(Box::new(BlobExpression { mime, readable }))
        }),
        ids().prop_map(Expression::Readable),
        ids().prop_map(Expression::Writable),
        ids().prop_map(Expression::Export),
        ids().prop_map(Expression::Promise),
        (ids(), prop::option::of(paths())).prop_map(|(id, path)| {
            Expression::Import(Box::new(Reference {
                id,
                path,
                args: None,
            }))
        }),
    ]
}

fn plain() -> impl Strategy<Value = Plain> {
    let leaf = prop_oneof![
        Just(Plain::Null),
        any::<bool>().prop_map(Plain::Bool),
        numbers()
            .prop_filter("JSON has no NaN", |it| !it.is_nan())
            .prop_map(Plain::Number),
        text().prop_map(Plain::String),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Plain::Array),
            prop::collection::vec((text(), inner), 0..3)
                .prop_map(|it| Plain::Object(it.into_iter().collect())),
        ]
    })
}

fn paths() -> impl Strategy<Value = Vec<PathPart>> {
    let part = prop_oneof![
        text().prop_map(PathPart::Name),
        any::<u16>().prop_map(|index| PathPart::Number(index.into())),
    ];
    prop::collection::vec(part, 0..4)
}

fn captures() -> impl Strategy<Value = Capture> {
    prop_oneof![
        ids().prop_map(Capture::Import),
        ids().prop_map(Capture::Export)
    ]
}

fn ids() -> impl Strategy<Value = i64> {
    prop_oneof![-10_i64..10, -(1_i64 << 53) + 1..1 << 53]
}

/// Any double but minus zero, which loses its sign on the wire.
fn numbers() -> impl Strategy<Value = f64> {
    // Every NaN prints alike, but Debug shows its sign.
    prop::num::f64::ANY.prop_map(|it| if it.is_nan() { f64::NAN } else { it + 0.0 })
}

fn bytes(octets: &[u8], container: ByteContainer) -> Expression {
    Expression::Bytes(Bytes::copy_from_slice(octets), container)
}

fn bigint(digits: &str) -> Expression {
    Expression::BigInt(Box::new(digits.parse::<BigInt>().unwrap()))
}

fn regexp(source: &str, flags: &str) -> Expression {
    let (source, flags) = (source.to_owned(), flags.to_owned());
    Expression::RegExp(Box::new(RegExp { source, flags }))
}

#[test]
fn the_plain_part_of_a_string_ends_at_the_first_byte_that_must_be_escaped() {
    let is_special = |byte: u8| byte < 0x20 || matches!(byte, b'"' | b'\\');
    for length in 0..=80 {
        assert_eq!(plain_length(&vec![b'a'; length]), length);
        for place in 0..length {
            for byte in 0..=u8::MAX {
                // What follows the first one does not matter, whatever it is.
                let mut bytes = vec![b'\x7f'; length];
                bytes[place] = byte;
                bytes[place + 1..].fill(b'\n');
                let plain = place + usize::from(!is_special(byte));
                assert_eq!(plain_length(&bytes), plain, "{byte:#x} at {place}");
            }
        }
    }
}
