/**
 * The checks of matcher masks and rule values. Which of them a table makes, and with which errno,
 * is declared in model/profile (docs/profiles.md).
 *
 * The kernel owns the root tables of the ConnectX profiles. It takes ip_version as a plain mask, so
 * rules need not repeat the number.
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
import { inCall, refuse, SteeringError, type ErrnoName } from "../../errors.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { MaskCheck, Profile, TableRules, ValueCheck } from "../profile/profile.js";
import type { Refusals } from "../profile/refusals.js";
import type { DomainType } from "../base/domainType.js";
import { fieldNamed, readField, type Field } from "./fields.js";
import { ipVersions, maskedFields } from "./match.js";

/** What a mask is for: a table, or all rules of a type that the kernel owns. */
export interface MaskPlace {
  readonly device: DeviceBase;
  readonly isRoot: boolean;
  readonly type: DomainType;
}

/** `match_criteria_enable` has a bit for each of the seven groups. */
const CRITERIA_BITS = 7;
/** The kernel's own structure is one group longer; no criteria bit names that group. */
const KERNEL_KEY_SIZE = KEY_SIZE;
const LEVELS = ["outer", "inner"] as const;

/** The checks of the profile for a table. */
export function tableRules({ device, isRoot }: MaskPlace): TableRules {
  const { root, other } = device.profile.rules;
  return isRoot ? root : other;
}

/** Checks `match_criteria_enable` of a matcher. */
export function checkCriteria({ criteria: code }: Refusals<"criteria">, criteria: number): void {
  if (code === undefined || criteria < 1 << CRITERIA_BITS) return;
  const hint = "bits 0 to 6: outer, misc, inner, misc2 to misc5";
  refuse({ code, reason: "bad_criteria", path: "match_criteria_enable", value: criteria, hint });
}

/** Checks the size of the device bytes that the caller passed at `path`; `held` bytes are there. */
export function checkSize(path: string, what: "mask" | "value", place: MaskPlace, size: number, held: number): void {
  const most = place.isRoot ? KERNEL_KEY_SIZE : DEVICE_KEY_SIZE;
  if (size > 0 && size <= most && size <= held && size % 4 === 0) return;
  const { masks, values } = tableRules(place);
  const { noBytes, tooManyBytes, partOfDword } = what === "mask" ? { ...masks, partOfDword: undefined } : values;
  const bad = (code: ErrnoName | undefined, hint: string): void => {
    if (code !== undefined) {
      refuse({ code, reason: "bad_match_size", path: `${path}.match_sz`, value: size, hint });
    }
  };
  const range = `${noBytes === undefined ? 0 : 1} to ${most}`;
  if (size === 0) bad(noBytes, range);
  if (size > most) bad(tooManyBytes, range);
  if (size > held) bad("EINVAL", `match_buf has ${held} bytes`);
  if (size % 4 !== 0) bad(partOfDword, "a multiple of 4");
}

/**
 * The ip_version that rules must repeat, outer and inner (0: none), from the enabled groups of a
 * mask.
 */
export function repeatedVersions(
  { versionMask, versionMaskUnlessWhole }: Refusals<MaskCheck>,
  mask: Uint8Array,
): number[] {
  const code = versionMask ?? versionMaskUnlessWhole;
  if (code === undefined) return [0, 0];
  return ipVersions(mask).map((version, i) => {
    if (version === 0 || version === 4 || version === 6) return version;
    if (versionMask === undefined && version === 0xf) return 0;
    return refuse({
      code,
      reason: "ip_version_mask",
      path: `mask.${LEVELS[i] as string}.ip_version`,
      value: version,
      hint: "not a mask of bits: 4 or 6",
      cite: "mlx5dv_dr: LIMITATIONS",
    });
  });
}

/**
 * Checks the enabled groups of device bytes, in the library's order. ip_version is checked before.
 */
