// Written from the Rust targets by `Schema::typescript`. Changes here are lost: change the targets.

import type { RpcStub, RpcTarget } from "capnweb";

/**
 * Lends books.
 *
 * Each method is of another kind.
 */
export interface Library extends RpcTarget {
  /** Opens the door. A title stands before the name. */
  open(name: string, title?: string | null): Promise<string>;
  /** How many books there are. */
  readonly size: number;
  /**
   * Finds a book.
   *
   * @throws `not_found`: there is none of that title
   */
  find(title: string): Promise<RpcStub<Book>>;
  all(): Promise<RpcStub<Book>[]>;
  /** A book, if it is there. */
  maybe(title: string): Promise<RpcStub<Book> | undefined>;
  /** Whether it is one of ours. */
  same(book: RpcStub<Book>): Promise<boolean>;
  /**
   * Registers a reader.
   *
   * @throws `banned`: nobody wants them here
   * @throws `full`: there are too many readers, or too few librarians
   */
  register(reader: Reader): Promise<Reader>;
  stamp(on: Date, page: Uint8Array): Promise<Uint8Array>;
  /** A fine, in cents, which add up. */
  fine(cents: number | bigint): Promise<number | bigint>;
  shelves(): Promise<Record<string, number>>;
  /** Calls back with the title and number of each book. */
  each(seen: (arg0: string, arg1: number) => void): Promise<void>;
  /** The largest measure of a title. */
  longest(measure: (arg0: string) => number | Promise<number>): Promise<number>;
  /** Lets a visitor say something about a book. */
  visit(visitor: RpcStub<Visitor>): Promise<string>;
  /** The words of a book, as they are read. */
  read(title: string): Promise<ReadableStream<string>>;
  count(numbers: ReadableStream<number>): Promise<number>;
  /** Whatever it is. */
  keep(thing: any): Promise<any>;
}

/** The `code` of errors that `Library` fails with. */
export type LibraryErrorCode = "banned" | "full" | "not_found";

/** A book. */
export interface Book extends RpcTarget {
  readonly title: string;
  /** Where it stands. */
  library(): Promise<RpcStub<Library>>;
}

/** Someone who comes by, implemented by the client. */
export interface Visitor extends RpcTarget {
  /** Says something about a book. */
  greet(book: RpcStub<Book>): Promise<string>;
}

/** Someone who reads. */
export interface Reader {
  name: string;
  /** What they may do. */
  kind: Kind;
  /** Given when they are registered. */
  number?: number | null;
  friends: Reader[];
}

/**
 * What a reader may do.
 * - `member`: Lends books.
 * - `banned`: Must stay outside.
 */
export type Kind = "member" | "staff" | "banned";
