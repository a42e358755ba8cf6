/**
 * Programmable samples (docs/parsing.md, "Programmable samples"): four bytes at an offset that the
 * device declares.
 * In: the finished frame map. Out: `prog_sample_field_value_n` of each declared sample whose bytes
 * are present. A declaration: | header 1 | level 1 | 0 2 | offset 4 | UDP destination port 4,
 * 0xffffffff for any | 0 4 |
 */
import {
  Header,
  LEVEL_INNER,
  LEVEL_OUTER,
  MAP_INNER_PAYLOAD,
  MAP_INNER_PAYLOAD_END,
  MAP_PAYLOAD,
  MAP_PAYLOAD_END,
} from "../../src/abi/headers";
import { PRESENT_SAMPLE, MISC4, MISC4_SAMPLE_SIZE, SAMPLE_COUNT } from "../../src/abi/key";
import { SAMPLE_SIZE, SAMPLES } from "../memory";
import { invalidate } from "../epoch";
import { be16, Cursor, Key } from "./cursor";
import { findHeader, NOWHERE } from "./frameMap";

const SAMPLE_LEVEL: usize = 1;
const SAMPLE_OFFSET: usize = 4;
const SAMPLE_PORT: usize = 8;
const ANY_PORT: u32 = 0xffffffff;
const VALUE_SIZE: u32 = 4;

/** The declared ids, one bit each. */
let declared: u32 = 0;

/**
 * Declares sample `id` (0 to 7) of this device. `header` 0 is the payload of the level, `port` -1
 * any port. A later call cannot change it.
 */
export function declareSample(id: u32, header: u32, level: u32, offset: u32, port: u32): void {
  const sample = sampleAt(id);
  invalidate();
  declared |= 1 << id;
  store<u32>(sample, header | (level << 8));
  store<u32>(sample, offset, SAMPLE_OFFSET);
  store<u32>(sample, port, SAMPLE_PORT);
}

/** Whether a sample reads the inner packet. */
export function samplesInner(): bool {
  for (let id: u32 = 0; id < <u32>SAMPLE_COUNT; id++) {
    if (<u32>load<u8>(sampleAt(id), SAMPLE_LEVEL) == LEVEL_INNER) return true;
  }
  return false;
}

export function fillSamples(map: usize): void {
  for (let rest = declared; rest != 0; rest &= rest - 1) {
    const id = <u32>ctz(rest);
    const sample = sampleAt(id);
    const level = <u32>load<u8>(sample, SAMPLE_LEVEL);
    const port = load<u32>(sample, SAMPLE_PORT);
    if (port != ANY_PORT && portAt(map, level) != port) continue;
    const start = startOf(map, level, load<u8>(sample));
    if (start == NOWHERE) continue;
    const at = start + load<u32>(sample, SAMPLE_OFFSET);
    const end = load<u32>(map + <usize>(level == LEVEL_OUTER ? MAP_PAYLOAD_END : MAP_INNER_PAYLOAD_END));
    if (at + VALUE_SIZE > end) continue;
    store<u32>(Key.misc4 + <usize>(MISC4 + id * MISC4_SAMPLE_SIZE), load<u32>(Cursor.frame + <usize>at));
    Cursor.tunnels |= PRESENT_SAMPLE << id;
  }
}

function sampleAt(id: u32): usize {
  return SAMPLES + <usize>id * SAMPLE_SIZE;
}

/**
 * The offset of the first such header of the level, or of the level's payload (Header.none);
 * NOWHERE without such a header.
 */
function startOf(map: usize, level: u32, header: u32): u32 {
  if (header != Header.none) return findHeader(map, level, header);
  // Without an inner packet its end is 0 too, so no sample fits before it.
  return load<u32>(map + <usize>(level == LEVEL_OUTER ? MAP_PAYLOAD : MAP_INNER_PAYLOAD));
}

function portAt(map: usize, level: u32): u32 {
  const udp = findHeader(map, level, Header.udp);
  return udp == NOWHERE ? NOWHERE : be16(Cursor.frame + <usize>udp + 2);
}
