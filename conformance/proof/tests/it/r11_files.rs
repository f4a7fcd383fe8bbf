//! r11: files go both ways, by their bytes and by their address.

use a2a::types::{Content, Part};
use proof::{Wire, World};

use crate::support::{script, task};

on_every_binding!(files_go_both_ways);

async fn files_go_both_ways(wire: Wire) {
    let world = World::start().await;
    let client = world.client(wire);
    // More than one frame of any wire, and every byte there is.
    let bytes: Vec<u8> = (0..300_000_u32).map(|at| (at % 256) as u8).collect();
    let by_bytes = Part {
        filename: "all.bin".to_owned(),
        media_type: "application/octet-stream".to_owned(),
        ..Part::raw(bytes)
    };
    let by_address = Part {
        filename: "picture.png".to_owned(),
        media_type: "image/png".to_owned(),
        ..Part::url("https://example.com/picture.png?size=3&of=a%20b")
    };
    let mut request = script("echo, file, link, done");
    let message = request.message.as_mut().unwrap();
    message.parts.extend([by_bytes.clone(), by_address.clone()]);
    let done = task(&client, request).await;
    let [echo, file, link] = &done.artifacts[..] else {
        panic!("{wire}: {:?}", done.artifacts);
    };
    assert!(echo.parts == [by_bytes, by_address], "{wire}");
    let expected = Content::Raw((0..=255).collect::<Vec<u8>>().into());
    assert_eq!(file.parts[0].content, expected, "{wire}");
    assert_eq!(file.parts[0].filename, "all.bin", "{wire}");
    let expected = Content::Url("https://example.com/picture.png".to_owned());
    assert_eq!(link.parts[0].content, expected, "{wire}");
    assert_eq!(link.parts[0].media_type, "image/png", "{wire}");
}
