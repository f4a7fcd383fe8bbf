/** J and K, and the arrow keys, in a list of which one row is chosen. */
import { useEffect, useRef } from "preact/hooks";
import { onKey } from "../../shell/keys.tsx";

/** Goes to the next row with J and to the one before with K. `at` is the chosen one, -1 for none. */
export function useRowKeys(length: number, at: number, choose: (at: number) => void): void {
  const latest = useRef({ length, at, choose });
  latest.current = { length, at, choose };
  useEffect(() => onKey((key) => {
    const { length, at, choose } = latest.current;
    if ((key !== "j" && key !== "k") || length === 0) return false;
    choose(at < 0 ? 0 : Math.max(0, Math.min(length - 1, at + (key === "j" ? 1 : -1))));
    return true;
  }), []);
}

/** The height of a row of a list: higher where it is touched. */
export const rowHeight = (): number => (matchMedia("(max-width: 700px)").matches ? 44 : 32);
