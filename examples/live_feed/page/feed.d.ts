// Written from the Rust targets by `Schema::typescript`. Changes here are lost: change the targets.

import type { RpcStub, RpcTarget } from "capnweb";

/** A feed of messages that anyone may follow and add to. */
export interface Feed extends RpcTarget {
  /** How many messages there are. */
  readonly length: number;
  /**
   * Signs in a user under a name.
   *
   * @throws `bad_name`: a name is one line, and not empty
   */
  signIn(name: string): Promise<RpcStub<Author>>;
  /**
   * Calls the sink with the messages after the cursor, or with all messages, and with new ones as they arrive.
   *
   * @throws `cursor_gone`: the feed cannot go on from there
   */
  subscribe(cursor: string | null | undefined, sink: (arg0: { cursor: string; event: Message }[]) => void): Promise<RpcStub<Subscription>>;
  /** The messages that contain a word, as a stream. */
  search(word: string): Promise<ReadableStream<Message>>;
  /** Counts the letters of all messages, and reports progress after each: messages done, and messages in all. */
  countLetters(progress: (arg0: number, arg1: number) => void): Promise<number>;
}

/** The `code` of errors that `Feed` fails with. */
export type FeedErrorCode = "bad_name" | "cursor_gone";

/** A user who signed in and may write to the feed. */
export interface Author extends RpcTarget {
  /** The name that was signed in. */
  readonly name: string;
  /**
   * Adds a message and returns its cursor when it is stored.
   *
   * @throws `too_long`: a message has at most 500 bytes
   */
  post(text: string): Promise<string>;
}

/** The `code` of errors that `Author` fails with. */
export type AuthorErrorCode = "too_long";

/** A subscription. It lasts until it is released. */
export interface Subscription extends RpcTarget {
  /** Returns when there will be no more events, and fails with what kept the log or the sink from going on. */
  ended(): Promise<void>;
}

/** A message of the feed. */
export interface Message {
  /** The name of the author. */
  author: string;
  /** The text of the message. */
  text: string;
}
