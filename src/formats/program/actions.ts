/** The actions of a scenario, each created once for the rules that share it. */
import { VPORT_UPLINK } from "../../abi/engine.js";
import { inCall, SteeringError } from "../../errors.js";
import { modifyActions } from "../../model/action/modifyActions.js";
import type { ScenarioRuleAction } from "../../scenario/action/definition.js";
import type { ScenarioArrayMemberObject } from "../../scenario/action/destinations.js";
import { reformatOf } from "../../scenario/action/headerBytes.js";
import { headerChanges } from "../../scenario/action/headerChanges.js";
import { vlanHeader } from "../../scenario/action/load.js";
import type { Scenario } from "../../scenario/document.js";
import type { ProgramAction, ProgramMember } from "./program.js";

/** Indices of the objects that actions refer to; undefined for those that the program does not have. */
export interface ActionObjects {
  queue(name: string): number | undefined;
  table(name: string): number | undefined;
  counter(name: string): number | undefined;
}

/** Why an action has no equal. */
export class Missing {
  constructor(readonly reason: string) {}
}

type Written = Record<string, unknown> & Exclude<ScenarioRuleAction, string>;

export class ProgramActions {
  readonly list: ProgramAction[] = [];
  readonly #made = new Map<string, number>();
  readonly #shared: ReadonlyMap<string, Written>;

  constructor(
    scenario: Scenario,
    private readonly objects: ActionObjects,
  ) {
    this.#shared = new Map((scenario.actions ?? []).map(({ name, ...written }) => [name, written as Written]));
  }

  /** The action of a rule in a table of this domain. */
  of(action: ScenarioRuleAction, domain: number, root: boolean): number | Missing {
    const written = (typeof action === "string" ? { [action]: true } : action) as Written;
    if (written.modify_aso !== undefined) return new Missing(STATE);
    const shared = written.action === undefined ? written : this.#shared.get(written.action);
    if (shared === undefined) return new Missing(`there is no action ${written.action ?? ""}`);
    const key = JSON.stringify([shared, isOfDomain(shared) ? [domain, root] : []]);
    const found = this.#made.get(key);
    if (found !== undefined) return found;
    const made = this.#create(shared, domain, root);
    if (made instanceof Missing) return made;
    this.list.push({ comment: commentOf(shared), ...made });
    this.#made.set(key, this.list.length - 1);
    return this.list.length - 1;
  }

  #create(written: Written, domain: number, root: boolean): DistributiveOmit<ProgramAction, "comment"> | Missing {
    const { tag, queue, tir, table, priority, count, offset = 0, vport, port, push_vlan: vlan } = written;
    const { array, reformat, modify } = written;
    for (const kind of ["drop", "default_miss", "pop_vlan"] as const) if (written[kind] !== undefined) return { kind };
    if (tag !== undefined) return { kind: "tag", tag };
    if (queue !== undefined)
      return found(this.objects.queue(queue), QUEUE, (at) => ({ kind: "dest_ibv_qp", queue: at }));
    if (tir !== undefined) return new Missing("a TIR is made by a device command, which the program does not have");
    if (table !== undefined) {
      return found(this.objects.table(table), TABLE, (at) =>
        priority === undefined ? { kind: "dest_table", table: at } : { kind: "dest_root_table", table: at, priority },
      );
    }
    if (count !== undefined) {
      return found(this.objects.counter(count), COUNTER, (at) => ({ kind: "flow_counter", counter: at, offset }));
    }
    if (vport !== undefined) return { kind: "dest_vport", domain, vport: vport === "uplink" ? VPORT_UPLINK : vport };
    if (port !== undefined) return { kind: "dest_ib_port", domain, port };
    if (vlan !== undefined) return { kind: "push_vlan", domain, header: vlanHeader(vlan) };
    if (array !== undefined) return this.#array(array, domain);
    if (reformat !== undefined) {
      return attempted(() => {
        const { type, data } = reformatOf("reformat", reformat);
        return { kind: "packet_reformat", domain, root, type, data: data ?? new Uint8Array() };
      });
    }
    if (modify !== undefined) return attempted(() => ({ kind: "modify_header", domain, root, words: wordsOf(modify) }));
    const keys = Object.keys(written);
    return new Missing(
      STATEFUL.some((key) => keys.includes(key)) ? STATE : `the program has no equal of ${keys.join(", ")}`,
    );
  }

  #array(
    members: readonly (string | ScenarioArrayMemberObject)[],
    domain: number,
  ): DistributiveOmit<ProgramAction, "comment"> | Missing {
    const made: ProgramMember[] = [];
    for (const member of members) {
      const { reformat, ...dest }: ScenarioArrayMemberObject = typeof member === "string" ? { [member]: true } : member;
      const to = this.of(dest, domain, false);
      if (to instanceof Missing) return to;
      const first =
        reformat === undefined
          ? -1
          : this.of(typeof reformat === "string" ? { action: reformat } : { reformat }, domain, false);
      if (first instanceof Missing) return first;
      made.push({ dest: to, reformat: first });
    }
    return { kind: "dest_array", domain, members: made };
  }
}

type DistributiveOmit<T, Key extends PropertyKey> = T extends unknown ? Omit<T, Key> : never;

const STATE =
  "meters, samplers, first-hit flags and connections are objects of device commands, which the program does not have";
const STATEFUL = ["aso", "modify_aso", "flow_meter", "flow_sampler"];
const QUEUE = "the program does not have the queue";
const TABLE = "the program does not have the table";
const COUNTER = "the program does not have the counter";

function found<T>(index: number | undefined, reason: string, make: (index: number) => T): T | Missing {
  return index === undefined ? new Missing(reason) : make(index);
}

function attempted<T>(work: () => T): T | Missing {
  try {
    return inCall("exportRules", work);
  } catch (error) {
    if (error instanceof SteeringError) return new Missing(error.message);
    throw error;
  }
}

function isOfDomain({ vport, port, array, reformat, modify, push_vlan: vlan }: Written): boolean {
  return [vport, port, array, reformat, modify, vlan].some((one) => one !== undefined);
}

/** The changes as words of the device. */
function wordsOf(modify: NonNullable<Written["modify"]>): bigint[] {
  return headerChanges("modify", modify).actions.map((one) => {
    if (typeof one === "bigint") return one;
    const bytes = modifyActions([one]);
    return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0);
  });
}

function commentOf(written: Written): string {
  const text = JSON.stringify(written);
  return text.length > COMMENT ? `${text.slice(0, COMMENT)}...` : text;
}

const COMMENT = 90;
