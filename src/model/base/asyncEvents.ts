/** The asynchronous events of a context (ibv_get_async_event(3)). */
import { isObject } from "../../base/checks.js";
import { refuse } from "../../errors.js";
import { EventQueue } from "./time/eventQueue.js";
import { Handle } from "./handle.js";

/** `struct ibv_async_event`: `element` has one member, the object that got the event. */
export interface ObjectEvent {
  /** IBV_EVENT_* */
  event_type: number;
  element: Readonly<Record<string, Handle>>;
}

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

  /** @internal Acknowledges an event of an object. @returns whether one waited for that */
  acknowledge(object: Handle): boolean {
    const left = (this._open.get(object) ?? 0) - 1;
    if (left > 0) this._open.set(object, left);
    else if (!this._open.delete(object)) return false;
    return true;
  }
}

/** @internal `ibv_ack_async_event`: a copy of an event stands for it, as in C. @throws EINVAL none of its object waits */
export function acknowledgeEvent(event: { readonly element?: unknown }): void {
  const [object] = isObject(event.element) ? Object.values(event.element) : [];
  if (object instanceof Handle && "context" in object) {
    const { asyncEvents } = object.context as { readonly asyncEvents: AsyncEvents };
    if (asyncEvents.acknowledge(object)) return;
  }
  const hint = "give the event that ibv_get_async_event returned or filled, once";
  refuse({ code: "EINVAL", reason: "bad_object", path: "event", value: event, hint });
}

function objectOf({ element }: ObjectEvent): Handle {
  return Object.values(element)[0] as Handle;
}
