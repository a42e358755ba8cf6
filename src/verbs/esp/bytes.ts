/**
 * The C bytes of `struct ibv_flow_action_esp` (of the page; the header calls it ibv_flow_action_esp_attr), x86-64:
 *
 *     | esp_attr 8 | keymat_proto 4 | keymat_len 2 | 0 2 | keymat_ptr 8 | replay_proto 4 | replay_len 2 | 0 2 | replay_ptr 8 |
 *     | esp_encap 8 | comp_mask 4 | esn 4 |                      and after it, in any order, what its pointers lead to
 *     | val 8 | next_ptr 8 | len 2 | type 2 | 0 4 |                                          ibv_flow_action_esp_encap
 *
 * A pointer is the number of the byte in the same array at which the struct begins; 0 is NULL.
 */
import { checkBytes } from "../../base/checks.js";
import { inCall, refuse } from "../../errors.js";
import {
  ESP_ATTR_STRUCT,
  ESP_ENCAP_STRUCT,
  ESP_STRUCT,
  MAX_ENCAP,
  type EspEncap,
  type EspPart,
  type EspRequest,
  secretCopy,
} from "../../model/esp/request.js";
import { layoutOf } from "../../model/match/flowSpec.js";
import { readEspObjects, type FlowActionEsp, type FlowActionEspEncap } from "./attr.js";
import { attrBytes, attrFrom, encapOf, keymatBytes, keymatPart, replayBytes, replayPart } from "./structs.js";
import { filterObject } from "../flow/bytes.js";

const AT = {
  esp_attr: 0,
  keymat_proto: 8,
  keymat_len: 12,
  keymat_ptr: 16,
  replay_proto: 24,
  replay_len: 28,
  replay_ptr: 32,
  esp_encap: 40,
  comp_mask: 48,
  esn: 52,
} as const;
const ENCAP = { val: 0, next_ptr: 8, len: 16, type: 18 } as const;

/** Reads the parameters of an action as the verbs take them: objects, or C bytes. */
export function readEsp(esp: FlowActionEsp | Uint8Array): EspRequest {
  return esp instanceof Uint8Array ? readEspBytes(esp) : readEspObjects(esp);
}

/**
 * The C bytes (x86-64) of the parameters of an ESP action. Pointers are offsets from the first
 * byte.
 * @throws TypeError, EINVAL if the objects are malformed, or C has no bytes for them
 */
export function flowActionEspBytes(esp: FlowActionEsp): Uint8Array {
  return inCall("flowActionEspBytes", () => {
    const { attr, keymat, replay, encap, comp_mask, esn } = readEspObjects(esp);
    const image = new Image();
    image.put(new Uint8Array(ESP_STRUCT));
    if (attr !== null) image.point(AT.esp_attr, attrBytes(attr));
    if (keymat !== null) {
      image.u32(AT.keymat_proto, keymat.proto);
      image.u16(AT.keymat_len, keymat.len);
      image.point(AT.keymat_ptr, sized("esp.keymat", keymat, keymatBytes));
    }
    if (replay !== null) {
      image.u32(AT.replay_proto, replay.proto);
      image.u16(AT.replay_len, replay.len);
      image.point(AT.replay_ptr, replay.len === 0 ? new Uint8Array(8) : sized("esp.replay", replay, replayBytes));
    }
    image.u32(AT.comp_mask, comp_mask);
    image.u32(AT.esn, esn);
    let pointer: number = AT.esp_encap;
    for (const [i, link] of (encap ?? []).entries()) {
      if (link.val === null) badLink(i, link);
      const at = image.point(pointer, new Uint8Array(ESP_ENCAP_STRUCT));
      image.u16(at + ENCAP.len, link.len);
      image.u16(at + ENCAP.type, link.type);
      const filter = new Uint8Array(link.len);
      filter.set(link.val);
      image.point(at + ENCAP.val, filter);
      pointer = at + ENCAP.next_ptr;
    }
    return image.bytes();
  });
}

/**
 * The parameters of an ESP action from C bytes: the inverse of `flowActionEspBytes`.
 * @throws EINVAL if the bytes end too early, or hold an unknown struct
 */
