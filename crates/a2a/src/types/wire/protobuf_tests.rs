//! Numbers, blocks and groups, whole and damaged.

use bytes::Bytes;

use super::*;

fn number(bytes: &[u8]) -> Result<u64, String> {
    let bytes = Bytes::copy_from_slice(bytes);
    let number = Reader::new(&bytes).varint(Wire::Varint);
    number.map_err(|error| error.reason)
}

#[test]
fn numbers_come_back_and_take_the_size_that_is_announced() {
    let powers = (0..64).map(|power| 1u64 << power);
    let around = powers.flat_map(|power| [power - 1, power, power + 1]);
    for value in around.chain([u64::MAX]) {
        let mut out = Vec::new();
        put_number(value, &mut out);
        assert_eq!(out.len(), number_size(value), "{value}");
        assert_eq!(number(&out), Ok(value));
    }
}

#[test]
fn numbers_that_are_cut_or_too_long_are_refused() {
    let cut = Err("the bytes end too early".to_owned());
    assert_eq!(number(&[]), cut);
    assert_eq!(number(&[0x80]), cut);
    assert_eq!(number(&[0xff; 9]), cut);
    let long = Err("not protobuf: a number of more than 64 bits".to_owned());
    assert_eq!(number(&[0xff; 10]), long);
    assert_eq!(number(&[0xff; 11]), long);
    let mut two_bits_too_many = [0xff; 10];
    two_bits_too_many[9] = 0x02;
    assert_eq!(number(&two_bits_too_many), long);
    // Longer than it need be, but a number.
    assert_eq!(number(&[0x81, 0x80, 0x00]), Ok(1));
}

/// Skips all members, and returns what is wrong.
fn skip_all(bytes: &[u8]) -> Result<(), String> {
    let bytes = Bytes::copy_from_slice(bytes);
    let mut reader = Reader::new(&bytes);
    let skip = |reader: &mut Reader<'_>| {
        while let Some((tag, wire)) = reader.member()? {
            reader.skip(tag, wire)?;
        }
        Ok(())
    };
    skip(&mut reader).map_err(|error: Fault| error.reason)
}

#[test]
fn members_of_every_kind_can_be_passed_over() {
    let varint = [0x08, 0x96, 0x01];
    let fixed64 = [0x11, 1, 2, 3, 4, 5, 6, 7, 8];
    let block = [0x1a, 0x02, 0xff, 0xff];
    let fixed32 = [0x25, 1, 2, 3, 4];
    // A group in a group, with a member.
    let group = [0x2b, 0x33, 0x08, 0x01, 0x34, 0x2c];
    let all = [&varint[..], &fixed64, &block, &fixed32, &group].concat();
    assert_eq!(skip_all(&all), Ok(()));
    let cut = "the bytes end too early";
    for member in [&varint[..], &fixed64, &block, &fixed32, &group] {
        for end in 1..member.len() {
            assert_eq!(skip_all(&member[..end]), Err(cut.to_owned()), "{member:?}");
        }
    }
}

#[test]
fn what_is_not_protobuf_is_refused() {
    let reason = |bytes: &[u8]| skip_all(bytes).unwrap_err();
    assert_eq!(reason(&[0x0e]), "not protobuf: unknown wire type");
    assert_eq!(reason(&[0x0f]), "not protobuf: unknown wire type");
    assert_eq!(reason(&[0x00, 0x00]), "not protobuf: tag out of range");
    let beyond = [0x80, 0x80, 0x80, 0x80, 0x10, 0x00];
    assert_eq!(reason(&beyond), "not protobuf: tag out of range");
    let not_open = "not protobuf: a group ends that is not open";
    assert_eq!(reason(&[0x0c]), not_open);
    assert_eq!(reason(&[0x0b, 0x14]), not_open, "another group's end");
    // A length that no memory has.
    let huge = [
        0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
    ];
    assert_eq!(reason(&huge), "the bytes end too early");
}

#[test]
fn messages_and_groups_lie_inside_each_other_up_to_a_limit() {
    let depth = DEPTH as usize;
    let groups = |count: usize| [vec![0x0b; count], vec![0x0c; count]].concat();
    assert_eq!(skip_all(&groups(depth)), Ok(()));
    assert!(
        skip_all(&groups(depth + 1))
            .unwrap_err()
            .contains("inside each other")
    );

    let nested = |count: usize| {
        (0..count).fold(Vec::new(), |inside, _| {
            let mut out = Vec::new();
            put_block(1, inside.len(), &mut out);
            out.extend(inside);
            out
        })
    };
    fn enter(mut reader: Reader<'_>) -> Result<(), Fault> {
        match reader.member()? {
            Some((_, wire)) => enter(reader.message(wire)?),
            None => Ok(()),
        }
    }
    assert_eq!(enter(Reader::new(&nested(depth).into())), Ok(()));
    assert!(enter(Reader::new(&nested(depth + 1).into())).is_err());
}

#[test]
fn bytes_share_the_memory_they_came_in() {
    let source = Bytes::from_static(&[0x0a, 0x03, 1, 2, 3]);
    let mut reader = Reader::new(&source);
    let (_, wire) = reader.member().unwrap().unwrap();
    let bytes = reader.bytes(wire).unwrap();
    assert_eq!(bytes, [1, 2, 3][..]);
    assert_eq!(bytes.as_ptr(), source[2..].as_ptr());
}
