/**
 * Long lists of which only what is in sight is in the document.
 *
 * `VirtualList` is for rows of one height (journal, wire, tasks, memory). `VirtualLog` is for parts of different heights,
 * oldest first (the conversation): a part has an estimated height until it was seen, then its measured one; when a part
 * above the reader turns out higher or lower than thought, the scroll position moves with it, so that the line that is
 * being read stays where it is. Whether the log follows its end is a flag: the reader's wheel, keys, touch or scroll bar
 * upwards clear it, reaching the end sets it. It is never derived from distances while the content grows.
 */
import { Component, type ComponentChildren, type JSX, type RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Heights } from "./heights.ts";

interface ListProps<T> {
  items: readonly T[];
  rowHeight?: number;
  label: string;
  row: (item: T, at: number) => ComponentChildren;
  keyOf: (item: T, at: number) => string | number;
  /** The row to bring into sight, when it changes. */
  reveal?: number | undefined;
  /** Called when the last rows come into sight, to read more. */
  atEnd?: (() => void) | undefined;
  /** Stands above the rows and scrolls with them. */
  before?: ComponentChildren;
}

/** Rows of one height. The rows are the view's own elements; each is put into a box of the height. */
export function VirtualList<T>({ items, rowHeight = 30, label, row, keyOf, reveal, atEnd, before }: ListProps<T>): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState<[number, number]>([0, 40]);
  const look = () => {
    const element = box.current;
    if (!element) return;
    const top = element.scrollTop - (body.current?.offsetTop ?? 0);
    const from = Math.max(0, Math.floor(top / rowHeight) - 8);
    const to = Math.ceil((top + element.clientHeight) / rowHeight) + 8;
    setRange(([a, b]) => (a === from && b === to ? [a, b] : [from, to]));
    if (atEnd && to >= items.length) atEnd();
  };
  useLayoutEffect(look, [items.length, rowHeight]);
  useSize(box, look);
  useLayoutEffect(() => {
    const element = box.current;
    if (reveal === undefined || reveal < 0 || !element) return;
    const top = reveal * rowHeight + (body.current?.offsetTop ?? 0);
    if (top < element.scrollTop || top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = Math.max(0, top - element.clientHeight / 2);
  }, [reveal]);
  const to = Math.min(items.length, range[1]);
  const from = Math.min(range[0], to);
  return (
    <div class="body scroll" ref={box} onScroll={look} tabIndex={0} role="region" aria-label={label}>
      {before}
      <div class="vlist" ref={body} style={{ height: `${items.length * rowHeight}px` }}>
        {items.slice(from, to).map((item, at) => (
          <div key={keyOf(item, from + at)} class="vrow" style={{ top: `${(from + at) * rowHeight}px`, height: `${rowHeight}px` }}>{row(item, from + at)}</div>
        ))}
      </div>
    </div>
  );
}

/** What the log needs of a part: a name that stays, and a number that changes with its content. */
export interface LogItem {
  key: string;
  version: number;
}

/** How the owner of a log moves it. */
export interface LogHandle {
  /** Goes to the end and follows it. */
  toEnd(): void;
  /** Brings a part into sight, below the middle or at the top. */
  reveal(key: string, where?: "start"): void;
  /** The index of the part at the top of the window. */
  first(): number;
}

interface LogProps<T extends LogItem> {
  items: readonly T[];
  /** Changes whenever an item did. */
  version: number;
  label: string;
  render: (item: T) => ComponentChildren;
  estimate: (item: T) => number;
  /** Stands below the parts and grows: the answer that is being written. */
  tail?: ComponentChildren;
  handle?: { current: LogHandle | null };
  /** Told when the log begins or ends to follow. */
  onPinned?: (pinned: boolean) => void;
  class?: string;
}