export function checkDeviceMask(place: MaskPlace, criteria: number, mask: Uint8Array): void {
  const { partOfSourcePort, emptyMask } = tableRules(place).masks;
  const port = Number(readField(mask, named("misc.source_port")));
  if (partOfSourcePort !== undefined && port !== 0 && port !== 0xffff) {
    const path = "mask.misc.source_port";
    refuse({
      code: partOfSourcePort,
      reason: "unsupported",
      path,
      value: port,
      hint: "all of its bits, or none",
    });
  }
  if (emptyMask === undefined || criteria === 0 || mask.some((bits) => bits !== 0)) return;
  const hint = "name no group to take every frame";
  refuse({ code: emptyMask, reason: "empty_mask", path: "match_criteria_enable", value: criteria, hint });
}

/**
 * Checks that the device can match a whole mask, presence included, in this table. `versions` holds
 * the ip_version of device bytes; a mask by name passes 15, and its rules have the version.
 */
export function checkMask(place: MaskPlace, mask: Uint8Array, versions = ipVersions(mask)): void {
  const { masks } = tableRules(place);
  if (masks.unknownToDevice !== undefined) checkMatchable(masks, place.type, maskedFields(mask), versions);
  place.device.parser.check(mask);
}

/** The first field of a whole mask that tables of a profile that are not root do not match, and why; null if they match all. */
export function unmatchableField(
  { rules }: Profile,
  type: DomainType,
  mask: Uint8Array,
): { readonly field: string; readonly hint: string } | null {
  return inCall("", () => {
    try {
      checkMatchable(rules.other.masks, type, maskedFields(mask), ipVersions(mask));
      return null;
    } catch (error) {
      if (!(error instanceof SteeringError)) throw error;
      return { field: (error.path ?? "").replace("mask.", ""), hint: error.hint ?? "" };
    }
  });
}

/** Checks of a matcher that the stack makes when it makes a rule. */
export function checkTakesRules(place: MaskPlace, priority: number, criteria: number): void {
  const { values } = tableRules(place);
  const { lastPriority } = place.device.profile.flows;
  if (values.priority !== undefined && priority > lastPriority) {
    const hint = `priorities of a root table are 0 to ${lastPriority}`;
    refuse({ code: values.priority, reason: "out_of_range", path: "matcher.priority", value: priority, hint });
  }
  checkCriteria(values, criteria);
}

/**
 * Checks that a value repeats the ip_version of its mask, outer and inner; `wanted` is 0 where
 * there is none.
 */
export function checkVersions(
  { versionOutsideMask, otherVersion }: Refusals<ValueCheck>,
  wanted: readonly number[],
  value: Uint8Array,
): void {
  const found = ipVersions(value);
  if (found[0] === wanted[0] && found[1] === wanted[1]) return;
  const differs = (i: number): boolean => wanted[i] !== 0 && found[i] !== wanted[i];
  const outside = (i: number): boolean => differs(i) && ((found[i] ?? 0) & ~(wanted[i] ?? 0)) !== 0;
  const refused = (i: number, code: ErrnoName): void =>
    refuse({
      code,
      reason: "ip_version_mask",
      path: `value.${LEVELS[i] as string}.ip_version`,
      value: found[i],
      hint: `the mask says ${wanted[i]}`,
      cite: "mlx5dv_dr: LIMITATIONS",
    });
  // The library compares the bits with the mask before it looks at the number.
  for (const i of [0, 1]) if (versionOutsideMask !== undefined && outside(i)) refused(i, versionOutsideMask);
  for (const i of [0, 1]) if (otherVersion !== undefined && differs(i)) refused(i, otherVersion);
}

/**
 * Changes a value inside the mask as the library does: a source port must be that of a vport, and a
 * VLAN tag is of one kind.
 */
