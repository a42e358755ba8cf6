/** Matchers (mlx5dv_dr: Matcher): what they decide is legality and rank; the classifier does not know them. */
import { DEVICE_KEY_SIZE, KEY_SIZE } from "../abi/key.js";
import { refuse } from "../errors.js";
import { trappingSlot, type Place } from "./classifier.js";
import { Table } from "./domain.js";
import { fieldAtBit } from "./fields.js";
import { describe, Handle, living, retire, unsigned } from "./handle.js";
import { settle } from "./heldRules.js";
import { completeMask, enabledGroups, maskOf, type MatchFields, type MatchParameters } from "./match.js";
import {
  checkCriteria,
  checkDeviceMask,
  checkMask,
  checkSize,
  checksOf,
  checkTakesRules,
  checkVersions,
  repeatedVersions,
  settleValue,
  type Checks,
} from "./matcherChecks.js";
import { takeSampleValue, type SamplePlaces } from "./samples.js";

const DEVICE_WORDS = DEVICE_KEY_SIZE / 4;
const NO_BYTES = new Uint8Array(0);

/** The key of the rule that is being made. */
const SCRATCH = new Uint8Array(KEY_SIZE);
const SCRATCH_WORDS = new Uint32Array(SCRATCH.buffer);

export class Matcher extends Handle implements Place {
  readonly table: Table;
  readonly priority: number;
  readonly slot: number;
  readonly criteria: number;
  /** The mask of all its rules; null for an open matcher, whose rules bring their own (scenario files). */
  readonly mask: Uint8Array | null;
  /** Who refuses what it asks, and what its rules say. */
  readonly checks: Checks;
  /** Place among the matchers of its table; classifier.ts. */
  order = 0;
  /** What every rule must repeat as its ip_version, outer and inner: the 4 or 6 of the mask; 0 for nothing. */
  versions: readonly number[] = [0, 0];
  /** Where device bytes of a rule hold samples. */
  samples: SamplePlaces | null = null;
  /** Rules that the table keeps room for. */
  #room = 0;
  /** The mask as words, made with the first rule. */
  #maskWords: Uint32Array | undefined;
  /** What of the mask lies behind the device format, made with the first rule. */
  #presence: Uint8Array | undefined;

  constructor(table: Table, priority: number, criteria: number, mask: Uint8Array | null, name: string) {
    super(table.device, name);
    this.table = table;
    this.priority = priority;
    this.slot = trappingSlot(priority);
    this.criteria = criteria;
    this.mask = mask;
    this.checks = checksOf(table);
  }

  /** mlx5dv_dr_matcher_create: device bytes. */
  static create(
    call: string,
    table: Table,
    priority: number,
    criteria: number,
    mask: MatchParameters | Uint8Array | null | undefined,
  ): Matcher {
    living(call, "table", table, Table);
    unsigned(call, "priority", priority, 16);
    unsigned(call, "match_criteria_enable", criteria, 8);
    const checks = checksOf(table);
    if (checks !== "kernel") checkCriteria(call, criteria);
    const whole = enabledGroups(criteria, parameterBytes(call, "mask", table, mask));
    const versions = repeatedVersions(call, checks, whole);
    checkDeviceMask(call, table, criteria, whole);
    const samples = completeMask(call, whole, versions, checks === "manual" ? "EINVAL" : "EOPNOTSUPP");
    checkMask(call, table, whole, versions);
    const matcher = add(call, table, priority, criteria, whole);
    matcher.samples = samples;
    matcher.versions = versions;
    return matcher;
  }

  /** A matcher over named fields, each with a mask; of rules with masks of their own where `mask` is left out. */
  static named(call: string, table: Table, priority: number, mask: MatchFields | undefined, name: string): Matcher {
    living(call, "table", table, Table);
    unsigned(call, "priority", priority, 16);
    const whole = mask === undefined ? null : maskOf(call, "mask", mask);
    if (whole !== null) checkMask(call, table, whole);
    return add(call, table, priority, 0, whole, name);
  }

  /** Refuses what no rule of it can be made for. */
  checkTakesRules(call: string): void {
    if (this.checks === "kernel") checkTakesRules(call, this.priority, this.criteria);
  }

