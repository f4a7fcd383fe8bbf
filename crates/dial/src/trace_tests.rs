//! Texts that are a context, and texts that are not.

use super::TraceContext;

const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[test]
fn a_context_is_written_as_it_was_read() {
    let context = TraceContext::read(GOOD).unwrap();
    assert!(context.sampled);
    assert_eq!(context.to_string(), GOOD);
    let later = "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-more";
    assert!(!TraceContext::read(later).unwrap().sampled);
}

#[test]
fn a_malformed_context_is_ignored() {
    for wrong in [
        "",
        "00",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ] {
        assert_eq!(TraceContext::read(wrong), None, "{wrong:?}");
    }
}

#[cfg(feature = "trace")]
#[tokio::test]
async fn a_context_follows_its_future_and_ends_with_it() {
    let context = TraceContext::read(GOOD);
    let inner = super::within(context.map(super::Scope::from), async {
        tokio::task::yield_now().await;
        super::current()
    });
    assert_eq!(inner.await, context);
    assert_eq!(super::current(), None);
}

#[cfg(feature = "trace")]
mod spans {
    use std::sync::{Arc, Mutex};

    use super::super::*;

    #[derive(Debug, Default)]
    struct Kept(Mutex<Vec<EndedSpan>>);

    impl Recorder for Kept {
        fn record(&self, span: EndedSpan) {
            self.0.lock().unwrap().push(span);
        }
    }

    #[tokio::test]
    async fn a_span_is_below_the_one_whose_work_starts_it() {
        let kept = Arc::new(Kept::default());
        let tracer = Tracer::new(kept.clone());
        let caller = TraceContext::read("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        let mut request = Span::of_request(&tracer, caller, "call");
        request.set("wire", "rest");
        let inner = async {
            let mut span = Span::start(Kind::Client, "GET");
            span.fail(&"no route");
            span.within(async { current().unwrap().span }).await
        };
        let inner = request.within(inner).await;
        drop(request);
        assert_eq!(current(), None);
        let spans = kept.0.lock().unwrap();
        let [client, server] = &spans[..] else {
            panic!("{spans:?}")
        };
        assert_eq!(server.parent, caller.map(|it| it.span));
        assert_eq!(client.parent, Some(server.context.span));
        assert_eq!(client.context.span, inner);
        assert_eq!(client.context.trace, caller.unwrap().trace);
        assert_eq!(client.failure.as_deref(), Some("no route"));
        assert_eq!(server.attributes, [("wire", "rest".into())]);
    }

    #[tokio::test]
    async fn a_trace_that_its_caller_does_not_record_is_passed_on_alone() {
        let kept = Arc::new(Kept::default());
        let tracer = Tracer::new(kept.clone());
        let caller = TraceContext::read("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
        let request = Span::of_request(&tracer, caller, "call");
        assert!(!request.is_recorded());
        let seen = within(caller.map(Scope::from), async {
            drop(Span::start(Kind::Internal, "turn"));
            current()
        });
        assert_eq!(seen.await, caller);
        let first = Span::of_request(&tracer, None, "call");
        let second = Span::of_request(&tracer, None, "call");
        assert_ne!(
            first.scope().unwrap().context.trace,
            second.scope().unwrap().context.trace
        );
        assert!(kept.0.lock().unwrap().is_empty(), "they have not ended");
    }
}
