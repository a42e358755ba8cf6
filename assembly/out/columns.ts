/**
 * Outcomes of a batch as columns: one array for each value (COLUMN_* of src/abi/engine.ts). In: the
 * outcomes of the batch. Out: the area `columns`, and whether some frame needs the host.
 */
import {
  COLUMN_DESTINATIONS,
  COLUMN_HITS,
  COLUMN_KIND,
  COLUMN_QUEUE,
  COLUMN_REASON,
  COLUMN_RULE,
  COLUMN_TAG,
  COLUMN_TAGGED,
  COLUMN_VERDICT,
  HITS_PER_FRAME,
  NO_RULE,
  SOME_AT_HOST,
  SOME_AT_PORT,
} from "../../src/abi/engine";
import {
  DEST_FLAGS,
  DEST_NEXT,
  DEST_PORT,
  DEST_QUEUE,
  DEST_STATUS,
  OUTCOME_DESTINATIONS,
  OUTCOME_FLAGS,
  OUTCOME_HAS_TAG,
  OUTCOME_HITS,
  OUTCOME_REASON,
  OUTCOME_TAG,
  OUTCOME_VERDICT,
  Reason,
} from "../../src/abi/outcome";
import { COLUMNS } from "../memory";
import { Rows } from "../rows";
import { firstDestination, outcomeAt } from "../branch/outcome";
import { isServed } from "./queue";

/**
 * Writes the columns (COLUMN_*) of the first `count` frames. Returns the kinds of their
 * destinations (SOME_*).
 */
export function writeColumns(count: u32): u32 {
  let some: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const outcome = outcomeAt(i);
    const byte = COLUMNS + <usize>i;
    const half = COLUMNS + ((<usize>i) << 1);
    const word = COLUMNS + ((<usize>i) << 2);
    store<u8>(byte, load<u8>(outcome, OUTCOME_VERDICT), COLUMN_VERDICT);
    store<u8>(byte, <u8>load<u16>(outcome, OUTCOME_REASON), COLUMN_REASON);
    store<u8>(byte, load<u8>(outcome, OUTCOME_FLAGS) & OUTCOME_HAS_TAG, COLUMN_TAGGED);
    store<u32>(word, load<u32>(outcome, OUTCOME_TAG), COLUMN_TAG);
    const hits: u32 = load<u16>(outcome, OUTCOME_HITS);
    store<u8>(byte, <u8>min(hits, 255), COLUMN_HITS);
    const last = hits == 0 ? NO_RULE : load<u32>(Rows.hits + <usize>(i * HITS_PER_FRAME + hits - 1) * 4);
    store<u32>(word, last, COLUMN_RULE);
    const listed: u32 = load<u16>(outcome, OUTCOME_DESTINATIONS);
    let arrived: u32 = 0;
    let queue: u32 = 0;
    let kind: u32 = 0;
    let destination = firstDestination(i);
    for (let n: u32 = 0; n < listed; n++) {
      if (n > 0) destination = load<u32>(destination, DEST_NEXT);
      const to = load<u32>(destination, DEST_QUEUE);
      const flags = load<u32>(destination, DEST_FLAGS);
      if (flags & DEST_PORT) some |= SOME_AT_PORT;
      else if (isServed(to)) some |= SOME_AT_HOST;
      // Queues that did not take the frame are listed too.
      if (load<u32>(destination, DEST_STATUS) != Reason.none) continue;
      if (arrived == 0) {
        queue = to;
        kind = flags;
      }
      arrived++;
    }
    store<u16>(half, <u16>arrived, COLUMN_DESTINATIONS);
    store<u32>(word, queue, COLUMN_QUEUE);
    store<u8>(byte, <u8>kind, COLUMN_KIND);
  }
  return some;
}
