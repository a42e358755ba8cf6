/**
 * The stages of a function: the tables that a frame comes to, one behind the other, until a rule ends its way
 * (docs/flows.md, "One order for a port and a direction").
 *
 *     received    sniffers -> rdmaTransportRx -> rdmaRx -> connected -> root -> host -> defaults
 *     sent        rdmaTx -> rdmaTransportTx -> sentSniffers -> egress
 *     switched    fdb, of the PF alone
 *
 * `connected` has the rules of RC and UC queue pairs. What a port loops back comes to the stages from `rdmaTransportRx` to
 * `root`, or to that one alone (model/traffic/receive.ts).
 * Frames that no queue pair with a transport of its own has sent begin at `sentSniffers`. A stage has a table while it has
 * rules, and only then is it asked. The root tables of NIC_RX, NIC_TX and FDB domains are `root`, `egress` and `fdb`: they
 * stay while they are pinned.
 */
import { TABLE_FDB, TABLE_LOOPED, TABLE_ROOT, TABLE_SEND } from "../../abi/engine.js";
import { Classifier } from "./classifier.js";
import type { FunctionBase } from "../base/deviceBase.js";
import type { DomainType } from "./domainType.js";

const LOOPED = ["rdmaTransportRx", "rdmaRx", "connected", "root"] as const;
const RECEIVED = ["sniffers", ...LOOPED, "host", "defaults"] as const;
const SENT_BY_TRANSPORTS = ["rdmaTx", "rdmaTransportTx"] as const;
const SENT = ["sentSniffers", "egress"] as const;

export type StageName = (typeof RECEIVED)[number] | (typeof SENT_BY_TRANSPORTS)[number] | (typeof SENT)[number] | "fdb";

/** The stages that are root tables of domains. */
const ROOT_STAGES: Readonly<Record<DomainType, StageName>> = { nic_rx: "root", nic_tx: "egress", fdb: "fdb" };

interface Stage {
  readonly flags: number;
  classifier: Classifier | null;
  rules: number;
  /** Who needs it without rules. */
  pins: number;
}

export class TablePipeline {
  readonly #function: FunctionBase;
  readonly #stages: Record<StageName, Stage>;
  #received: readonly Classifier[] = [];
  #looped: readonly Classifier[] = [];
  #sent: readonly Classifier[] = [];
  #sentByTransports: readonly Classifier[] = [];

  constructor(of: FunctionBase) {
    this.#function = of;
    const stage = (flags: number): Stage => ({ flags, classifier: null, rules: 0, pins: 0 });
    const receives = (): Stage => stage(TABLE_ROOT);
    const loops = (): Stage => stage(TABLE_ROOT | TABLE_LOOPED);
    const sends = (): Stage => stage(TABLE_ROOT | TABLE_SEND);
    this.#stages = {
      sniffers: receives(),
      rdmaTransportRx: loops(),
      rdmaRx: loops(),
      connected: loops(),
      root: loops(),
      host: receives(),
      defaults: receives(),
      rdmaTx: sends(),
      rdmaTransportTx: sends(),
      sentSniffers: sends(),
      egress: sends(),
      fdb: stage(TABLE_ROOT | TABLE_FDB),
    };
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

  /** The same for those of queue pairs that make packets of what they send (UD). */
  get sentByTransports(): number {
    return this.#sentByTransports[0]?.table ?? this.sent;
  }

  /** The table that frames come to first which a port loops back; 0 where there is none. */
  get looped(): number {
    return this.#looped[0]?.table ?? 0;
  }

  /** That of NORMAL flows and DR root rules; 0 where there is none. */
  get root(): number {
    return this.#asked(["root"])[0]?.table ?? 0;
  }

  /** The root table of the eSwitch, which frames come to first that no function has received yet; 0 where there is none. */
  get switched(): number {
    const { rules, pins, classifier } = this.#stages.fdb;
    return rules + pins > 0 ? (classifier as Classifier).table : 0;
  }

  /** The table of a stage, which stays until it is unpinned as often. @throws ENOMEM */
  pin(call: string, name: StageName): Classifier {
    const stage = this.#stages[name];
    const classifier = this.open(call, name);
    if (stage.pins++ + stage.rules === 0) this.#link();
    return classifier;
  }

  /** The root table of a domain on this function; it stays from now on. @throws ENOMEM */
  pinRoot(call: string, type: DomainType): Classifier {
    return this.pin(call, ROOT_STAGES[type]);
  }

  unpin(name: StageName): void {
    this.#stages[name].pins--;
    this.#left(name);
  }

  /** The table of a stage, for a rule that is then told of by `added`, or not: `close`. @throws ENOMEM */
  open(call: string, name: StageName): Classifier {
    const stage = this.#stages[name];
    stage.classifier ??= this.#create(call, stage.flags);
    return stage.classifier;
  }

  /** A stage has one rule more. */
  added(name: StageName): void {
    const stage = this.#stages[name];
    if (stage.rules++ + stage.pins === 0) this.#link();
  }

  /** A stage has one rule less, which is gone from its table. */
  removed(name: StageName): void {
    this.#stages[name].rules--;
    this.#left(name);
  }

  /** Gives back the table of a stage that nobody needs. */
  close(name: StageName): void {
    const stage = this.#stages[name];
    if (stage.rules + stage.pins > 0 || stage.classifier === null) return;
    this.#function.device.core.exports.destroyTable(stage.classifier.table);
    stage.classifier = null;
  }

  #left(name: StageName): void {
    const { rules, pins } = this.#stages[name];
    if (rules + pins > 0) return;
    this.#link();
    this.close(name);
  }

  #create(call: string, flags: number): Classifier {
    const { device } = this.#function;
    const table = device.core.exports.createTable(flags);
    return new Classifier(device, device.allocated(call, table), false);
  }

  #link(): void {
    this.#received = this.#chain(RECEIVED);
    this.#looped = this.#asked(LOOPED);
    this.#sent = this.#chain(SENT);
    this.#sentByTransports = this.#chain([...SENT_BY_TRANSPORTS, ...SENT]);
    this.#tellCore();
  }

  /** Where frames for the function come to, whoever gives them to it, and frames between functions. */
  #tellCore(): void {
    const { device, vport } = this.#function;
    device.core.exports.setVport(vport, this.received);
    if (this.#function.managesSwitch) device.core.exports.setFdb(this.switched);
  }

  /** Links the stages that are asked. */
  #chain(names: readonly StageName[]): Classifier[] {
    const chain = this.#asked(names);
    for (const [i, { table }] of chain.entries()) {
      this.#function.device.core.exports.setMiss(table, chain[i + 1]?.table ?? 0);
    }
    return chain;
  }

  /** The tables of the stages that are asked. */
  #asked(names: readonly StageName[]): Classifier[] {
    const asked = names.map((name) => this.#stages[name]).filter(({ rules, pins }) => rules + pins > 0);
    return asked.map(({ classifier }) => classifier).filter((classifier) => classifier !== null);
  }
}
