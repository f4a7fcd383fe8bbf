/** What a task made, part by part: a preview where that is safe, and a download. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { size, spelled, withoutEscapes } from "../../text.ts";
import { Markdown } from "../../ui/markdown.tsx";
import { Button, CopyButton, Tag, Text } from "../../ui/parts.tsx";
import { type Artifact, joined, type Part, safeName } from "./model.ts";

/** Pictures that carry no code. */
const PICTURES = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;
const LONG = 20_000;

function bytesOf(part: Part): Blob {
  if (part.raw !== undefined) {
    const text = atob(part.raw.replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
    return new Blob([bytes], { type: part.mediaType && PICTURES.test(part.mediaType) ? part.mediaType : "application/octet-stream" });
  }
  return new Blob([part.text ?? JSON.stringify(part.data, null, 2) ?? ""], { type: "text/plain" });
}

/** Saves a blob under a name. */
export function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function fallbackName(part: Part, artifact: Artifact): string {
  const ending = part.data !== undefined ? "json" : part.text !== undefined ? (part.mediaType === "text/markdown" ? "md" : "txt") : (part.mediaType?.split("/")[1]?.replace(/[^a-z0-9]/gi, "") || "bin");
  const base = safeName(artifact.name ?? artifact.artifactId, "artifact");
  return base.includes(".") ? base : `${base}.${ending}`;
}

export function ArtifactView({ artifact }: { artifact: Artifact }): JSX.Element {
  const parts = joined(artifact.parts ?? []);
  return (
    <section class="card artifact" aria-label={`Artifact ${spelled(artifact.name ?? artifact.artifactId)}`}>
      <header><b class="t3 clip grow"><Text text={artifact.name ?? artifact.artifactId} /></b><span class="dim t1">{parts.length === 1 ? "" : `${parts.length} parts`}</span></header>
      {artifact.description && <p class="dim t2 apad"><Text text={artifact.description} /></p>}
      {parts.map((part) => <PartView part={part} artifact={artifact} />)}
    </section>
  );
}

function PartView({ part, artifact }: { part: Part; artifact: Artifact }): JSX.Element {
  const [all, setAll] = useState(false);
  const [picture, setPicture] = useState<string | null>(null);
  const isPicture = part.raw !== undefined && PICTURES.test(part.mediaType ?? "");
  useEffect(() => {
    if (!isPicture) return;
    const url = URL.createObjectURL(bytesOf(part));
    setPicture(url);
    return () => URL.revokeObjectURL(url);
  }, [part.raw]);
  const name = safeName(part.filename ?? "", fallbackName(part, artifact));
  const text = part.text ?? (part.data === undefined ? undefined : JSON.stringify(part.data, null, 2));
  const bytes = part.raw === undefined ? (text ?? "").length : Math.floor((part.raw.length * 3) / 4);
  const isMarkdown = part.text !== undefined && (part.mediaType === "text/markdown" || /\.md$/i.test(part.filename ?? artifact.name ?? ""));
  const shown = text === undefined ? "" : withoutEscapes(all || text.length <= LONG ? text : text.slice(-LONG));
  return (
    <div class="apart">
      {part.url !== undefined ? <p class="apad"><Tag>elsewhere</Tag> <code><Text text={part.url} /></code> <span class="dim">not loaded</span></p>
        : isPicture ? picture && <img src={picture} alt={spelled(part.filename ?? artifact.name ?? "picture")} />
        : text !== undefined ? (isMarkdown ? <div class="apad"><Markdown text={shown} /></div> : <pre class="code" tabIndex={0} role="region" aria-label="Preview"><Text text={shown} /></pre>)
        : <p class="apad dim">{part.mediaType ?? "Bytes"}: no preview.</p>}
      {text !== undefined && !all && text.length > LONG && <div class="apad"><Button small onClick={() => setAll(true)}>Show all of it</Button> <span class="dim t2">the last {size(LONG)} are shown</span></div>}
      <footer class="row apad">
        <span class="dim t1 clip"><Text text={part.filename ?? ""} /> {part.mediaType && <Text text={part.mediaType} />} {part.url === undefined && size(bytes)}</span>
        <span class="grow" />
        {text !== undefined && <CopyButton text={text} />}
        {part.url === undefined && <Button small icon="save" onClick={() => download(bytesOf(part), name)}>Download</Button>}
      </footer>
    </div>
  );
}
