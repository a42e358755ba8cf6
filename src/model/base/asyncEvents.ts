/** The asynchronous events of a context (ibv_get_async_event(3)). */
import { refuse } from "../../errors.js";
import { EventQueue } from "./time/eventQueue.js";
import type { Handle } from "./handle.js";

/** `struct ibv_async_event`: `element` has one member, the object that got the event. */
export interface ObjectEvent {
  /** IBV_EVENT_* */
  event_type: number;
  element: Readonly<Record<string, Handle>>;
}

/** What happens when the program acknowledges an event, by event. */
const UNACKNOWLEDGED = new WeakMap<object, () => void>();

/**
 * An object with events that no program has acknowledged cannot be destroyed. SPEC: C waits for the
 * acknowledgement there.
 */
export class AsyncEvents extends EventQueue<ObjectEvent> {
  /** Events taken and not acknowledged, by object. */
  private readonly _open = new Map<Handle, number>();

  protected override taken(event: ObjectEvent): void {
    const object = objectOf(event);
    this._open.set(object, (this._open.get(object) ?? 0) + 1);
    UNACKNOWLEDGED.set(event, () => this._acknowledged(object));
  }

  /** @internal Adds an event of an object; `member` is its name in the union of C. */
  report(event_type: number, member: string, object: Handle): void {
    this.add({ event_type, element: { [member]: object } });
  }

  /** @internal Checks that no event of an object waits for its acknowledgement. @throws EBUSY */
  checkAcknowledged(path: string, object: Handle): void {
    if (!this._open.has(object)) return;
    const hint = "acknowledge its events first: ibv_ack_async_event";
    refuse({ code: "EBUSY", reason: "in_use", path, value: object, hint });
  }

  /** @internal Forgets the events of an object that is destroyed. */
  forget(object: Handle): void {
    this.remove((event) => objectOf(event) === object);
  }

  private _acknowledged(object: Handle): void {
    const left = (this._open.get(object) ?? 0) - 1;
    if (left > 0) this._open.set(object, left);
    else this._open.delete(object);
  }
}

/** @internal The struct of a program stands for the event that it was filled from. */
export function copyEvent(event: ObjectEvent, struct: object): void {
  const acknowledged = UNACKNOWLEDGED.get(event);
  UNACKNOWLEDGED.delete(event);
  if (acknowledged !== undefined) UNACKNOWLEDGED.set(struct, acknowledged);
}

/** @internal `ibv_ack_async_event`. @throws EINVAL it is no event that waits for that */
export function acknowledgeEvent(event: object): void {
  const acknowledged = UNACKNOWLEDGED.get(event);
  if (acknowledged === undefined) {
    const hint = "give the event that ibv_get_async_event returned or filled, once";
    refuse({ code: "EINVAL", reason: "bad_object", path: "event", value: event, hint });
  }
  UNACKNOWLEDGED.delete(event);
  acknowledged();
}

function objectOf({ element }: ObjectEvent): Handle {
  return Object.values(element)[0] as Handle;
}
