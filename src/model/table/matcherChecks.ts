/**
 * What a matcher may ask, and what a value may say: who refuses what (docs/rules.md, Profiles).
 *
 * `manual` refuses what has no meaning. Under the ConnectX profiles a table that is not root has the checks of the library
 * that steers in software (match-params table, and what its builders of steering entries take), a root table those of the
 * kernel, which takes ip_version for a plain mask and looks at priority and criteria when a rule is made.
 */
import { VPORT_UPLINK } from "../../abi/engine.js";
import {
  DEVICE_KEY_SIZE,
  INNER,
  KEY_SIZE,
  LAYER_STATE,
  MISC_SOURCE_PORT,
  MISC_TAGS2,
  OUTER,
  STATE_CVLAN,
  STATE_SVLAN,
  TAGS2_INNER_CVLAN,
  TAGS2_INNER_SVLAN,
  TAGS2_OUTER_CVLAN,
  TAGS2_OUTER_SVLAN,
} from "../../abi/key.js";
import { refuse } from "../../errors.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { DomainType } from "./domainType.js";
import { fieldNamed, readField, type Field } from "../match/fields.js";
import { ipVersions, maskedFields } from "../match/match.js";

/** Whose checks a table has. */
export type Checks = "manual" | "library" | "kernel";

/** What a mask is for: a table, or all rules of a type that the kernel has. */
export interface MaskPlace {
  readonly device: DeviceBase;
  readonly isRoot: boolean;
  readonly type: DomainType;
}

/** `match_criteria_enable` has a bit for each of the seven groups. */
const CRITERIA_BITS = 7;
/** The kernel's own structure is a group longer, which no criteria name. */
const KERNEL_KEY_SIZE = KEY_SIZE;
/** The kernel has so many priorities, which it looks for when a rule is made. */
const LAST_KERNEL_PRIORITY = 15;
const LEVELS = ["outer", "inner"] as const;

export function checksOf({ device, isRoot }: MaskPlace): Checks {
  if (device.profile.rules.checks === "manual") return "manual";
  return isRoot ? "kernel" : "library";
}

/** `match_criteria_enable` of a matcher. */
export function checkCriteria(call: string, criteria: number): void {
  if (criteria < 1 << CRITERIA_BITS) return;
  const hint = "bits 0 to 6: outer, misc, inner, misc2 to misc5";
  refuse({ code: "EINVAL", call, reason: "bad_criteria", path: "match_criteria_enable", value: criteria, hint });
}

/** The size of device bytes that the caller named at `path`, of which `held` are there. */
export function checkSize(
  call: string,
  path: string,
  what: "mask" | "value",
  place: MaskPlace,
  size: number,
  held: number,
): void {
  const hint = sizeHint(what, place, size, held);
  if (hint === null) return;
  refuse({ code: "EINVAL", call, reason: "bad_match_size", path: `${path}.match_sz`, value: size, hint });
}

function sizeHint(what: "mask" | "value", place: MaskPlace, size: number, held: number): string | null {
  const kernel = checksOf(place) === "kernel";
  const most = place.isRoot ? KERNEL_KEY_SIZE : DEVICE_KEY_SIZE;
  if (size > most || (kernel && size === 0)) return `${kernel ? 1 : 0} to ${most}`;
  if (size > held) return `match_buf has ${held} bytes`;
  return what === "value" && !kernel && size % 4 !== 0 ? "a multiple of 4" : null;
}

/** The ip_version that rules must repeat, outer and inner (0: none), of the enabled groups of a mask. */
export function repeatedVersions(call: string, checks: Checks, mask: Uint8Array): number[] {
  if (checks === "kernel") return [0, 0];
  return ipVersions(mask).map((version, i) => {
    if (version === 0 || version === 4 || version === 6) return version;
    if (checks === "manual" && version === 0xf) return 0;
    return refuse({
      code: checks === "manual" ? "EINVAL" : "EOPNOTSUPP",
      call,
      reason: "ip_version_mask",
      path: `mask.${LEVELS[i] as string}.ip_version`,
      value: version,
      hint: "not a mask of bits: 4 or 6",
      cite: "mlx5dv_dr: LIMITATIONS",
    });
  });
}

