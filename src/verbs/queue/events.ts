/**
 * ibv_create_comp_channel(3), ibv_req_notify_cq(3), ibv_get_cq_event(3), ibv_get_async_event(3). C blocks until there
 * is an event; here the calls refuse with EAGAIN, as with O_NONBLOCK, and `channel.events` and `context.asyncEvents`
 * can be awaited.
 */
import { inCall } from "../../errors.js";
import { acknowledgeEvent, type ObjectEvent } from "../../model/base/asyncEvents.js";
import { Context } from "../../model/base/context.js";
import { living } from "../../model/base/handle.js";
import { CompletionChannel, type CompletionEvent as EventOf } from "../../model/queue/completionChannel.js";
import { CompletionQueue } from "../../model/queue/completionQueue.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { SharedReceiveQueue } from "../../model/queue/sharedReceiveQueue.js";
import { flagOf, objectArgument } from "../../base/checks.js";
import { fill, type Out } from "../out.js";

/** `struct ibv_comp_channel`, as `ibv_create_comp_channel` makes it. */
export type CompletionQueueChannel = CompletionChannel<CompletionQueue>;
/** What `ibv_get_cq_event` returns. */
export type CompletionEvent = EventOf<CompletionQueue>;

/** `struct ibv_async_event`: the member of `element` that belongs to `event_type` is there. */
export interface AsyncEvent {
  /** IBV_EVENT_* */
  event_type: number;
  element: { qp?: QueuePair; srq?: SharedReceiveQueue };
}

/**
 * Makes a completion channel (ibv_create_comp_channel(3)). `channel.events.next()` is a promise of its
 * next event, and `for await (const { cq } of channel.events)` gets them all.
 * @example
 * const channel = ibv_create_comp_channel(context);
 * const cq = ibv_create_cq(context, 16, null, channel, 0);
 * ibv_req_notify_cq(cq, 0);
 */
export function ibv_create_comp_channel(context: Context): CompletionQueueChannel {
  return inCall("ibv_create_comp_channel", () => new CompletionChannel<CompletionQueue>(context));
}

/**
 * Destroys a completion channel. Promises of its next event are rejected.
 * @throws EBUSY if a completion queue uses it
 */
export function ibv_destroy_comp_channel(channel: CompletionQueueChannel): 0 {
  return inCall("ibv_destroy_comp_channel", () => {
    living("channel", channel, CompletionChannel).destroy();
    return 0;
  });
}

/**
 * Asks for an event at the next completion (ibv_req_notify_cq(3)). Completions that wait already make
 * none: poll after the call.
 * @param solicited_only other than 0: only for a completion that failed, or whose sender set
 *   IBV_SEND_SOLICITED
 */
export function ibv_req_notify_cq(cq: CompletionQueue, solicited_only: number | boolean): 0 {
  return inCall("ibv_req_notify_cq", () => {
    const onlySolicited = flagOf("solicited_only", solicited_only);
    living("cq", cq, CompletionQueue).requestNotify(onlySolicited);
    return 0;
  });
}

/**
 * Takes the oldest event of a channel (ibv_get_cq_event(3)).
 * @returns the completion queue and its `cq_context`
 * @throws EAGAIN if no event waits
 */
export function ibv_get_cq_event(channel: CompletionQueueChannel): CompletionEvent {
  return inCall("ibv_get_cq_event", () => {
    living("channel", channel, CompletionChannel);
    return channel.take();
  });
}

/**
 * Acknowledges events that were taken (ibv_get_cq_event(3)).
 * @throws EINVAL if so many were not taken
 */
export function ibv_ack_cq_events(cq: CompletionQueue, nevents: number): void {
  inCall("ibv_ack_cq_events", () => living("cq", cq, CompletionQueue).acknowledge(nevents));
}

/**
 * Takes the oldest asynchronous event of a context (ibv_get_async_event(3)).
 * @param event filled if given; the call then returns 0
 * @throws EAGAIN if no event waits
 * @example
 * const { event_type, element } = ibv_get_async_event(context);
 * console.log(ibv_event_type_str(event_type), element.qp?.name);
 */
export function ibv_get_async_event(context: Context, event?: null): AsyncEvent;
export function ibv_get_async_event(context: Context, event: Out<AsyncEvent>): 0;
export function ibv_get_async_event(context: Context, event?: Out<AsyncEvent> | null): AsyncEvent | 0 {
  return inCall("ibv_get_async_event", () => {
    const { asyncEvents } = living("context", context, Context);
    if (event !== undefined && event !== null) objectArgument("event", event);
    const taken = asyncEvents.take("context", context);
    if (event === undefined || event === null) return taken;
    fill<ObjectEvent>("event", event, taken);
    return 0;
  });
}

/**
 * Acknowledges an asynchronous event. Its object can then be destroyed.
 * @throws EINVAL if it is no event that waits for that
 */
export function ibv_ack_async_event(event: AsyncEvent | Out<AsyncEvent>): void {
  inCall("ibv_ack_async_event", () => acknowledgeEvent(objectArgument("event", event)));
}
