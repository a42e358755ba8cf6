/** Completion channels: they tell a program which completion queues have new completions. */
import { refuse } from "../../errors.js";
import { Context } from "../base/context.js";
import { destroyedError, EventQueue } from "../base/time/eventQueue.js";
import { Handle, living, retire } from "../base/handle.js";

/** A completion queue, as its channel knows it. */
export interface ChannelUser extends Handle {
  readonly cq_context: unknown;
  /** @internal A program took an event of the queue. */
  eventTaken(): void;
}

/** What `ibv_get_cq_event` gives: the queue that has new completions, and its context. */
export interface CompletionEvent<Q extends ChannelUser> {
  readonly cq: Q;
  readonly cq_context: unknown;
}

export class CompletionEvents<Q extends ChannelUser> extends EventQueue<CompletionEvent<Q>> {
  protected override taken({ cq }: CompletionEvent<Q>): void {
    cq.eventTaken();
  }
}

/**
 * `struct ibv_comp_channel`.
 * @example
 * for await (const { cq } of channel.events) {
 *   ibv_ack_cq_events(cq, 1);
 *   ibv_req_notify_cq(cq, 0);
 *   for (const wc of ibv_poll_cq(cq, 16)) console.log(wc.wr_id);
 * }
 */
export class CompletionChannel<Q extends ChannelUser = ChannelUser> extends Handle {
  readonly context: Context;
  /** The events that wait; `events.next()` is a promise of the next one. */
  readonly events: EventQueue<CompletionEvent<Q>> = new CompletionEvents();

  constructor(context: Context) {
    const { device } = living("context", context, Context);
    super(device, `channel${device.nextNumber("channel")}`);
    this.context = context;
    context.users++;
  }

  /** Completion queues that use it. */
  get refcnt(): number {
    return this.users;
  }

  /** @internal A completion queue has the completion that it was armed for. */
  signal(cq: Q): void {
    this.events.add({ cq, cq_context: cq.cq_context });
  }

  /** @internal Forgets the events of a queue that is destroyed. */
  forget(cq: Q): void {
    this.events.remove((event) => event.cq === cq);
  }

  /** @internal `ibv_get_cq_event`. @throws EAGAIN no event waits */
  take(): CompletionEvent<Q> {
    return this.events.take("channel", this);
  }

  /** @internal `ibv_destroy_comp_channel`. */
  destroy(): void {
    retire("channel", this, "destroy its completion queues first");
    this.events.close(destroyedError("ibv_destroy_comp_channel", "channel", this));
    this.context.users--;
  }
}

/** The channel that a caller gave, or null. @throws EINVAL it is of another context */
export function channelOf<Q extends ChannelUser>(
  path: string,
  context: Context,
  given: CompletionChannel<Q> | null | undefined,
): CompletionChannel<Q> | null {
  if (given === undefined || given === null) return null;
  const channel = living(path, given, CompletionChannel) as CompletionChannel<Q>;
  if (channel.context === context) return channel;
  const hint = "use a channel of the same context";
  return refuse({ code: "EINVAL", reason: "bad_object", path, value: channel, hint });
}
