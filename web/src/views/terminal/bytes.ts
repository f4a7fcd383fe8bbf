/** What goes to and comes from a shell, as bytes and as lines. */

/**
 * Characters that turn the direction of writing become visible ones, so that a line reads as it is. `rest` is the beginning of
 * a character that the next part may complete.
 */
export function withoutTurns(before: Uint8Array, given: Uint8Array): { bytes: Uint8Array; rest: Uint8Array<ArrayBuffer> } {
  const bytes = new Uint8Array(before.length + given.length);
  bytes.set(before);
  bytes.set(given, before.length);
  for (let at = bytes.indexOf(0xe2); at >= 0; at = bytes.indexOf(0xe2, at + 1)) {
    const [second, third] = [bytes[at + 1] ?? 0, bytes[at + 2] ?? 0];
    const turns = (second === 0x80 && (third === 0x8e || third === 0x8f || (third >= 0xaa && third <= 0xae))) || (second === 0x81 && third >= 0xa6 && third <= 0xa9);
    if (turns) bytes.set([0xef, 0xbf, 0xbd], at);
  }
  const end = bytes.at(-1) === 0xe2 ? 1 : bytes.at(-2) === 0xe2 ? 2 : 0;
  return { bytes: bytes.subarray(0, bytes.length - end), rest: bytes.slice(bytes.length - end) };
}

/** Whether a text is what a terminal answers to a program by itself: its place, its kind, its colours. No key sends such. */
export const isAnswer = (text: string): boolean => /^(\u001b\[[?>=]?[\d;]*(?:[cnRtx]|\$y)|\u001b[P\]])/.test(text);

/** How a shell ended, in words. */
export function endedWords(told: string): string {
  const code = /^(?:exited|code)\((-?\d+)\)$/.exec(told);
  if (code) return code[1] === "0" ? "the shell was left" : `the shell ended with code ${code[1]}`;
  const signal = /^(?:killed|signal\w*)\((\d+)\)$/.exec(told);
  return signal ? `the shell was ended by signal ${signal[1]}` : told;
}

export function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** What a line was when Enter was pressed: backspaces are applied, other control characters are left for `Text` to spell out. */
export function edited(line: string): string {
  const out: string[] = [];
  for (const letter of line.replace(/\u001b(\[[0-?]*[ -/]*[@-~]|O.)/g, "")) {
    if (letter === "\u007f" || letter === "\b") out.pop();
    else if (letter === "\u0015" || letter === "\u0003") out.length = 0;
    else out.push(letter);
  }
  return out.join("");
}
