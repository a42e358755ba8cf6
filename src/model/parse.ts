/** A frame's own match parameters, by name: what the parser sees. */
import {
  Header,
  MAP_STOP_HAD,
  MAP_STOP_HEADER,
  MAP_STOP_OFFSET,
  MAP_STOP_WANTED,
  MAP_STOP_WHY,
  Stop,
} from "../abi/headers.js";
import type { Batch } from "../engine/batch.js";
import { FIELDS, isPresent, readField } from "./fields.js";
import { firstCutField } from "./stops.js";
import { format } from "./term.js";

/** Where and why parsing stopped before the end. */
export interface ParseStop {
  header: keyof typeof Header;
  /** The first field that could not be read, or that made no sense. */
  field: string;
  /** Offset of the header in the frame. */
  offset: number;
  /** Bytes that the header takes, and bytes that were there. */
  wanted: number;
  had: number;
  reason: keyof typeof Stop;
}

export interface ParsedFrame {
  /** Fields that are present: numbers, or addresses as text. */
  fields: Record<string, number | string>;
  stopped: ParseStop | null;
}

/** Reads frame i of a batch that was parsed with every group. */
export function parsedAt(batch: Batch, i: number): ParsedFrame {
  const key = batch.key(i);
  const fields: Record<string, number | string> = {};
  for (const field of FIELDS) {
    if (!field.filled || !isPresent(key, field)) continue;
    const value = readField(key, field);
    // A state bit says what is there; where nothing is, it need not be said.
    if (value === 0n && field.here === null && field.width === 1) continue;
    fields[field.name] = field.kind === "number" ? Number(value) : format(field, value);
  }
  return { fields, stopped: stopAt(batch.map(i)) };
}

function stopAt(map: DataView): ParseStop | null {
  const why = map.getUint8(MAP_STOP_WHY);
  if (why === (Stop.none as number)) return null;
  const header = map.getUint8(MAP_STOP_HEADER);
  const had = map.getUint32(MAP_STOP_HAD, true);
  return {
    header: Header[header] as keyof typeof Header,
    field: firstCutField(header, why, had),
    offset: map.getUint32(MAP_STOP_OFFSET, true),
    wanted: map.getUint32(MAP_STOP_WANTED, true),
    had,
    reason: Stop[why] as keyof typeof Stop,
  };
}
