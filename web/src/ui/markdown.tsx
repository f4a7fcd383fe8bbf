/** Markdown as a part; the parsing and cleaning is in html.ts. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { citeEvents, putMarkdown } from "../html.ts";

/** Shows Markdown. `growing` is for text that is being written: it is parsed at most once a frame, and plain when long. `cite` makes numbers in
 * brackets links to the events of the journal. */
export function Markdown({ text, growing = false, cite = false, class: more }: { text: string; growing?: boolean; cite?: boolean; class?: string }): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  const latest = useRef({ text, growing, frame: 0 });
  useLayoutEffect(() => {
    const state = latest.current;
    state.text = text;
    state.growing = growing;
    if (!growing) {
      cancelAnimationFrame(state.frame);
      state.frame = 0;
      putMarkdown(element.current!, text, false);
      if (cite) citeEvents(element.current!);
    } else if (state.frame === 0) {
      state.frame = requestAnimationFrame(() => {
        state.frame = 0;
        if (element.current) putMarkdown(element.current, state.text, state.growing);
      });
    }
  }, [text, growing]);
  useLayoutEffect(() => () => cancelAnimationFrame(latest.current.frame), []);
  return <div class={`prose ${more ?? ""}`} dir="auto" ref={element} />;
}
