/**
 * `SteeringError`: the error of a refused call, with its errno and a stable reason.
 *
 * A refused call changes nothing. An argument of the wrong JavaScript type throws a `TypeError` instead.
 */

import { jsonValue } from "./printable.js";

/** Linux errno values that the manual pages and drivers use. */
export const ERRNO = {
  EPERM: 1,
  ENOENT: 2,
  EIO: 5,
  EAGAIN: 11,
  ENOMEM: 12,
  EBUSY: 16,
  EEXIST: 17,
  ENODEV: 19,
  EINVAL: 22,
  ENOSPC: 28,
  ENOSYS: 38,
  ENODATA: 61,
  EPROTO: 71,
  EPROTONOSUPPORT: 93,
  EOPNOTSUPP: 95,
  /** Another name of the same number. */
  ENOTSUP: 95,
  EREMOTEIO: 121,
} as const;

/** The name of an errno value, as C spells it. */
export type ErrnoName = keyof typeof ERRNO;

/**
 * Stable identities of the rules that a refusal can name. Messages may be reworded, these may not:
 * programs compare them.
 */
export const REFUSALS = {
  // any call
  bad_field: "no field has this name",
  unknown_option: "no option has this name",
  bad_number: "not a number that fits the field",
  bad_address: "not an address of this kind",
  bad_prefix: "not a prefix length of this address",
  bad_range: "not a range that fits the field",
  contradiction: "two fields ask different things of the same bits",
  too_many_ranges: "a rule holds at most two ranges",
  unsupported: "the device does not do this",
  object_destroyed: "the object has been destroyed",
  other_device: "the object belongs to another device",
  other_domain: "the object belongs to another domain",
  in_use: "the object is still used",
  no_memory: "the limit of the device is reached",
  out_of_range: "outside the range that the field can hold",
  // match parameters, matchers and rules
  bad_criteria: "match_criteria_enable has a bit that names no group",
  empty_mask: "groups are named, and nothing of them is masked",
  bad_match_size: "the match parameters have a size that the device does not take",
  reserved_bits: "a reserved bit is masked",
  ip_version_mask: "ip_version is masked by 4, 6 or 0, and the rule repeats it",
  value_outside_mask: "the value has a bit that its mask leaves out",
  field_left_out: "the rule leaves out a field that its matcher masks",
  bad_action_list: "these actions cannot stand in one rule",
  bad_object: "the object is not of the kind that the call takes",
  root_table: "a root table cannot stand here",
  not_root_table: "only a root table can stand here",
  root_only: "the domain has its root table only",
  action_order: "no action of this kind can follow the ones before it",
  action_repeated: "no more actions of this kind can stand in one rule",
  root_level: "the action was made for tables of another level",
  duplicate_rule: "a rule of this matcher has the same values",
  unmatchable: "the device cannot match this",
  bad_modify: "not a list of header changes that the device can carry out",
  bad_reformat: "not a packet reformat that the device can carry out",
  // flows
  bad_spec: "no flow spec of this type can stand here",
  bad_spec_size: "the size is not that of a flow spec of this type",
  spec_count: "num_of_specs is not the number of specs",
  too_short: "the bytes end before the struct does",
  bad_flow_flag: "no flow of this type has such a flag",
  not_permitted: "the context lacks the privilege",
  conflicting_flow: "a flow that asks for the same frames does something else with them",
  // queues and memory
  bad_state: "the queue pair is not in a state that allows this",
  outside_memory_region: "the scatter entry lies outside its memory region",
  bad_key: "no memory region has this key",
  queue_full: "the queue holds no more work requests",
  completions_full: "the completion queue holds no more completions",
  missing_attribute: "the step to this state takes an attribute that attr_mask leaves out",
  bad_attribute: "the step to this state does not take this attribute",
  not_requested: "the completion queue was not made to report this",
  no_completion: "no completion is at hand",
  bad_poll: "polling is not under way, or it is already",
  bad_opcode: "a queue pair of this type has no such operation",
  bad_send_flags: "the request cannot be sent so",
  bad_frame: "not a frame that can be sent",
  bad_create_flags: "no queue pair of this type can be made so",
  // ports and addresses
  burst_state: "the burst is not at a point that allows this",
  no_entry: "the entry of the table is empty",
  bad_route: "no way leads from this source to this destination",
  no_mac: "the MAC of the destination does not follow from its GID",
  // frames that are built
  bad_header: "no header has this name",
  bad_option: "not an option that the header can hold",
  not_derived: "what was left out does not follow from the other headers",
  // device commands
  bad_command: "the device refused the command",
  // files
  not_a_capture: "neither a pcap nor a pcapng file",
  bad_capture: "the capture file breaks its own format",
  bad_link_type: "no parser for this link type",
  bad_json: "the text is not JSON",
  bad_scenario: "the document does not follow the scenario schema",
  unknown_name: "nothing in the document has this name",
  duplicate_name: "two things have the same name",
  bad_version: "a version of the format that this release does not read",
  bad_usage: "the command line is not understood",
  cannot_read: "the file cannot be read",
  cannot_write: "the file cannot be written",
} as const;

