/** Makes the RQTs and TIRs of a scenario. */
import { RSS_KEY_SIZE } from "../../abi/state.js";
import { refuse } from "../../errors.js";
import {
  createRqtCommand,
  createTirCommand,
  MLX5_TIRC_DISP_TYPE_DIRECT,
  MLX5_TIRC_DISP_TYPE_INDIRECT,
  type TirFields,
} from "../../mlx5dv/devx/queueCommands.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { Rqt } from "../../model/queuePair/rqt.js";
import type { Tir } from "../../model/queuePair/tir.js";
import type { WorkQueue } from "../../model/queue/workQueue.js";
import { hexText } from "../action/headerBytes.js";
import { madeBy } from "../deviceFlow/deviceCommands.js";
import { at, type PlaceOf } from "../place.js";
import {
  RX_HASH_FUNCTIONS,
  SELECTED_FIELDS,
  type ScenarioFieldSelector,
  type ScenarioRqt,
  type ScenarioTir,
} from "./definition.js";
import { bitsOf, checkPower } from "./load.js";

/** The number of the receive queue, by which RQTs and TIRs name it. */
type Receiver = QueuePair | WorkQueue;

const numberOf = (queue: Receiver): number => queue.number;

export function loadRqt(path: string, { name, queues: names }: ScenarioRqt, queue: (name: string) => Receiver): Rqt {
  checkPower(`${path}.queues`, names.length);
  const queues = names.map(queue);
  const { context } = queues[0] as Receiver;
  const place: PlaceOf = (inner) => inner.replace(/^rq_num/, ".queues").replace(/^rqt_actual_size$/, ".queues");
  return at(path, () => madeBy<Rqt>(context, createRqtCommand(queues.map(numberOf)), name), place);
}

export function loadTir(
  path: string,
  tir: ScenarioTir,
  queue: (name: string) => Receiver,
  rqt: (name: string) => Rqt,
): Tir {
  const target = tir.queue === undefined ? rqt(tir.rqt ?? "") : queue(tir.queue);
  const fields = "list" in target ? rssOver(path, tir, target) : direct(target);
  const place: PlaceOf = (inner) => (inner === "inline_rqn" ? ".queue" : (TIR_PLACES[inner] ?? `.${inner}`));
  return at(path, () => madeBy<Tir>(target.context, createTirCommand(fields), tir.name), place);
}

const TIR_PLACES: Readonly<Record<string, string>> = { indirect_table: ".rqt" };

function direct(queue: Receiver): TirFields {
  return { disp_type: MLX5_TIRC_DISP_TYPE_DIRECT, inline_rqn: numberOf(queue) };
}

function rssOver(path: string, tir: ScenarioTir, { id }: Rqt): TirFields {
  const { rx_hash_fn = "none", rx_hash_symmetric = false, rx_hash_toeplitz_key: key } = tir;
  const outer = selection(tir.rx_hash_field_selector_outer);
  const inner = selection(tir.rx_hash_field_selector_inner);
  return {
    disp_type: MLX5_TIRC_DISP_TYPE_INDIRECT,
    indirect_table: id,
    rx_hash_fn: RX_HASH_FUNCTIONS.indexOf(rx_hash_fn),
    rx_hash_symmetric,
    rx_hash_toeplitz_key: key === undefined ? undefined : keyBytes(`${path}.rx_hash_toeplitz_key`, key),
    outer_l3: outer.l3,
    outer_l4: outer.l4,
    outer_fields: outer.fields,
    inner_l3: inner.l3,
    inner_l4: inner.l4,
    inner_fields: inner.fields,
  };
}

function selection(selector?: ScenarioFieldSelector): { l3: boolean; l4: boolean; fields: number } {
  const { l3_prot_type = "ipv4", l4_prot_type = "tcp", selected_fields = [] } = selector ?? {};
  return {
    l3: l3_prot_type === "ipv6",
    l4: l4_prot_type === "udp",
    fields: bitsOf(SELECTED_FIELDS, selected_fields),
  };
}

function keyBytes(path: string, digits: string): Uint8Array {
  const key = hexText(path, digits);
  if (key.length === RSS_KEY_SIZE) return key;
  const hint = `${RSS_KEY_SIZE} bytes`;
  return refuse({ code: "EINVAL", reason: "out_of_range", path, value: `${key.length} bytes`, hint });
}
