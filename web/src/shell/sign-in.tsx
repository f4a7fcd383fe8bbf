/** What one sees without credentials: how to get in, in one sentence, and a field for a token. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { connection } from "../state/app.ts";
import { Sign } from "../ui/icons.tsx";
import { Note, Text } from "../ui/parts.tsx";

export function SignIn({ why }: { why: string | null }): JSX.Element {
  const typed = useSignal("");
  const submit = (e: Event) => {
    e.preventDefault();
    const given = typed.value.trim();
    if (given === "") return;
    // A whole link may be pasted as well.
    const link = /#(token|link)=(.+)$/.exec(given);
    connection.signIn(link ? { [link[1]!]: decodeURIComponent(link[2]!) } : { token: given });
  };
  return (
    <main class="signin" id="main" tabIndex={-1}>
      <form class="hello" onSubmit={submit}>
        <Sign size={44} clear={2} mood="calm" />
        <h1>This server asks who you are.</h1>
        {why && <Note tone="bad" icon="lock"><Text text={why} /></Note>}
        <p class="soft">Open the link that the server printed when it started, or that you were sent. Or paste the link or a token here.</p>
        <label class="field tall"><input type="password" aria-label="Link or token" placeholder="Link or token" autocomplete="off" autoFocus value={typed.value} onInput={(e) => (typed.value = e.currentTarget.value)} /></label>
        <div class="row"><button class="b main" type="submit" disabled={typed.value.trim() === ""}>Sign in</button></div>
        <p class="dim">It stays in this tab and is forgotten when the tab is closed. A new link: <code>monas open</code> on the server.</p>
      </form>
    </main>
  );
}
