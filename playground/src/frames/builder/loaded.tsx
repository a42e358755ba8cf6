/** The builder is loaded when it is opened for the first time. */
import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { building } from "../../state/builder.js";

export function LoadedBuilder(): JSX.Element | null {
  const [View, setView] = useState<ComponentType | null>(null);
  const open = building.value !== null;
  useEffect(() => {
    if (open && View === null) void import("./builder.js").then(({ Builder }) => setView(() => Builder));
  }, [open]);
  return open && View !== null ? <View /> : null;
}
