/**
 * Counts packets and bytes of rules, ports and queues, on request (docs/metrics.md). In: the
 * outcomes of a batch, after the last stage. Out: one packet more for each rule that a frame hit, for
 * its port and for each place that took it.
 *
 *     rules   | packets 8 | bytes 8 |, at the number of the rule
 *     ports   | received 16 | transmitted 16 | dropped 16 |, at the number of the port minus 1
 *
 * Bytes of rules and received frames are the length on the wire with which the frame came in.
 */
import { COUNTER_BYTES, COUNTER_PACKETS } from "../../src/abi/state";
import {
  FRAME_PORT,
  FRAME_SIZE,
  FRAME_VPORT,
  HITS_PER_FRAME,
  PORT_COUNTS,
  PORT_DROPPED,
  PORT_TRANSMITTED,
  VPORT_UPLINK,
} from "../../src/abi/engine";
import {
  DEST_FLAGS,
  DEST_LENGTH,
  DEST_NEXT,
  DEST_PORT,
  DEST_QUEUE,
  DEST_STATUS,
  OUTCOME_DESTINATIONS,
  OUTCOME_HITS,
  OUTCOME_VERDICT,
  Reason,
  Verdict,
} from "../../src/abi/outcome";
import { RECEIVE_PACKETS } from "../../src/abi/queue";
import { Rows } from "../rows";
import { firstDestination, outcomeAt } from "../branch/outcome";

const COUNTER_SHIFT: usize = 4;

export namespace HitCounts {
  /** Counters of rules, and how many; 0 while nothing is counted. */
  export let rules: usize = 0;
  export let count: u32 = 0;
  export let ports: usize = 0;
}

/** Counts hits from now on: `count` counters of rules, and PORT_COUNTS bytes for each port. 0 ends it. */
export function countHits(rules: usize, count: u32, ports: usize): void {
  HitCounts.rules = rules;
  HitCounts.count = count;
  HitCounts.ports = ports;
}

/** Counts the frames of a batch, whose lengths were kept before it was steered. */
export function countBatch(frames: u32): void {
  for (let i: u32 = 0; i < frames; i++) {
    const outcome = outcomeAt(i);
    const bytes = load<u32>(Rows.lengths + ((<usize>i) << 3), 4);
    const hits: u32 = load<u16>(outcome, OUTCOME_HITS);
    for (let n: u32 = 0; n < hits; n++) {
      const id = load<u32>(Rows.hits + ((<usize>(i * HITS_PER_FRAME + n)) << 2));
      // Unreached: the host makes room for the counters of new rules first.
      if (id < HitCounts.count) add(HitCounts.rules + ((<usize>id) << COUNTER_SHIFT), bytes);
    }
    const frame = Rows.frames + <usize>i * FRAME_SIZE;
    if (load<u32>(frame, FRAME_VPORT) == VPORT_UPLINK) {
      const port = portAt(load<u16>(frame, FRAME_PORT));
      const verdict: u32 = load<u8>(outcome, OUTCOME_VERDICT);
      add(port, bytes);
      if (verdict == Verdict.drop || verdict == Verdict.miss) add(port + PORT_DROPPED, bytes);
    }
    countDestinations(i, load<u16>(outcome, OUTCOME_DESTINATIONS));
  }
}

function countDestinations(index: u32, count: u32): void {
  let destination = firstDestination(index);
  for (let n: u32 = 0; n < count; n++) {
    if (n > 0) destination = load<u32>(destination, DEST_NEXT);
    // Queues that did not take the frame are listed too.
    if (load<u32>(destination, DEST_STATUS) != Reason.none) continue;
    const to = load<u32>(destination, DEST_QUEUE);
    const length = load<u32>(destination, DEST_LENGTH);
    if (load<u32>(destination, DEST_FLAGS) & DEST_PORT) add(portAt(to) + PORT_TRANSMITTED, length);
    else add(<usize>to + RECEIVE_PACKETS, length);
  }
}

// @ts-ignore: decorator
@inline
function portAt(number: u32): usize {
  return HitCounts.ports + <usize>(number - 1) * PORT_COUNTS;
}

// @ts-ignore: decorator
@inline
function add(counter: usize, bytes: u32): void {
  store<u64>(counter, load<u64>(counter, COUNTER_PACKETS) + 1, COUNTER_PACKETS);
  store<u64>(counter, load<u64>(counter, COUNTER_BYTES) + <u64>bytes, COUNTER_BYTES);
}
