/** Queues and indirection tables of a living device, as a scenario writes them. */
import {
  IBV_QPS_ERR,
  IBV_QPS_INIT,
  IBV_QPS_RESET,
  IBV_QPS_RTR,
  IBV_QPT_RAW_PACKET,
  IBV_QPT_UD,
} from "../../abi/verbs.js";
import { hexOf } from "../../base/hex.js";
import type { Device } from "../../model/device/device.js";
import type { IndirectionTable } from "../../model/queue/indirectionTable.js";
import { type QueuePair } from "../../model/queuePair/queuePair.js";
import { RssQueuePair } from "../../model/queuePair/rssQueuePair.js";
import { WorkQueue } from "../../model/queue/workQueue.js";
import type { ScenarioQueue, ScenarioQueueState } from "../../scenario/queue/definition.js";
import { RX_HASH_FIELDS, type ScenarioIndirectionTable } from "../../scenario/rss/definition.js";
import type { ExportFindings } from "../../formats/writing/finding.js";
import { DeviceNames } from "./names.js";

/** Receive buffers of a queue that has none left, which has to have some. */
const BUFFERS = 1024;

const QP_STATES: ReadonlyMap<number, ScenarioQueueState> = new Map([
  [IBV_QPS_RESET, "reset"],
  [IBV_QPS_INIT, "init"],
  [IBV_QPS_RTR, "rtr"],
  [IBV_QPS_ERR, "err"],
]);
/** By IBV_WQS_. */
const WQ_STATES: readonly ScenarioQueueState[] = ["reset", "rdy", "err"];

/** The queues that rules lead to, and what these lead to. */
export class DeviceQueues {
  readonly #names = new DeviceNames<QueuePair | WorkQueue>();
  readonly #tables = new DeviceNames<IndirectionTable>();
  readonly #indirectionTables = new Map<string, ScenarioIndirectionTable>();

  constructor(
    private readonly device: Device,
    private readonly findings: ExportFindings,
  ) {}

  of(queue: QueuePair | WorkQueue): string {
    if (queue instanceof RssQueuePair) this.#table(queue.rwq_ind_tbl);
    return this.#names.of(queue);
  }

  /** All queues and indirection tables that have been named. */
  written(): { queues: ScenarioQueue[]; indirectionTables: ScenarioIndirectionTable[] } {
    const queues = [...this.#names.objects].map(([queue, name]) => this.#queue(queue, name));
    return { queues, indirectionTables: [...this.#indirectionTables.values()] };
  }

  #table(table: IndirectionTable): string {
    const name = this.#tables.of(table);
    const queues = table.list.numbers.map((number) => this.device.receivers.get(number) as WorkQueue);
    this.#indirectionTables.set(name, { name, ind_tbl: queues.map((queue) => this.#names.of(queue)) });
    return name;
  }

  #queue(queue: QueuePair | WorkQueue, name: string): ScenarioQueue {
    const own = { name, function: queue.context.function.vport };
    if (queue instanceof WorkQueue) {
      const state = WQ_STATES[queue.state] as ScenarioQueueState;
      return { ...own, type: "wq", ...(state === "rdy" ? {} : { state }), ...this.#buffers(queue, name) };
    }
    if (queue instanceof RssQueuePair) {
      const fields = Object.entries(RX_HASH_FIELDS) as [keyof typeof RX_HASH_FIELDS, number][];
      const { rx_hash_key, rx_hash_fields_mask } = queue.rx_hash_conf;
      const mask = Number(rx_hash_fields_mask);
      const rx_hash_conf = {
        rx_hash_key: hexOf(rx_hash_key),
        rx_hash_fields_mask: fields.filter(([, bit]) => (mask & bit) !== 0).map(([field]) => field),
      };
      return { ...own, rwq_ind_tbl: this.#table(queue.rwq_ind_tbl), rx_hash_conf };
    }
    const port = { port: queue.attributes.port_num };
    if (queue.isSink) return { ...own, ...port };
    const isDatagrams = queue.qp_type === IBV_QPT_UD;
    if (!isDatagrams && queue.qp_type !== IBV_QPT_RAW_PACKET) {
      this.findings.refuse(
        "queues",
        "connected queues are not exported: it becomes one that accepts every frame",
        name,
      );
      return { ...own, ...port };
    }
    const state = QP_STATES.get(queue.state);
    return {
      ...own,
      // A reset queue has no port.
      ...(queue.state === IBV_QPS_RESET ? {} : port),
      ...(isDatagrams ? { type: "ud" as const } : {}),
      ...(state === undefined ? {} : { state }),
      ...this.#buffers(queue, name),
    };
  }

  /** The buffers that wait. */
  #buffers(
    { bufferLengths: lengths }: QueuePair | WorkQueue,
    name: string,
  ): Pick<ScenarioQueue, "buffers" | "bufferSize"> {
    if (lengths.length === 0) {
      const why = `it has no receive buffer left; a queue of a scenario has some: here ${BUFFERS}`;
      this.findings.refuse("queues", why, name);
      return { buffers: BUFFERS };
    }
    const longest = Math.max(...lengths);
    if (lengths.some((length) => length !== longest)) {
      this.findings.refuse(
        "queues",
        `its receive buffers differ in length: all are exported as ${longest} bytes`,
        name,
      );
    }
    return { buffers: lengths.length, bufferSize: longest };
  }
}
