/** A readable way to `struct mlx5dv_flow_match_parameters`: fields by name to device bytes. */
import { checkBytes, checkObject, checkOptions } from "../../base/checks.js";
import {
  DEVICE_KEY_SIZE,
  INNER,
  KEY_SIZE,
  LAYER_STATE,
  OUTER,
  STATE_VERSION,
  STATE_VERSION_SHIFT,
} from "../../abi/key.js";
import { inCall, refuse } from "../../errors.js";
import { writeSampleIds } from "../../model/match/samples.js";
import { fieldNamed, groupOf, type Field, type FieldName } from "../../model/match/fields.js";
import { isMasked, matchOf, type MatchFields, type MatchParameters } from "../../model/match/match.js";
import { SharedBytes } from "../../base/sharedBytes.js";

const KEYS = new SharedBytes();
const OPTIONS = { root: "boolean" } as const;

/** Bytes of `match_sz` in C. */
const SIZE_BYTES = 8;

/**
 * `struct mlx5dv_flow_match_parameters` from the bytes that a C program on x86-64 has: `match_sz` in 8
 * bytes, then as many device bytes. Bytes that are passed as they are can also be device bytes alone
 * (docs/from-c.md); this struct has one meaning.
 * @returns `match_buf` is a view of the bytes
 * @throws EINVAL if they are shorter than `match_sz`
 */
export function matchParametersFromBytes(bytes: Uint8Array): Required<MatchParameters> {
  return inCall("matchParametersFromBytes", () => {
    checkBytes("bytes", bytes);
    const held = bytes.length - SIZE_BYTES;
    const match_sz = held < 0 ? 0n : new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
    if (held < match_sz) {
      const hint = held < 0 ? "match_sz has 8 bytes" : `match_sz is ${match_sz}`;
      refuse({ code: "EINVAL", reason: "too_short", path: "bytes", value: bytes, hint });
    }
    const size = Number(match_sz);
    return { match_sz: size, match_buf: bytes.subarray(SIZE_BYTES, SIZE_BYTES + size) };
  });
}

/** What `mlx5dv_dr_matcher_create` and `mlx5dv_dr_rule_create` take. */
export interface DeviceMatch {
  match_criteria_enable: number;
  mask: Required<MatchParameters>;
  value: Required<MatchParameters>;
}

/**
 * The device bytes of a match from the names of its fields (docs/match-fields.md). `ip_version` is
 * masked by itself, 4 or 6, as mlx5dv_dr wants it.
 * @param fields numbers, or text: `"10.0.0.0/8"`, `"0x10/0xf0"`, `"02:00:00:00:00:01"`
 * @param options `root: true` masks all bits of `ip_version`, as root tables of ConnectX profiles
 *   want it
 * @returns the criteria bits, and mask and value of 448 bytes, which share a buffer with those of other
 *   calls
 * @throws EINVAL if a field is unknown, or a value does not fit
 * @throws EOPNOTSUPP if the device format has no place for it: ranges, "any", `ext` fields
 * @example
 * const { match_criteria_enable, mask, value } = matchParameters({ "outer.ipv4_dst": "10.0.0.0/8", "outer.tcp_dport": 443 });
 */
export function matchParameters(fields: MatchFields, options: { root?: boolean } = {}): DeviceMatch {
  return inCall("matchParameters", () => {
    checkObject("fields", fields);
    checkOptions("options", options, OPTIONS);
    for (const name of Object.keys(fields) as FieldName[]) {
      const text = fields[name];
      if (text !== "any" && !name.startsWith("ext.")) continue;
      const hint = "the device format has no place for it; scenario files do";
      refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: name, value: text, hint });
    }
    const empty = { mask: KEYS.take(KEY_SIZE), value: KEYS.take(KEY_SIZE), ranges: [] };
    const { mask, value, ranges } = matchOf("fields", fields, empty);
    if (ranges.length > 0) {
      const hint = "the device format has no ranges; scenario files do";
      refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "fields", value: "a range", hint });
    }
    writeSampleIds(mask, mask, value);
    if (options.root !== true) maskVersionsByThemselves(mask, value);
    return { match_criteria_enable: criteriaOf(fields, mask), mask: parametersOf(mask), value: parametersOf(value) };
  });
}

/** The bits of the groups that a mask of these fields covers. */
function criteriaOf(fields: MatchFields, mask: Uint8Array): number {
  let criteria = 0;
  for (const name of Object.keys(fields)) {
    const field = fieldNamed(name) as Field;
    // An address field masks the ip_version of its group too.
    if (field.version !== 0 || isMasked(mask, field)) criteria |= 1 << groupOf(field);
  }
  return criteria;
}

/** The device bytes of a key, without a copy. */
function parametersOf(key: Uint8Array): Required<MatchParameters> {
  return { match_sz: DEVICE_KEY_SIZE, match_buf: key.subarray(0, DEVICE_KEY_SIZE) };
}

function maskVersionsByThemselves(mask: Uint8Array, value: Uint8Array): void {
  for (const base of [OUTER, INNER]) {
    const at = base + LAYER_STATE;
    const version = ((value[at] as number) & STATE_VERSION) >> STATE_VERSION_SHIFT;
    if (((mask[at] as number) & STATE_VERSION) !== STATE_VERSION || (version !== 4 && version !== 6)) continue;
    mask[at] = ((mask[at] as number) & ~STATE_VERSION) | (version << STATE_VERSION_SHIFT);
  }
}
