/**
 * The table pipeline of a function: the stages that a frame passes until a rule ends its walk
 * (docs/flows.md, "Order of matching").
 *
 *     received    sniffers -> rdmaRx -> rdmaTransportRx -> connected -> root -> host -> defaults
 *     sent        rdmaTransportTx -> rdmaTx -> sentSniffers -> egress
 *     switched    fdb, of the PF only
 *
 * `connected` holds the rules of RC and UC queue pairs. Frames that a port loops back pass the
 * stages from `rdmaRx` to `root`, or `root` only (model/traffic/receive.ts). Frames of raw
 * packet queue pairs start at `sentSniffers`. A stage has a table, and takes part, only while it
 * has rules. The root tables of NIC_RX, NIC_TX and FDB domains are `root`, `egress` and `fdb`; pins
 * keep them alive without rules.
 */
import { TABLE_FDB, TABLE_LOOPED, TABLE_ROOT, TABLE_SEND } from "../../abi/engine.js";
import { Classifier } from "./classifier.js";
import type { FunctionBase } from "../base/deviceBase.js";
import type { DomainType } from "../base/domainType.js";

const LOOPED = ["rdmaRx", "rdmaTransportRx", "connected", "root"] as const;
const RECEIVED = ["sniffers", ...LOOPED, "host", "defaults"] as const;
const SENT_BY_TRANSPORTS = ["rdmaTransportTx", "rdmaTx"] as const;
const SENT = ["sentSniffers", "egress"] as const;

export type StageName = (typeof RECEIVED)[number] | (typeof SENT_BY_TRANSPORTS)[number] | (typeof SENT)[number] | "fdb";

/** The stages that hold flows. */
export type FlowStage = Exclude<StageName, "host" | "connected">;

/** The stages that are root tables of domains. */
const ROOT_STAGES: Readonly<Record<DomainType, StageName>> = { nic_rx: "root", nic_tx: "egress", fdb: "fdb" };

interface Stage {
  readonly flags: number;
  classifier: Classifier | null;
  rules: number;
  /** How many users need its table even without rules. */
  pins: number;
  /** Flow tables whose unmatched frames go where those of the stage go. */
  readonly beside: Set<number>;
}

export class TablePipeline {
  private readonly _function: FunctionBase;
  private readonly _stages: Record<StageName, Stage>;
  private _received: readonly Classifier[] = [];
  private _looped: readonly Classifier[] = [];
  private _sent: readonly Classifier[] = [];
  private _sentByTransports: readonly Classifier[] = [];

