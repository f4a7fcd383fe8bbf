/** The model: which one answers, and another one, which is tried before it is kept. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { change, may, read, readAgents, status } from "../../state/app.ts";
import { Button, Field, Note, Tag, Text } from "../../ui/parts.tsx";
import { notify } from "../../ui/say.ts";
import { Show, useLoaded } from "../../ui/states.tsx";
import { Option, Refused, Section, Select, useAction } from "./bits.tsx";

const PROVIDERS = [["ollama", "Ollama, on this machine"], ["openai", "OpenAI, or compatible"], ["anthropic", "Anthropic"], ["gemini", "Gemini"]] as const;
type Provider = (typeof PROVIDERS)[number][0];
const FROM: Record<string, string> = { settings: "from the configuration of the server", kept: "chosen here", found: "found running on this machine", rules: "" };

/** The names of models that a running Ollama has, whatever form the server tells them in. */
export function ollamaModels(found: unknown): string[] {
  const models = (found as { models?: unknown } | null | undefined)?.models;
  if (!Array.isArray(models)) return [];
  return models.map((it) => (typeof it === "string" ? it : String((it as { name?: unknown } | null)?.name ?? ""))).filter((it) => it !== "");
}

export function ModelSection(): JSX.Element {
  const model = useLoaded(() => read("getModel", {}).catch((why) => {
    if (why.status === 404 || why.code === "not_found" || /no method|not a function|unknown/i.test(String(why.message))) return null;
    throw why;
  }), []);
  const open = useSignal(false);
  const provider = useSignal<Provider>("ollama");
  const name = useSignal("");
  const url = useSignal("");
  const key = useSignal("");
  const action = useAction();
  const admin = may("admin");
  const here = ollamaModels(status.value?.ollama);
  const offered = typeof status.value?.ollama?.["says"] === "string" ? status.value.ollama["says"] : "";

  const use = async (wanted: { provider: string; name: string; url?: string; key?: string }) => {
    const done = await action.run(() => change("putModel", wanted));
    if (!done) return;
    model.put(done);
    key.value = "";
    open.value = false;
    void readAgents();
    notify(`${done.name ?? wanted.name} answered, and is used from now on.`);
  };
  const needsKey = provider.value !== "ollama";
  return (
    <Section name="model" title="Model" about="Without one it understands direct requests, and says what it did not understand.">
      <div class="card">
        <Show of={model} lines={1}>
          {(it) => (
            <>
              {it === null ? <Option title="The server does not tell" about={<>It is set with <code>monas --model PROVIDER:NAME</code> or in <code>monas.toml</code>.</>} />
                : it.name ? (
                  <Option title={<Text text={it.name} />} about={<><Text text={it.provider ?? ""} />{it.url && <> at <Text text={it.url} /></>}{it.has_key ? ", with a key" : ""}{FROM[it.from] ? `, ${FROM[it.from]}` : ""}</>}>
                    <Tag tone="good">in use</Tag>
                    {admin && !open.value && <Button small onClick={() => (open.value = true)}>Change…</Button>}
                  </Option>
                ) : (
                  <Option title="No model" about="Direct requests are understood by rules.">
                    {admin && !open.value && <Button small onClick={() => (open.value = true)}>Choose…</Button>}
                  </Option>
                )}
              {it !== null && admin && here.filter((one) => one !== it.name).slice(0, 4).map((one) => (
                <Option title={<><Text text={one} /> on this machine</>} about="Ollama is running here and has it.">
                  <Button small disabled={action.working.value} onClick={() => void use({ provider: "ollama", name: one })}>Use it</Button>
                </Option>
              ))}
              {it !== null && !it.name && offered !== "" && <div class="optnote"><Note icon="bolt"><Text text={offered} /></Note></div>}
              {it !== null && open.value && (
                <form class="setform" onSubmit={(e) => { e.preventDefault(); if (name.value.trim() !== "") void use({ provider: provider.value, name: name.value.trim(), ...(url.value.trim() ? { url: url.value.trim() } : {}), ...(key.value ? { key: key.value } : {}) }); }}>
                  <div class="formgrid">
                    <span>Provider</span><Select label="Provider" options={PROVIDERS} value={provider.value} change={(value) => (provider.value = value)} />
                    <span>Model</span><Field label="Model" placeholder={provider.value === "ollama" ? "gemma3" : "as the provider calls it"} value={name.value} onInput={(e) => (name.value = e.currentTarget.value)} />
                    <span>Address</span><Field label="Address" type="url" placeholder="only if it is not the provider’s own" value={url.value} onInput={(e) => (url.value = e.currentTarget.value)} />
                    {needsKey && <><span>Key</span><Field label="Key" type="password" placeholder="kept sealed; never shown again" value={key.value} onInput={(e) => (key.value = e.currentTarget.value)} /></>}
                  </div>
                  <div class="row">
                    <button type="submit" class="b main small" disabled={action.working.value || name.value.trim() === ""}>{action.working.value ? "Trying it" : "Try it, then keep it"}</button>
                    <Button small look="bare" onClick={() => { open.value = false; key.value = ""; }}>Leave it</Button>
                    <span class="dim t2">It is asked for one word first. If it does not answer, nothing changes.</span>
                  </div>
                </form>
              )}
              <Refused of={action} kept="The model from before is still in use, and no key was kept." />
            </>
          )}
        </Show>
      </div>
    </Section>
  );
}
