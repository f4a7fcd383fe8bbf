//! Reading pages: lists, text, pictures.

use std::time::Duration;

use browser::{Area, Condition, Extract, Format, Part, Shot, WaitUntil};

use crate::support::{number, open, run, site};

#[test]
fn the_elements_of_a_page_are_numbered_by_the_document_and_named_by_the_accessibility_tree() {
    run(async {
        let bed = open("list", "/small").await;
        let list = bed.list().await;
        let lines: Vec<String> = list.elements.iter().map(browser::Element::line).collect();
        assert_eq!(
            lines,
            [
                "[1] link \"ok\" -> /a",
                "[2] link \"go\" -> /b",
                "[3] checkbox \"Mail\"",
                "[4] combobox \"Colour\" = \"Blue\"",
                "[5] clickable \"Span\"",
                "[6] clickable \"Listener\"",
                "[7] button \"Off\" (disabled)",
            ]
        );
        let again = bed.list().await;
        assert_eq!(again.snapshot, list.snapshot + 1);
        assert_eq!(again.changes(1000), "", "nothing has changed");
        bed.end().await;
    });
}

#[test]
fn open_shadow_roots_and_frames_are_part_of_the_page() {
    run(async {
        let bed = open("shadow", "/shadow").await;
        bed.click("Deep button").await;
        assert_eq!(bed.text("#out").await, "deep pressed");
        let field = bed.number("Deep field").await;
        bed.turn
            .type_into(field, None, browser::Typed::Text("hello"), false, false)
            .await
            .unwrap();
        let list = bed.list().await;
        assert_eq!(list.find(field).unwrap().value.as_deref(), Some("hello"));

        bed.turn
            .navigate(&site().url("/frames"), WaitUntil::Load, None)
            .await
            .unwrap();
        let list = bed.list().await;
        let inside = list.find(number(&list, "Inside")).unwrap().clone();
        // Two margins of 8, that of the frame, its border.
        assert_eq!(inside.position.x, 8.0 + 40.0 + 3.0 + 8.0, "{inside:?}");
        assert!(inside.position.y > 100.0, "{inside:?}");
        assert_eq!(inside.frame, Some(site().url("/inner")));
        bed.click("Inside").await;
        assert_eq!(bed.text("#out").await, "from inner");
        bed.end().await;
    });
}

#[test]
fn a_page_of_2000_links_fits_into_16_kb_and_can_be_read_on() {
    run(async {
        let bed = open("links", "/links").await;
        let list = bed.list().await;
        assert_eq!(list.elements.len(), 2000);
        let text = list.text(None, 15 << 10);
        assert!(text.len() <= 16 << 10, "{}", text.len());
        assert!(
            text.starts_with("[1] link \"A link with the number 1\" -> /l/1\n"),
            "{text}"
        );
        let next = text
            .trim_end()
            .rsplit(' ')
            .next()
            .unwrap()
            .trim_end_matches(')')
            .parse()
            .unwrap();
        let on = list.text(Some(next), 15 << 10);
        assert!(
            on.contains(&format!(
                "\n[{next}] link \"A link with the number {next}\""
            )),
            "{on}"
        );
        assert!(on.len() <= 16 << 10);
        bed.end().await;
    });
}

#[test]
fn only_what_has_changed_is_told_on_request() {
    run(async {
        let bed = open("delta", "/spa").await;
        bed.list().await;
        bed.click("One").await;
        bed.turn
            .wait(
                &Condition::Text("View one".to_owned()),
                Duration::from_secs(5),
            )
            .await
            .unwrap();
        let list = bed.list().await;
        assert_eq!(list.changes(1000), "+ [3] button \"Act on one\"\n");
        assert!(list.url.ends_with("/spa/one"), "{}", list.url);
        bed.click("Two").await;
        bed.turn
            .wait(
                &Condition::Text("View two".to_owned()),
                Duration::from_secs(5),
            )
            .await
            .unwrap();
        assert_eq!(
            bed.list().await.changes(1000),
            "+ [4] button \"Act on two\"\n- 3\n"
        );
        assert!(bed.turn.go(-1).await.unwrap());
        assert!(bed.turn.url().await.unwrap().ends_with("/spa/one"));
        bed.end().await;
    });
}

