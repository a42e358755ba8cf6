/** Actions of a document: a line for each, and the tables and ends that they lead to. */
import type { LoadedScenario, Scenario } from "flowsteer/scenario";
import { portId, queueId, stageId, tableId } from "./ids.js";

/** An action as documents have it: a word, or an object. */
export type WrittenAction = string | object;

/** Characters of an operand that a line shows. */
const MAX_LENGTH = 60;

/** `queue web`, `modify set outer.ipv4_dst 10.0.0.1`, `drop`. */
function actionLine(action: WrittenAction): string {
  if (typeof action === "string") return action.replaceAll("_", " ");
  return Object.entries(action)
    .filter(([key]) => key !== "name")
    .map(([key, value]) =>
      value === true ? key.replaceAll("_", " ") : `${key.replaceAll("_", " ")} ${operand(value)}`,
    )
    .join(", ");
}

function operand(value: unknown): string {
  const text = wordsOf(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
}

/** The words of a value: `type l2_to_l2_tunnel` of an object, its elements joined by commas of a list. */
function wordsOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(wordsOf).join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([key, one]) => `${key} ${wordsOf(one)}`)
    .join(" ");
}

/** Says what actions do and lead to. */
export class Destinations {
  readonly #loaded: LoadedScenario;
  readonly #actions: ReadonlyMap<string, object>;

  constructor(loaded: LoadedScenario) {
    this.#loaded = loaded;
    const { actions = [] } = loaded.scenario;
    this.#actions = new Map(actions.map((action) => [action.name, action]));
  }

  /** The line of an action; of a shared action its name, and what it does. */
  line(action: WrittenAction): string {
    const line = actionLine(action);
    const named =
      typeof action === "object" && "action" in action ? this.#actions.get(String(action.action)) : undefined;
    return named === undefined ? line : `${line}: ${actionLine(named)}`;
  }

  /** The ids of tables and ends that the actions of a rule name, each once. */
  of(actions: readonly WrittenAction[]): string[] {
    const ids = new Set<string>();
    for (const action of actions) this.#add(action, ids);
    return [...ids];
  }

  #add(value: unknown, ids: Set<string>): void {
    if (Array.isArray(value)) for (const one of value) this.#add(one, ids);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    for (const [key, operand] of Object.entries(value as Readonly<Record<string, unknown>>)) {
      for (const id of this.#idsOf(key, operand)) ids.add(id);
      const named = key === "action" && typeof operand === "string" ? this.#actions.get(operand) : operand;
      this.#add(named, ids);
    }
  }

  #idsOf(key: string, operand: unknown): string[] {
    const { scenario } = this.#loaded;
    if (key === "port" && typeof operand === "number") return [portId(operand)];
    if (key === "vport") return typeof operand === "number" ? [stageId("nic_rx", operand, "root")] : this.#uplinks();
    if (typeof operand !== "string") return [];
    if (key === "deliver") return [operand];
    if (key === "queue") return queueIds(scenario, operand);
    if (key.endsWith("table")) return tableId(scenario, operand);
    if (key === "tir") return tirIds(scenario, operand);
    return [];
  }

  /** Frames leave by the port that they came from: any of them. */
  #uplinks(): string[] {
    return Array.from({ length: this.#loaded.device.ports }, (_, i) => portId(i + 1));
  }
}

/** A queue, or with RSS those of its indirection table. */
function queueIds(scenario: Scenario, name: string): string[] {
  const queue = scenario.queues?.find((one) => one.name === name);
  const table = scenario.indirectionTables?.find((one) => one.name === queue?.rwq_ind_tbl);
  return table === undefined ? [queueId(scenario, name)] : table.ind_tbl.map((one) => queueId(scenario, one));
}

function tirIds(scenario: Scenario, name: string): string[] {
  const tir = scenario.tirs?.find((one) => one.name === name);
  const rqt = scenario.rqts?.find((one) => one.name === tir?.rqt);
  const queues = tir?.queue === undefined ? (rqt?.queues ?? []) : [tir.queue];
  return queues.flatMap((queue) => queueIds(scenario, queue));
}
