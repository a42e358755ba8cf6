/**
 * The stages of a function: the tables that a frame comes to, one behind the other, until a rule ends its way
 * (docs/flows.md, "One order for a port and a direction").
 *
 *     received    sniffers -> root -> host -> defaults
 *     sent        sentSniffers -> egress
 *
 * A stage has a table while it has rules, and only then is it asked. The root tables of NIC_RX and NIC_TX domains are `root`
 * and `egress`: they stay once something refers to them.
 */
import { TABLE_ROOT, TABLE_SEND } from "../abi/engine.js";
import { Classifier } from "./classifier.js";
import type { DeviceFunction } from "./deviceFunction.js";

const RECEIVED = ["sniffers", "root", "host", "defaults"] as const;
const SENT = ["sentSniffers", "egress"] as const;

export type StageName = (typeof RECEIVED)[number] | (typeof SENT)[number];

interface Stage {
  classifier: Classifier | null;
  rules: number;
  /** It stays without rules. */
  pinned: boolean;
}

export class Stages {
  readonly #function: DeviceFunction;
  readonly #stages: Record<StageName, Stage>;
  #received: readonly Classifier[] = [];
  #sent: readonly Classifier[] = [];

  constructor(of: DeviceFunction) {
    this.#function = of;
    const stage = (): Stage => ({ classifier: null, rules: 0, pinned: false });
    const [sniffers, root, host, defaults] = [stage(), stage(), stage(), stage()];
    this.#stages = { sniffers, root, host, defaults, sentSniffers: stage(), egress: stage() };
    this.#tellCore();
  }

  /** The table that received frames come to first. */
  get received(): number {
    return this.#received[0]?.table ?? this.#function.device.core.exports.emptyTable();
  }

  /** The table that sent frames come to first. */
  get sent(): number {
    return this.#sent[0]?.table ?? this.#function.device.core.exports.emptySendTable();
  }

  /** The table of NORMAL flows and DR root rules; 0 where there has been none. */
  get looped(): number {
    return this.#stages.root.classifier?.table ?? 0;
  }

  /** A root table, which stays from now on. @throws ENOMEM */
  pin(call: string, name: "root" | "egress"): Classifier {
    const stage = this.#stages[name];
    const classifier = this.open(call, name);
    if (!stage.pinned) {
      stage.pinned = true;
      this.#link();
    }
    return classifier;
  }

  /** The table of a stage, for a rule that is then told of by `added`, or not: `close`. @throws ENOMEM */
  open(call: string, name: StageName): Classifier {
    const stage = this.#stages[name];
    stage.classifier ??= this.#create(call, (SENT as readonly string[]).includes(name));
    return stage.classifier;
  }

  /** A stage has one rule more. */
  added(name: StageName): void {
    if (this.#stages[name].rules++ === 0) this.#link();
  }

  /** A stage has one rule less, which is gone from its table. */
  removed(name: StageName): void {
    if (--this.#stages[name].rules > 0) return;
    this.#link();
    this.close(name);
  }

  /** Gives back the table of a stage that has no rules. */
  close(name: StageName): void {
    const stage = this.#stages[name];
    if (stage.rules > 0 || stage.pinned || stage.classifier === null) return;
    this.#function.device.core.exports.destroyTable(stage.classifier.table);
    stage.classifier = null;
  }

  #create(call: string, send: boolean): Classifier {
    const { device } = this.#function;
    const table = device.core.exports.createTable(send ? TABLE_ROOT | TABLE_SEND : TABLE_ROOT);
    return new Classifier(device, device.allocated(call, table), false);
  }

  #link(): void {
    this.#received = this.#chain(RECEIVED);
    this.#sent = this.#chain(SENT);
    this.#tellCore();
  }

  /** Where frames for the function come to, whoever gives them to it. */
  #tellCore(): void {
    const { device, vport } = this.#function;
    device.core.exports.setVport(vport, this.received);
  }

  /** Links the stages that are asked. */
  #chain(names: readonly StageName[]): Classifier[] {
    const asked = names.map((name) => this.#stages[name]).filter(({ rules, pinned }) => rules > 0 || pinned);
    const chain = asked.map(({ classifier }) => classifier).filter((classifier) => classifier !== null);
    for (const [i, { table }] of chain.entries()) {
      this.#function.device.core.exports.setMiss(table, chain[i + 1]?.table ?? 0);
    }
    return chain;
  }
}
