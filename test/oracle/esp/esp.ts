// Reference of ESP, part 2: full offload (docs/esp.md; RFC 4303, 4106, 4301, 3948). Takes a frame
// and returns another one, or the reason for its loss; updates the association.

import { type Encapsulation, outerHeaders, udpHeader, versionOf } from "./chain.js";
import {
  type Outer,
  ESP,
  UDP,
  insertion,
  outerOf,
  read,
  setCongested,
  isLater,
  setLength,
  setProtocol,
} from "./packet.js";
import { trafficClass, upper, write } from "./packet.js";
import { type Numbers, noteNumber, numbersFrom, refusedNumber, wholeNumber } from "./replayWindow.js";
import { headerOver } from "../wire/transport.js";
import { type PlainKey, gcmOpen, gcmSeal, plainKey } from "./gcm.js";
import { joined } from "../act/modifyHeader.js";
import { type Frame } from "../act/rewrite.js";

export interface KeyMaterial {
  key: Uint8Array;
  /** Four bytes. */
  salt: Uint8Array;
  iv: bigint;
  icvLength: number;
}

/** Attributes of an action. */
export interface EspSettings {
  offload: "full" | "inline";
  encrypt: boolean;
  transport: boolean;
  spi: number;
  seq: number;
  /** null: IBV_FLOW_ACTION_ESP_MASK_ESN was not given. */
  esn: number | null;
  newWindow: boolean;
  tfcPad: number;
  /** 0: none. */
  hardLimit: bigint;
  keymat: KeyMaterial;
  /** Size of the window; null: no replay protection. */
  replay: number | null;
  encap: readonly Encapsulation[];
  /** MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA */
  metadata: boolean;
}

export interface Association extends EspSettings {
  ready: PlainKey;
  /** The next sequence number and IV for encryption. */
  next: bigint;
  iv: bigint;
  packets: bigint;
  /** For decryption. */
  numbers: Numbers;
}

const LOW = 1n << 32n;

export function firstNumber({ esn, seq }: Pick<EspSettings, "esn" | "seq">): bigint {
  return BigInt(esn ?? 0) * LOW + BigInt(seq);
}

export function associate(settings: EspSettings): Association {
  const first = firstNumber(settings);
  const { key, iv } = settings.keymat;
  return {
    ...settings,
    ready: plainKey(key),
    next: first,
    iv,
    packets: 0n,
    numbers: numbersFrom(first, settings.replay),
  };
}

export type Lost =
  | "esp_not_esp"
  | "esp_not_ip"
  | "esp_fragment"
  | "esp_encapsulation"
  | "esp_truncated"
  | "esp_spi"
  | "esp_hard_limit"
  | "esp_replay"
  | "esp_jump"
  | "esp_authentication"
  | "esp_trailer"
  | "esp_dummy"
  | "esp_sequence_exhausted"
  | "esp_iv_exhausted"
  | "esp_metadata"
  | "frame_too_long";

/** A complete frame: no bytes are cut off at its end. */
export function remade(frame: Frame, bytes: Uint8Array): Frame {
  return { ...frame, bytes, wireLength: bytes.length };
}

/** RFC 4106, 4. */
export function nonceOf({ keymat }: EspSettings, iv: Uint8Array): Uint8Array {
  return joined(keymat.salt, iv);
}

/** RFC 4106, 5: SPI, the upper half of the number with ESN, sequence number. */
export function aadOf(esn: boolean, spi: number, number: bigint): Uint8Array {
  const aad = new Uint8Array(esn ? 12 : 8);
  write(aad, 0, 4, spi);
  write(aad, 4, aad.length - 4, esn ? number : number % LOW);
  return aad;
}

/** Payload and padding 1, 2, 3, ... up to a multiple of 4, pad length, next header (RFC 4303, 2.4 to 2.6). */
export function trailed(payload: Uint8Array, nextHeader: number): Uint8Array {
  const pad = (4 - ((payload.length + 2) % 4)) % 4;
  return joined(payload, [1, 2, 3].slice(0, pad), [pad, nextHeader]);
}

/** The bytes before the trailer; null if pad length or padding are wrong. */
export function untrailed(data: Uint8Array): Uint8Array | null {
  const pad = read(data, data.length - 2, 1);
  const end = data.length - 2 - pad;
  if (end < 0) return null;
  for (let i = 0; i < pad; i++) if (data[end + i] !== i + 1) return null;
  return data.subarray(0, end);
}

// ------------------------------------------------------------------------------------------------------------- encryption

