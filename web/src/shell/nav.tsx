/** The navigation: the agent, the places, the conversations; on phones a bar at the foot. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { agentName, agentStatus, isDark, onlySession, prefer, waiting } from "../state/app.ts";
import { address, go, route } from "../state/route.ts";
import { lastSession, sessions, sessionsKnown } from "../state/sessions.ts";
import { shortTime, spelled } from "../text.ts";
import { Icon, type Mood, Sign } from "../ui/icons.tsx";
import { Dialog, IconButton, Text, When } from "../ui/parts.tsx";
import { openKeys } from "./keys.tsx";
import { openPalette } from "./palette.tsx";
import { offeredPlaces, type Place, placeOf } from "./places.ts";

/** What the agent does, in words and as the mood of its sign. */
export function moodOf(state: string | undefined, paused: boolean | undefined, asks: number): [Mood, string] {
  if (asks > 0) return ["need", "waits for you"];
  if (paused) return ["calm", "paused"];
  if (state === "thinking") return ["think", "thinks"];
  if (state === "executing") return ["act", "works"];
  if (state === "awaiting_approval") return ["need", "waits for you"];
  if (state === "error") return ["bad", "has a fault"];
  return ["calm", "idle"];
}

/** Where a place leads: the chat leads back to the conversation that was open last. */
function leads(place: Place): string {
  const last = lastSession.value;
  return place.name === "chat" && last && route.value.place !== "chat" ? address("chat", last.id, { agent: last.agent }) : address(place.name);
}

function PlaceLink({ place }: { place: Place }): JSX.Element {
  const number = place.name === "questions" ? waiting.value.length : 0;
  const here = route.value.place === place.name;
  return (
    <a class="go" href={leads(place)} title={place.label} aria-current={here ? "page" : undefined}>
      <Icon name={place.icon} />
      <span class="lbl">{place.label}</span>
      {number > 0 && <span class="count need" aria-label={`${number} wait for you`}>{number}</span>}
    </a>
  );
}

export function Nav(): JSX.Element {
  const status = agentStatus.value;
  const [mood, words] = moodOf(status?.state, status?.paused, waiting.value.length);
  const offered = offeredPlaces().filter((it) => it.name !== "settings");
  const guest = onlySession.value !== undefined;
  const groups = ["", "Its mind", "Its world"] as const;
  return (
    <nav class="nav" aria-label="Places">
      <button type="button" class="who" title="Choose an agent, or anything else" onClick={() => openPalette()}>
        <Sign size={24} clear={2} mood={mood} />
        <span class="grow"><b class="clip"><Text text={agentName.value} /></b><small class={mood === "need" ? "need" : ""}>{words}</small></span>
        <Icon name="down" small />
      </button>
      {groups.map((group) => (
        <>
          {group && !guest && <div class="group" aria-hidden="true">{group}</div>}
          {(group === "" || !guest) && <ul class="list" aria-label={group || "Work"}>{offered.filter((it) => it.group === group).map((it) => <li><PlaceLink place={it} /></li>)}</ul>}
        </>
      ))}
      <Conversations />
      <div class="me">
        <div class="grow">{!guest && <PlaceLink place={placeOf("settings")} />}</div>
        <IconButton icon="sun" label="Light or dark" onClick={() => prefer({ theme: isDark() ? "light" : "dark" })} />
        <IconButton icon="help" label="Keys" class="hide-m" onClick={openKeys} />
      </div>
    </nav>
  );
}

function Conversations(): JSX.Element {
  const open = route.value.place === "chat" ? route.value.id : undefined;
  return (
    <div class="talks">
      <header>
        <span class="grow">Conversations</span>
        {onlySession.value === undefined && <IconButton icon="find" label="Search in all conversations" small onClick={() => openPalette()} />}
        {onlySession.value === undefined && <IconButton icon="plus" label="New conversation" small onClick={() => go("chat")} />}
      </header>
      <ul class="list scroll">
        {sessions.value.slice(0, 60).map((it) => (
          <li key={it.session_id}>
            <a class="talk" href={address("chat", it.session_id, { agent: it.agent === "default" ? undefined : it.agent })} aria-current={it.session_id === open ? "true" : undefined} title={spelled(it.title)}>
              <span class="clip"><Text text={it.title || "Without a title"} /></span>
              <When at={it.updated} show={shortTime} />
            </a>
          </li>
        ))}
        {sessionsKnown.value && sessions.value.length === 0 && <li class="none">None yet. Ask something, and it stands here.</li>}
      </ul>
    </div>
  );
}

/** The bar at the foot of a phone. */
export function TabBar(): JSX.Element {
  const more = useSignal(false);
  const offered = offeredPlaces();
  const shown = (["chat", "questions", "files", "memory"] as const).filter((name) => offered.some((it) => it.name === name));
  const rest = offered.filter((it) => !(shown as readonly string[]).includes(it.name));
  const number = waiting.value.length;
  return (
    <>
      <nav class="tabbar" aria-label="Main places">
        {shown.map((name) => {
          const place = placeOf(name);
          return (
            <a href={leads(place)} aria-current={route.value.place === name ? "page" : undefined}>
              <Icon name={place.icon} />{place.label}
              {name === "questions" && number > 0 && <span class="count need" aria-label={`${number} wait for you`}>{number}</span>}
            </a>
          );
        })}
        {rest.length > 0 && <button type="button" aria-expanded={more.value} onClick={() => (more.value = true)}><Icon name="menu" />More</button>}
      </nav>
      {more.value && (
        <Dialog label="More places" class="sheet-up" close={() => (more.value = false)}>
          <nav class="more" aria-label="More places">
            {rest.map((it) => <a href={address(it.name)} onClick={() => (more.value = false)}><Icon name={it.icon} />{it.label}</a>)}
            <button type="button" onClick={() => { more.value = false; openPalette(); }}><Icon name="find" />Search</button>
            <button type="button" onClick={() => { more.value = false; go("chat"); }}><Icon name="plus" />New</button>
          </nav>
        </Dialog>
      )}
    </>
  );
}
