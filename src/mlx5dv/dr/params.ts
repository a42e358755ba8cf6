/** A readable way to `struct mlx5dv_flow_match_parameters`: fields by name to device bytes. */
import { checkObject, checkOptions } from "../../checks.js";
import { DEVICE_KEY_SIZE, GROUP_SIZE, INNER, LAYER_STATE, OUTER, STATE_VERSION_SHIFT } from "../../abi/key.js";
import { refuse } from "../../errors.js";
import { writeSampleIds } from "../../model/match/samples.js";
import { ipVersions, matchOf, type MatchFields, type MatchParameters } from "../../model/match/match.js";

const VERSION_BITS = 0xf;

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
 * @returns the criteria bits, and mask and value of 448 bytes
 * @throws EINVAL if a field is unknown, or a value does not fit
 * @throws EOPNOTSUPP if the device format has no place for it: ranges, "any", `ext` fields
 * @example
 * const { match_criteria_enable, mask, value } = matchParameters({ "outer.ipv4_dst": "10.0.0.0/8", "outer.tcp_dport": 443 });
 */
export function matchParameters(fields: MatchFields, options: { root?: boolean } = {}): DeviceMatch {
  const call = "matchParameters";
  checkObject(call, "fields", fields);
  checkOptions(call, "options", options, { root: "boolean" });
  for (const [name, text] of Object.entries(fields)) {
    if (text !== "any" && !name.startsWith("ext.")) continue;
    const hint = "the device format has no place for it; scenario files do";
    refuse({ code: "EOPNOTSUPP", call, reason: "unsupported", path: name, value: text, hint });
  }
  const { mask, value, ranges } = matchOf(call, "fields", fields);
  if (ranges.length > 0) {
    const hint = "the device format has no ranges; scenario files do";
    refuse({ code: "EOPNOTSUPP", call, reason: "unsupported", path: "fields", value: "a range", hint });
  }
  writeSampleIds(mask, mask, value);
  if (options.root !== true) maskVersionsByThemselves(mask, value);
  let criteria = 0;
  for (let byte = 0; byte < DEVICE_KEY_SIZE; byte++) {
    if ((mask[byte] ?? 0) !== 0) criteria |= 1 << Math.floor(byte / GROUP_SIZE);
  }
  const parameters = (key: Uint8Array): Required<MatchParameters> => ({
    match_sz: DEVICE_KEY_SIZE,
    match_buf: key.slice(0, DEVICE_KEY_SIZE),
  });
  return { match_criteria_enable: criteria, mask: parameters(mask), value: parameters(value) };
}

function maskVersionsByThemselves(mask: Uint8Array, value: Uint8Array): void {
  const asked = ipVersions(mask);
  for (const [i, version] of ipVersions(value).entries()) {
    if (asked[i] !== VERSION_BITS || (version !== 4 && version !== 6)) continue;
    const at = (i === 0 ? OUTER : INNER) + LAYER_STATE;
    mask[at] = ((mask[at] ?? 0) & ~(VERSION_BITS << STATE_VERSION_SHIFT)) | (version << STATE_VERSION_SHIFT);
  }
}
