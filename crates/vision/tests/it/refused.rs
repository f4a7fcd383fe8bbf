//! Pictures that are refused: by their bytes, their format, their size, or their content.

use vision::{Limits, Picture, Vision};

/// A PNG of one colour, with a filled rectangle in another.
pub(crate) fn png(width: u32, height: u32, place: (u32, u32, u32, u32)) -> Vec<u8> {
    let (left, top, right, bottom) = place;
    let inside = |x: u32, y: u32| (left..right).contains(&x) && (top..bottom).contains(&y);
    let color = |x, y| {
        if inside(x, y) {
            [37, 99, 235]
        } else {
            [255, 255, 255]
        }
    };
    let pixels = (0..height).flat_map(|y| (0..width).flat_map(move |x| color(x, y)));
    let pixels: Vec<u8> = pixels.collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&pixels).unwrap();
    drop(writer);
    bytes
}

/// The signature and the header of a PNG, and no pixels.
fn header(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    drop(encoder.write_header().unwrap());
    bytes
}

fn refusal(bytes: &[u8]) -> String {
    let limits = Limits {
        bytes: 1 << 20,
        ..Limits::default()
    };
    Picture::decode(bytes, &limits).unwrap_err().to_string()
}

#[test]
fn names_the_format_that_it_does_not_read() {
    assert_eq!(refusal(b""), "it is empty; send a PNG, JPEG or WebP file");
    assert_eq!(
        refusal(b"GIF89a..."),
        "its format is gif; send PNG, JPEG or WebP"
    );
    assert_eq!(
        refusal(b"%PDF-1.7"),
        "its format is pdf; send PNG, JPEG or WebP"
    );
    assert_eq!(
        refusal(b"hello"),
        "its format is unknown; send PNG, JPEG or WebP"
    );
}

#[test]
fn refuses_a_file_that_is_too_long() {
    let refusal = refusal(&vec![0; (1 << 20) + 1]);
    assert!(
        refusal.starts_with("it has 1048577 bytes, more than the limit of 1048576"),
        "{refusal}"
    );
}

#[test]
fn refuses_a_bomb_by_its_header() {
    let refused = refusal(&header(60_000, 60_000));
    assert!(
        refused.starts_with("it is 60000 x 60000; the limit is 16000000 pixels"),
        "{refused}"
    );
    let refused = refusal(&header(20_000, 1));
    assert!(refused.starts_with("it is 20000 x 1;"), "{refused}");
    // A JPEG and a WebP that say of themselves that they are of the largest size.
    let jpeg = [
        &[0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, 0xff, 0xff, 0xff, 0xff, 3][..],
        &[1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0],
    ]
    .concat();
    let refused = refusal(&jpeg);
    assert!(
        refused.contains("65535 x 65535") || refused.contains("corrupt"),
        "{refused}"
    );
    let webp = [
        &b"RIFF\x12\0\0\0WEBPVP8L\x06\0\0\0\x2f"[..],
        &[0xff, 0xff, 0xff, 0x0f, 0],
    ]
    .concat();
    let refused = refusal(&webp);
    assert!(
        refused.contains("16384 x 16384") || refused.contains("corrupt"),
        "{refused}"
    );
}

#[test]
fn refuses_corrupt_data() {
    let whole = png(64, 48, (0, 0, 1, 1));
    for end in [8, 20, 40, whole.len() - 20] {
        let refused = refusal(&whole[..end]);
        assert!(
            refused.starts_with("its data are corrupt: "),
            "{end}: {refused}"
        );
    }
    let mut broken = whole.clone();
    for byte in &mut broken[45..60] {
        *byte ^= 0xff;
    }
    assert!(refusal(&broken).starts_with("its data are corrupt: "));
    assert!(Picture::decode(&whole, &Limits::default()).is_ok());
}

#[test]
fn any_bytes_are_a_picture_or_a_refusal() {
    let whole = png(40, 30, (5, 5, 20, 20));
    let strategy = proptest::collection::vec((0..whole.len(), proptest::num::u8::ANY), 0..6);
    proptest::proptest!(proptest::prelude::ProptestConfig::with_cases(200), |(changes in strategy)| {
        let mut bytes = whole.clone();
        for (at, value) in changes {
            bytes[at] = value;
        }
        if let Ok(picture) = Picture::decode(&bytes, &Limits::default()) {
            let vision = Vision::without_text(Limits::default());
            vision.elements(&picture).unwrap();
        }
    });
}

#[test]
fn stops_at_the_limit_of_time() {
    let limits = Limits {
        time: std::time::Duration::ZERO,
        ..Limits::default()
    };
    let picture = Picture::decode(&png(200, 100, (20, 20, 120, 60)), &limits).unwrap();
    let refused = Vision::without_text(limits).elements(&picture).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "it took longer than 0ns; send a part of it, or a smaller one"
    );
}

#[test]
fn tells_the_regions_that_changed() {
    let limits = Limits::default();
    let picture = |place| Picture::decode(&png(200, 120, place), &limits).unwrap();
    let vision = Vision::without_text(limits);
    let (before, after) = (picture((16, 16, 48, 32)), picture((120, 64, 160, 96)));
    assert_eq!(vision.compare(&before, &before).unwrap(), []);
    let changes = vision.compare(&before, &after).unwrap();
    let places: Vec<_> = changes
        .iter()
        .map(|it| {
            let place = it.position;
            (place.x, place.y, place.width, place.height, it.amount)
        })
        .collect();
    assert_eq!(places, [(16, 16, 32, 16, 1.0), (120, 64, 40, 32, 1.0)]);
    let other = Picture::decode(&png(100, 120, (0, 0, 1, 1)), &limits).unwrap();
    let refused = vision.compare(&before, &other).unwrap_err().to_string();
    assert!(
        refused.contains("(100, 120)") && refused.contains("(200, 120)"),
        "{refused}"
    );
}
