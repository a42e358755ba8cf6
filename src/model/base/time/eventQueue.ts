/**
 * Events that wait for a program: completion channels and the asynchronous events of a context. A
 * program takes them one by one, awaits the next one, or iterates over them.
 */
import { refuse, SteeringError } from "../../../errors.js";

/** A program that awaits an event. */
interface Waiter<E> {
  readonly resolve: (event: E) => void;
  readonly reject: (error: SteeringError) => void;
}

export abstract class EventQueue<E> implements AsyncIterable<E> {
  private readonly _waiting: E[] = [];
  private readonly _waiters: Waiter<E>[] = [];
  private _closed: SteeringError | null = null;

  /** Called for each event that a program takes. */
  protected abstract taken(event: E): void;

  /** Events that wait. */
  get length(): number {
    return this._waiting.length;
  }

  /** @internal The event that is taken next; undefined where none waits. */
  get first(): E | undefined {
    return this._waiting[0];
  }

  /** @internal Adds an event. The program that awaits longest gets it; nobody can, once the object is destroyed. */
  add(event: E): void {
    if (this._closed !== null) return;
    const waiter = this._waiters.shift();
    if (waiter === undefined) {
      this._waiting.push(event);
      return;
    }
    this.taken(event);
    waiter.resolve(event);
  }

  /** @internal The oldest event. @throws EAGAIN none waits, as with O_NONBLOCK */
  take(path: string, object: object): E {
    const event = this._waiting.shift();
    if (event === undefined) {
      const hint = "no event waits; await next() for the next one";
      refuse({ code: "EAGAIN", reason: "no_event", path, value: object, hint });
    }
    this.taken(event);
    return event;
  }

  /**
   * The next event, when there is one. Rejected with EINVAL (`object_destroyed`) when the object of
   * the events is destroyed before.
   */
  next(): Promise<E> {
    return new Promise((resolve, reject) => {
      if (this._closed !== null) reject(this._closed);
      else if (this._waiting.length === 0) this._waiters.push({ resolve, reject });
      else {
        const event = this._waiting.shift() as E;
        this.taken(event);
        resolve(event);
      }
    });
  }

  /** All events from now on, until the object of the events is destroyed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<E, void, undefined> {
    while (this._closed === null) {
      try {
        yield await this.next();
      } catch (error) {
        if (error === this._closed) return;
        throw error;
      }
    }
  }

  /** @internal Removes the events that `forgotten` names. */
  remove(forgotten: (event: E) => boolean): void {
    const kept = this._waiting.filter((event) => !forgotten(event));
    this._waiting.splice(0, this._waiting.length, ...kept);
  }

  /** @internal Ends the queue: programs that await an event get this error. */
  close(error: SteeringError): void {
    this._closed = error;
    for (const { reject } of this._waiters.splice(0)) reject(error);
  }
}

/** The error of those that await an event of an object that is destroyed. */
export function destroyedError(call: string, path: string, value: object): SteeringError {
  return new SteeringError({ code: "EINVAL", call, reason: "object_destroyed", path, value });
}
