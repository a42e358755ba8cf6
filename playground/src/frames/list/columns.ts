/** The columns of the list: which there are, which are shown, and what they say. */
import { computed, signal } from "@preact/signals";
import type { FrameRow } from "../../engine/api.js";
import { countText } from "../../parts/format.js";
import { recall, remember } from "../../state/remembered.js";

interface ListColumn {
  readonly id: string;
  readonly title: string;
  /** A track of the grid. */
  readonly width: string;
  /** What it is sorted by; null where it cannot be. */
  readonly field: string | null;
  /** Absent where its text is a cell of the row. */
  readonly text?: (row: FrameRow) => string;
  /** Whether it is always shown, shown unless it is hidden, or shown if it is chosen. */
  readonly shown: "always" | "first" | "chosen";
}

/** Seconds with the digits of the file. */
const TIME = new Intl.NumberFormat("en", { minimumFractionDigits: 6, maximumFractionDigits: 6, useGrouping: false });

/** Where it went; and if nowhere, why. */
export function endColumn({ to, copies, reason, unclaimed, skipped }: FrameRow): string {
  const ends = [...to, ...copies.map((one) => `copy ${one}`)];
  return ends.length > 0 ? `${unclaimed ? "no rule: " : ""}${ends.join(", ")}` : (skipped ?? reason ?? "");
}

const chosen = (id: string, title: string, width: string, field: string): ListColumn => ({
  id,
  title,
  width,
  field,
  shown: "chosen",
});

const ALL: readonly ListColumn[] = [
  {
    ...chosen("number", "No.", "7ch", "frame.number"),
    shown: "always",
    text: ({ number }) => countText(number),
  },
  {
    ...chosen("time", "Time (s)", "11ch", "frame.time_relative"),
    shown: "first",
    text: ({ time }) => (time === null ? "" : TIME.format(time)),
  },
  { ...chosen("length", "Bytes", "8ch", "frame.cap_len"), shown: "first", text: ({ length }) => String(length) },
  {
    id: "summary",
    title: "Summary",
    width: "minmax(24ch, 1fr)",
    field: null,
    shown: "always",
    text: ({ summary }) => summary,
  },
  chosen("ports", "Ports", "13ch", "tcp.port || udp.port || sctp.port"),
  chosen("vlan", "VLAN", "6ch", "vlan.id"),
  chosen("vni", "VNI", "9ch", "vxlan.vni || geneve.vni"),
  chosen("rule", "Rules", "minmax(12ch, 24ch)", "fs.rule"),
  chosen("table", "Tables", "minmax(10ch, 20ch)", "fs.table"),
  chosen("tag", "Tag", "10ch", "fs.tag"),
  chosen("queue", "Queue", "12ch", "fs.to"),
  { ...chosen("verdict", "Verdict", "10ch", "fs.verdict"), shown: "always" },
  {
    ...chosen("end", "To, or reason", "minmax(10ch, 22ch)", "fs.to || fs.reason"),
    shown: "first",
    text: endColumn,
  },
];

const KEY = "columns";
const shownIds = signal<ReadonlySet<string>>(
  new Set(recall(KEY)?.split(",") ?? ALL.flatMap(({ id, shown }) => (shown === "chosen" ? [] : [id]))),
);

/** The columns that are shown, in their order. */
export const columns = computed(() => ALL.filter(({ id, shown }) => shown === "always" || shownIds.value.has(id)));

/** The fields that rows are asked for. */
export const fieldColumns = computed(() =>
  columns.value.flatMap(({ id, field, text }) =>
    text === undefined && id !== "verdict" && field !== null ? [field] : [],
  ),
);

/** The columns that can be shown and hidden, and whether they are shown. */
export function choices(): { readonly id: string; readonly title: string; readonly checked: boolean }[] {
  const all = ALL.filter(({ shown }) => shown !== "always");
  return all.map(({ id, title }) => ({ id, title, checked: shownIds.value.has(id) }));
}

export function toggleColumn(id: string): void {
  const now = new Set(shownIds.peek());
  if (!now.delete(id)) now.add(id);
  shownIds.value = now;
  remember(KEY, [...now].join(","));
}