/** Enabled groups of device bytes, in the order in which the library looks at them. ip_version has been checked. */
export function checkDeviceMask(call: string, place: MaskPlace, criteria: number, mask: Uint8Array): void {
  if (checksOf(place) !== "library") return;
  const port = Number(readField(mask, named("misc.source_port")));
  if (port !== 0 && port !== 0xffff) {
    const path = "mask.misc.source_port";
    refuse({ code: "ENOTSUP", call, reason: "unsupported", path, value: port, hint: "all of its bits, or none" });
  }
  const { definers } = place.device.profile.rules;
  if (criteria === 0 || definers || mask.some((bits) => bits !== 0)) return;
  const hint = "name no group to take every frame";
  refuse({ code: "EINVAL", call, reason: "empty_mask", path: "match_criteria_enable", value: criteria, hint });
}

/**
 * That the device can match what a whole mask asks, presence included, in this table. `versions` are the ip_version of its
 * device bytes; a mask by name has 15 there, and its rules have the version.
 */
export function checkMask(call: string, place: MaskPlace, mask: Uint8Array, versions = ipVersions(mask)): void {
  const { device, type } = place;
  if (checksOf(place) === "library") checkMatchable(call, type, device.profile.rules.definers, mask, versions);
  device.parser.check(call, mask);
}

/** What the kernel says of a matcher when a rule of it is made. */
export function checkTakesRules(call: string, priority: number, criteria: number): void {
  if (priority > LAST_KERNEL_PRIORITY) {
    const hint = `priorities of a root table are 0 to ${LAST_KERNEL_PRIORITY}`;
    refuse({ code: "ENOMEM", call, reason: "out_of_range", path: "matcher.priority", value: priority, hint });
  }
  checkCriteria(call, criteria);
}

/** That a value repeats the ip_version of its mask, outer and inner; `wanted` is 0 where there is none. */
export function checkVersions(call: string, checks: Checks, wanted: readonly number[], value: Uint8Array): void {
  const found = ipVersions(value);
  const differs = (i: number): boolean => wanted[i] !== 0 && found[i] !== wanted[i];
  const outside = (i: number): boolean => differs(i) && ((found[i] ?? 0) & ~(wanted[i] ?? 0)) !== 0;
  const refused = (i: number, code: "EINVAL" | "EOPNOTSUPP"): void =>
    refuse({
      code,
      call,
      reason: "ip_version_mask",
      path: `value.${LEVELS[i] as string}.ip_version`,
      value: found[i],
      hint: `the mask says ${wanted[i]}`,
      cite: "mlx5dv_dr: LIMITATIONS",
    });
  // The library compares bits with the mask before it looks at the number.
  for (const i of [0, 1]) if (checks === "manual" ? differs(i) : outside(i)) refused(i, "EINVAL");
  for (const i of [0, 1]) if (differs(i)) refused(i, "EOPNOTSUPP");
}

/** What the library makes of a value that lies inside the mask: a tag is of one kind, a source port is that of a vport. */
export function settleValue(call: string, { vports }: DeviceBase, value: Uint8Array): void {
  const port = ((value[MISC_SOURCE_PORT] ?? 0) << 8) | (value[MISC_SOURCE_PORT + 1] ?? 0);
  if (port > vports && port !== VPORT_UPLINK) {
    const hint = `0${vports > 0 ? ` to ${vports}` : ""}, or ${VPORT_UPLINK}`;
    refuse({ code: "EINVAL", call, reason: "out_of_range", path: "value.misc.source_port", value: port, hint });
  }
  for (const [byte, cvlan, svlan] of TAG_KINDS) {
    const bits = value[byte] ?? 0;
    if ((bits & cvlan) !== 0 && (bits & svlan) !== 0) value[byte] = bits & ~svlan;
  }
}

/** Whether there is something to settle in values of a mask. */
export function settles(mask: Uint8Array): boolean {
  if (((mask[MISC_SOURCE_PORT] ?? 0) | (mask[MISC_SOURCE_PORT + 1] ?? 0)) !== 0) return true;
  return TAG_KINDS.some(([byte, cvlan, svlan]) => ((mask[byte] ?? 0) & (cvlan | svlan)) === (cvlan | svlan));
}

/** Key byte, bit of cvlan_tag, bit of svlan_tag. */
const TAG_KINDS: readonly (readonly [byte: number, cvlan: number, svlan: number])[] = [
  [OUTER + LAYER_STATE, STATE_CVLAN, STATE_SVLAN],
  [INNER + LAYER_STATE, STATE_CVLAN, STATE_SVLAN],
  [MISC_TAGS2, TAGS2_OUTER_CVLAN, TAGS2_OUTER_SVLAN],
  [MISC_TAGS2, TAGS2_INNER_CVLAN, TAGS2_INNER_SVLAN],
];

