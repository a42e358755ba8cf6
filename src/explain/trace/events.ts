/** Reads the events of the traced core (layouts in src/abi/trace.ts), one after the other. */
import { FRAME_LENGTH, FRAME_LINK, FRAME_PORT, FRAME_SQN, FRAME_VPORT, FRAME_WIRE_LENGTH } from "../../abi/engine.js";
import { MAP_SIZE } from "../../abi/headers.js";
import { KEY_SIZE } from "../../abi/key.js";
import {
  EVENT_BRANCH,
  EVENT_BYTES,
  EVENT_HEAD,
  EVENT_KIND,
  SNAPSHOT_BYTES,
  SNAPSHOT_FRAME,
  SNAPSHOT_KEY,
  SNAPSHOT_MAP,
} from "../../abi/trace.js";

/** A branch at one moment. All views are of the memory of the core. */
export interface Snapshot {
  readonly length: number;
  readonly wireLength: number;
  readonly port: number;
  /** A `Link`. */
  readonly link: number;
  readonly vport: number;
  readonly sqn: number;
  readonly key: Uint8Array;
  readonly map: DataView;
  readonly bytes: Uint8Array;
}

/** A cursor over the events of a walk. Its accessors read the payload of the event that it is at. */
export class EventReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #next = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Goes to the next event; false after the last one. */
  next(): boolean {
    this.#at = this.#next;
    if (this.#at >= this.#bytes.length) return false;
    this.#next += this.#view.getUint32(this.#at + EVENT_BYTES, true);
    return true;
  }

  /** A `TraceEvent`. */
  get kind(): number {
    return this.#view.getUint16(this.#at + EVENT_KIND, true);
  }

  get branch(): number {
    return this.#view.getUint16(this.#at + EVENT_BRANCH, true);
  }

  /** Word `n` of the payload. */
  word(n: number): number {
    return this.#view.getUint32(this.#at + EVENT_HEAD + 4 * n, true);
  }

  /** Bytes of the payload: a view. */
  bytes(offset: number, length: number): Uint8Array {
    const from = this.#at + EVENT_HEAD + offset;
    return this.#bytes.subarray(from, from + length);
  }

  /** The payload as a snapshot. */
  get snapshot(): Snapshot {
    const frame = this.#at + EVENT_HEAD + SNAPSHOT_FRAME;
    const view = this.#view;
    const length = view.getUint32(frame + FRAME_LENGTH, true);
    const map = this.#at + EVENT_HEAD + SNAPSHOT_MAP;
    return {
      length,
      wireLength: view.getUint32(frame + FRAME_WIRE_LENGTH, true),
      port: view.getUint16(frame + FRAME_PORT, true),
      link: view.getUint8(frame + FRAME_LINK),
      vport: view.getUint32(frame + FRAME_VPORT, true),
      sqn: view.getUint32(frame + FRAME_SQN, true),
      key: this.bytes(SNAPSHOT_KEY, KEY_SIZE),
      map: new DataView(view.buffer, view.byteOffset + map, MAP_SIZE),
      bytes: this.bytes(SNAPSHOT_BYTES, length),
    };
  }
}
