/** A part whose code is loaded when it is first shown. */
import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { notify } from "./say.ts";

/** The part, once its code is there. Where it cannot be loaded, a notice says so and `failed` is called. */
export function later<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): (props: P & { failed?: () => void }) => JSX.Element | null {
  let loaded: ComponentType<P> | null = null;
  return ({ failed, ...props }) => {
    const [, draw] = useState(0);
    useEffect(() => {
      if (loaded) return;
      load().then((module) => { loaded = module.default; draw(1); }, () => {
        notify("This is not loaded yet: there is no connection.");
        failed?.();
      });
    }, []);
    const Part = loaded as ComponentType<any> | null;
    return Part && <Part {...props} />;
  };
}
