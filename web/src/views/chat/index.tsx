/** Chat: being written. */
import type { JSX } from "preact";
import type { ViewProps } from "../../shell/places.ts";
import { Page } from "../../ui/page.tsx";
export default function Chat(_: ViewProps): JSX.Element { return <Page title="Chat"><div class="body" /></Page>; }
