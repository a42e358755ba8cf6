/**
 * Checks of ESP flow actions in the order of the stack: library, uverbs, driver, then combinations
 * without meaning. The first finding is the refusal (docs/esp.md, "Create, modify, destroy").
 */
import { ESP_ENCRYPT, ESP_FULL_OFFLOAD, ESP_NEW_WINDOW, ESP_TRANSPORT } from "../../abi/esp.js";
import {
  IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM,
  IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP,
  IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE,
  IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ,
  IBV_FLOW_ACTION_ESP_MASK_ESN,
} from "../../abi/verbs.js";
import { refuse, type Refusal } from "../../errors.js";
import { encapFault } from "./headers.js";
import { KEYMAT_STRUCT, REPLAY_STRUCT, type EspPart, type EspRequest } from "./request.js";
import { settingsOf, type EspSettings } from "./settings.js";
import type { EspRules } from "../profile/profile.js";
import type { Found } from "../profile/refusals.js";

/** The action to modify; null when one is created. */
export type EspBefore = EspSettings | null;

type Check = (request: EspRequest, before: EspBefore, rules: EspRules) => Found | undefined;

/**
 * The settings that a request results in.
 * @throws EINVAL, EOPNOTSUPP refused by the page or the profile
 */
export function checkedSettings(
  rules: EspRules,
  request: EspRequest,
  before: EspBefore,
  metadata: boolean,
): EspSettings {
  for (const check of STACK) {
    const found = check(request, before, rules);
    if (found !== undefined) refuse({ ...found });
  }
  const settings = settingsOf(request, before, metadata);
  for (const check of TOGETHER) {
    const found = check(settings);
    if (found !== undefined) refuse({ ...found });
  }
  return settings;
}

const PAGE = "ibv_flow_action_esp(3)";
const ALL_FLAGS = 0xf;
const KEY_LENGTHS: readonly number[] = [16, 24, 32];
const ICV_LENGTHS: readonly number[] = [8, 12, 16];
const MAX_TFC_PAD = 65_535;
const MAX_WINDOW = 65_536;

function fault(
  code: "EINVAL" | "EOPNOTSUPP",
  path: string,
  value: unknown,
  hint: string,
  reason: Refusal["reason"] = code === "EINVAL" ? "out_of_range" : "unsupported",
): Found {
  return { code, reason, path: `esp.${path}`, value, hint, cite: PAGE };
}

const knownMask: Check = ({ comp_mask }) =>
  (comp_mask & ~IBV_FLOW_ACTION_ESP_MASK_ESN) === 0
    ? undefined
    : fault("EOPNOTSUPP", "comp_mask", comp_mask, "IBV_FLOW_ACTION_ESP_MASK_ESN 1");

/** Only modify accepts NULL. */
const complete: Check = ({ attr, keymat }, before) => {
  if (before !== null || (attr !== null && keymat !== null)) return undefined;
  return fault("EINVAL", attr === null ? "esp_attr" : "keymat_ptr", null, "a new action needs it", "bad_object");
};

const knownFlags: Check = ({ attr }) =>
  attr === null || (attr.flags & ~ALL_FLAGS) === 0
    ? undefined
    : fault("EOPNOTSUPP", "esp_attr.flags", attr.flags, "FULL_OFFLOAD 1, TRANSPORT 2, ENCRYPT 4, ESN_NEW_WINDOW 8");

/** Protocol and length of the struct that a pointer leads to. */
function partFault(
  name: string,
  { proto, len, more }: EspPart<unknown>,
  known: number,
  size: number,
): Found | undefined {
  if (proto !== known) return fault("EINVAL", `${name}_proto`, proto, `${known}`);
  if (len < size) return fault("EINVAL", `${name}_len`, len, `the struct has ${size} bytes`, "bad_spec_size");
  if (!more) return undefined;
  return fault("EOPNOTSUPP", `${name}_len`, len, `bytes after the ${size} of the struct must be zero`, "reserved_bits");
}

const keymat: Check = ({ keymat: part }) => {
  if (part === null) return undefined;
  const found = partFault("keymat", part, IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM, KEYMAT_STRUCT);
  if (found !== undefined || part.value === null) return found;
  const { iv_algo, key_len, icv_len } = part.value;
  if (iv_algo !== IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ) {
    return fault("EOPNOTSUPP", "keymat_ptr.iv_algo", iv_algo, "IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ 0");
  }
  if (!KEY_LENGTHS.includes(key_len)) return fault("EINVAL", "keymat_ptr.key_len", key_len, "16, 24 or 32 bytes");
  if (ICV_LENGTHS.includes(icv_len)) return undefined;
  return fault("EINVAL", "keymat_ptr.icv_len", icv_len, "8, 12 or 16 bytes");
};

/** REPLAY_NONE disables the window. Inline crypto takes it on modify only, as the kernel does. */
const replay: Check = ({ replay: part }, before, { fullOffload }) => {
  if (part === null) return undefined;
  if (part.proto !== IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE) {
    return partFault("replay", part, IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP, REPLAY_STRUCT);
  }
  if (before === null && !fullOffload) return fault("EINVAL", "replay_proto", part.proto, "a new action has none");
  return part.len === 0
    ? undefined
    : fault("EINVAL", "replay_len", part.len, "REPLAY_NONE has no struct", "bad_spec_size");
};

