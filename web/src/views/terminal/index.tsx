/** Terminal: not written yet. */
import type { JSX } from "preact";
import type { ViewProps } from "../../shell/places.ts";
import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export default function Terminal(_: ViewProps): JSX.Element {
  return (
    <Page title="Terminal">
      <div class="body scroll" tabIndex={0} role="region" aria-label="Terminal"><Empty title="Nothing here yet." /></div>
    </Page>
  );
}