  /**
   * The value of a rule, checked against the mask: a whole key, presence included.
   * The key is one of the module's, valid until the next call: the core copies it at once.
   */
  keyOf(call: string, value: MatchParameters | Uint8Array | null | undefined): Uint8Array {
    const { mask } = this;
    if (mask === null) throw new TypeError(`${call}: the matcher ${this.name} takes named fields only`);
    const bytes = parameterBytes(call, "value", this.table, value);
    const key = enabledGroups(this.criteria, bytes, SCRATCH);
    takeSampleValue(call, key, this.samples);
    this.#maskWords ??= new Uint32Array(mask.buffer, mask.byteOffset, DEVICE_WORDS);
    if (!isInside(this.#maskWords)) refuseOutside(call, key, mask);
    if (this.versions[0] !== 0 || this.versions[1] !== 0) checkVersions(call, this.checks, this.versions, key);
    if (this.checks === "library") settleValue(call, this.device, key);
    // What lies behind the device format is presence: all that the mask asks is asked to be there.
    this.#presence ??= mask.subarray(DEVICE_KEY_SIZE);
    key.set(this.#presence, DEVICE_KEY_SIZE);
    return key;
  }

  /**
   * Makes room in the table for so many rules, beside that of other matchers; it takes the place of what there was, and
   * `stays` whether rules are there or not. @throws ENOMEM
   */
  reserve(call: string, rules: number, stays: boolean): void {
    const { classifier, domain } = this.table;
    const kept = stays ? rules : 0;
    if (!classifier.makeRoom(rules - this.#room, kept - this.#room)) this.device.allocated(call, 0);
    const less = kept < this.#room;
    this.#room = kept;
    if (less && kept === rules && domain.reclaims) this.device.core.exports.trimTable(classifier.table);
  }

  destroy(call: string): void {
    settle(call, this);
    retire(call, "matcher", this, "destroy its rules first");
    if (this.#room > 0) this.reserve(call, 0, false);
    this.table.classifier.remove(this);
    this.table.users--;
  }
}

function add(
  call: string,
  table: Table,
  priority: number,
  criteria: number,
  mask: Uint8Array | null,
  name?: string,
): Matcher {
  const matcher = new Matcher(table, priority, criteria, mask, name ?? `matcher${table.device.nextNumber("matcher")}`);
  if (!table.classifier.add(matcher)) {
    refuse({ code: "ENOMEM", call, reason: "no_memory", path: "table", value: table, hint: "65536 matchers a table" });
  }
  table.users++;
  return matcher;
}

/** Device bytes: a struct mlx5dv_flow_match_parameters, its bytes alone, or nothing (all zero). */
function parameterBytes(
  call: string,
  path: "mask" | "value",
  table: Table,
  parameters: MatchParameters | Uint8Array | null | undefined,
): Uint8Array {
  const given = parameters ?? NO_BYTES;
  const bytes = given instanceof Uint8Array ? given : given.match_buf;
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError(`${call}: ${path}.match_buf must be a Uint8Array, not ${describe(bytes)}`);
  }
  const size = given instanceof Uint8Array ? bytes.length : (given.match_sz ?? bytes.length);
  checkSize(call, path, table, unsigned(call, `${path}.match_sz`, size, 32), bytes.length);
  return size === bytes.length ? bytes : bytes.subarray(0, size);
}

/** Whether the scratch key lies inside a mask. */
function isInside(mask: Uint32Array): boolean {
  let outside = 0;
  for (let word = 0; word < DEVICE_WORDS; word++) outside |= (SCRATCH_WORDS[word] ?? 0) & ~(mask[word] ?? 0);
  return outside === 0;
}

/** Names the first bit of `value` that lies outside `mask`. */
function refuseOutside(call: string, value: Uint8Array, mask: Uint8Array): never {
  const byte = value.findIndex((bits, at) => at < DEVICE_KEY_SIZE && (bits & ~(mask[at] ?? 0)) !== 0);
  const outside = (value[byte] ?? 0) & ~(mask[byte] ?? 0);
  return refuse({
    code: "EINVAL",
    call,
    reason: "value_outside_mask",
    path: `value.${fieldAtBit(byte * 8 + Math.clz32(outside) - 24)} (byte ${byte})`,
    value: outside,
    hint: "fill only the fields that the matcher masks",
    cite: "mlx5dv_dr: Matcher",
  });
}