  constructor(of: FunctionBase) {
    this._function = of;
    const stage = (flags: number): Stage => ({ flags, classifier: null, rules: 0, pins: 0, beside: new Set() });
    const receives = (): Stage => stage(TABLE_ROOT);
    const loops = (): Stage => stage(TABLE_ROOT | TABLE_LOOPED);
    const sends = (): Stage => stage(TABLE_ROOT | TABLE_SEND);
    this._stages = {
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
    this._tellCore();
  }

  /** The first table of received frames. */
  get received(): number {
    return this._received[0]?.table ?? this._function.device.core.exports.emptyTable();
  }

  /** The first table of sent frames. */
  get sent(): number {
    return this._sent[0]?.table ?? this._function.device.core.exports.emptySendTable();
  }

  /**
   * The first table of frames from UD, UC and RC queue pairs, which make packets of what they send.
   */
  get sentByTransports(): number {
    return this._sentByTransports[0]?.table ?? this.sent;
  }

  /** The first table of frames that a port loops back; 0 without one. */
  get looped(): number {
    return this._looped[0]?.table ?? 0;
  }

  /** The table of NORMAL flows and DR root rules; 0 without one. */
  get root(): number {
    return this._asked(["root"])[0]?.table ?? 0;
  }

  /**
   * The root table of the eSwitch, the first table of frames from wire and vports; 0 without one.
   */
  get switched(): number {
    const { rules, pins, classifier } = this._stages.fdb;
    return rules + pins > 0 ? (classifier as Classifier).table : 0;
  }

  /** The table of a stage, kept until it is unpinned as often. @throws ENOMEM */
  pin(name: StageName): Classifier {
    const stage = this._stages[name];
    const classifier = this.open(name);
    if (stage.pins++ + stage.rules === 0) this._link();
    return classifier;
  }

  /** The root table of a type of domain, kept until `unpinRoot`. @throws ENOMEM */
  pinRoot(type: DomainType): Classifier {
    return this.pin(ROOT_STAGES[type]);
  }

  unpinRoot(type: DomainType): void {
    this.unpin(ROOT_STAGES[type]);
  }

  unpin(name: StageName): void {
    this._stages[name].pins--;
    this._left(name);
  }

  /**
   * The table of a stage, for a rule to be inserted. Call `added` on success and `close` on
   * failure. @throws ENOMEM
   */
  open(name: StageName): Classifier {
    const stage = this._stages[name];
    stage.classifier ??= this._create(name);
    return stage.classifier;
  }

  /** The classifier of a stage, null without one, and the rules of it that `added` counted. */
  contentsOf(name: StageName): Readonly<Pick<Stage, "classifier" | "rules">> {
    return this._stages[name];
  }

  /** Counts a rule that was inserted into a stage. */
  added(name: StageName): void {
    const stage = this._stages[name];
    if (stage.rules++ + stage.pins === 0) this._link();
  }

  /** Counts a rule that was removed from a stage. */
  removed(name: StageName): void {
    this._stages[name].rules--;
    this._left(name);
  }

  /**
   * Sends the unmatched frames of a flow table to the stage after `name`, from now on until
   * `removeBeside`.
   */
  addBeside(name: StageName, table: number): void {
    this._stages[name].beside.add(table);
    this._link();
  }

  removeBeside(name: StageName, table: number): void {
    this._stages[name].beside.delete(table);
  }

  /** Frees the table of a stage that has neither rules nor pins. */
  close(name: StageName): void {
    const stage = this._stages[name];
    if (stage.rules + stage.pins > 0 || stage.classifier === null) return;
    this._function.device.tables.delete(stage.classifier.table);
    this._function.device.core.exports.destroyTable(stage.classifier.table);
    stage.classifier = null;
  }

  private _left(name: StageName): void {
    const { rules, pins } = this._stages[name];
    if (rules + pins > 0) return;
    this._link();
    this.close(name);
  }

  private _create(stage: StageName): Classifier {
    const { device, vport } = this._function;
    const { flags } = this._stages[stage];
    const table = device.allocated(device.core.exports.createTable(flags));
    const domain = (flags & TABLE_FDB) !== 0 ? "fdb" : (flags & TABLE_SEND) !== 0 ? "nic_tx" : "nic_rx";
    device.tables.set(table, { domain, vport, object: null, stage });
    return new Classifier(device, table, false);
  }

  private _link(): void {
    this._received = this._chain(RECEIVED);
    this._looped = this._asked(LOOPED);
    this._sent = this._chain(SENT);
    this._sentByTransports = this._chain([...SENT_BY_TRANSPORTS, ...SENT]);
    this._tellCore();
  }

  /** Tells the core where frames for this function start, and where frames between functions do. */
  private _tellCore(): void {
    const { device, vport } = this._function;
    device.core.exports.setVport(vport, this.received);
    if (this._function.managesSwitch) device.core.exports.setFdb(this.switched);
  }

  /** Links the tables of the stages that take part, and the flow tables beside them. */
  private _chain(names: readonly StageName[]): Classifier[] {
    const { exports } = this._function.device.core;
    let next = 0;
    for (const name of [...names].reverse()) {
      const { classifier, beside } = this._stages[name];
      for (const table of beside) exports.setMiss(table, next);
      if (classifier === null || !this._takesPart(name)) continue;
      exports.setMiss(classifier.table, next);
      next = classifier.table;
    }
    return this._asked(names);
  }

  private _takesPart(name: StageName): boolean {
    const { rules, pins } = this._stages[name];
    return rules + pins > 0;
  }

  /** The tables of the stages that take part. */
  private _asked(names: readonly StageName[]): Classifier[] {
    const asked = names.filter((name) => this._takesPart(name)).map((name) => this._stages[name].classifier);
    return asked.filter((classifier) => classifier !== null);
  }
}