/** Fields that steering entries have no place for. */
const NEVER: ReadonlySet<string> = new Set([
  "misc.source_vhca_port",
  "misc.source_eswitch_owner_vhca_id",
  "misc.outer_emd_tag",
  "misc.outer_esp_spi",
  "misc.inner_esp_spi",
  "misc5.macsec_tag_0",
  "misc5.macsec_tag_1",
  "misc5.macsec_tag_2",
  "misc5.macsec_tag_3",
]);

/** Who sent a frame is not asked on the send path. */
const SOURCES: ReadonlySet<string> = new Set(["misc.source_sqn", "misc.source_port"]);

/** Of the kinds of one line, a matcher asks one. */
const EXCLUSIVE: readonly Readonly<Record<string, RegExp>>[] = [
  {
    "VXLAN-GPE": /^misc3\.outer_vxlan_gpe_/,
    Geneve: /^misc3?\.geneve_/,
    "GTP-U": /^misc3\.gtpu_/,
    "tunnel header": /^misc5\.tunnel_header_/,
  },
  { ICMP: /^misc3\.icmp_/, ICMPv6: /^misc3\.icmpv6_/ },
  { "MPLS over GRE": /^misc2\.outer_first_mpls_over_gre_/, "MPLS over UDP": /^misc2\.outer_first_mpls_over_udp_/ },
];

const OK = /^(outer|inner)\.(l3_ok|l4_ok|ipv4_checksum_ok|l4_checksum_ok)$/;
/** What a steering entry without definers has for one IP version, or for each: those versions. */
const ABOVE_L2: readonly (readonly [name: RegExp, versions: readonly number[]])[] = [
  [/\.ipv4_(src|dst)$|\.ip_(protocol|dscp|ecn|ttl_hoplimit)$|\.(tcp|udp)_[sd]port$|\.tcp_flags$/, [4, 6]],
  [/\.ipv4_ihl$/, [4]],
  [/\.ipv6_(src|dst)$|_ipv6_flow_label$/, [6]],
];
const L2 = /\.([sd]mac|ethertype|first_(prio|cfi|vid)|[cs]vlan_tag)$|_second_/;

function checkMatchable(
  call: string,
  type: DomainType,
  definers: boolean,
  mask: Uint8Array,
  versions: readonly number[],
): void {
  const masked = maskedFields(mask);
  const unmatchable = (field: string, hint: string): never =>
    refuse({ code: "EOPNOTSUPP", call, reason: "unsupported", path: `mask.${field}`, hint });
  for (const { name } of masked) {
    if (name.startsWith("ext.")) unmatchable(name, "the device has no field for it");
    if (NEVER.has(name)) unmatchable(name, "tables that are not root do not match it");
    if (SOURCES.has(name) && type === "nic_tx") unmatchable(name, "only in NIC_RX and FDB");
    if (OK.test(name) && !definers) unmatchable(name, "this device has no definers, which match it");
  }
  for (const kinds of EXCLUSIVE) {
    const asked = Object.entries(kinds).flatMap(([kind, form]) => {
      const first = masked.find(({ name }) => form.test(name));
      return first === undefined ? [] : [{ kind, name: first.name }];
    });
    const [taken, left] = asked;
    if (taken !== undefined && left !== undefined) unmatchable(left.name, `the matcher asks for ${taken.kind} already`);
  }
  if (definers) return;
  for (const [i, level] of LEVELS.entries()) checkAboveL2(masked, level, versions[i] ?? 0, unmatchable);
}

/** Without definers, what lies above L2 is found by ip_version. */
function checkAboveL2(
  masked: readonly Field[],
  level: string,
  version: number,
  unmatchable: (field: string, hint: string) => never,
): void {
  const own = masked.filter(({ name }) => name.startsWith(`${level}.`) || name.startsWith(`misc.${level}_`));
  for (const { name } of own) {
    const versions = ABOVE_L2.find(([form]) => form.test(name))?.[1];
    if (versions === undefined || version === 0xf || versions.includes(version)) continue;
    unmatchable(name, `${level}.ip_version must be masked by ${versions.join(" or ")}`);
  }
  if (version === 0 && own.some(({ name }) => name === `${level}.frag`) && !own.some(({ name }) => L2.test(name))) {
    unmatchable(`${level}.frag`, `beside an L2 field or ${level}.ip_version`);
  }
}

function named(name: string): Field {
  return fieldNamed(name) as Field;
}
