/** TIRs and RQTs of a living device, as a scenario writes them. */
import {
  RSS_FUNCTION,
  RSS_INNER,
  RSS_IPV6,
  RSS_KEY,
  RSS_OUTER,
  RSS_SIZE,
  RSS_SYMMETRIC,
  RSS_UDP,
} from "../../abi/state.js";
import { hexOf } from "../../base/hex.js";
import type { Device } from "../../model/device/device.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import { Rqt } from "../../model/queuePair/rqt.js";
import type { Tir } from "../../model/queuePair/tir.js";
import { WorkQueue } from "../../model/queue/workQueue.js";
import {
  RX_HASH_FUNCTIONS,
  SELECTED_FIELDS,
  type ScenarioFieldSelector,
  type ScenarioRqt,
  type ScenarioTir,
} from "../../scenario/rss/definition.js";
import { DeviceNames } from "./names.js";

/** The TIRs that rules lead to, and what they lead to. */
export class DeviceTirs {
  readonly #tirNames = new DeviceNames<Tir>();
  readonly #rqtNames = new DeviceNames<Rqt>();
  readonly tirs = new Map<string, ScenarioTir>();
  readonly rqts = new Map<string, ScenarioRqt>();

  constructor(
    private readonly device: Device,
    private readonly queue: (queue: QueuePair | WorkQueue) => string,
  ) {}

  of(tir: Tir): string {
    const { leadsTo } = tir;
    const to = leadsTo instanceof Rqt ? this.#rqt(leadsTo) : this.#queueName(leadsTo);
    const name = this.#tirNames.of(tir);
    this.tirs.set(name, leadsTo instanceof Rqt ? { name, rqt: to, ...this.#hash(tir) } : { name, queue: to });
    return name;
  }

  #queueName(queue: unknown): string {
    if (queue instanceof QueuePair || queue instanceof WorkQueue) return this.queue(queue);
    throw new Error("a TIR leads to what is no queue");
  }

  #rqt(rqt: Rqt): string {
    const queues = rqt.list.numbers.map((number) => this.#queueName(this.device.receivers.get(number)));
    const name = this.#rqtNames.of(rqt);
    this.rqts.set(name, { name, queues });
    return name;
  }

  #hash({ target }: Tir): Omit<ScenarioTir, "name"> {
    const record = this.device.core.u8.slice(target.operand, target.operand + RSS_SIZE);
    const byte = (at: number): number => record[at] as number;
    return {
      rx_hash_fn: RX_HASH_FUNCTIONS[byte(RSS_FUNCTION)] ?? "none",
      rx_hash_symmetric: byte(RSS_SYMMETRIC) !== 0,
      rx_hash_toeplitz_key: hexOf(record.subarray(RSS_KEY, RSS_SIZE)),
      rx_hash_field_selector_outer: selectorOf(byte(RSS_OUTER)),
      rx_hash_field_selector_inner: selectorOf(byte(RSS_INNER)),
    };
  }
}

function selectorOf(bits: number): ScenarioFieldSelector {
  const fields = Object.entries(SELECTED_FIELDS) as [keyof typeof SELECTED_FIELDS, number][];
  return {
    l3_prot_type: (bits & RSS_IPV6) === 0 ? "ipv4" : "ipv6",
    l4_prot_type: (bits & RSS_UDP) === 0 ? "tcp" : "udp",
    selected_fields: fields.filter(([, bit]) => (bits & bit) !== 0).map(([name]) => name),
  };
}
