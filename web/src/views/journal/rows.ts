/** Events as rows of a list, by request. */
import type { JournalRecord } from "../../api/types.ts";

/** A row of the list: the head of a request, or an event. */
export type Row = { head: Group } | { record: JournalRecord };

/** The events of a request, or those between requests. */
export interface Group {
  key: string;
  title: string;
  at: string;
  /** Whether it is about a request. */
  request: boolean;
  events: JournalRecord[];
}

/** The row of an event is made once. */
const made = new WeakMap<JournalRecord, Row>();
function rowOf(record: JournalRecord): Row {
  let row = made.get(record);
  if (!row) made.set(record, (row = { record }));
  return row;
}

/** Rows by request: the newest request first, and in it the oldest event first, as it happened. */
export function rowsOf(events: readonly JournalRecord[]): Row[] {
  const groups: Group[] = [];
  const byTurn = new Map<string, Group>();
  for (const it of events) {
    let group = it.turn === undefined ? undefined : byTurn.get(it.turn);
    if (it.turn === undefined) {
      const before = groups.at(-1);
      if (before && !before.request) group = before;
    }
    if (!group) {
      group = { key: it.turn ?? `between-${it.event}`, title: "", at: it.at, request: it.turn !== undefined, events: [] };
      groups.push(group);
      if (it.turn !== undefined) byTurn.set(it.turn, group);
    }
    group.events.push(it);
  }
  const rows: Row[] = [];
  for (const group of groups.toReversed()) {
    const heard = group.events.find((it) => it.kind === "heard");
    const asked = heard?.data?.["text"];
    group.title = typeof asked === "string" && asked !== "" ? asked : group.request ? (group.events[0]?.text ?? "") : "Between requests";
    rows.push({ head: group });
    for (const record of group.events) rows.push(rowOf(record));
  }
  return rows;
}
