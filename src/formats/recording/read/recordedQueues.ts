/** Queues of a recording: queue pairs, work queues and their indirection tables. */
import { IBV_RX_HASH_FUNC_TOEPLITZ } from "../../../abi/verbs.js";
import { RX_HASH_FIELDS } from "../../../scenario/rss/definition.js";
import type { ScenarioQueue } from "../../../scenario/queue/definition.js";
import type { Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import { ABSENT, listIn, numberIn, textIn, type Recorded } from "./calls.js";
import type { DeviceObjects } from "./deviceObjects.js";

/** Receive buffers that a work queue of an indirection table has at most: a scenario takes memory for them. */
const MAX_BUFFERS = 1024;

type Hash = Pick<ScenarioQueue, "rwq_ind_tbl" | "rx_hash_conf">;

export class RecordedQueues {
  /** Work queues that an indirection table names. */
  readonly #inTables = new Set<Recorded>();

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
    private readonly devices: DeviceObjects,
    private readonly at: (address: string) => Recorded | undefined,
  ) {}

  /** Finds the work queues of indirection tables: they are of another type. */
  prepare(objects: readonly Recorded[]): void {
    this.#inTables.clear();
    for (const { call } of objects) {
      if (call.name !== "ibv_create_rwq_ind_table") continue;
      for (const queue of this.#queuesOf(call)) if (queue !== undefined) this.#inTables.add(queue);
    }
  }

  /** @returns whether it is a queue or an indirection table */
  make(object: Recorded): boolean {
    const { call } = object;
    if (/^(ibv|mlx5dv)_create_qp(_ex)?$/.test(call.name)) this.#pair(object);
    else if (call.name === "ibv_create_rwq_ind_table") this.#table(object);
    else if (call.name !== "ibv_create_wq") return false;
    else if (!this.#inTables.has(object)) this.devices.queue(object, numberIn(call, "wq_num"));
    else {
      const buffers = Math.min(Math.max(numberIn(call, "max_wr"), 1), MAX_BUFFERS);
      object.name = this.draft.queue(`rq ${numberIn(call, "wq_num")}`, 0, { type: "wq", buffers });
      this.devices.receives(object, numberIn(call, "wq_num"));
      this.findings.assume(
        call.place,
        call.text,
        `receive buffers are not recorded: it has ${buffers}, each for a frame`,
      );
    }
    return true;
  }

  #pair(object: Recorded): void {
    const { call } = object;
    const hash = this.#hash(object);
    if (typeof hash === "string") {
      this.findings.refuse(call.place, call.text, hash);
      return;
    }
    object.name = this.draft.queue(`qp ${numberIn(call, "qp_num")}`, 0, hash);
    this.devices.receives(object, numberIn(call, "qp_num"));
  }

  /** RSS of a queue pair, if it has an indirection table, or why it is not imported. */
  #hash({ call }: Recorded): Hash | string {
    const address = textIn(call, "rwq_ind_tbl");
    if (address === "") return {};
    const table = this.at(address);
    if (table === undefined) return `its indirection table ${ABSENT}`;
    if (table.name === null) return "its indirection table is not in the scenario";
    const number = numberIn(call, "rx_hash_function");
    if (number !== IBV_RX_HASH_FUNC_TOEPLITZ) return `${number} is not a known RSS hash`;
    const mask = numberIn(call, "rx_hash_fields_mask");
    const fields = Object.entries(RX_HASH_FIELDS) as [keyof typeof RX_HASH_FIELDS, number][];
    const named = fields.filter(([, bit]) => (BigInt(mask) & BigInt(bit)) !== 0n);
    const rest = named.reduce((left, [, bit]) => left - bit, mask);
    if (rest !== 0) return `0x${rest.toString(16)} is not a known RSS field`;
    const rx_hash_conf = { rx_hash_key: textIn(call, "rx_hash_key"), rx_hash_fields_mask: named.map(([name]) => name) };
    return { rwq_ind_tbl: table.name, rx_hash_conf };
  }

  #table(object: Recorded): void {
    const { call } = object;
    const names: string[] = [];
    for (const queue of this.#queuesOf(call)) {
      const name = queue?.name ?? null;
      if (name === null) {
        this.findings.refuse(call.place, call.text, `a work queue of it ${ABSENT}`);
        return;
      }
      names.push(name);
    }
    object.name = this.draft.freeName("indirectionTables", "indirection table");
    this.draft.push("indirectionTables", { name: object.name, ind_tbl: names });
  }

  #queuesOf(call: Recorded["call"]): (Recorded | undefined)[] {
    return listIn(call, "ind_tbl").map((address) => this.at(String(address)));
  }
}