/** Parameters that a driver has no room for. */
const offloaded: Check = ({ attr, replay: part, encap }, _before, { fullOffload }) => {
  if (fullOffload) return undefined;
  if (part !== null) return fault("EOPNOTSUPP", "replay_ptr", undefined, "no replay protection");
  if (encap !== null) return fault("EOPNOTSUPP", "esp_encap", undefined, "no encapsulation");
  const used = (["spi", "seq", "tfc_pad", "hard_limit_pkts"] as const).find((name) => Number(attr?.[name] ?? 0) !== 0);
  return used === undefined
    ? undefined
    : fault("EOPNOTSUPP", `esp_attr.${used}`, attr?.[used], "0: not in full offload");
};

const flagsTaken: Check = ({ attr }, before, { createFlags, modifyFlags }) => {
  const taken = before === null ? createFlags : modifyFlags;
  if (attr === null || (attr.flags & ~taken) === 0) return undefined;
  return fault("EOPNOTSUPP", "esp_attr.flags", attr.flags, `no others than 0x${taken.toString(16)}`);
};

const keyTaken: Check = ({ keymat: part }, before, { icvLengths, rekeys }) => {
  if (part?.value === null || part === null) return undefined;
  if (before !== null && !rekeys) return fault("EOPNOTSUPP", "keymat_ptr", undefined, "the key stays");
  const { icv_len } = part.value;
  if (icvLengths.includes(icv_len)) return undefined;
  return fault("EOPNOTSUPP", "keymat_ptr.icv_len", icv_len, `${icvLengths.join(", ")} bytes`);
};

const esnTaken: Check = ({ attr, comp_mask }, before, { rekeys }) => {
  if (rekeys || before === null || before.esn !== null) return undefined;
  const hint = "the action was made without ESN";
  if ((comp_mask & IBV_FLOW_ACTION_ESP_MASK_ESN) !== 0) return fault("EINVAL", "esn", undefined, hint, "bad_attribute");
  if (((attr?.flags ?? 0) & ESP_NEW_WINDOW) === 0) return undefined;
  return fault("EINVAL", "esp_attr.flags", attr?.flags, hint, "bad_attribute");
};

/**
 * Fixed parameters of an action cannot change. Flags that a profile refuses on modify are not
 * checked here.
 */
const flagsStay: Check = ({ attr }, before, { modifyFlags }) => {
  if (attr === null || before === null) return undefined;
  if (((attr.flags ^ before.flags) & modifyFlags & ~ESP_NEW_WINDOW) === 0) return undefined;
  const hint = `ESN_NEW_WINDOW alone can change; the others are 0x${(before.flags & ~ESP_NEW_WINDOW).toString(16)}`;
  return fault("EINVAL", "esp_attr.flags", attr.flags, hint, "bad_attribute");
};

const STACK: readonly Check[] = [
  knownMask,
  complete,
  knownFlags,
  keymat,
  replay,
  offloaded,
  flagsTaken,
  keyTaken,
  esnTaken,
  flagsStay,
];

/** Checks of the whole action, whichever call gave its parts. */
const TOGETHER: readonly ((settings: EspSettings) => Found | undefined)[] = [
  ({ metadata, flags }) =>
    metadata && (flags & ESP_FULL_OFFLOAD) !== 0
      ? { ...fault("EINVAL", "", flags, "inline crypto alone", "bad_attribute"), path: "mlx5_attr.action_flags" }
      : undefined,
  ({ flags, esn }) =>
    (flags & ESP_NEW_WINDOW) !== 0 && ((flags & ESP_FULL_OFFLOAD) !== 0 || esn === null)
      ? fault("EINVAL", "esp_attr.flags", flags, "ESN_NEW_WINDOW goes with inline crypto and ESN", "bad_attribute")
      : undefined,
  ({ flags, window }) =>
    window !== null && ((flags & ESP_FULL_OFFLOAD) === 0 || (flags & ESP_ENCRYPT) !== 0)
      ? fault("EINVAL", "replay_ptr", undefined, "replay protection is for full offload, DECRYPT", "bad_attribute")
      : undefined,
  ({ window }) =>
    window === null || (window >= 1 && window <= MAX_WINDOW)
      ? undefined
      : fault("EINVAL", "replay_ptr.size", window, `1 to ${MAX_WINDOW}`),
  ({ flags, encap }) => {
    if ((flags & ESP_FULL_OFFLOAD) !== 0) return encapFault(encap, (flags & ESP_TRANSPORT) !== 0);
    return encap.length === 0
      ? undefined
      : fault("EINVAL", "esp_encap", undefined, "encapsulation is for full offload", "bad_attribute");
  },
  ({ flags, tfcPad }) =>
    (flags & ESP_FULL_OFFLOAD) === 0 || tfcPad <= MAX_TFC_PAD
      ? undefined
      : fault("EINVAL", "esp_attr.tfc_pad", tfcPad, `0 to ${MAX_TFC_PAD}`),
];
