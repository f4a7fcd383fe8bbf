// Every scenario by its name, in the order in which they run.
import * as card from "./card.mjs";
import * as errors from "./errors.mjs";
import * as listing from "./listing.mjs";
import * as messages from "./messages.mjs";
import * as parts from "./parts.mjs";
import * as push from "./push.mjs";
import * as streams from "./streams.mjs";
import * as tasks from "./tasks.mjs";

/** What a scenario module exports is a scenario; `sendTask` is `send-task`. */
export const SCENARIOS = new Map(
  [card, messages, parts, streams, tasks, listing, push, errors]
    .flatMap(Object.entries)
    .map(([name, scenario]) => [name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`), scenario]),
);
