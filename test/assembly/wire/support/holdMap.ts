/** What must be true of the map of any frame, whole or broken. */
import {
  Header,
  LEVEL_INNER,
  MAP_COUNT,
  MAP_ENTRIES,
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
} from "../../../../src/abi/headers.js";
import type { FoundHeader } from "./mutate.js";

/** What has a length that can be no header's. */
const WITH_LENGTH: ReadonlySet<number> = new Set([Header.ipv4, Header.gtpu_extension, Header.nsh]);
/** What keeps the fields of its fixed part when its options are cut, and the size of that part. */
const WITH_OPTIONS: ReadonlyMap<number, number> = new Map<number, number>([
  [Header.tcp, 20],
  [Header.gre, 4],
  [Header.gtpu, 8],
]);
const IP: ReadonlySet<number> = new Set([Header.ipv4, Header.ipv6, Header.ip]);

/** The headers that the map has of a frame of so many bytes; `fail` is told what is wrong with it. */
export function holdMap(
  map: DataView,
  length: number,
  wireLength: number,
  fail: (what: string) => never,
): FoundHeader[] {
  const word = (at: number): number => map.getUint32(at, true);
  const hold = (is: boolean, what: string): void => {
    if (!is) fail(`${what}; map ${Array.from({ length: 8 }, (_, i) => word(i * 4)).join(" ")}`);
  };
  const count = map.getUint16(MAP_COUNT, true);
  hold(count <= MAP_ENTRIES, "more headers than the map has room for");
  const headers: FoundHeader[] = [];
  let [before, level] = [-1, 0];
  for (let i = 0; i < count; i++) {
    const entry = MAP_FIRST + i * MAP_ENTRY_SIZE;
    const [kind, at, offset] = [map.getUint8(entry), map.getUint8(entry + 1), word(entry + 4)];
    hold(Header[kind] !== undefined && kind !== Header.none, `header ${i} is of no kind`);
    hold(at >= level && at <= LEVEL_INNER, `header ${i} is at level ${at}`);
    hold(offset > before && offset < length, `header ${i} begins at ${offset}`);
    headers.push({ kind, level: at, offset });
    [before, level] = [offset, at];
  }
  const [payload, payloadEnd] = [word(MAP_PAYLOAD), word(MAP_PAYLOAD_END)];
  const [inner, innerEnd] = [word(MAP_INNER_PAYLOAD), word(MAP_INNER_PAYLOAD_END)];
  hold(payload <= payloadEnd && payloadEnd <= length, "the payload ends within the frame");
  hold(inner <= innerEnd && innerEnd <= payloadEnd, "the inner payload ends within the outer");
  hold(inner === 0 || inner >= payload, "the inner payload begins within the outer");

  const [why, stopped] = [map.getUint8(MAP_STOP_WHY), map.getUint8(MAP_STOP_HEADER)];
  const [at, wanted, had] = [word(MAP_STOP_OFFSET), word(MAP_STOP_WANTED), word(MAP_STOP_HAD)];
  if (why === Stop.none) {
    hold(stopped === 0 && at === 0 && wanted === 0 && had === 0, "nothing stopped");
    return headers;
  }
  hold(Stop[why] !== undefined && Header[stopped] !== undefined && stopped !== Header.none, "a stop of no kind");
  hold(at + had <= payloadEnd, "the stop lies within the frame");
  const last = headers.at(-1);
  if (at === before && last !== undefined) {
    const fixed = WITH_OPTIONS.get(last.kind) ?? Infinity;
    const [begin, end] = last.level === LEVEL_INNER ? [inner, innerEnd] : [payload, payloadEnd];
    hold(stopped === last.kind && had >= fixed && wanted > fixed, "only options are cut off from a header");
    hold(begin === end && at + had === end, "nothing follows a header whose options are cut");
  } else hold(at > before || count === MAP_ENTRIES, "the stop lies behind the headers that were read");
  const beyond = wireLength - at < wanted;
  if (why === Stop.truncated) hold(had < wanted && !beyond, "a cut header has bytes on the wire only");
  else if (why === Stop.beyond_packet) hold(had < wanted, "a header beyond its packet lacks bytes");
  else if (why === Stop.bad_header_length) hold(WITH_LENGTH.has(stopped), "a bad header length of what has none");
  else hold(IP.has(stopped), "only IP has a bad version");
  return headers;
}
