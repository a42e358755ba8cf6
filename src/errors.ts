/**
 * `SteeringError`: the error of a refused call, with its errno and a stable reason.
 *
 * A refused call changes nothing. An argument of the wrong JavaScript type throws a `TypeError`
 * instead.
 */

import { jsonValue } from "./base/printable.js";

/** The Linux errno values that the manual pages and drivers use. */
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
  /** Another name for 95. */
  ENOTSUP: 95,
  EREMOTEIO: 121,
} as const;

/** The name of an errno value, as C spells it. */
export type ErrnoName = keyof typeof ERRNO;

/**
 * The rules that a refused call can break, by their stable reasons. Texts may change; reasons may
 * not, because programs compare them.
 */
export const REFUSALS = {
  // any call
  bad_field: "no field has this name",
  unknown_option: "no option has this name",
  bad_number: "not a number that fits the field",
  bad_address: "not an address of this kind",
  bad_prefix: "not a prefix length of this address",
  bad_range: "not a range that fits the field",
  contradiction: "two fields require different values of the same bits",
  too_many_ranges: "a rule holds at most two ranges",
  unsupported: "the device does not support this",
  object_destroyed: "the object has been destroyed",
  other_device: "the object belongs to another device",
  other_domain: "the object belongs to another domain",
  in_use: "the object is still in use",
  no_memory: "the limit of the device is reached",
  not_counted: "the device does not count this",
  out_of_range: "outside the range that the field can hold",
  not_saved: "a snapshot cannot hold this",
  bad_snapshot: "not a snapshot that this release restores",
  own_clock: "the program moves the clock of this device",
  not_loaded: "the core is not loaded",
  time_back: "a clock does not go back",
  // match parameters, matchers and rules
  bad_criteria: "match_criteria_enable has an unknown bit",
  empty_mask: "match_criteria_enable names groups, but the mask has no bits",
  bad_match_size: "the match parameters have a size that the device does not accept",
  ambiguous_bytes: "the bytes can be the C struct and match data",
  reserved_bits: "a reserved bit is masked",
  ip_version_mask: "the mask of ip_version must be 4, 6 or 0, and the rule must repeat it",
  value_outside_mask: "the value has a bit outside its mask",
  option_missing: "it needs another option",
  field_left_out: "the rule leaves out a field that its matcher masks",
  bad_action_list: "these actions cannot be in one rule",
  bad_object: "the object is not of the kind that the call takes",
  root_table: "a root table is not allowed here",
  not_root_table: "only a root table is allowed here",
  root_only: "the domain has only its root table",
  action_order: "an action of this kind cannot follow the actions before it",
  action_repeated: "the rule has too many actions of this kind",
  root_level: "the action was created for tables of another level",
  duplicate_rule: "a rule of this matcher has the same values",
  conflicting_rule: "a rule that matches the same frames has other actions",
  unmatchable: "the device cannot match this",
  bad_modify: "the device cannot make these header changes",
  bad_reformat: "the device cannot make this packet reformat",
  // flows
  bad_spec: "a flow spec of this type is not allowed here",
  bad_spec_size: "the size is wrong for a flow spec of this type",
  spec_count: "num_of_specs differs from the number of specs",
  too_short: "the bytes are shorter than the struct",
  bad_flow_flag: "flows of this type do not take this flag",
  not_permitted: "the context lacks the privilege",
  conflicting_flow: "a flow that matches the same frames has other actions",
  // queues and memory
  bad_state: "the queue pair is not in a state that allows this",
  outside_memory_region: "the scatter entry lies outside its memory region",
  bad_key: "no memory region has this key",
  queue_full: "the queue is full",
  completions_full: "the completion queue is full",
  missing_attribute: "the transition requires an attribute that attr_mask leaves out",
  bad_attribute: "the transition does not take this attribute",
  not_requested: "the completion queue was created without this field",
  no_completion: "there is no current completion",
  bad_poll: "polling has not been started, or has been started already",
  no_event: "no event waits",
  bad_opcode: "queue pairs of this type do not have this operation",
  bad_send_flags: "queue pairs of this type do not take these send flags",
  bad_posting: "the call is not allowed at this place of a posting",
  missing_setter: "the request has a setter that was not called",
  bad_frame: "not a frame that can be sent",
  bad_access_flags: "memory cannot be registered with these access flags",
  bad_create_flags: "the queue pair cannot be created with these flags",
  // ports and addresses
  burst_state: "the burst is not in a state that allows this",
  no_entry: "the table entry is empty",
  bad_route: "there is no route from this source to this destination",
  no_mac: "the MAC of the destination cannot be derived from its GID",
  // building frames
  bad_header: "no header has this name",
  bad_option: "not an option that the header can hold",
  bad_packet: "not the notation of a packet",
  not_derived: "a value that was left out cannot be derived from the other headers",
  // device commands
  bad_command: "the device refused the command",
  // files
  not_a_capture: "neither a pcap nor a pcapng file",
  bad_capture: "the capture file violates its format",
  bad_link_type: "no parser for this link type",
  bad_json: "the text is not JSON",
  bad_scenario: "the document does not follow the scenario schema",
  unknown_name: "nothing has this name",
  duplicate_name: "two objects have the same name",
  bad_version: "this release does not read this version of the format",
  bad_usage: "the command line is invalid",
  cannot_read: "the file cannot be read",
  cannot_write: "the file cannot be written",
} as const;

