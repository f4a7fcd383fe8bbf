//! Long computations beside the work of the threads that serve.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::weight::LARGE;

/// How many computations run at once in the process. Further ones wait, which bounds the memory that all of them take
/// together.
const AT_ONCE: usize = 2;

static PLACES: Semaphore = Semaphore::const_new(AT_ONCE);

/// Does work whose duration grows with a text of so many bytes: at once for a text of up to [`LARGE`] bytes, else
/// after a wait for one of few places, and while another thread goes on with the other tasks of this one. Reading a
/// large message takes longer than other sessions of the thread should wait.
///
/// In a runtime of one thread there is no other that could go on.
pub async fn beside<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let _place = place(bytes).await;
    in_place(bytes, work)
}

/// As [`beside`] for a future that reads the text, such as the handler of a request whose body is there. The place is
/// for the first poll, which usually reads it; all polls run while another thread goes on with other tasks.
pub async fn poll_beside<F: Future>(bytes: usize, work: F) -> F::Output {
    let mut work = pin!(work);
    let mut place = place(bytes).await;
    std::future::poll_fn(move |context| match place.take() {
        Some(place) => {
            let polled: Poll<F::Output> = in_place(bytes, || work.as_mut().poll(context));
            drop(place);
            polled
        }
        None => in_place(bytes, || work.as_mut().poll(context)),
    })
    .await
}

async fn place(bytes: usize) -> Option<SemaphorePermit<'static>> {
    if bytes <= LARGE {
        return None;
    }
    let place = PLACES.acquire().await;
    Some(place.expect("the semaphore is never closed"))
}

fn in_place<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    if bytes > LARGE && matches!(flavor, Ok(RuntimeFlavor::MultiThread)) {
        tokio::task::block_in_place(work)
    } else {
        work()
    }
}