/** Parts of different heights, followed at the end. */
export function VirtualLog<T extends LogItem>({ items, version, label, render, estimate, tail, handle, onPinned, class: more }: LogProps<T>): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const thread = useRef<HTMLDivElement>(null);
  const heights = useRef(new Heights());
  const pinned = useRef(true);
  const own = useRef(false);
  const [, draw] = useState(0);
  const range = useRef<[number, number]>([0, 0]);
  const drawn = useRef(0);
  const measured = useRef(new Map<string, number>());
  const elements = useRef(new Map<string, HTMLElement>());

  heights.current.resize(items.length, (at) => measured.current.get(items[at]!.key) ?? estimate(items[at]!));

  const setPinned = (on: boolean) => {
    if (pinned.current === on) return;
    pinned.current = on;
    onPinned?.(on);
  };
  const scrollTo = (top: number) => {
    const element = box.current;
    if (!element || Math.abs(element.scrollTop - top) < 1) return;
    own.current = true;
    element.scrollTop = top;
  };
  const place = (): [number, number] => {
    const element = box.current;
    if (!element) return [Math.max(0, items.length - 20), items.length];
    const offset = body.current?.offsetTop ?? 0;
    const top = element.scrollTop - offset;
    const from = heights.current.at(Math.max(0, top - 400));
    const to = Math.min(items.length, heights.current.at(top + element.clientHeight + 400) + 1);
    return [from, to];
  };
  /** Draws again; at most a few times before the next frame, so that heights that depend on each other cannot turn in circles. */
  const again = () => {
    if (drawn.current === 0) requestAnimationFrame(() => (drawn.current = 0));
    if (drawn.current++ < 6) draw((it) => it + 1);
  };
  const look = () => {
    const [from, to] = place();
    if (from !== range.current[0] || to !== range.current[1]) {
      range.current = [from, to];
      again();
    }
  };
  const onScroll = () => {
    const element = box.current;
    // A scroll event may come after the view has gone.
    if (!element) return;
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 2;
    if (atEnd) setPinned(true);
    own.current = false;
    look();
  };
  /** Measures what is in the document. Parts above the first line in sight move the scroll position with them. */
  const measure = () => {
    const element = box.current;
    if (!element || element.clientHeight === 0) return;
    const offset = body.current?.offsetTop ?? 0;
    const first = heights.current.at(Math.max(0, element.scrollTop - offset));
    let moved = 0;
    let changed = false;
    for (let at = range.current[0]; at < Math.min(range.current[1], items.length); at++) {
      const key = items[at]!.key;
      const height = elements.current.get(key)?.offsetHeight;
      if (height === undefined || height === heights.current.get(at)) continue;
      if (at < first) moved += height - heights.current.get(at);
      measured.current.set(key, height);
      heights.current.set(at, height);
      changed = true;
    }
    if (pinned.current) scrollTo(element.scrollHeight);
    else if (moved !== 0) scrollTo(element.scrollTop + moved);
    if (changed) again();
  };
  useLayoutEffect(() => {
    if (pinned.current && box.current) scrollTo(box.current.scrollHeight);
    look();
    measure();
  });
  useSize(box, () => { look(); measure(); });
  useSize(body, measure, elements);
  // The tail below the parts may grow by itself.
  useSize(thread, () => { if (pinned.current) scrollTo(box.current?.scrollHeight ?? 0); });

  if (handle) {
    handle.current = {
      toEnd: () => {
        setPinned(true);
        scrollTo(box.current?.scrollHeight ?? 0);
        look();
      },
      first: () => heights.current.at(Math.max(0, (box.current?.scrollTop ?? 0) - (body.current?.offsetTop ?? 0) + 12)),
      reveal: (key, where) => {
        const at = items.findIndex((it) => it.key === key);
        if (at < 0) return;
        setPinned(false);
        // Heights on the way are estimates, so the place is looked up again after what is there was measured.
        const go = () => scrollTo(heights.current.before(at) + (body.current?.offsetTop ?? 0) - (where === "start" ? 4 : (box.current?.clientHeight ?? 0) / 3));
        go();
        look();
        requestAnimationFrame(() => { go(); requestAnimationFrame(go); });
      },
    };
  }
  const leave = (e: WheelEvent) => { if (e.deltaY < 0) setPinned(false); };
  const keys = (e: KeyboardEvent) => { if (["ArrowUp", "PageUp", "Home"].includes(e.key)) setPinned(false); };
  const touched = useRef(0);

  range.current = place();
  const [from, to] = range.current;
  void version;
  return (
    <div
      class={`body scroll log ${more ?? ""}`} ref={box} role="log" aria-live="off" aria-label={label} tabIndex={0}
      onScroll={onScroll} onWheel={leave} onKeyDown={keys}
      onTouchStart={(e) => { touched.current = e.touches[0]?.clientY ?? 0; }}
      onTouchMove={(e) => { if ((e.touches[0]?.clientY ?? 0) > touched.current + 4) setPinned(false); }}
      onPointerDown={(e) => { if (e.target === box.current) setPinned(false); }}
    >
      <div class="thread" ref={thread}>
        <div class="vlog" ref={body} style={{ height: `${heights.current.total()}px` }}>
          {items.slice(from, to).map((item, at) => (
            <LogPart key={item.key} item={item} version={item.version} render={render} elements={elements.current} top={heights.current.before(from + at)} />
          ))}
        </div>
        {tail}
      </div>
    </div>
  );
}

interface PartProps<T extends LogItem> {
  item: T;
  version: number;
  render: (item: T) => ComponentChildren;
  elements: Map<string, HTMLElement>;
  top: number;
}

/** One part of a log; drawn again only when its version or its place changed. */
class LogPart<T extends LogItem> extends Component<PartProps<T>> {
  #element: HTMLDivElement | null = null;

  override shouldComponentUpdate(next: PartProps<T>): boolean {
    return next.item !== this.props.item || next.version !== this.props.version || next.top !== this.props.top;
  }

  override componentDidMount(): void {
    this.props.elements.set(this.props.item.key, this.#element!);
  }

  override componentWillUnmount(): void {
    this.props.elements.delete(this.props.item.key);
  }

  override render({ item, render, top }: PartProps<T>): JSX.Element {
    return <div class="vpart" ref={(it) => { this.#element = it; }} style={{ top: `${top}px` }} data-key={item.key}>{render(item)}</div>;
  }
}

/** Calls when an element, or one of its parts, changed its size. */
function useSize(box: RefObject<HTMLElement | null>, then: () => void, parts?: RefObject<Map<string, HTMLElement>>): void {
  const latest = useRef(then);
  latest.current = then;
  const observer = useRef<ResizeObserver | null>(null);
  const seen = useRef(new Set<HTMLElement>());
  useEffect(() => {
    observer.current = new ResizeObserver(() => latest.current());
    if (box.current) observer.current.observe(box.current);
    return () => {
      observer.current?.disconnect();
      observer.current = null;
      seen.current.clear();
    };
  }, []);
  useEffect(() => {
    if (!parts?.current || !observer.current) return;
    const now = new Set(parts.current.values());
    for (const element of now) if (!seen.current.has(element)) observer.current.observe(element);
    for (const element of seen.current) if (!now.has(element)) observer.current.unobserve(element);
    seen.current = now;
  });
}
