/** Objects that a program makes by device commands: counters, ASO objects, receive queues, RQTs, TIRs. */
import {
  CREATE_RQT,
  CREATE_TIR,
  RQ_NUMBER,
  RQ_NUMBERS_AT,
  readFields,
  TIR_CONTEXT,
  TIR_CONTEXT_AT,
  TIR_KEY_AT,
} from "../../../model/devx/layouts.js";
import { ALLOC_FLOW_COUNTER_OPCODE, CREATE_RQT_OPCODE, CREATE_TIR_OPCODE } from "../../../model/devx/opcodes.js";
import { RSS_KEY_SIZE } from "../../../abi/state.js";
import { hexOf } from "../../../base/hex.js";
import {
  RX_HASH_FUNCTIONS,
  SELECTED_FIELDS,
  type ScenarioFieldSelector,
  type ScenarioTir,
} from "../../../scenario/rss/definition.js";
import type { ScenarioAsoData } from "../../../scenario/state/definition.js";
import type { Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import { bytesIn, type Recorded } from "./calls.js";
import { asoCommand, GENERAL_OBJECT_OPCODE } from "./state.js";

/** CREATE_RQ, which flowsteer's own device does not have: its queues are those of verbs. */
const CREATE_RQ_OPCODE = 0x908;
const NUMBER_MASK = 0xffffff;

export class DeviceObjects {
  /** Receive queues and RQTs by the numbers that commands name them by. */
  readonly #receivers = new Map<number, string>();
  readonly #rqts = new Map<number, string>();
  readonly aso = new Map<Recorded, ScenarioAsoData>();
  readonly tirs = new Set<Recorded>();

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {}

  /** Forgets the numbers of another recording. */
  clear(): void {
    this.#receivers.clear();
    this.#rqts.clear();
  }

  /** `mlx5dv_devx_obj_create`. */
  make(object: Recorded): void {
    const { call } = object;
    const command = bytesIn(call, "in");
    const opcode = (command[0] ?? 0) * 256 + (command[1] ?? 0);
    if (opcode === ALLOC_FLOW_COUNTER_OPCODE) this.#counter(object, command);
    else if (opcode === GENERAL_OBJECT_OPCODE) this.#asoObjects(object, command);
    else if (opcode === CREATE_RQ_OPCODE) this.queue(object, madeNumber(object));
    else if (opcode === CREATE_RQT_OPCODE) this.#rqt(object, command);
    else if (opcode === CREATE_TIR_OPCODE) this.#tir(object, command);
    else this.findings.refuse(call.place, call.text, `the device command 0x${opcode.toString(16)} is not imported`);
  }

  /** A queue that TIRs and RQTs name by its number. */
  receives({ name }: Recorded, number: number): void {
    if (name !== null) this.#receivers.set(number, name);
  }

  queue(object: Recorded, number: number): void {
    object.name = this.draft.queue(`rq ${number}`);
    this.receives(object, number);
  }

  #rqt(object: Recorded, command: Uint8Array): void {
    const whole = padded(command, CREATE_RQT.size);
    const { rqt_actual_size: size } = readFields(new DataView(whole.buffer), CREATE_RQT);
    const list = padded(whole, RQ_NUMBERS_AT + size * RQ_NUMBER.size);
    const view = new DataView(list.buffer);
    const queues: string[] = [];
    for (let n = 0; n < size; n++) {
      const { rq_num: number } = readFields(view, RQ_NUMBER, RQ_NUMBERS_AT + n * RQ_NUMBER.size);
      const queue = this.#receivers.get(number);
      if (queue === undefined) {
        this.#refuse(object, `the receive queue ${number} is not in the recording`);
        return;
      }
      queues.push(queue);
    }
    object.name = this.draft.freeName("rqts", "rqt");
    this.draft.push("rqts", { name: object.name, queues });
    this.#rqts.set(madeNumber(object), object.name);
  }

  #tir(object: Recorded, command: Uint8Array): void {
    const whole = padded(command, CREATE_TIR.size);
    const context = new DataView(whole.buffer, TIR_CONTEXT_AT, TIR_CONTEXT.size);
    const fields = readFields(context, TIR_CONTEXT);
    const { disp_type, inline_rqn, indirect_table } = fields;
    const to = disp_type === 0 ? this.#receivers.get(inline_rqn) : this.#rqts.get(indirect_table);
    if (to === undefined) {
      const which = disp_type === 0 ? `receive queue ${inline_rqn}` : `RQT ${indirect_table}`;
      this.#refuse(object, `the ${which} is not in the recording`);
      return;
    }
    const name = this.draft.freeName("tirs", "tir");
    const key = whole.subarray(TIR_CONTEXT_AT + TIR_KEY_AT, TIR_CONTEXT_AT + TIR_KEY_AT + RSS_KEY_SIZE);
    this.draft.push("tirs", disp_type === 0 ? { name, queue: to } : { name, rqt: to, ...hashOf(fields, key) });
    object.name = name;
    this.tirs.add(object);
  }

  #asoObjects(object: Recorded, command: Uint8Array): void {
    const made = asoCommand(command);
    if (typeof made === "number") {
      this.#refuse(object, `a general object of type 0x${made.toString(16)} is not imported`);
      return;
    }
    const name = this.draft.freeName("asoObjects", `${Object.keys(made.data)[0] ?? ""} objects`);
    const { log_obj_range, data } = made;
    this.draft.push("asoObjects", { name, ...(log_obj_range === 0 ? {} : { log_obj_range }), ...data });
    this.aso.set(object, data);
    object.name = name;
    const reason = "what work requests write into ASO objects is not recorded: they are as they were created";
    this.findings.assume(object.call.place, object.call.text, reason);
  }

  /** flow_counter_bulk selects 128 counters, 256 and so on. */
  #counter(object: Recorded, command: Uint8Array): void {
    const bulk = command[12] ?? 0;
    const name = this.draft.freeName("counters", "counter");
    this.draft.push("counters", { name, ...(bulk === 0 ? {} : { flow_counter_bulk_log_size: bulkLog(bulk) }) });
    object.name = name;
  }

  #refuse({ call }: Recorded, reason: string): void {
    this.findings.refuse(call.place, call.text, reason);
  }
}

