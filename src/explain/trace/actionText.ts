/** What an action does, in one line without the name of the operation. */
import {
  DIRECTION_ORIGINAL,
  SYNDROME_BAD,
  SYNDROME_CHANGED,
  SYNDROME_INVALID,
  SYNDROME_TRAP,
} from "../../abi/connection.js";
import { ARRAY_COUNT, RANK_SLOT, ROOT_SLOT, ROOT_TABLE, VPORT_UPLINK } from "../../abi/engine.js";
import { ESP_ENCRYPT, ESP_FLAGS, ESP_FULL_OFFLOAD, ESP_SPI } from "../../abi/esp.js";
import { MISC2_REGISTER_C_0 } from "../../abi/key.js";
import {
  L2_TO_L2_TUNNEL,
  L2_TO_L3_TUNNEL,
  L2_TUNNEL_TO_L2,
  L3_TUNNEL_TO_L2,
  REFORMAT_LENGTH,
  REFORMAT_TYPE,
} from "../../abi/reformat.js";
import {
  HASH_NONE,
  HASH_TOEPLITZ,
  RSS_FUNCTION,
  RSS_MASK,
  SAMPLER_PROGRAM,
  SAMPLER_RATIO,
  SAMPLER_TABLE,
} from "../../abi/state.js";
import type { Core } from "../../engine/core.js";
import { opName, type OpName } from "../../model/action/operations.js";
import type { Device } from "../../model/device/device.js";
import { tableRef } from "./names.js";
import type { FailedCheck } from "./trace.js";
import { programText } from "./programText.js";

/** An action that has run. */
export interface ActionRun {
  readonly op: number;
  readonly operand: number;
  /** The operand of the operation `state` before it. */
  readonly parameters: number;
  /** The key of the branch after the action. */
  readonly key: Uint8Array | null;
  /** Labels of the destinations that it added. */
  readonly destinations: readonly string[];
  readonly failed: readonly FailedCheck[];
  /** Whether it split the branch. */
  readonly forked: boolean;
  /** The object whose state it uses; "" without a name. */
  readonly object: string;
  readonly vport: number;
}

const NO_TEXT = (): string => "";
const LABELS = (_: Texts, run: ActionRun): string => run.destinations.join(", ");

type Text = (texts: Texts, run: ActionRun) => string;

const TEXTS = {
  none: NO_TEXT,
  not_for: NO_TEXT,
  untag: NO_TEXT,
  tag: (_, { operand }) => String(operand),
  count: (_, { object }) => object,
  drop: NO_TEXT,
  default_miss: NO_TEXT,
  copy_queue: (texts, { operand }) => texts.queue(operand),
  copy_from_others: (texts, { operand }) => texts.queue(operand),
  queue: (texts, { operand }) => texts.queue(operand),
  queue_from_others: (texts, { operand }) => texts.queue(operand),
  table: (texts, { operand, vport }) => texts.table(operand, vport),
  resume: () => "with the rules after this one",
  pass: () => "to the next stage",
  pass_chain: () => "to the next stage",
  modify: (texts, { operand }) => programText(texts.core.u8, operand),
  push_vlan: (_, { operand }) => vlanText(operand),
  pop_vlan: NO_TEXT,
  reformat: (texts, { operand }) => texts.reformat(operand),
  vport: (_, { operand }) => (operand === VPORT_UPLINK ? "the wire" : `function ${operand}`),
  port: (_, { operand }) => `port ${operand}`,
  array: (texts, { operand }) => `${texts.word(operand + ARRAY_COUNT)} members`,
  root: (texts, run) => texts.root(run),
  state: NO_TEXT,
  meter: (_, run) => `${run.object}: ${colourText(registerOf(run))} in C${indexOf(run)}`,
  first_hit: (_, run) => `${flagText(run)}: ${registerOf(run)} in C${indexOf(run)}`,
  track: (_, run) => `${run.object}, ${directionText(run)}: ${syndromeText(registerOf(run))} in C${indexOf(run)}`,
  sampler: (texts, run) => texts.sampler(run),
  rss: (texts, run) => `${texts.hash(run.operand)}: ${LABELS(texts, run)}`,
  copy_rss: (texts, run) => `${texts.hash(run.operand)}: ${LABELS(texts, run)}`,
  esp: (texts, run) => texts.esp(run),
} satisfies Record<OpName, Text>;

/** The texts of the actions of one trace. */
export class Texts {
  readonly #device: Device;
  /** The core that has run the actions. */
  readonly core: Core;

  constructor(device: Device, core: Core) {
    this.#device = device;
    this.core = core;
  }

  of(run: ActionRun): string {
    return TEXTS[opName(run.op)](this, run);
  }

  word(address: number): number {
    return this.core.u32[address >> 2] as number;
  }

