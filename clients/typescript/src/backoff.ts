/**
 * Exponential back-off with full jitter: each wait is random between 0 and a bound that doubles. So pages that lost their
 * server at the same time do not reconnect at the same time.
 */
export class Backoff {
  #attempts = 0;

  constructor(
    readonly firstWait: number,
    readonly longestWait: number,
    /** Returns numbers from 0 to 1. */
    readonly random: () => number = Math.random,
  ) {}

  /** The next wait, in milliseconds. */
  next(): number {
    const bound = Math.min(this.longestWait, this.firstWait * 2 ** this.#attempts);
    this.#attempts += 1;
    return bound * this.random();
  }

  /** Starts again with the first bound. */
  reset(): void {
    this.#attempts = 0;
  }
}
