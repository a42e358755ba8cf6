/** What the columns of the list say. */
import type { FrameRow } from "../../engine/api.js";

/** Seconds with the digits of the file. */
const TIME = new Intl.NumberFormat("en", { minimumFractionDigits: 6, maximumFractionDigits: 6, useGrouping: false });

export function timeColumn({ time }: FrameRow): string {
  return time === null ? "" : TIME.format(time);
}

/** Where it went; and if nowhere, why. */
export function endColumn({ to, copies, reason, unclaimed, skipped }: FrameRow): string {
  const ends = [...to, ...copies.map((one) => `copy ${one}`)];
  return ends.length > 0 ? `${unclaimed ? "no rule: " : ""}${ends.join(", ")}` : (skipped ?? reason ?? "");
}

export const COLUMNS = [
  { id: "number", title: "No." },
  { id: "time", title: "Time (s)" },
  { id: "length", title: "Bytes" },
  { id: "summary", title: "Summary" },
  { id: "verdict", title: "Verdict" },
  { id: "end", title: "To, or reason" },
] as const;
