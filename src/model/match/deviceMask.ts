/**
 * Masks in device bytes (struct mlx5dv_flow_match_parameters) and the values of their rules, shared
 * by matchers of direct rules and by flow matchers. The checks are in model/match/matcherChecks.ts.
 */
import { DEVICE_KEY_SIZE, GROUP_SIZE, KEY_SIZE } from "../../abi/key.js";
import { refuse, type ErrnoName } from "../../errors.js";
import { fieldAtBit } from "./fields.js";
import { completeMask, enabledGroups } from "./match.js";
import { parameterBytes, type DeviceBytes } from "./parameterBytes.js";
import {
  checkCriteria,
  checkDeviceMask,
  checkMask,
  checkVersions,
  fixUpValue,
  needsFixUp,
  repeatedVersions,
  tableRules,
  type MaskPlace,
} from "./matcherChecks.js";
import type { ValueCheck } from "../profile/profile.js";
import type { Refusals } from "../profile/refusals.js";
import { takeSampleValue, type SamplePlaces } from "./samples.js";

/** The masked bits of groups that the criteria leave out, and what rules have there. */
export class LeftOut {
  /** The criteria bits of these groups. */
  readonly criteria: number;
  /** A whole key. */
  readonly mask: Uint8Array;
  private readonly _values = new WeakMap<object, Uint8Array>();

  private constructor(criteria: number, mask: Uint8Array) {
    this.criteria = criteria;
    this.mask = mask;
  }

  /** Null if the criteria name every group that has a bit. */
  static of(criteria: number, mask: Uint8Array): LeftOut | null {
    let groups = 0;
    for (let byte = 0; byte < mask.length && byte < DEVICE_KEY_SIZE; byte++) {
      if (mask[byte] !== 0) groups |= 1 << Math.floor(byte / GROUP_SIZE);
    }
    groups &= ~criteria;
    return groups === 0 ? null : new LeftOut(groups, enabledGroups(groups, mask));
  }

  /** Keeps the value of a rule or flow. */
  keep(of: object, value: DeviceBytes): void {
    const bytes = value instanceof Uint8Array ? value : value?.match_buf;
    this._values.set(of, enabledGroups(this.criteria, bytes ?? new Uint8Array()));
  }

  /** The bits that a rule or flow has in these groups: a whole key. */
  valueOf(of: object): Uint8Array | undefined {
    return this._values.get(of);
  }
}

const ALL_GROUPS = 2 ** (DEVICE_KEY_SIZE / GROUP_SIZE) - 1;

/** Scratch key of the current rule. */
const SCRATCH = new Uint8Array(KEY_SIZE);
const SCRATCH_WORDS = new Uint32Array(SCRATCH.buffer);
/** The whole mask whose presence SCRATCH has. All groups that its criteria leave out are 0. */
let scratchMask: Uint8Array | null = null;

export class DeviceMask {
  /** The whole mask, presence included. */
  readonly mask: Uint8Array;
  /**
   * The ip_version that every rule must repeat, outer and inner: 4 or 6 from the mask; 0 for none.
   */
  readonly versions: readonly number[];
  /** The places of samples in the device bytes of a rule. */
  readonly samples: SamplePlaces | null;
  /**
   * What the caller masked in groups that `match_criteria_enable` leaves out, for explanations; null
   * if nothing. The device does not match these bits.
   */
  readonly leftOut: LeftOut | null;
  private readonly _place: MaskPlace;
  private readonly _refuses: Refusals<ValueCheck>;
  private readonly _criteria: number;
  private readonly _maskWords: Uint32Array;
  /** The size of a value that is copied as a whole, because the criteria name just its groups; -1 for none. */
  private readonly _wholeSize: number;
  /** Whether values under this mask can need `fixUpValue`. */
  private readonly _fixesUp: boolean;

