//! No space left: the error is `Full`, the data is undamaged, and truncation makes room.

use store::{Batch, Error, NewEvent, Store};

use crate::support::{NOTES, note, options, stream};

#[tokio::test]
async fn refuses_what_does_not_fit_and_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    options.max_bytes = Some(512 << 10);
    let store = Store::open(&options).unwrap();
    let fill = |number: u32| {
        let event = NewEvent::new(vec![number as u8; 5_000]);
        let name = format!("s{number}");
        let batch = Batch::new().append(&stream(&name), 0, vec![event]);
        store.commit(batch.put(&NOTES, note(&name, "ada", "new", number.into())))
    };
    let mut kept = 0;
    let refused = loop {
        match fill(kept).await {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, Error::Full), "{refused}");
    assert_eq!(
        refused.to_string(),
        "write: no space left on the disk or within the size limit"
    );
    assert!(kept > 20, "{kept}");
    let unwritable = store.check_writable().await;
    assert!(matches!(unwritable, Err(Error::Full)), "{unwritable:?}");

    // All earlier data can be read unchanged.
    let check = move |view: &dyn store::View| {
        for number in 0..kept {
            let name = format!("s{number}");
            let events = view.events(&stream(&name), 0, 9)?;
            assert_eq!(events[0].payload()[..], vec![number as u8; 5_000]);
            assert!(view.row(&NOTES, &name)?.is_some());
        }
        let refused = format!("s{kept}");
        assert_eq!(view.stream(&stream(&refused))?, None);
        assert_eq!(view.row(&NOTES, &refused)?, None);
        Ok(())
    };
    store.read(check).await.unwrap();

    // A truncation makes room also when it shares a group with batches that do not fit.
    let mut together: Vec<_> = (kept..kept + 8).map(fill).collect();
    let room = (0..20).fold(Batch::new(), |batch, number| {
        batch.forget(&stream(&format!("s{number}")))
    });
    let room = store.commit(room);
    together.extend((kept + 8..kept + 10).map(fill));
    room.await.unwrap();
    let mut fitted = 0;
    for commit in together {
        match commit.await {
            Ok(()) => fitted += 1,
            Err(Error::Full) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert!(fitted >= 2, "{fitted}");
    // What was dropped makes room for more: it is found out by trying.
    let more = (20..40).fold(Batch::new(), |batch, number| {
        batch.forget(&stream(&format!("s{number}")))
    });
    store.commit(more).await.unwrap();
    store.check_writable().await.unwrap();
    store.close().await;

    let store = Store::open(&options).unwrap();
    let last = stream(&format!("s{}", kept - 1));
    let state = store.read(move |view| view.stream(&last)).await.unwrap();
    assert_eq!(state.map(|state| state.last), Some(1));
}

#[tokio::test]
async fn what_was_dropped_is_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    options.max_bytes = Some(1 << 20);
    let store = Store::open(&options).unwrap();
    let s = stream("s");
    for round in 0..50 {
        let event = NewEvent::new(vec![0; 200_000]);
        let batch = Batch::new()
            .append(&s, round, vec![event])
            .truncate(&s, round);
        store.commit(batch).await.unwrap();
    }
}
