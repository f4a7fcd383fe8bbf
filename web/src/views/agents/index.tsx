/** Agents: not written yet. */
import type { JSX } from "preact";
import type { ViewProps } from "../../shell/places.ts";
import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export default function Agents(_: ViewProps): JSX.Element {
  return (
    <Page title="Agents">
      <div class="body scroll" tabIndex={0} role="region" aria-label="Agents"><Empty title="Nothing here yet." /></div>
    </Page>
  );
}