/** Sends a frame through an ENCRYPT action in full offload. */
export function sealFully(sa: Association, frame: Frame): Frame | Lost {
  const outer = outerOf(frame, true);
  if (!outer) return "esp_not_ip";
  if (!outer.whole) return "esp_truncated";
  if (sa.transport && outer.fragment) return "esp_fragment";
  const sealed = sa.transport ? sealTransport(sa, frame, outer) : sealTunnel(sa, frame, outer);
  const lost = typeof sealed === "string" ? sealed : usedUp(sa);
  if (lost || typeof sealed === "string") return lost ?? "frame_too_long";
  sa.next++;
  sa.iv++;
  sa.packets++;
  return sealed;
}

function usedUp({ hardLimit, packets, next, esn, iv }: Association): Lost | null {
  if (hardLimit !== 0n && packets >= hardLimit) return "esp_hard_limit";
  if (next >= (esn === null ? LOW : LOW * LOW)) return "esp_sequence_exhausted";
  return iv >= LOW * LOW ? "esp_iv_exhausted" : null;
}

/**
 * ESP header to ICV, with the association's next number and IV. `data`: the plaintext, trailer
 * included.
 */
export function sealedData(sa: Association, data: Uint8Array): Uint8Array {
  const header = new Uint8Array(16);
  write(header, 0, 4, sa.spi);
  write(header, 4, 4, sa.next % LOW);
  write(header, 8, 8, sa.iv);
  const aad = aadOf(sa.esn !== null, sa.spi, sa.next);
  const nonce = nonceOf(sa, header.subarray(8));
  const sealed = gcmSeal(sa.ready, nonce, aad, data, sa.keymat.icvLength);
  return joined(header, sealed.data, sealed.icv);
}

function sealTunnel(sa: Association, frame: Frame, outer: Outer): Frame | Lost {
  const inside = frame.bytes.subarray(outer.at, outer.end);
  const esp = sealedData(sa, trailed(joined(inside, new Uint8Array(sa.tfcPad)), outer.version === 4 ? 4 : 41));
  const within = { ...outer, at: 0 };
  const made = outerHeaders(sa.encap, esp.length, { sequence: sa.next, ...trafficOf(inside, within) });
  if (!made) return "frame_too_long";
  const { link, linkType } = made.link ? { link: made.link, linkType: 1 } : relinked(frame, outer, made.version);
  return { ...remade(frame, joined(link, made.headers, esp)), linkType };
}

function trafficOf(inside: Uint8Array, outer: Outer): { traffic: number; dontFragment: boolean } {
  const dontFragment = outer.version === 4 && (read(inside, 6, 1) & 0x40) !== 0;
  return { traffic: trafficClass(inside, outer), dontFragment };
}

const RAW_IP = 101;

/**
 * The bytes before the outer packet for this IP version, which the EtherType names. A link header
 * that cannot name it is removed, which leaves raw IP.
 */
function relinked({ bytes, linkType }: Frame, { at, version: before }: Outer, version: 4 | 6): Link {
  const link = bytes.slice(0, at);
  if (before === version) return { link, linkType };
  if (![1, 113, 276].includes(linkType)) return { link: new Uint8Array(0), linkType: RAW_IP };
  write(link, linkType === 276 && at === 20 ? 0 : at - 2, 2, version === 4 ? 0x0800 : 0x86dd);
  return { link, linkType };
}

interface Link {
  link: Uint8Array;
  linkType: number;
}

function sealTransport(sa: Association, frame: Frame, outer: Outer): Frame | Lost {
  const { bytes } = frame;
  const { at, protocol, said } = insertion(bytes, outer);
  const payload = bytes.subarray(at, outer.end);
  const tfc = [UDP, 4, 41].includes(protocol) ? sa.tfcPad : 0;
  const esp = sealedData(sa, trailed(joined(payload, new Uint8Array(tfc)), protocol));
  const [udp] = sa.encap;
  const header = udp ? udpHeader(udp, esp.length) : new Uint8Array(0);
  const made = joined(bytes.subarray(0, at), header, esp);
  if (!setLength(made, outer, made.length - outer.at)) return "frame_too_long";
  setProtocol(made, outer, said, udp ? UDP : ESP);
  return remade(frame, made);
}

/** The length given by a UDP or IP header; null if it is impossible. */
function ownLength(payload: Uint8Array, protocol: number): number | null {
  const least = new Map([
    [UDP, 8],
    [4, 20],
    [41, 40],
  ]).get(protocol);
  if (least === undefined || payload.length < least) return null;
  const nibble = read(payload, 0, 1) >> 4;
  if ((protocol === 4 && nibble !== 4) || (protocol === 41 && nibble !== 6)) return null;
  const header = protocol === 4 ? 4 * (read(payload, 0, 1) & 15) : least;
  if (header < least) return null;
  const length =
    protocol === UDP ? read(payload, 4, 2) : protocol === 4 ? read(payload, 2, 2) : 40 + read(payload, 4, 2);
  return length < header || length > payload.length ? null : length;
}