#[test]
fn a_page_is_read_as_markdown_links_and_tables() {
    run(async {
        let bed = open("extract", "/article").await;
        let part = Part {
            from: 0,
            bytes: 10_000,
        };
        let read = bed.turn.extract(Extract::Text, None, part).await.unwrap();
        assert_eq!(read.title, "Article");
        for expected in [
            "# The heading",
            "**bold** words",
            "- one\n- two",
            "| Thing | Price |\n| --- | --- |\n| Tea | 4 |",
            "```\nlet x = 1;\n```",
        ] {
            assert!(
                read.text.contains(expected),
                "{expected} in:\n{}",
                read.text
            );
        }
        assert!(
            read.text
                .contains(&format!("[link]({})", site().url("/login"))),
            "{}",
            read.text
        );
        for unwanted in ["Not shown", "ignored", "Home"] {
            assert!(
                !read.text.contains(unwanted),
                "{unwanted} in:\n{}",
                read.text
            );
        }
        let links = bed.turn.extract(Extract::Links, None, part).await.unwrap();
        assert_eq!(
            links.text,
            format!(
                "- [Home]({})\n- [link]({})\n",
                site().url("/"),
                site().url("/login")
            )
        );
        let tables = bed.turn.extract(Extract::Tables, None, part).await.unwrap();
        assert_eq!(
            tables.text,
            "Prices\n\n| Thing | Price |\n| --- | --- |\n| Tea | 4 |\n\n"
        );
        let small = Part { from: 0, bytes: 20 };
        let begin = bed.turn.extract(Extract::Text, None, small).await.unwrap();
        assert!(begin.cut && begin.text.len() <= 20);
        let error = bed
            .turn
            .extract(Extract::Text, Some("p["), part)
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "read the page: \"p[\" is no CSS selector"
        );
        bed.end().await;
    });
}

#[test]
fn pictures_show_the_view_the_page_or_an_element_with_the_numbers_of_the_list() {
    run(async {
        let bed = open("picture", "/tall").await;
        let shot = |area, format| Shot {
            area,
            format,
            ..Shot::default()
        };
        let view = bed
            .turn
            .screenshot(shot(Area::View, Format::Png))
            .await
            .unwrap();
        assert_eq!(
            (&view.bytes[1..4], size(&view.bytes)),
            (&b"PNG"[..], (1280, 800))
        );
        let whole = bed
            .turn
            .screenshot(shot(Area::FullPage, Format::Png))
            .await
            .unwrap();
        assert!(size(&whole.bytes).1 > 3000, "{:?}", size(&whole.bytes));
        let jpeg = bed
            .turn
            .screenshot(shot(Area::View, Format::Jpeg))
            .await
            .unwrap();
        assert_eq!(jpeg.bytes[..3], [0xff, 0xd8, 0xff]);
        let webp = bed
            .turn
            .screenshot(shot(Area::View, Format::Webp))
            .await
            .unwrap();
        assert_eq!(webp.bytes[8..12], *b"WEBP");
        let marked = Shot {
            marks: true,
            ..Shot::default()
        };
        let marked = bed.turn.screenshot(marked).await.unwrap();
        assert_ne!(marked.bytes, view.bytes, "numbers are drawn");
        let list = marked.list.unwrap();
        let bottom = number(&list, "Bottom");
        let plain = bed
            .turn
            .screenshot(shot(Area::View, Format::Png))
            .await
            .unwrap();
        assert_eq!(plain.bytes, view.bytes, "the numbers are removed");
        let element = bed
            .turn
            .screenshot(shot(Area::Element(bottom), Format::Png))
            .await
            .unwrap();
        let (width, height) = size(&element.bytes);
        assert!(
            (30..120).contains(&width) && (15..40).contains(&height),
            "{width}x{height}"
        );
        let pdf = bed.turn.pdf(false).await.unwrap();
        assert_eq!(pdf[..5], *b"%PDF-");
        bed.end().await;
    });
}

/// Width and height of a PNG file.
fn size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn each_stage_of_a_slow_page_can_be_waited_for() {
    run(async {
        let bed = open("slow", "/").await;
        // The picture and the last request of the page get no answer until the site is told to give it.
        bed.turn
            .navigate(&site().url("/slow"), WaitUntil::DomContentLoaded, None)
            .await
            .unwrap();
        assert_eq!(bed.turn.title().await.unwrap(), "Slow");
        let late = bed
            .turn
            .navigate(
                &site().url("/slow?2"),
                WaitUntil::Load,
                Some(Duration::from_millis(500)),
            )
            .await;
        assert_eq!(late.unwrap_err().code(), "timed-out");
        let url = site().url("/slow?3");
        let idle = bed.turn.navigate(&url, WaitUntil::NetworkIdle, None);
        let answer = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            site().answer_all();
        };
        let (idle, ()) = tokio::join!(idle, answer);
        idle.unwrap();
        assert_eq!(bed.turn.title().await.unwrap(), "Late");
        bed.end().await;
    });
}

#[test]
fn an_endless_list_grows_when_it_is_scrolled() {
    run(async {
        let bed = open("endless", "/endless").await;
        assert_eq!(bed.list().await.elements.len(), 30);
        for _ in 0..3 {
            bed.turn.scroll(Some("bottom"), 1.0).await.unwrap();
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
        let list = bed.list().await;
        assert!(list.elements.len() >= 90, "{}", list.elements.len());
        let last = number(&list, "Item 90");
        bed.turn.scroll_to(last, Some(list.snapshot)).await.unwrap();
        let place = bed.list().await.find(last).unwrap().position;
        assert!(place.y >= 0.0 && place.y < 800.0, "{place:?}");
        bed.end().await;
    });
}