  #byte(address: number): number {
    return this.core.u8[address] as number;
  }

  queue(handle: number): string {
    return this.#device.queues.get(handle)?.label ?? "";
  }

  table(address: number, vport: number): string {
    return tableRef(this.#device, address, vport, this.core).table;
  }

  /** A table, and the first slot of ranks of a priority. */
  root({ operand, vport }: ActionRun): string {
    const { domain, table } = tableRef(this.#device, this.word(operand + ROOT_TABLE), vport, this.core);
    return `${table} of ${domain} from priority ${this.word(operand + ROOT_SLOT) >> 1}`;
  }

  reformat(record: number): string {
    const length = this.#byte(record + REFORMAT_LENGTH) + 256 * this.#byte(record + REFORMAT_LENGTH + 1);
    switch (this.#byte(record + REFORMAT_TYPE)) {
      case L2_TUNNEL_TO_L2:
        return "removes the L2 tunnel";
      case L2_TO_L2_TUNNEL:
        return `adds an L2 tunnel, ${length} bytes`;
      case L3_TUNNEL_TO_L2:
        return `removes the L3 tunnel, adds ${length} bytes of Ethernet`;
      case L2_TO_L3_TUNNEL:
        return `adds an L3 tunnel, ${length} bytes`;
      default:
        return "";
    }
  }

  sampler({ operand, forked, vport }: ActionRun): string {
    const program = this.word(operand + SAMPLER_PROGRAM);
    const changes = program === 0 ? "" : `${programText(this.core.u8, program)}; `;
    const ratio = `1 of ${this.word(operand + SAMPLER_RATIO)} frames`;
    const table = this.table(this.word(operand + SAMPLER_TABLE), vport);
    return `${ratio}: ${forked ? "sampled" : "not sampled"}; ${changes}to ${table}`;
  }

  hash(record: number): string {
    const entries = this.word(record + RSS_MASK) + 1;
    const hash = this.#byte(record + RSS_FUNCTION);
    if (hash === HASH_NONE) return "no hash";
    return `${hash === HASH_TOEPLITZ ? "Toeplitz" : "XOR"} hash over ${entries} ${entries === 1 ? "entry" : "entries"}`;
  }

  esp({ operand, object }: ActionRun): string {
    const flags = this.word(operand + ESP_FLAGS);
    const does = (flags & ESP_ENCRYPT) !== 0 ? "encrypts" : "decrypts";
    const inline = (flags & ESP_FULL_OFFLOAD) === 0 ? ", inline" : "";
    return `${object} ${does}, SPI ${this.word(operand + ESP_SPI)}${inline}`.trimStart();
  }
}

/** The checks that refused the frame, each once. Connection tracking tries several: a valid frame passed one of them. */
export function failedChecks(run: ActionRun): FailedCheck[] {
  const name = opName(run.op);
  if (name === "track" && (registerOf(run) & SYNDROME_INVALID) === 0) return [];
  if (name === "meter" && colourText(registerOf(run)) === "green") return [];
  return [...new Map(run.failed.map((one) => [JSON.stringify(one), one])).values()];
}

/** TPID and TCI. */
function vlanText(operand: number): string {
  const tci = operand & 0xffff;
  const priority = tci >>> 13 === 0 ? "" : `, priority ${tci >>> 13}`;
  return `0x${(operand >>> 16).toString(16)}, VID ${tci & 0xfff}${priority}`;
}

/** Parameters: | register 8 | flags 8 | bit 8 |. */
function indexOf({ parameters }: ActionRun): number {
  return parameters & 0xff;
}

function flagText({ parameters, object }: ActionRun): string {
  const place = /^(.*)\[(\d+)\]$/.exec(object);
  const bit = (parameters >>> 16) & 0xff;
  return place === null ? `flag ${bit}` : `${place[1]}[${Number(place[2]) + bit}]`;
}

/** The low byte of the register that the action wrote. */
function registerOf(run: ActionRun): number {
  return run.key?.[MISC2_REGISTER_C_0 - 4 * indexOf(run) + 3] ?? 0;
}

/** "red", "yellow", "green". */
export function colourText(colour: number): string {
  return ["red", "yellow", "green"][colour] ?? String(colour);
}

function directionText({ parameters }: ActionRun): string {
  return ((parameters >>> 8) & 0xff) === DIRECTION_ORIGINAL ? "original direction" : "reply direction";
}

/** Several bits may be set. */
export function syndromeText(syndrome: number): string {
  if (syndrome === 0) return "valid";
  const names = [
    [SYNDROME_CHANGED, "state changed"],
    [SYNDROME_INVALID, "invalid"],
    [SYNDROME_TRAP, "trap"],
    [SYNDROME_BAD, "bad packet"],
  ] as const;
  return names.flatMap(([bit, name]) => ((syndrome & bit) !== 0 ? [name] : [])).join(", ");
}

/** The first priority of a lower bound of rank, given its upper word; null if it is that of all rules. */
export function priorityOfRank(high: number, low: number): number | null {
  return high === 0 && low === 0 ? null : high >>> (RANK_SLOT - 32 + 1);
}