export function flowActionEspFromBytes(bytes: Uint8Array): FlowActionEsp {
  return inCall("flowActionEspFromBytes", () => {
    checkBytes("bytes", bytes);
    const { attr, keymat, replay, encap, comp_mask, esn } = readEspBytes(bytes);
    const esp: FlowActionEsp = { comp_mask, esn };
    if (attr !== null) esp.esp_attr = { ...attr };
    if (keymat !== null) {
      esp.keymat_proto = keymat.proto;
      esp.keymat_len = keymat.len;
      esp.keymat_ptr = { ...known("esp.keymat", keymat) };
    }
    if (replay !== null) {
      esp.replay_proto = replay.proto;
      esp.replay_len = replay.len;
      if (replay.len > 0) esp.replay_ptr = { size: known("esp.replay", replay) };
    }
    if (encap !== null) {
      esp.esp_encap = encap.map((link, i): FlowActionEspEncap => {
        const layout = layoutOf(link.type);
        if (layout === undefined || link.val === null) return badLink(i, link);
        return { type: link.type, len: link.len, val: filterObject(layout, link.val) };
      });
    }
    return esp;
  });
}

/** @throws EINVAL bytes that end before a struct does */
function readEspBytes(bytes: Uint8Array): EspRequest {
  const own = secretCopy(bytes);
  try {
    return readOwn(own);
  } finally {
    own.fill(0);
  }
}

function readOwn(bytes: Uint8Array): EspRequest {
  const at = (path: string, from: number, length: number): Uint8Array => {
    if (from + length <= bytes.length) return bytes.subarray(from, from + length);
    const hint = `bytes ${from} to ${from + length}, of ${bytes.length}`;
    return refuse({ code: "EINVAL", reason: "too_short", path, hint });
  };
  at("esp", 0, ESP_STRUCT);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const pointer = (from: number): number => Number(view.getBigUint64(from, true));
  const part = <T>(name: "keymat" | "replay", read: (proto: number, struct: Uint8Array) => EspPart<T>) => {
    const to = pointer(AT[`${name}_ptr`]);
    if (to === 0) return null;
    const length = view.getUint16(AT[`${name}_len`], true);
    return read(view.getUint32(AT[`${name}_proto`], true), at(`esp.${name}_ptr`, to, length));
  };
  const attr = pointer(AT.esp_attr);
  const chain = pointer(AT.esp_encap);
  const links: EspEncap[] = [];
  for (let link = chain; link !== 0 && links.length < MAX_ENCAP; link = pointer(link + ENCAP.next_ptr)) {
    const path = `esp.esp_encap[${links.length}]`;
    at(path, link, ESP_ENCAP_STRUCT);
    const filter = at(`${path}.val`, pointer(link + ENCAP.val), view.getUint16(link + ENCAP.len, true));
    links.push(encapOf(view.getUint16(link + ENCAP.type, true), filter));
  }
  return {
    attr: attr === 0 ? null : attrFrom(at("esp.esp_attr", attr, ESP_ATTR_STRUCT)),
    keymat: part("keymat", keymatPart),
    replay: part("replay", replayPart),
    encap: chain === 0 ? null : links,
    comp_mask: view.getUint32(AT.comp_mask, true),
    esn: view.getUint32(AT.esn, true),
  };
}

/** Structs one after the other, each on eight bytes. */
class Image {
  readonly #bytes: number[] = [];

  /** Gives where it begins. */
  put(struct: Uint8Array): number {
    while (this.#bytes.length % 8 !== 0) this.#bytes.push(0);
    const at = this.#bytes.length;
    this.#bytes.push(...struct);
    return at;
  }

  /** Puts a struct, and where it begins into the pointer at a byte. */
  point(pointer: number, struct: Uint8Array): number {
    const at = this.put(struct);
    this.u32(pointer, at);
    return at;
  }

  u16(at: number, value: number): void {
    this.#bytes[at] = value & 0xff;
    this.#bytes[at + 1] = value >> 8;
  }

  u32(at: number, value: number): void {
    this.u16(at, value & 0xffff);
    this.u16(at + 2, value >>> 16);
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

/** As many bytes as are said. */
function sized<T>(name: string, part: EspPart<T>, write: (value: T) => Uint8Array): Uint8Array {
  const struct = write(known(name, part));
  const bytes = new Uint8Array(Math.max(part.len, struct.length));
  bytes.set(struct);
  return bytes;
}

function known<T>(name: string, { value, proto, len }: EspPart<T>): T {
  if (value !== null) return value;
  const hint = `protocol ${proto} has no struct of ${len} bytes`;
  return refuse({ code: "EINVAL", reason: "bad_spec_size", path: `${name}_len`, value: len, hint });
}

function badLink(i: number, { type, len }: EspEncap): never {
  const path = `esp.esp_encap[${i}]`;
  const hint = `type 0x${type.toString(16)} has no filter of ${len} bytes`;
  return refuse({ code: "EINVAL", reason: "bad_spec_size", path: `${path}.len`, value: len, hint });
}
