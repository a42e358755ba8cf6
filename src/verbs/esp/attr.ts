/**
 * `struct ibv_flow_action_esp` and what it leads to, as objects with the C names of their fields (ibv_flow_action_esp(3)).
 *
 * Names of structs are those of the page; the library's header swaps FlowActionEsp and FlowActionEspAttr, and their fields are
 * the same. Where C has a pointer there is an object, or the C bytes of what it leads to; null is NULL, which keeps what is
 * there on modify.
 */
import { IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM, IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE } from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import {
  ESP_ATTR_STRUCT,
  KEY_ROOM,
  KEYMAT_STRUCT,
  MAX_ENCAP,
  REPLAY_STRUCT,
  type EspAttr,
  type EspEncap,
  type EspKeymat,
  type EspPart,
  type EspRequest,
  secretCopy,
} from "../../model/esp/request.js";
import { layoutOf } from "../../model/match/flowSpec.js";
import { wrongType } from "../../base/checks.js";
import { attrFrom, encapOf, keymatPart, replayPart } from "./structs.js";
import { fieldsAt, integer, readFilter, type FlowFilter } from "../flow/attr.js";

/** `struct ibv_flow_action_esp` of the page, `struct ibv_flow_action_esp_attr` of the header. */
export interface FlowActionEsp {
  esp_attr?: FlowActionEspAttr | Uint8Array | null | undefined;
  /** IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM, which is the default. */
  keymat_proto?: number | undefined;
  /** Bytes of the C struct. @default its sizeof */
  keymat_len?: number | undefined;
  keymat_ptr?: FlowActionEspAesGcm | Uint8Array | null | undefined;
  /** IB_UVERBS_FLOW_ACTION_ESP_REPLAY_*; REPLAY_NONE with no `replay_ptr` at all, not even null, switches protection off. */
  replay_proto?: number | undefined;
  replay_len?: number | undefined;
  replay_ptr?: FlowActionEspReplayBmp | Uint8Array | null | undefined;
  /** The first link of a chain, or all of them, outermost first. */
  esp_encap?: FlowActionEspEncap | readonly FlowActionEspEncap[] | null | undefined;
  /** IBV_FLOW_ACTION_ESP_MASK_ESN: `esn` is given. @default 0 */
  comp_mask?: number | undefined;
  /** The upper 32 bits of the extended sequence number. */
  esn?: number | undefined;
}

/** `struct ibv_flow_action_esp_attr` of the page, `struct ibv_flow_action_esp` of the header. What is left out is 0. */
export interface FlowActionEspAttr {
  spi?: number | undefined;
  /** The first sequence number, its lower 32 bits. */
  seq?: number | undefined;
  /** Bytes of TFC padding (RFC 4303, 2.7). */
  tfc_pad?: number | undefined;
  /** IB_UVERBS_FLOW_ACTION_ESP_FLAGS_*, ored. */
  flags?: number | undefined;
  /** 64 bits; 0 is no limit. */
  hard_limit_pkts?: number | bigint | undefined;
}

/** `struct ibv_flow_action_esp_aes_keymat_aes_gcm` */
export interface FlowActionEspAesGcm {
  /** 8 bytes as on the wire. @default 0 */
  iv?: Uint8Array | undefined;
  /** IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ, which is the default. */
  iv_algo?: number | undefined;
  /** 4 bytes as on the wire. */
  salt: Uint8Array;
  /** Bytes: 8, 12, 16. */
  icv_len: number;
  /** Bytes: 16, 24, 32. @default those of `aes_key` */
  key_len?: number | undefined;
  /** At most 32 bytes. */
  aes_key: Uint8Array;
}

/** `struct ibv_flow_action_esp_replay_bmp` */
export interface FlowActionEspReplayBmp {
  /** Sequence numbers in the window. */
  size: number;
}

