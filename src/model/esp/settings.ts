/** The settings of an ESP action: each parameter as last given (ibv_flow_action_esp(3)). */
import { ESP_FULL_OFFLOAD, ESP_NEW_WINDOW } from "../../abi/esp.js";
import { IBV_FLOW_ACTION_ESP_MASK_ESN } from "../../abi/verbs.js";
import type { EspEncap, EspKeymat, EspRequest } from "./request.js";

export interface EspSettings {
  /** IB_UVERBS_FLOW_ACTION_ESP_FLAGS_* */
  readonly flags: number;
  readonly spi: number;
  readonly seq: number;
  readonly tfcPad: number;
  /** 0: none. */
  readonly hardLimit: bigint;
  readonly keymat: EspKeymat;
  /** The IV of the keymat, as a number. */
  readonly iv: bigint;
  /** The size of the replay window; null without one. */
  readonly window: number | null;
  readonly encap: readonly EspEncap[];
  /** null without ESN. */
  readonly esn: number | null;
  /** MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA */
  readonly metadata: boolean;
}

/** Merges a request into settings. The parts of the request were checked. */
export function settingsOf(request: EspRequest, before: EspSettings | null, metadata: boolean): EspSettings {
  const { attr, replay } = request;
  const keymat = request.keymat?.value ?? before?.keymat;
  if (keymat === undefined) throw new Error("a new action has a keymat");
  const esn = (request.comp_mask & IBV_FLOW_ACTION_ESP_MASK_ESN) !== 0 ? request.esn : (before?.esn ?? null);
  return {
    flags: flagsOf(attr?.flags, before),
    spi: attr?.spi ?? before?.spi ?? 0,
    seq: attr?.seq ?? before?.seq ?? 0,
    tfcPad: attr?.tfc_pad ?? before?.tfcPad ?? 0,
    hardLimit: attr?.hard_limit_pkts ?? before?.hardLimit ?? 0n,
    keymat,
    iv: wireNumber(keymat.iv),
    window: replay === null ? (before?.window ?? null) : replay.value,
    encap: request.encap ?? before?.encap ?? [],
    esn,
    metadata,
  };
}

/** Only ESN_NEW_WINDOW can change. */
function flagsOf(given: number | undefined, before: EspSettings | null): number {
  if (before === null || given === undefined) return given ?? before?.flags ?? 0;
  return (before.flags & ~ESP_NEW_WINDOW) | (given & ESP_NEW_WINDOW);
}

/** The number of the first frame, or the lowest accepted number; for inline crypto the ESN only. */
export function firstNumber({ flags, seq, esn }: EspSettings): bigint {
  return (BigInt(esn ?? 0) << 32n) | ((flags & ESP_FULL_OFFLOAD) === 0 ? 0n : BigInt(seq));
}

/** The key. */
export function keyOf({ keymat: { aes_key, key_len } }: EspSettings): Uint8Array {
  return aes_key.subarray(0, key_len);
}

export function isNewKey(settings: EspSettings, before: EspSettings): boolean {
  return !isEqual(keyOf(settings), keyOf(before));
}

/** Whether key or salt changed: IVs then restart. */
export function isNew(settings: EspSettings, before: EspSettings): boolean {
  return isNewKey(settings, before) || !isEqual(settings.keymat.salt, before.keymat.salt);
}

/** Looks at all bytes: the time does not tell where keys differ. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  let differences = 0;
  for (let i = 0; i < one.length; i++) differences |= (one[i] as number) ^ (other[i] as number);
  return differences === 0;
}

function wireNumber(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}
