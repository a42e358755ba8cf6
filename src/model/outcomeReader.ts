/** Outcomes of a batch to objects; frames that used a receive buffer are handed to their queue pairs on the way. */
import { Reason } from "../abi/engine.js";
import type { Batch } from "../engine/batch.js";
import type { Device } from "./device.js";
import { FlowEntry } from "./flowEntry.js";
import { HostQueue } from "./hostRules.js";
import {
  bareOutcome,
  reasonName,
  verdictName,
  type Destination,
  type HitRule,
  type OpenOutcome,
  type Outcome,
} from "./outcome.js";
import type { QueuePair } from "./queues.js";

const NONE: number = Reason.none;
const TOO_SHORT: number = Reason.receive_buffer_too_short;

export class OutcomeReader {
  readonly #device: Device;
  readonly #batch: Batch;

  constructor(device: Device, batch: Batch) {
    this.#device = device;
    this.#batch = batch;
  }

  /** What became of frame `i` of the batch, whose bytes are `frame`; `sender` has sent it where it was looped back. */
  read(i: number, frame: Uint8Array, sender: QueuePair | null): Outcome {
    const batch = this.#batch;
    const tag = batch.tag(i);
    const outcome = bareOutcome(verdictName(batch.verdict(i)), reasonName(batch.reason(i)), tag < 0 ? null : tag);
    if (batch.hits(i) > 0) outcome.rules = this.#rulesHit(i, sender);
    const destinations = batch.destinations(i);
    let at = batch.firstDestination(i);
    for (let n = 0; n < destinations; n++) {
      this.#arrive(at, outcome, frame);
      at = batch.nextDestination(at);
    }
    return outcome;
  }

  /** A destination of a frame: the bytes go to its queue, and the outcome lists it where the queue took them. */
  #arrive(at: number, outcome: OpenOutcome, frame: Uint8Array): void {
    const batch = this.#batch;
    const object = this.#device.queuePairs.get(batch.queueOf(at)) as QueuePair | HostQueue;
    const status = batch.statusOf(at);
    const taken = status === NONE;
    const tag = batch.tagOf(at);
    if (!object.isSink && (taken || status === TOO_SHORT)) object.arrive(batch.arrivalAt(at), tag);
    if (!taken) return;
    // No action of this release changes a frame: what arrived is what came in.
    const arrived = { name: object.label, frame, tag };
    const destination: Destination =
      object instanceof HostQueue ? { kind: "host", object: null, ...arrived } : { kind: "qp", object, ...arrived };
    const list = batch.isCopy(at) ? "copies" : "to";
    if (outcome[list].length === 0) outcome[list] = [destination];
    else (outcome[list] as Destination[]).push(destination);
  }

  #rulesHit(i: number, sender: QueuePair | null): HitRule[] {
    const rules: HitRule[] = [];
    for (let n = 0; n < this.#batch.hits(i); n++) {
      const one = this.#device.installed.at(this.#batch.hit(i, n));
      if (one instanceof FlowEntry) rules.push(...one.flowsFor(sender));
      else rules.push(one);
    }
    return rules;
  }
}
