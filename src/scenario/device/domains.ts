/** The domains of a scenario, and the contexts of their functions. */
import { inCall } from "../../errors.js";
import { MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW, MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW } from "../../abi/mlx5dv.js";
import { Context, ProtectionDomain } from "../../model/base/context.js";
import { Domain } from "../../model/table/domain.js";
import { DOMAIN_TYPES, type DomainType } from "../../model/base/domainType.js";
import type { ScenarioDomain } from "./definition.js";
import { at } from "../place.js";
import { attemptEach, type Report } from "../report.js";

const SYNC_RULES = MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW | MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW;

/** The domains of a scenario, and what they belong to, by function and by name. */
export interface SavedDomains {
  readonly contexts: ReadonlyMap<number, Context>;
  readonly pds: ReadonlyMap<number, ProtectionDomain>;
  readonly domains: ReadonlyMap<string, Domain>;
  readonly unsynced: ReadonlySet<Domain>;
}

export class ScenarioDomains {
  readonly #first: Context;
  readonly #contexts = new Map<number, Context>();
  readonly #pds = new Map<number, ProtectionDomain>();
  readonly #domains = new Map<string, Domain>();
  /** Domains that are not synced before frames arrive. */
  readonly #unsynced = new Set<Domain>();

  /**
   * `context` belongs to the PF.
   * @param saved the domains of a snapshot, which have their settings
   */
  constructor(context: Context, settings: readonly ScenarioDomain[], report: Report, saved?: SavedDomains) {
    this.#first = context;
    this.#contexts.set(0, context);
    if (saved !== undefined) {
      for (const [vport, one] of saved.contexts) this.#contexts.set(vport, one);
      for (const [vport, pd] of saved.pds) this.#pds.set(vport, pd);
      for (const [name, one] of saved.domains) this.#domains.set(name, one);
      for (const one of saved.unsynced) this.#unsynced.add(one);
      return;
    }
    attemptEach(report, "domains", settings, (one, path) => {
      const { domain, function: vport, reclaim = false, duplicates = true, sync = true } = one;
      const made = this.domain(path, domain, vport);
      made.reclaim(reclaim);
      made.allowsDuplicates = duplicates;
      if (!sync) this.#unsynced.add(made);
    });
  }

  /** The context of a function. */
  context(vport = 0): Context {
    let context = this.#contexts.get(vport);
    if (context === undefined) {
      context = new Context(this.#first.device.function(vport));
      this.#contexts.set(vport, context);
    }
    return context;
  }

  pd(vport = 0): ProtectionDomain {
    let pd = this.#pds.get(vport);
    if (pd === undefined) this.#pds.set(vport, (pd = new ProtectionDomain(this.context(vport))));
    return pd;
  }

  /** The domain of a type on a function; `path` names the user in refusals. */
  domain(path: string, type: DomainType, vport = 0): Domain {
    const name = domainName(type, vport);
    let domain = this.#domains.get(name);
    if (domain === undefined) {
      domain = at(path, () => Domain.create(this.context(vport), DOMAIN_TYPES.indexOf(type), name));
      this.#domains.set(name, domain);
    }
    return domain;
  }

  /** What a snapshot keeps. */
  get saved(): SavedDomains {
    return { contexts: this.#contexts, pds: this.#pds, domains: this.#domains, unsynced: this.#unsynced };
  }

  /** Applies pending rules, where the document does not hold them back. @throws ENOMEM */
  begin(): void {
    for (const domain of this.#domains.values()) if (!this.#unsynced.has(domain)) sync(domain);
  }

  /** Applies all pending rules. @throws ENOMEM */
  sync(): void {
    for (const domain of this.#domains.values()) sync(domain);
  }
}

/** The name of a domain in messages: `fdb`, or with its function `nic_rx of vf1`. */
export function domainName(type: DomainType, vport: number): string {
  return vport === 0 ? type : `${type} of vf${vport}`;
}

function sync(domain: Domain): void {
  if (!domain.rootOnly) inCall("loadScenario", () => domain.sync(SYNC_RULES));
}
