/** Collects the state that the actions and destinations of a trace used, before and after. */
import { STATE_ADDRESS, STATE_BEFORE, STATE_BYTES, STATE_KIND, StateKind } from "../../abi/trace.js";
import type { Core } from "../../engine/core.js";
import type { Device } from "../../model/device/device.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import { WorkQueue } from "../../model/queue/workQueue.js";
import type { EventReader } from "./events.js";
import { stateName } from "./objects.js";
import { stateChange } from "./state.js";
import type { OpenAction } from "./openAction.js";
import type { DestinationStep, StateChange } from "./trace.js";

/** A step that shows state. */
interface Owner {
  state: readonly StateChange[];
}

interface Noted {
  readonly kind: number;
  readonly address: number;
  readonly before: Uint8Array;
  readonly owner: Owner;
  readonly name: string;
}

type Taken = Omit<Noted, "owner" | "name">;

export class StateChanges {
  readonly #device: Device;
  readonly #core: Core;
  /** In the order of the events. */
  readonly #noted: Noted[] = [];
  /** Receive queues and completion queues that took frames of this walk. */
  #taken: Taken[] = [];
  /** The queues of its destinations. */
  #queues: { readonly step: DestinationStep & Owner; readonly queue: number }[] = [];

  constructor(device: Device, core: Core) {
    this.#device = device;
    this.#core = core;
  }

  /** Notes a state event. */
  add(reader: EventReader, action: OpenAction | null): void {
    const kind = reader.word(STATE_KIND / 4);
    const address = reader.word(STATE_ADDRESS / 4);
    const before = reader.bytes(STATE_BEFORE, reader.word(STATE_BYTES / 4));
    if (kind === (StateKind.queue as number) || kind === (StateKind.completion_queue as number)) {
      this.#taken.push({ kind, address, before });
    } else if (action !== null && kind !== (StateKind.reason as number)) {
      const name = stateName(this.#core, kind, address, action.rule);
      if (action.object === "") action.object = name;
      this.#noted.push({ kind, address, before, owner: action.step, name });
    }
  }

  /** Notes a queue of the walk, in the order of its destinations. */
  queueOf(step: DestinationStep & Owner, queue: number): void {
    this.#queues.push({ step, queue });
  }

  /** After a walk: queues took their frames in the order of the destinations. */
  closeWalk(): void {
    const taken = this.#taken[Symbol.iterator]();
    for (const { step, queue } of this.#queues) {
      const object = this.#device.queues.get(queue);
      if (!(object instanceof QueuePair || object instanceof WorkQueue)) continue;
      if (object.isSink || !object.takesFrames) continue;
      if (step.refused !== null && step.refused !== "receive_buffer_too_short") continue;
      for (const name of [queueOf(object).name, object.name]) {
        const { value } = taken.next();
        if (value !== undefined) this.#noted.push({ ...value, owner: step, name });
      }
    }
    this.#taken = [];
    this.#queues = [];
  }

  /** The state after an action is that before the next one, or that of the core. */
  finish(): void {
    const { u8 } = this.#core;
    const later = new Map<number, Uint8Array>();
    for (const { kind, address, before, owner, name } of this.#noted.reverse()) {
      const after = later.get(address) ?? u8.subarray(address, address + before.length);
      later.set(address, before);
      owner.state = [stateChange(kind, name, before, after), ...owner.state];
    }
  }
}

function queueOf(object: QueuePair | WorkQueue): { readonly name: string } {
  return (object instanceof WorkQueue ? object.cq : object.recv_cq) ?? { name: "" };
}
