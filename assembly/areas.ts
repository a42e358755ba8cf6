/** The addresses of the areas that the host reads or writes. They change when areas grow (rows.ts). */
import { Area } from "../src/abi/engine";
import { Arena } from "./arena";
import { CACHE_COUNTS, COLUMNS, FOUND, FUNCTIONS, KNOWN_MASKS, MULTIPLIERS, REASONS, SAMPLES, STAGING } from "./memory";
import { Bytes, Classes, Rows } from "./rows";

/** Address of an area (`Area`); 0 for none. */
export function areaAddress(area: i32): usize {
  switch (area) {
    case Area.staging:
      return STAGING;
    case Area.frames:
      return Rows.frames;
    case Area.bytes:
      return Bytes.start;
    case Area.keys:
      return Rows.keys;
    case Area.maps:
      return Rows.maps;
    case Area.outcomes:
      return Rows.outcomes;
    case Area.hits:
      return Rows.hits;
    case Area.destinations:
      return Rows.destinations;
    case Area.reasons:
      return REASONS;
    case Area.found:
      return FOUND;
    case Area.times:
      return Rows.times;
    case Area.jobs:
      return Rows.jobs;
    case Area.columns:
      return COLUMNS;
    case Area.functions:
      return FUNCTIONS;
    case Area.samples:
      return SAMPLES;
    case Area.arena:
      return Arena.start;
    case Area.cache:
      return CACHE_COUNTS;
    case Area.outcome_classes:
      return Classes.start;
    case Area.known_masks:
      return KNOWN_MASKS;
    case Area.multipliers:
      return MULTIPLIERS;
    default:
      // Unreached: the host asks for the areas above only.
      return 0;
  }
}

/** The number of rows that have memory (`openRows`). */
export function rowsOpen(): u32 {
  return Rows.waiting;
}

/** The size of the area `bytes`. */
export function bytesOpen(): u32 {
  return Bytes.size;
}