/** The identity of the rule that was broken. */
export type RefusalReason = keyof typeof REFUSALS;

/** The fields of a refusal. */
export interface Refusal {
  /** errno name; its number follows from it. */
  code: ErrnoName;
  /** The refused call, by the name that the caller used: `ibv_create_flow`, `createDevice`. */
  call: string;
  reason: RefusalReason;
  /** The argument, field or place that is wrong, such as `value.outer.tcp_dport` or `rules[3].match`. */
  path?: string | undefined;
  /** The value found there. */
  value?: unknown;
  /** How to fix it. */
  hint?: string | undefined;
  /** The manual page, RFC or page of docs/ with the rule. */
  cite?: string | undefined;
}

/**
 * A refused call. `message` has the call, the field, its value, the rule and the errno in one line.
 *
 * Objects in `value` are not enumerable: Node prints every enumerable field of an uncaught error to a depth of five, which for
 * an object of a device is hundreds of lines. `JSON.stringify` shows all fields, objects of a device by their names.
 */
export class SteeringError extends Error implements Refusal {
  override readonly name = "SteeringError";
  readonly errno: number;
  readonly code: ErrnoName;
  readonly call: string;
  readonly reason: RefusalReason;
  readonly path: string | undefined;
  readonly value: unknown;
  readonly hint: string | undefined;
  readonly cite: string | undefined;

  constructor(refusal: Refusal) {
    super(refusalText(refusal));
    this.errno = ERRNO[refusal.code];
    this.code = refusal.code;
    this.call = refusal.call;
    this.reason = refusal.reason;
    this.path = refusal.path;
    this.value = refusal.value;
    this.hint = refusal.hint;
    this.cite = refusal.cite;
    for (const [name, value] of Object.entries(this)) {
      if (value === undefined || typeof value === "object" || typeof value === "function") {
        Object.defineProperty(this, name, { enumerable: false });
      }
    }
  }

  /** All fields, for `JSON.stringify`. */
  toJSON(): Record<string, unknown> {
    const { name, message, errno, code, call, reason, path, value, hint, cite } = this;
    return jsonValue({ name, message, errno, code, call, reason, path, value, hint, cite }) as Record<string, unknown>;
  }
}

/** @throws SteeringError with these fields, always */
export function refuse(refusal: Refusal): never {
  throw new SteeringError(refusal);
}

/** The message of a refusal, in one line: `call: path = value: rule (errno); hint [cite]`. */
export function refusalText(r: Refusal): string {
  const place = r.path === undefined ? "" : ` ${r.path}${r.value === undefined ? "" : ` = ${show(r.value)}`}:`;
  const hint = r.hint === undefined ? "" : `; ${r.hint}`;
  const cite = r.cite === undefined ? "" : ` [${r.cite}]`;
  return `${r.call}:${place} ${REFUSALS[r.reason]} (${r.code})${hint}${cite}`;
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value === "object" && value !== null) {
    const label = (value as { name?: unknown }).name;
    return typeof label === "string" ? label : value.constructor.name;
  }
  return String(value);
}