  /**
   * `path` names the bytes in refusals. @throws EINVAL, EOPNOTSUPP, ENOTSUP rules here cannot match
   * this mask
   */
  constructor(path: string, place: MaskPlace, criteria: number, given: DeviceBytes) {
    const rules = tableRules(place);
    checkCriteria(rules.masks, criteria);
    const bytes = parameterBytes(path, place, given);
    const mask = enabledGroups(criteria, bytes);
    const versions = repeatedVersions(rules.masks, mask);
    checkDeviceMask(place, criteria, mask);
    this.samples = completeMask(mask, versions, rules.masks.sampleId);
    checkMask(place, mask, versions);
    this.mask = mask;
    this.versions = versions;
    this.leftOut = LeftOut.of(criteria, bytes);
    this._place = place;
    this._refuses = rules.values;
    this._criteria = criteria;
    this._maskWords = new Uint32Array(mask.buffer, mask.byteOffset, KEY_SIZE / 4);
    const groups = criteria & ALL_GROUPS;
    this._wholeSize = (groups & (groups + 1)) === 0 ? (32 - Math.clz32(groups)) * GROUP_SIZE : -1;
    this._fixesUp = rules.values.sourcePort !== undefined && needsFixUp(mask);
  }

  /**
   * The whole key of a rule's value, presence included, after the checks against the mask. It is a
   * scratch key, valid until the next call: the core copies it at once.
   */
  keyOf(path: string, value: DeviceBytes): Uint8Array {
    const { mask, versions } = this;
    const bytes = parameterBytes(path, this._place, value, mask);
    if (scratchMask !== mask) this._takeScratch();
    if (!this._copy(bytes)) refuseOutside(path, this._refuses.outsideMask, SCRATCH, mask);
    if (versions[0] !== 0 || versions[1] !== 0) checkVersions(this._refuses, versions, SCRATCH);
    if (this._fixesUp) fixUpValue(this._refuses.sourcePort as ErrnoName, this._place.device, SCRATCH);
    return SCRATCH;
  }

  /** Copies the enabled groups of a value to the scratch key; whether all bits lie inside the mask. */
  private _copy(bytes: Uint8Array): boolean {
    const { mask, samples } = this;
    let outside = 0;
    // Most values have just the enabled groups: one copy, compared by words.
    if (bytes.length === this._wholeSize && samples === null) {
      SCRATCH.set(bytes);
      const masked = this._maskWords;
      for (let word = 0; word < this._wholeSize >> 2; word++) {
        outside |= (SCRATCH_WORDS[word] as number) & ~(masked[word] as number);
      }
      return outside === 0;
    }
    for (let groups = this._criteria & ALL_GROUPS; groups !== 0; groups &= groups - 1) {
      let at = (31 - Math.clz32(groups & -groups)) * GROUP_SIZE;
      const end = at + GROUP_SIZE;
      // A loop, not `set`: `set` would create a view for each rule.
      for (const given = Math.min(end, bytes.length); at < given; at++) {
        const bits = bytes[at] as number;
        SCRATCH[at] = bits;
        outside |= bits & ~(mask[at] as number);
      }
      for (; at < end; at++) SCRATCH[at] = 0;
    }
    if (samples === null) return outside === 0;
    takeSampleValue(SCRATCH, samples);
    return SCRATCH.every((bits, at) => (bits & ~(mask[at] as number)) === 0);
  }

  /** Makes the scratch key one of this mask. */
  private _takeScratch(): void {
    SCRATCH.fill(0);
    // The words after the device format are presence bits: every masked bit must be set.
    SCRATCH.set(this.mask.subarray(DEVICE_KEY_SIZE), DEVICE_KEY_SIZE);
    scratchMask = this.mask;
  }
}

/** The name of the first bit of `value` that lies outside `mask`. */
function refuseOutside(path: string, code: ErrnoName = "EINVAL", value: Uint8Array, mask: Uint8Array): never {
  const byte = value.findIndex((bits, at) => at < DEVICE_KEY_SIZE && (bits & ~(mask[at] ?? 0)) !== 0);
  const outside = (value[byte] ?? 0) & ~(mask[byte] ?? 0);
  return refuse({
    code,
    reason: "value_outside_mask",
    path: `${path}.${fieldAtBit(byte * 8 + Math.clz32(outside) - 24)} (byte ${byte})`,
    value: outside,
    hint: "fill only the fields that the matcher masks",
    cite: "mlx5dv_dr: Matcher",
  });
}
