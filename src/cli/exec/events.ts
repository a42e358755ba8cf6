/**
 * Events of completion channels and contexts, as bytes on a connection of their own: its descriptor wakes the program. An
 * event is acknowledged when it is told: an object with events that the program has not read may be destroyed.
 */
import { MessageWriter } from "../../calls/index.js";
import type { Socket } from "node:net";
import { ibv_ack_async_event, type CompletionQueue, type Context } from "../../verbs/index.js";
import type { Session } from "./session.js";

interface Channel {
  readonly events: { next(): Promise<{ readonly cq: CompletionQueue }> };
}

/** Writes the events of a channel or context to the socket until either is closed. */
export function tellEvents(session: Session, number: number, socket: Socket): void {
  const object = session.anyObject(BigInt(number));
  if (object === null) socket.destroy();
  else if ("asyncEvents" in object) void told(socket, () => asyncEvent(session, object as Context));
  else if ("events" in object) void told(socket, () => completionEvent(session, object as unknown as Channel));
}

async function told(socket: Socket, next: () => Promise<Uint8Array>): Promise<void> {
  try {
    while (!socket.destroyed) socket.write(await next());
  } catch {
    // The object is destroyed.
    socket.end();
  }
}

/** `| address of the completion queue 8 |` */
async function completionEvent({ queues }: Session, { events }: Channel): Promise<Uint8Array> {
  const { cq } = await events.next();
  queues.eventTold(cq);
  const bytes = new BigUint64Array([BigInt(queues.cookieOf(cq))]);
  return new Uint8Array(bytes.buffer);
}

/** `| address of the object 8 | event_type 4 | port_num 4 |` */
async function asyncEvent({ queues }: Session, { asyncEvents }: Context): Promise<Uint8Array> {
  const event = await asyncEvents.next();
  ibv_ack_async_event(event);
  const { event_type, element } = event;
  const { port_num = 0, ...objects } = element as { readonly port_num?: number };
  const writer = new MessageWriter();
  writer.wide(queues.cookieOf(Object.values(objects)[0]));
  writer.u32(event_type);
  writer.u32(port_num);
  return writer.framed().subarray(4);
}
