/** A readable way to `struct mlx5dv_flow_match_parameters`: fields by name to device bytes. */
import { DEVICE_KEY_SIZE, GROUP_SIZE } from "../abi/key.js";
import { refuse } from "../errors.js";
import { writeSampleIds } from "../model/samples.js";
import { matchOf, type MatchFields, type MatchParameters } from "../model/match.js";

/** What `mlx5dv_dr_matcher_create` and `mlx5dv_dr_rule_create` take. */
export interface DeviceMatch {
  match_criteria_enable: number;
  mask: Required<MatchParameters>;
  value: Required<MatchParameters>;
}

/**
 * Device bytes of a match over named fields, such as `{ "outer.ipv4_dst": "10.0.0.0/8", "outer.tcp_dport": 443 }`.
 * @throws EINVAL unknown fields, values that do not fit; EOPNOTSUPP what the device format cannot say (ranges, "any", ext)
 */
export function matchParameters(fields: MatchFields): DeviceMatch {
  const call = "matchParameters";
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
