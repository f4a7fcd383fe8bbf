//! One text in each language that has a grammar.

use code::{Language, Limits, outline};
use expect_test::{Expect, expect};

use super::{outline_of, shown};

fn check(path: &str, text: &str, expected: &Expect) {
    expected.assert_eq(&shown(&outline_of(path, text)));
}

#[test]
fn rust() {
    let text = "\
use std::{fs, io};
mod inner { pub const LIMIT: u32 = 1; }
struct Store { at: u32 }
impl Store {
    fn open(path: &str) -> io::Result<Self> {
        let text = fs::read_to_string(path)?;
        parse::<u32>(&text);
        log!(\"open\");
        Ok(Self { at: 0 })
    }
}
trait Parse { fn parse(&self); }
enum Kind { One }
fn main() {
    Store::open(\"a\").unwrap();
}
";
    check(
        "src/main.rs",
        text,
        &expect![[r#"
        rust:
        2-2 module inner
        2-2 constant LIMIT in inner
        3-3 struct Store
        5-10 method open in Store
        12-12 trait Parse
        12-12 method parse in Parse
        13-13 enum Kind
        14-16 function main
        imports std::{fs, io}
        open calls read_to_string
        open calls parse
        open calls log
        open calls Ok
        main calls unwrap
        main calls open
    "#]],
    );
}

#[test]
fn python() {
    let text = "\
import os, numpy as np
from pathlib import Path

class Loader(Base):
    def load(self, path):
        return parse(Path(path).read_text())

def main():
    Loader().load(os.environ['HOME'])

main()
";
    check(
        "tool.py",
        text,
        &expect![[r#"
        python:
        4-6 class Loader
        5-6 method load in Loader
        8-9 function main
        imports os
        imports numpy
        imports pathlib
        load calls parse
        load calls read_text
        load calls Path
        main calls load
        main calls Loader
        (file) calls main
    "#]],
    );
}

#[test]
fn typescript() {
    let text = "\
import { readFile } from 'node:fs/promises';
export interface Row { id: string; size(): number }
export type Rows = Row[];
export enum Level { Low }
export const LIMIT = 10;
export const load = async (path: string): Promise<Rows> => parse(await readFile(path));
export class Table<T> extends Base {
    constructor() { super(); }
    rows(): T[] { return load('a').map((it) => it.id); }
}
function parse(text: Buffer): Rows { return JSON.parse(text.toString()) as Rows; }
new Table();
";
    check(
        "src/table.ts",
        text,
        &expect![[r#"
        typescript:
        2-2 interface Row
        2-2 method size in Row
        3-3 type Rows
        4-4 enum Level
        5-5 constant LIMIT
        6-6 function load
        7-10 class Table
        8-8 method constructor in Table
        9-9 method rows in Table
        11-11 function parse
        imports node:fs/promises
        load calls parse
        load calls readFile
        rows calls map
        rows calls load
        parse calls parse
        parse calls toString
        (file) calls Table
    "#]],
    );
}

#[test]
fn javascript_with_elements() {
    let text = "\
const fs = require('fs');
function* numbers() { yield 1; }
class View { render() { return <div onClick={() => this.go()}>{numbers()}</div>; } }
module.exports = { View };
";
    check(
        "view.jsx",
        text,
        &expect![[r#"
        javascript:
        1-1 constant fs
        2-2 function numbers
        3-3 class View
        3-3 method render in View
        imports fs
        (file) calls require
        render calls go
        render calls numbers
    "#]],
    );
}

#[test]
fn go() {
    let text = "\
package main

import (
\t\"fmt\"
\tlog \"log/slog\"
)

const Limit = 10

type Store struct{ at int }
type Reader interface{ Read() }

func (s *Store) Open(path string) error {
\tlog.Info(\"open\")
\treturn parse(path)
}

func parse(path string) error { return fmt.Errorf(\"no\") }
";
    check(
        "main.go",
        text,
        &expect![[r#"
        go:
        8-8 constant Limit
        10-10 struct Store
        11-11 interface Reader
        13-16 method Open
        18-18 function parse
        imports fmt
        imports log/slog
        Open calls Info
        Open calls parse
        parse calls Errorf
    "#]],
    );
}

#[test]
fn a_text_with_errors_gives_what_can_be_read_of_it() {
    let text = "fn whole() {}\nfn half( {\n}}}\nstruct After;\n";
    let names =
        |it: code::Outline| -> Vec<String> { it.symbols.into_iter().map(|it| it.name).collect() };
    let found = names(outline_of("a.rs", text));
    assert!(found.contains(&"whole".to_owned()), "{found:?}");
}

#[test]
fn bounds_are_kept_and_told() {
    let text: String = (0..50)
        .map(|it| format!("fn f{it}() {{ g{it}(); }}\n"))
        .collect();
    let mut limits = Limits::default();
    limits.symbols = 10;
    limits.calls = 5;
    let found = outline(Language::Rust, &text, &limits);
    assert_eq!((found.symbols.len(), found.calls.len()), (10, 5));
    assert!(found.incomplete);
    limits.bytes = 10;
    let found = outline(Language::Rust, &text, &limits);
    assert!(found.symbols.is_empty() && found.incomplete);
}

#[test]
fn a_text_that_is_nested_very_deeply_is_read_within_the_time() {
    for (path, text) in [
        ("a.rs", format!("fn f() {{ {} }}", "(".repeat(100_000))),
        ("a.py", format!("x = {}", "[".repeat(100_000))),
        ("a.ts", format!("f({}", "a(".repeat(100_000))),
        (
            "a.go",
            format!("package a\nfunc f() {{ {} }}", "{".repeat(100_000)),
        ),
    ] {
        let found = outline_of(path, &text);
        assert!(found.symbols.len() < 10, "{path}");
    }
}
