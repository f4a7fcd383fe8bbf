/**
 * The waits between attempts. Each is anything from nothing to a bound that doubles, so that pages which lost
 * their server at one moment do not come back at one moment.
 */
export class Backoff {
  #attempts = 0;

  constructor(
    readonly firstWait: number,
    readonly longestWait: number,
    /** Gives numbers from 0 to 1. */
    readonly random: () => number = Math.random,
  ) {}

  /** How long to wait now, in milliseconds. */
  next(): number {
    const bound = Math.min(this.longestWait, this.firstWait * 2 ** this.#attempts);
    this.#attempts += 1;
    return bound * this.random();
  }

  /** The connection has proved itself: the next wait is a first one. */
  reset(): void {
    this.#attempts = 0;
  }
}
