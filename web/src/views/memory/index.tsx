/** Memory: not written yet. */
import type { JSX } from "preact";
import type { ViewProps } from "../../shell/places.ts";
import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export default function Memory(_: ViewProps): JSX.Element {
  return (
    <Page title="Memory">
      <div class="body scroll" tabIndex={0} role="region" aria-label="Memory"><Empty title="Nothing here yet." /></div>
    </Page>
  );
}
