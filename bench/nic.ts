/**
 * The setup of the workloads: a device, a table with 5-tuple rules, and the same rules in plain
 * JavaScript.
 */
import { Op } from "../src/abi/engine.js";
import {
  GROUP_SIZE,
  PRESENT_L3,
  PRESENT_PROTOCOL,
  PRESENT_TCP,
  KEY_SIZE,
  LAYER_DST_IPV4,
  LAYER_SRC_IPV4,
  LAYER_TCP_PORTS,
  OUTER,
} from "../src/abi/key.js";
import { insertRule } from "../src/engine/rules.js";
import { RuleMask } from "../src/engine/ruleMask.js";
import {
  matchParameters,
  mlx5dv_dr_domain_create,
  mlx5dv_dr_matcher_create,
  mlx5dv_dr_rule_create,
  mlx5dv_dr_table_create,
  mlx5dv_open_device,
  MLX5DV_CONTEXT_FLAGS_DEVX,
  MLX5DV_DR_DOMAIN_TYPE_NIC_RX,
} from "../src/mlx5dv/index.js";
import { createDevice, type Device } from "../src/index.js";
import type { Action } from "../src/model/action/action.js";
import type { Context } from "../src/model/base/context.js";
import type { Table } from "../src/model/table/domain.js";
import type { Matcher } from "../src/model/table/matcher.js";
import type { Rule } from "../src/model/rule/rule.js";
import type { MaskWord } from "./peers/classifier.js";
import * as at from "./peers/record.js";
import type { Tuple } from "./tuples.js";

/** A device with one table and one matcher over the TCP 5-tuple. */
export class TupleTable {
  readonly device: Device;
  readonly context: Context;
  readonly table: Table;
  readonly matcher: Matcher;
  /** The matcher's mask and the value of the last tuple, as the core takes them. */
  readonly mask: RuleMask;
  readonly value = new Uint8Array(KEY_SIZE);
  readonly #view = new DataView(this.value.buffer);
  readonly #group = this.value.subarray(0, GROUP_SIZE);

  private constructor(device: Device, context: Context, table: Table, matcher: Matcher, sample: Uint8Array) {
    this.device = device;
    this.context = context;
    this.table = table;
    this.matcher = matcher;
    this.mask = new RuleMask(matcher.mask!);
    // Presence fields, which have a full mask, and the fields that are the same for all tuples.
    this.value.set(this.mask.key.subarray(sample.length), sample.length);
    this.value.set(sample);
  }

  static async open(level: number): Promise<TupleTable> {
    const device = await createDevice();
    const context = mlx5dv_open_device(device, { flags: MLX5DV_CONTEXT_FLAGS_DEVX });
    const domain = mlx5dv_dr_domain_create(context, MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
    const table = mlx5dv_dr_table_create(domain, level);
    const { match_criteria_enable, mask, value } = matchParameters({
      "outer.ipv4_src": "0.0.0.0",
      "outer.ipv4_dst": "0.0.0.0",
      "outer.ip_protocol": 6,
      "outer.tcp_sport": 0,
      "outer.tcp_dport": 0,
    });
    const matcher = mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
    return new TupleTable(device, context, table, matcher, value.match_buf);
  }

  /** The value that matches a tuple; the next call overwrites it. */
  valueOf(tuple: Tuple): Uint8Array {
    writeTuple(this.#view, 0, tuple);
    return this.value;
  }

  /** Through the C name, from device bytes; a C program too would pass a `match_sz` of one group for this mask. */
  create(tuple: Tuple, actions: readonly Action[]): Rule {
    writeTuple(this.#view, 0, tuple);
    return mlx5dv_dr_rule_create(this.matcher, this.#group, actions.length, actions);
  }

  /** Straight into the core; gives the rule's handle. */
  insert(tuple: Tuple, id: number, rank: number): number {
    const handle = insertRule(this.device.core, this.table.classifier.table, {
      id,
      rankHigh: 0,
      rankLow: rank,
      mask: this.mask,
      value: this.valueOf(tuple),
      ranges: NO_RANGES,
      actions: DROP,
    });
    if (handle === 0) throw new Error("bench: no memory for a rule");
    return handle;
  }
}

/** Into the value at `at`. */
export function writeTuple(view: DataView, at: number, { src, dst, ports }: Tuple): void {
  view.setUint32(at + OUTER + LAYER_SRC_IPV4, src);
  view.setUint32(at + OUTER + LAYER_DST_IPV4, dst);
  view.setUint32(at + OUTER + LAYER_TCP_PORTS, ports);
}

const NO_RANGES: readonly never[] = [];
const DROP: readonly number[] = [Op.drop, 0];

/** The same mask over the words of the plain parser. */
export const TUPLE_MASK: readonly MaskWord[] = [
  { word: at.SRC + 3, bits: -1 },
  { word: at.DST + 3, bits: -1 },
  { word: at.TCP_PORTS, bits: -1 },
  { word: at.PROTOCOL, bits: 0xff },
  { word: at.STATE, bits: 0x1e },
  { word: at.HERE, bits: PRESENT_L3 | PRESENT_PROTOCOL | PRESENT_TCP },
];

/** Values for the words of TUPLE_MASK. */
export function plainValue({ src, dst, ports }: Tuple): number[] {
  return [src | 0, dst | 0, ports | 0, 6, 8, PRESENT_L3 | PRESENT_PROTOCOL | PRESENT_TCP];
}
