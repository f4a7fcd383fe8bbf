/** The first screen: what can be tried at once, a model if there is one, and which folder the agent sees. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { refusal } from "../../api/refusal.ts";
import { agentName, change, may, readAgents, status, waiting } from "../../state/app.ts";
import { address } from "../../state/route.ts";
import { lastSession, sessions } from "../../state/sessions.ts";
import { Icon, type IconName, Sign } from "../../ui/icons.tsx";
import { Button, Note, Text } from "../../ui/parts.tsx";
import { modelWords } from "../../shell/status.tsx";
import { notify } from "../../ui/say.ts";

const TRY: [IconName, string, string][] = [
  ["pen", "create notes.md with hello", "it asks first, and shows you the change"],
  ["mem", "remember that I like short answers", "look under Memory at how it is kept"],
  ["book", "why did you ask me?", "answered from its journal, with the numbers of events"],
];

export function Welcome({ begin }: { begin: (text: string) => void }): JSX.Element {
  const fresh = sessions.value.length === 0;
  const last = lastSession.value;
  const before = sessions.value.find((it) => it.session_id === last?.id) ?? sessions.value[0];
  return (
    <div class="hello">
      <Sign size={44} clear={2} mood={waiting.value.length > 0 ? "need" : "calm"} />
      <div class="stack">
        <h2 class="big"><Text text={agentName.value} /> is awake.</h2>
        <p class="lead">It remembers for a reason, asks before it changes anything, and can say why it did what it did. {fresh && "Try one of these; none needs a language model."}</p>
      </div>
      {waiting.value.length > 0 && <Note tone="need" icon="ask"><a href={address("questions")}>{waiting.value.length === 1 ? "One question waits" : `${waiting.value.length} questions wait`} for you</a></Note>}
      <ul class="try">
        {TRY.map(([icon, text, about]) => (
          <li><button type="button" onClick={() => begin(text)}><Icon name={icon} /><span class="grow"><b>{text}</b><small>{about}</small></span><Icon name="right" small /></button></li>
        ))}
      </ul>
      {before && <p class="dim">Or go on with <a href={address("chat", before.session_id, { agent: before.agent === "default" ? "" : before.agent })}><Text text={before.title || "the last conversation"} /></a>.</p>}
      <Model />
    </div>
  );
}

/** A model that was found on this machine, or the way to choose one. */
function Model(): JSX.Element | null {
  const trying = useSignal(false);
  const now = status.value;
  if (!now || !may("admin")) return null;
  const has = now.models.some((it) => it.model);
  const found = ollamaModels(now.ollama);
  const use = async (name: string) => {
    trying.value = true;
    try {
      await change("putModel", { provider: "ollama", name, ...(now.ollama?.["url"] ? { url: String(now.ollama["url"]) } : {}) });
      await readAgents();
      notify(`${name} answers from now on.`);
    } catch (error) {
      notify(refusal(error).message);
    }
    trying.value = false;
  };
  if (has) return <p class="dim">Answers come from <Text text={modelWords()} />. <a href={address("settings", "model")}>Choose another</a></p>;
  return (
    <div class="card">
      {found[0] && (
        <div class="opt"><Icon name="bolt" /><div class="grow"><b>Ollama is running here, with <Text text={found[0]} /></b><span>With it, you can ask for anything in your own words.</span></div><Button look="main" disabled={trying.value} onClick={() => void use(found[0]!)}>{trying.value ? "Trying…" : <>Use <Text text={found[0]} /></>}</Button></div>
      )}
      <div class="opt"><Icon name="link" /><div class="grow"><b>{found[0] ? "Or another one" : "To ask in your own words, choose a model"}</b><span>Ollama, OpenAI and what is compatible, Anthropic, Gemini. A key is tried before it is kept.</span></div><a class="b" href={address("settings", "model")}>Choose…</a></div>
    </div>
  );
}

/** The names of the models that a running Ollama has. */
export function ollamaModels(found: Record<string, any> | null | undefined): string[] {
  const models = found?.["models"];
  if (!Array.isArray(models)) return [];
  return models.map((it) => (typeof it === "string" ? it : String(it?.name ?? it?.model ?? ""))).filter((it) => it !== "");
}
