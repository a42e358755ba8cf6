/** Where a frame comes in, as reports write it and as --packet and --from read it again. */
import type { WitnessFrame } from "../explain/index.js";

/** `at port 1`, `sent by qp:web with register A 0x7` */
export function sourceText({ from, metadata = 0 }: WitnessFrame): string {
  if (from.kind === "wire") return `at port ${from.port}`;
  return `sent by ${from.queue}${metadata === 0 ? "" : ` with register A 0x${metadata.toString(16)}`}`;
}

/** The packet of a witness as `cover` writes it, and the options that its source stands for. */
export interface WrittenWitness {
  readonly packet: string;
  readonly source: Readonly<Partial<Record<"port" | "from" | "metadata", string>>>;
  /** How many frames come before it, as written; null for none. */
  readonly after: string | null;
}

const SOURCE =
  /, +(?:at port (\d+)|sent by (.+?)(?: with register A (0x[\da-f]{1,8}))?)(?:, after (\d+(?:,\d+)* frames?))?$/;

/** Splits a packet from the source that may follow it. A report breaks long lines. */
export function readWitness(text: string): WrittenWitness {
  const line = text
    .split("\n")
    .map((part) => part.trim())
    .join(" ")
    .trim();
  const found = SOURCE.exec(line);
  if (found === null) return { packet: line, source: {}, after: null };
  const [, port, from, metadata, after = null] = found;
  const source = {
    ...(port !== undefined && { port }),
    ...(from !== undefined && { from }),
    ...(metadata !== undefined && { metadata }),
  };
  return { packet: line.slice(0, found.index), source, after };
}
