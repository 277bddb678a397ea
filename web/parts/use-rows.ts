/** Keys of a list: `J` and `K` move, `Enter` opens. */

import { useEffect, useRef, useState } from "preact/hooks";

import { navigate } from "../router.ts";
import { takesKeys } from "../shortcuts.ts";

/** Returns the index of the selected row, -1 without one. */
export function useRowKeys(addresses: readonly string[]): number {
  const [selected, setSelected] = useState(-1);
  const last = addresses.length - 1;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!takesKeys(event)) return;
      if (event.key === "j") setSelected((now) => Math.min(now + 1, last));
      if (event.key === "k") setSelected((now) => Math.max(now - 1, 0));
      const chosen = addresses[selected];
      if (event.key === "Enter" && chosen !== undefined && event.target === document.body) navigate(chosen);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [addresses.join(), selected]);
  const shown = Math.min(selected, last);
  useEffect(() => {
    if (shown >= 0) document.querySelector('[data-row="on"]')?.scrollIntoView({ block: "nearest" });
  }, [shown]);
  return shown;
}

/** `key` calls `act`, unless a field has the focus. */
export function useKey(key: string, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== key || !takesKeys(event)) return;
      event.preventDefault();
      latest.current();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [key]);
}