/** `struct ibv_flow_action_esp_encap` */
export interface FlowActionEspEncap {
  /** IBV_FLOW_SPEC_ETH, IPV4, IPV4_EXT, IPV6, UDP. */
  type: number;
  /** The filter of that spec. */
  val?: FlowFilter | Uint8Array | undefined;
  /** Bytes of the filter. @default as many as it has */
  len?: number | undefined;
  next_ptr?: FlowActionEspEncap | null | undefined;
}

const FIELDS = [
  ["esp_attr", "keymat_proto", "keymat_len", "keymat_ptr", "replay_proto", "replay_len", "replay_ptr"],
  ["esp_encap", "comp_mask", "esn"],
].flat();

/**
 * Reads the parameters of an action from objects.
 * @throws TypeError values of the wrong JavaScript type; EINVAL fields that do not exist, values that do not fit theirs
 */
export function readEspObjects(esp: FlowActionEsp): EspRequest {
  const given = fieldsAt("esp", esp, "ibv_flow_action_esp", FIELDS);
  const number = (name: string, bits: number): number => integer(`esp.${name}`, given[name] ?? 0, bits);
  return {
    attr: isNull(given["esp_attr"]) ? null : readAttr("esp.esp_attr", given["esp_attr"]),
    keymat: readKeymatPart(given),
    replay: readReplayPart(given),
    encap: isNull(given["esp_encap"]) ? null : readEncap(given["esp_encap"]),
    comp_mask: number("comp_mask", 32),
    esn: number("esn", 32),
  };
}

type Given = Readonly<Record<string, unknown>>;

function isNull(value: unknown): boolean {
  return value === null || value === undefined;
}

function readAttr(path: string, attr: unknown): EspAttr {
  if (attr instanceof Uint8Array) return attrFrom(bytesAt(path, attr, ESP_ATTR_STRUCT));
  const names = ["spi", "seq", "tfc_pad", "flags", "hard_limit_pkts"];
  const given = fieldsAt(path, attr, "ibv_flow_action_esp_attr", names);
  const number = (name: string): number => integer(`${path}.${name}`, given[name] ?? 0, 32);
  return {
    spi: number("spi"),
    seq: number("seq"),
    tfc_pad: number("tfc_pad"),
    flags: number("flags"),
    hard_limit_pkts: wide(`${path}.hard_limit_pkts`, given["hard_limit_pkts"] ?? 0),
  };
}

function readKeymatPart(given: Given): EspPart<EspKeymat> | null {
  const { keymat_ptr: ptr } = given;
  const proto = integer("esp.keymat_proto", given["keymat_proto"] ?? IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM, 32);
  if (isNull(ptr)) return null;
  const len = lengthOf("esp.keymat_len", given["keymat_len"], ptr, KEYMAT_STRUCT);
  if (ptr instanceof Uint8Array) {
    const own = secretCopy(ptr);
    try {
      return keymatPart(proto, bytesAt("esp.keymat_ptr", own, len));
    } finally {
      own.fill(0);
    }
  }
  return { proto, len, more: false, value: readKeymat("esp.keymat_ptr", ptr) };
}

function readKeymat(path: string, keymat: unknown): EspKeymat {
  const names = ["iv", "iv_algo", "salt", "icv_len", "key_len", "aes_key"];
  const given = fieldsAt(path, keymat, "ibv_flow_action_esp_aes_keymat_aes_gcm", names);
  const number = (name: string, absent = 0): number => integer(`${path}.${name}`, given[name] ?? absent, 32);
  const key = arrayAt(`${path}.aes_key`, given["aes_key"] ?? new Uint8Array());
  const key_len = number("key_len", key.length);
  if (key.length > KEY_ROOM) badSize(`${path}.aes_key`, key, `at most ${KEY_ROOM} bytes`);
  if (key.length < Math.min(key_len, KEY_ROOM)) badSize(`${path}.aes_key`, key, `key_len is ${key_len}`);
  const aes_key = secretCopy(key, KEY_ROOM);
  return {
    iv: exactly(`${path}.iv`, given["iv"] ?? new Uint8Array(8), 8),
    iv_algo: number("iv_algo"),
    salt: exactly(`${path}.salt`, given["salt"] ?? new Uint8Array(4), 4),
    icv_len: number("icv_len"),
    key_len,
    aes_key,
  };
}

