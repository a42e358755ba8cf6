/** `parsedAt` reads the result of a parse: key and header list of one frame of a batch, as a `ParsedFrame`. */
import {
  Header,
  LEVEL_OUTER,
  MAP_COUNT,
  MAP_ENTRY_SIZE,
  MAP_FIRST,
  MAP_INNER_PAYLOAD,
  MAP_INNER_PAYLOAD_END,
  MAP_PAYLOAD,
  MAP_PAYLOAD_END,
  MAP_STOP_HAD,
  MAP_STOP_HEADER,
  MAP_STOP_OFFSET,
  MAP_STOP_WANTED,
  MAP_STOP_WHY,
  Stop,
} from "../../abi/headers.js";
import type { Batch } from "../../engine/batch.js";
import { FIELDS, isPresent, readField } from "./fields.js";
import { firstCutField } from "../../packet/cutField.js";
import type { HeaderName, ParsedFrame, ParsedHeader, ParsedHeaders, ParseStop } from "../../packet/parsedFrame.js";
import { format } from "./term.js";

/** Reads frame i of a batch that was parsed with every group. */
export function parsedAt(batch: Batch, i: number): ParsedFrame {
  const key = batch.key(i);
  const fields: Record<string, number | string> = {};
  for (const field of FIELDS) {
    if (!field.filled || field.ofWay || !isPresent(key, field)) continue;
    const value = readField(key, field);
    // A state bit names the header that is there; absence needs no text.
    if (value === 0n && field.here === null && field.width === 1) continue;
    fields[field.name] = field.kind === "number" ? Number(value) : format(field, value);
  }
  return { fields, ...headersAt(batch, i) };
}

/** Reads the headers of frame i of a batch that was parsed with every group. */
export function headersAt(batch: Batch, i: number): ParsedHeaders {
  return headersIn(batch.map(i));
}

/** Reads the headers of a frame map. */
export function headersIn(map: DataView): ParsedHeaders {
  return { headers: headersOf(map), payload: payloadOf(map), stopped: stopAt(map) };
}

function headersOf(map: DataView): ParsedHeader[] {
  return Array.from({ length: map.getUint16(MAP_COUNT, true) }, (_, n) => {
    const entry = MAP_FIRST + n * MAP_ENTRY_SIZE;
    return {
      header: Header[map.getUint8(entry)] as HeaderName,
      level: map.getUint8(entry + 1) === LEVEL_OUTER ? "outer" : "inner",
      offset: map.getUint32(entry + 4, true),
    };
  });
}

/** The inner packet's payload, where there is an inner packet. */
function payloadOf(map: DataView): { offset: number; end: number } {
  const inner = map.getUint32(MAP_INNER_PAYLOAD, true) !== 0;
  return {
    offset: map.getUint32(inner ? MAP_INNER_PAYLOAD : MAP_PAYLOAD, true),
    end: map.getUint32(inner ? MAP_INNER_PAYLOAD_END : MAP_PAYLOAD_END, true),
  };
}

function stopAt(map: DataView): ParseStop | null {
  const why = map.getUint8(MAP_STOP_WHY);
  if (why === (Stop.none as number)) return null;
  const header = map.getUint8(MAP_STOP_HEADER);
  const had = map.getUint32(MAP_STOP_HAD, true);
  return {
    header: Header[header] as HeaderName,
    field: firstCutField(header, why, had),
    offset: map.getUint32(MAP_STOP_OFFSET, true),
    wanted: map.getUint32(MAP_STOP_WANTED, true),
    had,
    reason: Stop[why] as keyof typeof Stop,
  };
}
