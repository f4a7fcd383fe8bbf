/** Questions: being written. */
import type { JSX } from "preact";
import type { ViewProps } from "../../shell/places.ts";
import { Page } from "../../ui/page.tsx";
export default function Questions(_: ViewProps): JSX.Element { return <Page title="Questions"><div class="body" /></Page>; }