function readReplayPart(given: Given): EspPart<number> | null {
  const { replay_ptr: ptr, replay_proto } = given;
  const proto = integer("esp.replay_proto", replay_proto ?? IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE, 32);
  if (ptr === null || (ptr === undefined && replay_proto === undefined)) return null;
  const none = ptr === undefined || proto === IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE;
  const len = lengthOf("esp.replay_len", given["replay_len"], ptr, none ? 0 : REPLAY_STRUCT);
  if (ptr instanceof Uint8Array) return replayPart(proto, bytesAt("esp.replay_ptr", ptr, len));
  if (none) return { proto, len, more: false, value: null };
  const { size } = fieldsAt("esp.replay_ptr", ptr, "ibv_flow_action_esp_replay_bmp", ["size"]);
  return { proto, len, more: false, value: integer("esp.replay_ptr.size", size ?? 0, 32) };
}

function readEncap(encap: unknown): EspEncap[] {
  const links: EspEncap[] = [];
  if (Array.isArray(encap)) {
    for (const one of encap.slice(0, MAX_ENCAP) as unknown[]) links.push(readLink(links.length, one).link);
    return links;
  }
  for (let one: unknown = encap; !isNull(one) && links.length < MAX_ENCAP;) {
    const { link, next } = readLink(links.length, one);
    links.push(link);
    one = next;
  }
  return links;
}

function readLink(i: number, link: unknown): { link: EspEncap; next: unknown } {
  const path = `esp.esp_encap[${i}]`;
  const names = ["type", "val", "len", "next_ptr"];
  const given = fieldsAt(path, link, "ibv_flow_action_esp_encap", names);
  const type = integer(`${path}.type`, given["type"] ?? 0, 16);
  const val = given["val"] ?? {};
  const layout = layoutOf(type);
  const len = lengthOf(`${path}.len`, given["len"], val, layout?.known ?? 0);
  const next = given["next_ptr"];
  if (val instanceof Uint8Array) return { link: encapOf(type, bytesAt(`${path}.val`, val, len)), next };
  if (layout === undefined || len < layout.known) return { link: { type, len, more: false, val: null }, next };
  return { link: { type, len, more: false, val: readFilter(path, "val", val, layout) }, next };
}

/** The length that is said, or that of the bytes, or of the struct. */
function lengthOf(path: string, given: unknown, ptr: unknown, size: number): number {
  return integer(path, given ?? (ptr instanceof Uint8Array ? ptr.length : size), 16);
}

function bytesAt(path: string, bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length >= length) return bytes.subarray(0, length);
  const hint = `${length} bytes, of ${bytes.length}`;
  return refuse({ code: "EINVAL", reason: "too_short", path, hint });
}

function arrayAt(path: string, value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  wrongType(path, "a Uint8Array", value);
}

/** A copy of so many bytes, which may be secret. */
function exactly(path: string, value: unknown, length: number): Uint8Array {
  const bytes = arrayAt(path, value);
  if (bytes.length !== length) badSize(path, bytes, `${length} bytes, as on the wire`);
  return secretCopy(bytes);
}

function badSize(path: string, value: Uint8Array, hint: string): never {
  refuse({ code: "EINVAL", reason: "bad_number", path, value: value.length, hint });
}

/** An unsigned integer of 64 bits. */
function wide(path: string, value: unknown): bigint {
  if (typeof value !== "bigint" && typeof value !== "number") {
    wrongType(path, "a number or a bigint", value);
  }
  const number = typeof value === "bigint" ? value : Number.isSafeInteger(value) ? BigInt(value) : -1n;
  if (number === BigInt.asUintN(64, number)) return number;
  return refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint: "0 to 2^64 - 1" });
}