/** The reason of a refusal: the rule that was broken. */
export type RefusalReason = keyof typeof REFUSALS;

/** The fields of a refusal. */
export interface Refusal {
  /** The errno name; `errno` has its number. */
  code: ErrnoName;
  /**
   * The refused call, by the name that the caller used, such as `ibv_create_flow` or
   * `createDevice`.
   */
  call: string;
  reason: RefusalReason;
  /** The wrong argument, field or place, such as `value.outer.tcp_dport` or `rules[3].match`. */
  path?: string | undefined;
  /** The value at `path`. */
  value?: unknown;
  /** How to fix it. */
  hint?: string | undefined;
  /** The source of the rule: a manual page, an RFC or a page of docs/. */
  cite?: string | undefined;
}

/**
 * The error of a refused call. `message` gives the call, the field, its value, the rule and the
 * errno in one line.
 *
 * An object in `value` is not enumerable. Node prints every enumerable field of an uncaught error
 * to a depth of five, which is hundreds of lines for an object of a device. `JSON.stringify` gives
 * all fields; objects of a device as their names.
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

/** TypeErrors of `mistyped` that have passed no call yet. */
const UNNAMED = new WeakSet<object>();

/**
 * Throws a SteeringError with these fields. Without `call` it takes the name of the first call that it passes (`inCall`).
 * @throws SteeringError always
 */
export function refuse(refusal: Omit<Refusal, "call"> & { readonly call?: string }): never {
  throw new SteeringError({ call: "", ...refusal });
}

/** Throws a TypeError that takes the name of the first call that it passes (`inCall`). @throws TypeError always */
export function mistyped(text: string): never {
  const error = new TypeError(`: ${text}`);
  UNNAMED.add(error);
  throw error;
}

/**
 * Runs the body of a function that programs call. Refusals from inside take its name; those of another such function,
 * called by the body or by a listener, have one already and keep it.
 */
export function inCall<T>(call: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw named(call, error);
  }
}

/** `inCall` for an asynchronous function. */
export async function inAsyncCall<T>(call: string, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw named(call, error);
  }
}

/** The same error. A refusal without a call takes this one. */
export function named<E>(call: string, error: E): E {
  if (error instanceof SteeringError) {
    if (error.call !== "") return error;
    (error as { call: string }).call = call;
  } else if (!UNNAMED.delete(error as object)) return error;
  const refusal = error as Error;
  const { message, stack } = refusal;
  refusal.message = call + message;
  // V8 puts the message before the frames; other engines list frames only.
  if (stack?.includes(message) === true) refusal.stack = stack.replace(message, () => refusal.message);
  return error;
}

/** The fields of a thrown refusal. */
export function refusalOf({ code, call, reason, path, value, hint, cite }: SteeringError): Refusal {
  return { code, call, reason, path, value, hint, cite };
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
    return typeof label === "string" ? label : (value.constructor?.name ?? "an object");
  }
  return String(value);
}
