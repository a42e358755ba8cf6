/**
 * The lines of a recording: one call each, as JSON.
 *
 *     {"call":"mlx5dv_dr_table_create","domain":"0x55d0","level":1,"returns":"0x55e0"}
 */
import { parseJson } from "../../../base/json.js";
import { hexBytes } from "../../../packet/bytes.js";
import type { Place } from "../../text/refusal.js";

export interface Call {
  readonly name: string;
  readonly place: Place;
  readonly text: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface NoCall {
  readonly place: Place;
  readonly text: string;
}

/** What an address stands for. */
export interface Recorded {
  readonly call: Call;
  /** Its name in the scenario, once it is made there. */
  name: string | null;
  destroyed: boolean;
  /** Why it is not what it was created as: a later call has changed it. */
  changed: string | null;
  /** The device that it is on, by its name; undefined where the recording does not have it. */
  readonly device: string | undefined;
}

/** The first line of what a process wrote. */
export const HEAD = /^\s*\{"flowsteerRecord":/;

/** What a process wrote: its calls, and lines that hold none. */
export interface ProcessCalls {
  readonly head: NoCall | null;
  readonly calls: Call[];
  readonly others: NoCall[];
}

/** The processes of a recording. Their addresses are their own. */
export function processesOf(text: string): ProcessCalls[] {
  const processes: ProcessCalls[] = [];
  let open: ProcessCalls | undefined;
  const begin = (head: NoCall | null): ProcessCalls => {
    const process = { head, calls: [], others: [] };
    processes.push(process);
    return process;
  };
  for (const one of readLines(text)) {
    if (HEAD.test(one.text)) open = begin(one);
    else {
      open ??= begin(null);
      if ("name" in one) open.calls.push(one);
      else open.others.push(one);
    }
  }
  return processes;
}

/** Reads each line: a call, or a line that holds none. */
function* readLines(text: string): Generator<Call | NoCall> {
  let line = 0;
  for (const raw of text.split("\n")) {
    line++;
    const at = raw.indexOf('{"');
    if (raw.trim() === "") continue;
    const place = { line, column: Math.max(at, 0) + 1 };
    const values = at < 0 ? undefined : objectOf(raw.slice(at));
    const name = values?.["call"];
    if (values === undefined || typeof name !== "string") yield { place, text: raw.trim() };
    else yield { name, place, text: raw.slice(at).trim(), values };
  }
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseJson(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Arguments that the recorder writes, of all calls, and what those of `struct` type hold. */
const ARGUMENTS: ReadonlySet<string> = new Set(
  (
    "call returns errno action action_flags actions active comp_mask context counter_desc counters data " +
    "default_next_table dest dests device devx_obj dmn domain esn esp_attr esp_encap flags flow flow_meter_parameter ft_type " +
    "ib_port in ind_tbl index keymat keymat_proto level mask match_criteria_enable matcher max_wr modify_field_select " +
    "next_table obj object offset out peer_dmn priority qp qp_num qp_type reformat reformat_type reg_c_index replay replay_proto " +
    "return_reg_c rule rwq_ind_tbl rwq_ind_table rx_hash_fields_mask rx_hash_function rx_hash_key sample_actions sample_ratio table " +
    "tag_value type value vlan_hdr vport wq wq_num"
  ).split(" "),
);

/** Arguments that are bytes, in hexadecimal digits. */
const BYTES: ReadonlySet<string> = new Set(
  "mask value data flow in out action rx_hash_key vlan_hdr esp_attr keymat replay flow_meter_parameter".split(" "),
);

/** Pairs of digits; a flow or an action that is destroyed has its address under the name of its bytes. */
const BYTES_FORM = /^(?:0x[\da-f]+|(?:[\da-f]{2})*)$/i;

/** What is wrong with the line of a call, by its keys. */
export function* faultsIn({ name, values }: Call): Generator<readonly ["assume" | "refuse", string, string]> {
  for (const [key, value] of Object.entries(values)) {
    if (!ARGUMENTS.has(key)) yield ["assume", key, `not an argument that the recorder writes for ${name}: ignored`];
    else if (BYTES.has(key) && typeof value === "string" && !BYTES_FORM.test(value))
      yield ["refuse", `${key} ${value}`, "not a string of bytes in hexadecimal"];
  }
}

/** Of an object that a call names, and no call before it has made. */
export const ABSENT = "is not in the recording: another process made it, or it was made before the recording began";

/** Arguments of a call; one that is missing or of another type is 0 or empty. */
export function numberIn({ values }: Call, name: string): number {
  const value = values[name];
  return typeof value === "number" ? value : 0;
}

export function textIn({ values }: Call, name: string): string {
  const value = values[name];
  return typeof value === "string" ? value : "";
}

export function listIn({ values }: Call, name: string): readonly unknown[] {
  const value = values[name];
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** Bytes of hexadecimal digits; none where they are no such digits. */
export function bytesIn(call: Call, name: string): Uint8Array {
  return bytesOf(textIn(call, name));
}

export function bytesOf(digits: string): Uint8Array {
  return hexBytes(digits) ?? new Uint8Array();
}