/** The number that the device gave an object: bytes 9 to 11 of its output. */
function madeNumber({ call }: Recorded): number {
  const output = padded(bytesIn(call, "out"), 16);
  return new DataView(output.buffer).getUint32(8) & NUMBER_MASK;
}

function padded(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(Math.max(bytes.length, size));
  whole.set(bytes);
  return whole;
}

type TirFields = Readonly<Record<keyof typeof TIR_CONTEXT.fields, number>>;

function hashOf(fields: TirFields, key: Uint8Array): Omit<ScenarioTir, "name"> {
  const { rx_hash_fn, rx_hash_symmetric, outer_l3, outer_l4, outer_fields, inner_l3, inner_l4, inner_fields } = fields;
  return {
    rx_hash_fn: RX_HASH_FUNCTIONS[rx_hash_fn] ?? "none",
    rx_hash_symmetric: rx_hash_symmetric !== 0,
    rx_hash_toeplitz_key: hexOf(key),
    rx_hash_field_selector_outer: selectorOf(outer_l3, outer_l4, outer_fields),
    rx_hash_field_selector_inner: selectorOf(inner_l3, inner_l4, inner_fields),
  };
}

function selectorOf(l3: number, l4: number, bits: number): ScenarioFieldSelector {
  const fields = Object.entries(SELECTED_FIELDS) as [keyof typeof SELECTED_FIELDS, number][];
  return {
    l3_prot_type: l3 === 0 ? "ipv4" : "ipv6",
    l4_prot_type: l4 === 0 ? "tcp" : "udp",
    selected_fields: fields.filter(([, bit]) => (bits & bit) !== 0).map(([name]) => name),
  };
}

/** The first bit of flow_counter_bulk stands for 128 counters. */
function bulkLog(bulk: number): number {
  return 7 + 31 - Math.clz32(bulk & -bulk);
}
