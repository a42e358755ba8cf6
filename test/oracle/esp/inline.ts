// Reference of ESP, part 4: inline crypto and its metadata element (docs/esp.md,
// ibv_flow_action_esp(3), "Inline Crypto Mode" and "Determining the ESN for Ingress Packets").

import { type Association, type EspSettings, type Lost, type Place } from "./esp.js";
import { aadOf, espPlace, nonceOf, opened, remade, trailed, untrailed } from "./esp.js";
import { UDP, read, setLength, write } from "./packet.js";
import { gcmSeal } from "./gcm.js";
import { joined } from "../act/modifyHeader.js";
import { type Frame } from "../act/rewrite.js";

const HALF = 2 ** 31;

/**
 * The full sequence number of a frame that carries its lower half: the state machine of the page.
 */
export function inlineNumber({ esn, newWindow }: Pick<EspSettings, "esn" | "newWindow">, sequence: number): bigint {
  const upper = esn === null ? 0 : newWindow && sequence < HALF ? (esn + 1) % 2 ** 32 : esn;
  return BigInt(upper) * 2n ** 32n + BigInt(sequence);
}

/** The element after the MAC addresses: EtherType 0x8ce4, then six bytes. */
const MACS = 12;
const ELEMENT = 8;
const ETHERTYPE = 0x8ce4;

const hasElement = ({ bytes, linkType }: Frame): boolean =>
  linkType === 1 && bytes.length >= 14 + ELEMENT && read(bytes, MACS, 2) === ETHERTYPE;

/** Sets the lengths of IP and UDP from the current frame; a UDP checksum becomes 0. */
function mended(frame: Frame, { outer, udp, from }: Place, bytes: Uint8Array): Frame | Lost {
  if (!setLength(bytes, outer, bytes.length - outer.at)) return "frame_too_long";
  if (udp) {
    write(bytes, from + 4, 2, bytes.length - from);
    write(bytes, from + 6, 2, 0);
  }
  return remade(frame, bytes);
}

/** A frame to send, with ESP header, room for the IV, and payload. */
export function sealInline(sa: Association, given: Frame): Frame | Lost {
  const asked = hasElement(given) && given.bytes[MACS + 2] === 0x08 ? read(given.bytes, MACS + 7, 1) : null;
  if (sa.metadata && asked === null) return "esp_metadata";
  const { bytes: all } = given;
  const frame = sa.metadata ? withBytes(given, joined(all.subarray(0, MACS), all.subarray(MACS + ELEMENT))) : given;
  const place = espPlace(frame, false);
  if (!place) return "esp_not_esp";
  const { outer, at } = place;
  if (outer.fragment) return "esp_fragment";
  if (!outer.whole || outer.end - at < 16) return "esp_truncated";
  const { bytes } = frame;
  const payload = bytes.subarray(at + 16, outer.end);
  const number = inlineNumber(sa, read(bytes, at + 4, 4));
  const iv = new Uint8Array(8);
  write(iv, 0, 8, number);
  const aad = aadOf(sa.esn !== null, read(bytes, at, 4), number);
  const next = sa.metadata ? (asked ?? 0) : nextHeaderOf(payload, sa.transport);
  const { data, icv } = gcmSeal(sa.ready, nonceOf(sa, iv), aad, trailed(payload, next), sa.keymat.icvLength);
  return mended(frame, place, joined(bytes.subarray(0, at + 8), iv, data, icv));
}

/** The part that the capture cut off stays cut off. */
function withBytes(frame: Frame, bytes: Uint8Array): Frame {
  const wireLength = Math.max(frame.wireLength, frame.bytes.length) + bytes.length - frame.bytes.length;
  return { ...frame, bytes, wireLength };
}

const NONE = 59;
const TCP = 6;

/** SPEC: nothing else gives the IP version, so the payload does. */
export function nextHeaderOf(payload: Uint8Array, transport: boolean): number {
  if (!transport) {
    return payload.length > 0 && read(payload, 0, 1) >> 4 === 6 ? 41 : 4;
  }
  if (payload.length >= 8 && read(payload, 4, 2) === payload.length) return UDP;
  if (payload.length < 20) return NONE;
  const header = 4 * (read(payload, 12, 1) >> 4);
  return header >= 20 && header <= payload.length ? TCP : NONE;
}

export type Syndrome = 0 | 1 | 2;

export interface OpenedInline {
  frame: Frame;
  /** Syndrome in completions: 0 good, 1 wrong ICV, 2 wrong trailer. */
  syndrome: Syndrome;
}

const ELEMENTS = [0x11, 0x12, 0x17];

interface Opened extends OpenedInline {
  next: number;
  spi: number;
}

/** A received frame. A bad one continues unchanged. */
export function openInline(sa: Association, frame: Frame): OpenedInline {
  const { next, spi, ...done } = openedInline(sa, frame);
  if (!sa.metadata || frame.linkType !== 1) return done;
  const element = new Uint8Array(ELEMENT);
  write(element, 0, 2, ETHERTYPE);
  element[2] = ELEMENTS[done.syndrome] ?? 0;
  element[3] = next;
  write(element, 4, 4, spi);
  const { bytes } = done.frame;
  const marked = withBytes(done.frame, joined(bytes.subarray(0, MACS), element, bytes.subarray(MACS)));
  return { frame: marked, syndrome: done.syndrome };
}

/** The next header is known for good frames; the SPI for frames that could be decrypted. */
function openedInline(sa: Association, frame: Frame): Opened {
  const place = espPlace(frame, false);
  const least = 16 + 2 + sa.keymat.icvLength;
  if (!place?.outer.whole || place.outer.fragment || place.outer.end - place.at < least) {
    return { frame, syndrome: 1, next: 0, spi: 0 };
  }
  const { outer, at } = place;
  const { bytes } = frame;
  const spi = read(bytes, at, 4);
  const data = opened(sa, bytes, at, outer.end, inlineNumber(sa, read(bytes, at + 4, 4)));
  if (!data) return { frame, syndrome: 1, next: 0, spi };
  const payload = untrailed(data);
  if (!payload) return { frame, syndrome: 2, next: 0, spi };
  const made = mended(frame, place, joined(bytes.subarray(0, at + 16), payload));
  if (typeof made === "string") throw new Error("a packet that became shorter has room for its length");
  return { frame: made, syndrome: 0, next: read(data, data.length - 1, 1), spi };
}
