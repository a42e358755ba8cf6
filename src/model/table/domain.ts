/** Domains and their tables (mlx5dv_dr(3): Domain, Table). */
import {
  MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW,
  MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM,
  MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW,
} from "../../abi/mlx5dv.js";
import { TABLE_FDB, TABLE_KEEPS, TABLE_SEND } from "../../abi/engine.js";
import { inCall, refuse } from "../../errors.js";
import { Classifier } from "./classifier.js";
import type { TablePlace } from "../base/deviceBase.js";
import type { Hits } from "../base/hitCounts.js";
import type { Context } from "../base/context.js";
import { unsigned } from "../../base/checks.js";
import { Handle, living, retire } from "../base/handle.js";
import type { PrintedFields } from "../../base/printable.js";
import { DOMAIN_TYPES, type DomainType } from "../base/domainType.js";
import { PendingRules } from "./pendingRules.js";
import { TablePipeline } from "./pipeline.js";

const TABLE_FLAGS: Readonly<Record<DomainType, number>> = { nic_rx: 0, nic_tx: TABLE_SEND, fdb: TABLE_FDB };

export class Domain extends Handle {
  readonly context: Context;
  readonly type: DomainType;
  /**
   * Whether it has its root table only: an FDB domain on a function that does not manage the
   * eSwitch.
   */
  readonly rootOnly: boolean;
  /** Whether two rules of one matcher may have equal values. */
  allowsDuplicates = true;
  /** Rule changes that wait for a sync; null in a synchronous domain. */
  readonly pending: PendingRules | null;
  /** Its living tables, oldest first. */
  readonly tables = new Set<Table>();
  private _reclaims = false;

  constructor(context: Context, type: DomainType, name: string) {
    super(context.device, name);
    this.context = context;
    this.type = type;
    this.rootOnly = type === "fdb" && !context.function.managesSwitch;
    this.pending = context.device.asyncRules ? new PendingRules() : null;
  }

  static create(context: Context, type: number, name?: string): Domain {
    const known = DOMAIN_TYPES[unsigned("type", type, 32)];
    if (known === undefined) {
      refuse({ code: "EINVAL", reason: "out_of_range", path: "type", value: type, hint: "0 to 2" });
    }
    const domain = new Domain(context, known, name ?? known);
    context.users++;
    return domain;
  }

  /** mlx5dv_dr_domain_sync: applies pending changes (SW, HW) and frees unused memory (MEM). */
  sync(flags: number): void {
    if (this.rootOnly) refuse({ code: "EOPNOTSUPP", reason: "root_only", path: "domain", value: this });
    if (
      unsigned("flags", flags, 32) >
      (MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW | MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW | MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM)
    ) {
      const hint = "MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW, _HW, _MEM";
      refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "flags", value: flags, hint });
    }
    if ((flags & (MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW | MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW)) !== 0) this.pending?.apply();
    if ((flags & MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM) === 0) return;
    for (const { classifier } of this._own()) this.device.core.exports.trimTable(classifier.table);
  }

  /** Whether its tables free unused memory at once. */
  get reclaims(): boolean {
    return this._reclaims;
  }

  /** Sets whether its tables free unused memory at once, or with a sync. */
  reclaim(enable: boolean): void {
    this._reclaims = enable;
    for (const { classifier } of this._own()) this.device.core.exports.keepTable(classifier.table, enable ? 0 : 1);
  }

  /** Its tables that are not root tables: root tables are shared. */
  private _own(): Table[] {
    return [...this.tables].filter(({ isRoot }) => !isRoot);
  }

  /**
   * The classifier of a new table at a level. @throws ENOMEM; EOPNOTSUPP the domain has its root
   * table only
   */
  classifierAt(level: number): Classifier {
    const { device, type, rootOnly } = this;
    const { exports } = device.core;
    if (level > 0) {
      if (rootOnly) refuse({ code: "EOPNOTSUPP", reason: "root_only", path: "level", value: level });
      const table = exports.createTable(TABLE_FLAGS[type] | (this._reclaims ? 0 : TABLE_KEEPS));
      return new Classifier(device, device.allocated(table), true);
    }
    // No frame and no rule reaches this table.
    if (rootOnly) return new Classifier(device, exports.emptyTable() >>> 0, false);
    return this.context.function.part(TablePipeline).pinRoot(type);
  }

  /** Counts a new table of the domain. */
  add(table: Table): void {
    this.tables.add(table);
    if (!table.isRoot) this.device.tables.set(table.classifier.table, this._placeOf(table));
    this.users++;
  }

  private _placeOf(object: Table): TablePlace {
    return { domain: this.type, vport: this.context.function.vport, object, stage: null };
  }

  /** Removes a table, and frees what it holds in the core. */
  remove(table: Table): void {
    if (!table.isRoot) {
      this.device.tables.delete(table.classifier.table);
      this.device.hitCounts?.forget(table.classifier.table);
      this.device.core.exports.destroyTable(table.classifier.table);
    } else if (!this.rootOnly) this.context.function.part(TablePipeline).unpinRoot(this.type);
    this.tables.delete(table);
    this.users--;
  }

  destroy(): void {
    const hint =
      "destroy its tables, and its reformat, modify header, array and sampler actions; end its links to ASO objects";
    retire("domain", this, hint);
    this.context.users--;
  }
}

/** A table. All root tables of one domain type are the same table of the function. */
export class Table extends Handle {
  readonly domain: Domain;
  readonly level: number;
  readonly classifier: Classifier;

  constructor(domain: Domain, level: number, classifier: Classifier, name: string) {
    super(domain.device, name);
    this.domain = domain;
    this.level = level;
    this.classifier = classifier;
  }

  static create(domain: Domain, level: number, name?: string): Table {
    living("domain", domain, Domain);
    unsigned("level", level, 32);
    const classifier = domain.classifierAt(level);
    const table = new Table(domain, level, classifier, name ?? `table${domain.device.nextNumber("table")}`);
    domain.add(table);
    return table;
  }

  /**
   * Packets and bytes that hit the rules of the table, the removed ones included. A frame that hits
   * two rules of the table counts twice. All root tables of a domain type are one table.
   * @throws SteeringError EINVAL: they are not counted (docs/metrics.md)
   */
  hits(): Hits {
    return inCall("table.hits", () => this.device.hitsIn(this.classifier.table));
  }

  get isRoot(): boolean {
    return this.level === 0;
  }

  get type(): DomainType {
    return this.domain.type;
  }

  protected override printedFields(): PrintedFields {
    const own = [...this.classifier.places].filter((place) => "table" in place && place.table === this);
    return { ...super.printedFields(), matchers: own.length };
  }

  destroy(): void {
    retire("table", this, "destroy its matchers and the actions that lead to it first");
    this.domain.remove(this);
  }
}
