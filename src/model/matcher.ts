/** Matchers (mlx5dv_dr: Matcher): what they decide is legality and rank; the classifier does not know them. */
import { DEVICE_KEY_SIZE, KEY_SIZE } from "../abi/key.js";
import { refuse } from "../errors.js";
import { trappingSlot, type Place } from "./classifier.js";
import { Table } from "./domain.js";
import { fieldAtBit } from "./fields.js";
import { describe, Handle, living, retire, unsigned } from "./handle.js";
import { deviceMask, enabledGroups, ipVersions, maskOf, type MatchFields, type MatchParameters } from "./match.js";
import { takeSampleValue, type SamplePlaces } from "./samples.js";

/** `match_criteria_enable` has a bit for each of the seven groups. */
const CRITERIA_BITS = 7;
const DEVICE_WORDS = DEVICE_KEY_SIZE / 4;

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
  /** Place among the matchers of its table; classifier.ts. */
  order = 0;
  /** What every rule must repeat as its ip_version, outer and inner: the 4 or 6 of the mask; 0 for nothing. */
  versions: readonly number[] = [0, 0];
  /** Where device bytes of a rule hold samples. */
  samples: SamplePlaces | null = null;
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
    if (unsigned(call, "match_criteria_enable", criteria, 8) >= 1 << CRITERIA_BITS) {
      const hint = "bits 0 to 6: outer, misc, inner, misc2 to misc5";
      refuse({ code: "EINVAL", call, reason: "bad_criteria", path: "match_criteria_enable", value: criteria, hint });
    }
    const bytes = parameterBytes(call, "mask", mask);
    const { mask: whole, samples } = deviceMask(call, criteria, bytes);
    const matcher = add(call, table, priority, criteria, whole);
    matcher.samples = samples;
    matcher.versions = ipVersions(enabledGroups(criteria, bytes)).map((version) => (version === 0xf ? 0 : version));
    return matcher;
  }

  /** A matcher over named fields, each with a mask; of rules with masks of their own where `mask` is left out. */
  static named(call: string, table: Table, priority: number, mask: MatchFields | undefined, name: string): Matcher {
    living(call, "table", table, Table);
    return add(call, table, priority, 0, mask === undefined ? null : maskOf(call, "mask", mask), name);
  }

  /**
   * The value of a rule, checked against the mask: a whole key, presence included.
   * The key is one of the module's, valid until the next call: the core copies it at once.
   */
  keyOf(call: string, value: MatchParameters | Uint8Array | null | undefined): Uint8Array {
    const { mask } = this;
    if (mask === null) throw new TypeError(`${call}: the matcher ${this.name} takes named fields only`);
    const bytes = parameterBytes(call, "value", value);
    if (bytes.length % 4 !== 0) {
      const hint = "a multiple of 4";
      refuse({ code: "EINVAL", call, reason: "bad_match_size", path: "value.match_sz", value: bytes.length, hint });
    }
    const key = enabledGroups(this.criteria, bytes, SCRATCH);
    takeSampleValue(call, key, this.samples);
    this.#maskWords ??= new Uint32Array(mask.buffer, mask.byteOffset, DEVICE_WORDS);
    if (!isInside(this.#maskWords)) refuseOutside(call, key, mask);
    if (this.versions[0] !== 0 || this.versions[1] !== 0) this.checkVersions(call, key);
    // What lies behind the device format is presence: all that the mask asks is asked to be there.
    this.#presence ??= mask.subarray(DEVICE_KEY_SIZE);
    key.set(this.#presence, DEVICE_KEY_SIZE);
    return key;
  }

  private checkVersions(call: string, value: Uint8Array): void {
    for (const [i, found] of ipVersions(value).entries()) {
      const wanted = this.versions[i];
      if (wanted === 0 || found === wanted) continue;
      refuse({
        code: "EINVAL",
        call,
        reason: "ip_version_mask",
        path: `value.${i === 0 ? "outer" : "inner"}.ip_version`,
        value: found,
        hint: `the mask says ${wanted}`,
        cite: "mlx5dv_dr: LIMITATIONS",
      });
    }
  }

  destroy(call: string): void {
    retire(call, "matcher", this, "destroy its rules first");
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
  unsigned(call, "priority", priority, 16);
  if (mask !== null) table.device.parser.check(call, mask);
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
  path: string,
  parameters: MatchParameters | Uint8Array | null | undefined,
): Uint8Array {
  if (parameters === null || parameters === undefined) return new Uint8Array(0);
  const bytes = parameters instanceof Uint8Array ? parameters : parameters.match_buf;
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError(`${call}: ${path}.match_buf must be a Uint8Array, not ${describe(bytes)}`);
  }
  const size = parameters instanceof Uint8Array ? bytes.length : (parameters.match_sz ?? bytes.length);
  unsigned(call, `${path}.match_sz`, size, 32);
  if (size > DEVICE_KEY_SIZE || size > bytes.length) {
    const hint = `at most ${DEVICE_KEY_SIZE}, and no more than match_buf holds`;
    refuse({ code: "EINVAL", call, reason: "bad_match_size", path: `${path}.match_sz`, value: size, hint });
  }
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