// ------------------------------------------------------------------------------------------------------------- decryption

/** Position of ESP in a received frame. */
export interface Place {
  outer: Outer;
  /** Offset of the protocol byte (50 or 17), and start of the header that it announces. */
  said: number;
  from: number;
  udp: boolean;
  /** The ESP header. */
  at: number;
}

/**
 * The ESP header, of 8 bytes: after IP, or after UDP whose ports tell of ESP, or whatever its ports
 * if the encapsulation has UDP.
 */
export function espPlace(frame: Frame, anyPort: boolean): Place | null {
  const outer = outerOf(frame, false);
  const { bytes } = frame;
  if (!outer || isLater(bytes, outer)) return null;
  const { at: from, said, protocol } = upper(bytes, outer);
  const udp = protocol === UDP;
  if (!udp && protocol !== ESP) return null;
  const at = udp ? from + 8 : from;
  if (at + 8 > (outer.whole ? outer.end : bytes.length)) return null;
  // An SPI of 0 is the non-ESP marker of IKE (RFC 3948, 2.2).
  if (udp && read(bytes, at, 4) === 0) return null;
  const told = udp && headerOver(read(bytes, from, 2), read(bytes, from + 2, 2), frame.parser) === "esp_in_udp";
  if (udp && !told && !anyPort) return null;
  return { outer, said, from, udp, at };
}

/** Runs a DECRYPT action in full offload on a received frame. */
export function openFully(sa: Association, frame: Frame): Frame | Lost {
  const ip = sa.encap.find(({ type }) => type.startsWith("ip"));
  const withUdp = sa.encap.some(({ type }) => type === "udp");
  const place = espPlace(frame, withUdp);
  if (!place) return "esp_not_esp";
  const { outer, at } = place;
  if (outer.fragment) return "esp_fragment";
  if (place.udp !== withUdp || (ip && outer.version !== versionOf(ip))) return "esp_encapsulation";
  const { icvLength } = sa.keymat;
  if (!outer.whole || outer.end - at < 16 + 2 + icvLength) return "esp_truncated";
  if (read(frame.bytes, at, 4) !== sa.spi) return "esp_spi";
  if (sa.hardLimit !== 0n && sa.packets >= sa.hardLimit) return "esp_hard_limit";

  const number = wholeNumber(sa.numbers, read(frame.bytes, at + 4, 4), sa.esn !== null);
  const refused = refusedNumber(sa.numbers, number);
  if (refused) return refused;
  const data = opened(sa, frame.bytes, at, outer.end, number);
  if (!data) return "esp_authentication";
  noteNumber(sa.numbers, number);
  sa.packets++;

  const nextHeader = read(data, data.length - 1, 1);
  const payload = untrailed(data);
  if (!payload) return "esp_trailer";
  if (nextHeader === DUMMY) return "esp_dummy";
  return sa.transport
    ? openTransport(frame, place, payload, nextHeader)
    : openTunnel(frame, place, payload, nextHeader);
}

/** RFC 4303, 2.6. */
const DUMMY = 59;

/** The plaintext, from after the IV to the end of the trailer; null if the ICV is wrong. */
export function opened(sa: Association, bytes: Uint8Array, at: number, end: number, number: bigint): Uint8Array | null {
  const icvAt = end - sa.keymat.icvLength;
  const nonce = nonceOf(sa, bytes.subarray(at + 8, at + 16));
  const aad = aadOf(sa.esn !== null, read(bytes, at, 4), number);
  return gcmOpen(sa.ready, nonce, aad, { data: bytes.subarray(at + 16, icvAt), icv: bytes.subarray(icvAt, end) });
}

function openTunnel(frame: Frame, { outer }: Place, payload: Uint8Array, nextHeader: number): Frame | Lost {
  const length = nextHeader === 4 || nextHeader === 41 ? ownLength(payload, nextHeader) : null;
  if (length === null) return "esp_trailer";
  const version = nextHeader === 4 ? 4 : 6;
  const { link, linkType } = relinked(frame, outer, version);
  const bytes = joined(link, payload.subarray(0, length));
  const inner: Outer = { ...outer, at: link.length, version };
  const ecn = trafficClass(bytes, inner) & 3;
  if ((trafficClass(frame.bytes, outer) & 3) === 3 && ecn !== 0) setCongested(bytes, inner);
  return { ...remade(frame, bytes), linkType };
}

function openTransport(frame: Frame, place: Place, payload: Uint8Array, nextHeader: number): Frame {
  const length = ownLength(payload, nextHeader) ?? payload.length;
  const bytes = joined(frame.bytes.subarray(0, place.from), payload.subarray(0, length));
  setLength(bytes, place.outer, bytes.length - place.outer.at);
  setProtocol(bytes, place.outer, place.said, nextHeader);
  return remade(frame, bytes);
}
