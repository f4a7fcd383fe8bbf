/**
 * The connection to the door of the server: it signs in, comes back by itself, and opens the streams again.
 *
 * There is one `Connection` for the page. It holds one Cap'n Web session over one WebSocket. When that breaks, it waits
 * 1 s, then twice as long each time up to 30 s, and begins again with the same token. Calls that read wait for the
 * connection and are made again when it was cut; calls that change something are made once, and are rejected with the
 * code `lost` when their answer did not come. Streams are kept as a list of openers: each is opened anew in every session,
 * with the arguments that it has by then (a cursor, mostly), so that nothing is missed and nothing comes twice.
 */
import { newWebSocketRpcSession } from "capnweb";
import { batch, signal } from "@preact/signals";
import { Refusal, refusal } from "./refusal.ts";
import type { Hello, SignedIn, Workspace } from "./types.ts";

/** How the connection is. */
export type Link =
  | { kind: "connecting" }
  | { kind: "live" }
  /** Cut; the next try is at this time. */
  | { kind: "waiting"; next: number; tries: number }
  /** The server asks for credentials, or did not take those that were given. */
  | { kind: "signed-out"; why: string | null };

/** What proves who one is: a token, a link that counts once, or nothing where the server is open. */
export type Credentials = { token?: string; link?: string };

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;
const CHECK_EVERY = 15_000;
const ANSWER_WITHIN = 10_000;
const AGAIN_AFTER = 700;
const MOST_TRIES = 8;
const TOKEN = "monas.token";

interface Opened {
  close(): void;
}

interface Follower {
  open(workspace: any, generation: number): Promise<Opened>;
  failed(error: unknown): void;
  /** How often it was refused in a row because of too many calls. */
  tries: number;
  opened: Opened | null;
  ended: boolean;
}

type StreamName = "followChat" | "followJournal" | "followQuestions" | "followFiles" | "followWire" | "followTask" | "openTerminal" | "attachTerminal";
type Name = Exclude<keyof Workspace, "signedIn" | StreamName>;
type Arguments<K extends keyof Workspace> = NonNullable<Parameters<Workspace[K]>[0]>;
type Reply<K extends keyof Workspace> = Awaited<ReturnType<Workspace[K]>>;
type Batch<K extends StreamName> = Parameters<Parameters<Workspace[K]>[1]>[0];
/** What a stream returned: the page sends through it. */
export type Handle<K extends StreamName> = Awaited<ReturnType<Workspace[K]>>;

export class Connection {
  readonly link = signal<Link>({ kind: "connecting" });
  readonly me = signal<SignedIn | null>(null);
  readonly hello = signal<Hello | null>(null);
  /** Counts the sessions, so that what shows the server's state can read it again after each. */
  readonly generation = signal(0);
  /** The time of the last round trip in milliseconds. */
  readonly delay = signal<number | null>(null);
  /** Set when the server has another page than this one. */
  readonly outdated = signal(false);

  #url: URL;
  #credentials: Credentials;
  #socket: WebSocket | null = null;
  #root: any = null;
  #workspace: any = null;
  #pause = FIRST_PAUSE;
  #tries = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #checking: ReturnType<typeof setInterval> | undefined;
  #followers = new Set<Follower>();
  #waiting: (() => void)[] = [];

