/** What a served device did, at its end. */
import type { StopSignal } from "../interruption.js";
import { grouped, printable, table, type Paint } from "../text.js";
import type { WrittenSnapshot } from "./snapshotFile.js";
import type { Switchboard } from "./switchboard.js";

/** The last line of `flowsteer serve --json`. */
export interface ServeSum {
  readonly kind: "sum";
  /** Null where it ended by itself. */
  readonly signal: StopSignal | null;
  readonly seconds: number;
  readonly wires: readonly WireSum[];
  /** Frames without a destination, by reason. */
  readonly dropped: Readonly<Record<string, { readonly frames: number; readonly bytes: number }>>;
  /** Null where none was asked for. */
  readonly snapshot: WrittenSnapshot | null;
}

export interface WireSum {
  readonly place: string;
  readonly framesIn: number;
  readonly bytesIn: number;
  readonly framesOut: number;
  readonly bytesOut: number;
  /** Frames that the wire lost, by reason. */
  readonly lost: Readonly<Record<string, number>>;
}

export function wireSums({ places }: Switchboard): WireSum[] {
  return places.map(({ name, wire: { counts } }) => ({
    place: name,
    ...counts,
    lost: Object.fromEntries(counts.lost),
  }));
}

export function sumOf(board: Switchboard, signal: StopSignal | null, snapshot: WrittenSnapshot | null): ServeSum {
  const seconds = Number(board.age / 1_000_000n) / 1000;
  return { kind: "sum", signal, seconds, wires: wireSums(board), dropped: Object.fromEntries(board.dropped), snapshot };
}

export function sumText(paint: Paint, { signal, seconds, wires, dropped, snapshot }: ServeSum): string {
  const right = (title: string): { title: string; right: true } => ({ title, right: true });
  const columns = [
    { title: "Wire" },
    right("frames in"),
    right("bytes in"),
    right("frames out"),
    right("bytes out"),
    { title: "lost" },
  ];
  const rows = wires.map(({ place, framesIn, bytesIn, framesOut, bytesOut, lost }) => ({
    cells: [printable(place), ...[framesIn, bytesIn, framesOut, bytesOut].map(grouped), lostText(lost)],
  }));
  const drops = Object.entries(dropped).sort(([, a], [, b]) => b.frames - a.frames);
  const parts = [`served for ${seconds.toFixed(1)} s${signal === null ? "" : `, ended by ${signal}`}\n`];
  if (rows.length > 0) parts.push(table(paint, columns, rows));
  if (drops.length > 0) {
    const cells = drops.map(([reason, { frames, bytes }]) => ({ cells: [reason, grouped(frames), grouped(bytes)] }));
    parts.push(table(paint, [{ title: "Dropped" }, right("frames"), right("bytes")], cells));
  }
  if (snapshot !== null) parts.push(snapshotText(snapshot));
  return parts.join("\n");
}

function snapshotText(snapshot: WrittenSnapshot): string {
  const { file } = snapshot;
  if ("error" in snapshot) return `no snapshot ${printable(file)}: ${printable(snapshot.error)}\n`;
  return `snapshot: ${printable(file)}, ${grouped(snapshot.bytes)} bytes\n`;
}

function lostText(lost: Readonly<Record<string, number>>): string {
  return Object.entries(lost)
    .map(([reason, frames]) => `${grouped(frames)} ${reason}`)
    .join(", ");
}
