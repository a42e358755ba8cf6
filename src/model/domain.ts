/** Domains and their tables (mlx5dv_dr: Domain, Table). */
import { refuse } from "../errors.js";
import { Classifier } from "./classifier.js";
import type { Context } from "./context.js";
import { Handle, living, retire, unsigned } from "./handle.js";

/** `enum mlx5dv_dr_domain_type` */
export const DOMAIN_TYPES = ["nic_rx", "nic_tx", "fdb"] as const;
export type DomainType = (typeof DOMAIN_TYPES)[number];

export class Domain extends Handle {
  readonly context: Context;
  readonly type: DomainType;

  constructor(context: Context, type: DomainType, name: string) {
    super(context.device, name);
    this.context = context;
    this.type = type;
  }

  static create(call: string, context: Context, type: number, name?: string): Domain {
    const known = DOMAIN_TYPES[unsigned(call, "type", type, 32)];
    if (known === undefined) {
      refuse({ code: "EINVAL", call, reason: "out_of_range", path: "type", value: type, hint: "0 to 2" });
    }
    if (known !== "nic_rx") {
      const hint = "this release has MLX5DV_DR_DOMAIN_TYPE_NIC_RX";
      refuse({ code: "EOPNOTSUPP", call, reason: "unsupported", path: "type", value: type, hint });
    }
    const domain = new Domain(context, known, name ?? known);
    context.users++;
    return domain;
  }

  destroy(call: string): void {
    retire(call, "domain", this, "destroy its tables first");
    this.context.users--;
  }
}

/** A table; all root tables of one domain type are the same table of the device. */
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

  static create(call: string, domain: Domain, level: number, name?: string): Table {
    living(call, "domain", domain, Domain);
    unsigned(call, "level", level, 32);
    const { device } = domain;
    const classifier = level === 0 ? domain.context.function.rootTable(call, domain.type) : newClassifier(call, domain);
    const table = new Table(domain, level, classifier, name ?? `table${device.nextNumber("table")}`);
    domain.users++;
    return table;
  }

  get isRoot(): boolean {
    return this.level === 0;
  }

  destroy(call: string): void {
    retire(call, "table", this, "destroy its matchers and the actions that lead to it first");
    if (!this.isRoot) this.device.core.exports.destroyTable(this.classifier.table);
    this.domain.users--;
  }
}

function newClassifier(call: string, { device }: Domain): Classifier {
  return new Classifier(device, device.allocated(call, device.core.exports.createTable(0)), true);
}