  constructor(url: URL, credentials: Credentials) {
    this.#url = url;
    this.#credentials = credentials;
    addEventListener("online", () => this.tryNow());
    addEventListener("pagehide", () => this.#socket?.close());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.link.peek().kind === "live") void this.#check();
    });
  }

  /** Connects, or tries at once instead of waiting. */
  tryNow(): void {
    const now = this.link.peek();
    if (now.kind === "live" || (now.kind === "connecting" && this.#socket)) return;
    clearTimeout(this.#timer);
    void this.#begin();
  }

  /** Signs in with other credentials. */
  signIn(credentials: Credentials): void {
    this.#credentials = credentials;
    this.#end();
    clearTimeout(this.#timer);
    void this.#begin();
  }

  /** Forgets the token and ends the session. */
  signOut(): void {
    sessionStorage.removeItem(TOKEN);
    this.#credentials = {};
    this.#end();
    batch(() => {
      this.me.value = null;
      this.link.value = { kind: "signed-out", why: null };
    });
  }

  may(permission: string): boolean {
    const me = this.me.value;
    // A link for one conversation opens nothing else; it may let its holder answer what is asked there.
    if (me?.session !== undefined && permission !== "approve") return false;
    return me !== null && (me.permissions.includes(permission) || me.permissions.includes("admin"));
  }

  /** Calls a method that reads: waits for the connection, and is made again if it was cut. */
  async read<K extends Name>(name: K, args: Arguments<K>): Promise<Reply<K>> {
    let tries = 0;
    for (;;) {
      await this.#live();
      const generation = this.generation.peek();
      try {
        return await this.#call(name, args);
      } catch (error) {
        const why = refusal(error);
        if (why.code === "rate_limited" && tries++ < MOST_TRIES) {
          await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER * tries));
          continue;
        }
        if (!why.lost || this.link.peek().kind === "signed-out") throw why;
        if (generation === this.generation.peek() && this.link.peek().kind === "live") throw why;
      }
    }
  }

  /** Calls a method that changes something: at once or not at all, and once. */
  async change<K extends Name>(name: K, args: Arguments<K>): Promise<Reply<K>> {
    if (this.link.peek().kind !== "live") throw new Refusal("There is no connection. Nothing was changed.", "offline");
    return await this.#call(name, args);
  }

  /**
   * Follows a stream until the returned function is called. `args` is asked for each time the stream is opened, `on` gets
   * the batches, and `opened` what the server returned, to send through it. `failed` is told when the server refuses.
   */
  follow<K extends StreamName>(
    name: K,
    args: () => Arguments<K>,
    on: (batch: Batch<K>) => void,
    more: { opened?: (handle: Handle<K> | null) => void; failed?: (why: Refusal) => void } = {},
  ): () => void {
    const follower: Follower = {
      opened: null,
      ended: false,
      tries: 0,
      failed: (error) => {
        const why = refusal(error);
        if (!why.lost) more.failed?.(why);
      },
      open: async (workspace, generation) => {
        const receive = (given: Batch<K>) => {
          if (!follower.ended && generation === this.generation.peek()) on(given);
        };
        const handle = await workspace[name](withoutUndefined(args()), receive);
        follower.tries = 0;
        more.opened?.(handle);
        this.#watch(handle, follower, generation);
        return {
          close: () => {
            more.opened?.(null);
            try {
              handle[Symbol.dispose]?.();
            } catch {
              /* the session is gone, and the stream with it */
            }
          },
        };
      },
    };
    this.#followers.add(follower);
    if (this.link.peek().kind === "live") this.#open(follower);
    return () => {
      follower.ended = true;
      this.#followers.delete(follower);
      follower.opened?.close();
      follower.opened = null;
    };
  }

  async #call(name: string, args: unknown): Promise<any> {
    const workspace = this.#workspace;
    if (!workspace) throw new Refusal("The connection was lost before there was an answer.", "lost");
    const socket = this.#socket;
    try {
      // A copy, because what Cap'n Web returns may carry a disposer, and callers keep it as plain data.
      return await workspace[name](withoutUndefined(args));
    } catch (error) {
      if (this.#socket !== socket || socket?.readyState !== WebSocket.OPEN) {
        throw new Refusal("The connection was lost before there was an answer.", "lost");
      }
      const why = refusal(error);
      if (why.unauthorized) this.#signedOut("The sign-in has ended. Open a new link, or enter a token.");
      throw why;
    }
  }

  #live(): Promise<void> {
    if (this.link.peek().kind === "live") return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #open(follower: Follower): void {
    const generation = this.generation.peek();
    follower.open(this.#workspace, generation).then(
      (opened) => {
        if (follower.ended || generation !== this.generation.peek()) opened.close();
        else follower.opened = opened;
      },
      (error) => {
        if (generation !== this.generation.peek() || follower.ended) return;
        if (refusal(error).code === "rate_limited" && follower.tries++ < MOST_TRIES) this.#openLater(follower, generation);
        else follower.failed(error);
      },
    );
  }

  /** Opens a stream again that the server ended although there was more to tell: the page was too slow, for one. */
  #watch(handle: { ended?: () => Promise<{ reason: string }> }, follower: Follower, generation: number): void {
    const again = (reason: string) => {
      if (follower.ended || generation !== this.generation.peek() || reason === "complete") return;
      follower.opened?.close();
      follower.opened = null;
      this.#openLater(follower, generation);
    };
    Promise.resolve(handle.ended?.()).then((it) => { if (it) again(it.reason); }, () => {});
  }

  #openLater(follower: Follower, generation: number): void {
    setTimeout(() => {
      if (!follower.ended && !follower.opened && generation === this.generation.peek() && this.link.peek().kind === "live") this.#open(follower);
    }, AGAIN_AFTER * Math.max(1, follower.tries));
  }

  async #begin(): Promise<void> {
    this.#end();
    if (this.#tries === 0) this.link.value = { kind: "connecting" };
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.addEventListener("close", () => this.#cut(socket));
    socket.addEventListener("error", () => this.#cut(socket));
    try {
      const root: any = newWebSocketRpcSession(socket as any);
      this.#root = root;
      root.onRpcBroken?.(() => this.#cut(socket));
      const hello: Hello = await within(root.hello());
      const known = this.hello.peek();
      const mine = BUILD || known?.build;
      if (mine && mine !== hello.build) this.outdated.value = true;
      const needsCredentials = !hello.open && !this.#credentials.token && !this.#credentials.link;
      if (needsCredentials) {
        this.hello.value = hello;
        return this.#signedOut(null);
      }
      const workspace = await within(root.authenticate(this.#credentials) as Promise<any>);
      const me = (await within(workspace.signedIn())) as SignedIn;
      if (this.#socket !== socket) return;
      const token = me.token ?? this.#credentials.token;
      if (token) {
        sessionStorage.setItem(TOKEN, token);
        this.#credentials = { token };
      }
      this.#workspace = workspace;
      this.#pause = FIRST_PAUSE;
      this.#tries = 0;
      batch(() => {
        this.hello.value = hello;
        this.me.value = { ...me, permissions: [...(me.permissions ?? [])] };
        this.generation.value += 1;
        this.link.value = { kind: "live" };
      });
      for (const follower of this.#followers) this.#open(follower);
      for (const go of this.#waiting.splice(0)) go();
      this.#checking = setInterval(() => void this.#check(), CHECK_EVERY);
      void this.#check();
    } catch (error) {
      if (this.#socket !== socket) return;
      const why = refusal(error);
      if (socket.readyState === WebSocket.OPEN && why.code !== "lost") {
        const used = this.#credentials.link ? "This link was used already, or is too old. Ask for a new one." : "The server does not take this token. Open a new link, or enter another token.";
        return this.#signedOut(why.unauthorized || why.denied || /link|token|credential/i.test(why.message) ? used : why.message);
      }
      this.#cut(socket);
    }
  }

  /** A round trip, so that a connection that is dead without a word is noticed, and to show how long one takes. */
  async #check(): Promise<void> {
    const socket = this.#socket;
    const began = performance.now();
    try {
      await within(this.#root.hello());
      if (this.#socket === socket) this.delay.value = performance.now() - began;
    } catch {
      if (socket && this.#socket === socket) this.#cut(socket);
    }
  }

  #signedOut(why: string | null): void {
    sessionStorage.removeItem(TOKEN);
    this.#credentials = {};
    this.#end();
    this.link.value = { kind: "signed-out", why };
  }

  #cut(socket: WebSocket): void {
    if (this.#socket !== socket) return;
    this.#end();
    this.#tries += 1;
    // Spread a little, so that the pages of many people do not all come back in the same moment.
    const pause = this.#pause * (0.8 + 0.4 * Math.random());
    this.#pause = Math.min(LONGEST_PAUSE, this.#pause * 2);
    this.link.value = { kind: "waiting", next: Date.now() + pause, tries: this.#tries };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#begin(), pause);
  }

  #end(): void {
    clearInterval(this.#checking);
    const socket = this.#socket;
    this.#socket = null;
    this.#workspace = null;
    this.#root = null;
    for (const follower of this.#followers) {
      follower.opened?.close();
      follower.opened = null;
    }
    if (socket && socket.readyState <= WebSocket.OPEN) socket.close();
  }
}

/** The answer, or an error after a while: a server that hangs is as good as gone. */
function within<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Refusal("The server did not answer in time.", "lost")), ANSWER_WITHIN);
    Promise.resolve(answer).then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Cap'n Web sends `undefined` as a value; REST has no such value, so the field is left out. */
function withoutUndefined(args: unknown): unknown {
  if (args === null || typeof args !== "object") return {};
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}

/** The credentials of the first visit: from the fragment of the address, which is taken away at once, or from before. */
export function takeCredentials(): Credentials {
  const found = /^#(token|link)=([^&]+)(?:&to=(.+))?$/.exec(location.hash);
  if (found) {
    // A link may say where it leads: `#token=...&to=/chat/ID`.
    const to = found[3] ? decodeURIComponent(found[3]) : "/chat";
    history.replaceState(null, "", `${location.pathname}${location.search}#${to.startsWith("/") ? to : "/chat"}`);
    const given = decodeURIComponent(found[2]!);
    return found[1] === "token" ? { token: given } : { link: given };
  }
  const kept = sessionStorage.getItem(TOKEN);
  return kept ? { token: kept } : {};
}

/** The address that the page is served at; the server writes its path into the page. */
export function baseUrl(): URL {
  const path = document.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? "./";
  const url = new URL(path, location.href);
  url.hash = "";
  url.search = "";
  return url;
}

/** Where the door is. */
export function doorUrl(): URL {
  const url = new URL("workspace/capnweb", baseUrl());
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url;
}

/** The build of this page, which is a part of the address of its files; empty where it is served without one. */
const BUILD = /\/assets\/([0-9a-f]{8,64})\//.exec(import.meta.url)?.[1] ?? "";