export function fixUpValue(code: ErrnoName, { vports }: DeviceBase, value: Uint8Array): void {
  const port = ((value[MISC_SOURCE_PORT] ?? 0) << 8) | (value[MISC_SOURCE_PORT + 1] ?? 0);
  if (port > vports && port !== VPORT_UPLINK) {
    const hint = `0${vports > 0 ? ` to ${vports}` : ""}, or ${VPORT_UPLINK}`;
    refuse({ code, reason: "out_of_range", path: "value.misc.source_port", value: port, hint });
  }
  for (const [byte, cvlan, svlan] of TAG_KINDS) {
    const bits = value[byte] ?? 0;
    if ((bits & cvlan) !== 0 && (bits & svlan) !== 0) value[byte] = bits & ~svlan;
  }
}

/** Whether `fixUpValue` can change or refuse a value under this mask. */
export function needsFixUp(mask: Uint8Array): boolean {
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

/** Fields for which steering entries have no room. */
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

/** The send path does not match the sender. */
const SOURCES: ReadonlySet<string> = new Set(["misc.source_sqn", "misc.source_port"]);

/** A matcher may mask one kind of each line. */
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
/**
 * Fields that a steering entry without definers holds for one IP version only, or for each; and
 * those versions.
 */
const ABOVE_L2: readonly (readonly [name: RegExp, versions: readonly number[]])[] = [
  [/\.ipv4_(src|dst)$|\.ip_(protocol|dscp|ecn|ttl_hoplimit)$|\.(tcp|udp)_[sd]port$|\.tcp_flags$/, [4, 6]],
  [/\.ipv4_ihl$/, [4]],
  [/\.ipv6_(src|dst)$|_ipv6_flow_label$/, [6]],
];
const L2 = /\.([sd]mac|ethertype|first_(prio|cfi|vid)|[cs]vlan_tag)$|_second_/;

/** Checks a mask for a table whose device lacks some fields of the key. */
function checkMatchable(
  refuses: Refusals<MaskCheck>,
  type: DomainType,
  masked: readonly Field[],
  versions: readonly number[],
): void {
  const { unknownToDevice, sourceOnTransmit, okBits, exclusiveFields, versionlessFields } = refuses;
  const unmatchable = (code: ErrnoName | undefined, field: string, hint: string): void => {
    if (code !== undefined) refuse({ code, reason: "unsupported", path: `mask.${field}`, hint });
  };
  for (const { name } of masked) {
    if (name.startsWith("ext.")) unmatchable(unknownToDevice, name, "the device has no field for it");
    if (NEVER.has(name)) unmatchable(unknownToDevice, name, "tables that are not root do not match it");
    if (SOURCES.has(name) && type === "nic_tx") unmatchable(sourceOnTransmit, name, "only in NIC_RX and FDB");
    if (OK.test(name)) unmatchable(okBits, name, "this device has no definers, which match it");
  }
  if (exclusiveFields !== undefined) {
    checkExclusive(masked, (field, hint) => unmatchable(exclusiveFields, field, hint));
  }
  if (versionlessFields === undefined) return;
  for (const [i, level] of LEVELS.entries()) {
    checkAboveL2(masked, level, versions[i] ?? 0, (field, hint) => unmatchable(versionlessFields, field, hint));
  }
}

type Unmatchable = (field: string, hint: string) => void;

function checkExclusive(masked: readonly Field[], unmatchable: Unmatchable): void {
  for (const kinds of EXCLUSIVE) {
    const asked = Object.entries(kinds).flatMap(([kind, form]) => {
      const first = masked.find(({ name }) => form.test(name));
      return first === undefined ? [] : [{ kind, name: first.name }];
    });
    const [taken, left] = asked;
    if (taken !== undefined && left !== undefined) unmatchable(left.name, `the matcher asks for ${taken.kind} already`);
  }
}

/** Without definers, fields above L2 are found by ip_version. */
function checkAboveL2(masked: readonly Field[], level: string, version: number, unmatchable: Unmatchable): void {
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
