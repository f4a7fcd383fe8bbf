/** The shell: navigation, the place, the status bar, and what lies over them. */
import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Refusal } from "../api/refusal.ts";
import { connection, detailsOpen, onlySession, shownEvent } from "../state/app.ts";
import { agent, go, route } from "../state/route.ts";
import { later } from "../ui/later.tsx";
import { Page } from "../ui/page.tsx";
import { Fault, Loading } from "../ui/states.tsx";
import { keysOpen, listenToKeys } from "./keys.tsx";
import { Nav, TabBar } from "./nav.tsx";
import { Notices } from "./notices.tsx";
import { Palette, paletteOpen } from "./palette.tsx";
import { offeredPlaces, type Place, placeOf, type View, type ViewProps } from "./places.ts";
import { SignIn } from "./sign-in.tsx";
import { StatusBar } from "./status.tsx";

const Keys = later(() => import("./keys-list.tsx"));

export function App(): JSX.Element {
  useEffect(() => listenToKeys(), []);
  const link = connection.link.value;
  const { place, id, query } = route.value;
  const only = onlySession.value;
  // A link for one conversation leads to it, wherever its address points.
  const astray = only !== undefined && (place === "chat" ? id !== only : !offeredPlaces().some((it) => it.name === place));
  useEffect(() => { if (astray) go("chat", only, {}, true); }, [astray]);
  if (link.kind === "signed-out") return <SignIn why={link.why} />;
  return (
    <div class="app" onClick={heardClick}>
      <Nav />
      <PlaceView place={placeOf(place)} id={id} query={query} />
      <StatusBar />
      <TabBar />
      <Notices />
      {paletteOpen.value && <Palette />}
      {keysOpen.value && <Keys failed={() => (keysOpen.value = false)} />}
    </div>
  );
}

const loaded = new Map<string, View>();

/** The view of a place; its code is loaded when it is first opened. */
function PlaceView({ place, id, query }: { place: Place } & ViewProps): JSX.Element {
  const [, draw] = useState(0);
  const [fault, setFault] = useState<unknown>(null);
  const view = place.lazy ? loaded.get(place.name) : (place.view as View);
  const load = () => {
    setFault(null);
    (place.view as () => Promise<{ default: View }>)().then(
      (module) => { loaded.set(place.name, module.default); draw((it) => it + 1); },
      () => setFault(new Refusal("This place is not loaded yet: there is no connection.", "offline")),
    );
  };
  useEffect(() => {
    shownEvent.value = null;
    detailsOpen.value = false;
    if (!view) load();
  }, [place.name]);
  // A place that could not be loaded is loaded when the server is there again.
  const generation = connection.generation.value;
  useEffect(() => { if (fault) load(); }, [generation]);
  if (!view) return <Page title={place.label}>{fault ? <Fault error={fault} again={load} /> : <Loading />}</Page>;
  const Shown = view as ComponentType<ViewProps>;
  return <Shown key={place.name} id={id} query={query} />;
}

/** Buttons that were made of Markdown are heard here: copy a block of code, open an event, open a picture elsewhere. */
function heardClick(e: MouseEvent): void {
  const target = e.target as HTMLElement;
  if (target.dataset["copy"] !== undefined) {
    const code = target.closest(".codeblock")?.querySelector("code")?.textContent ?? "";
    void navigator.clipboard?.writeText(code).then(() => {
      target.textContent = "Copied";
      setTimeout(() => (target.textContent = "Copy"), 1_500);
    });
  }
  const event = target.dataset["event"];
  if (event) {
    shownEvent.value = { event: Number(event), agent: agent.peek() };
    detailsOpen.value = true;
  }
  const picture = target.dataset["picture"];
  if (picture) window.open(picture, "_blank", "noopener,noreferrer");
}
