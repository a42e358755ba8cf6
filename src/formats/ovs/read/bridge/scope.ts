/** What a text has of a bridge, and one pipeline of all bridges: names of others than the first have the bridge in front. */
import type { Meter } from "../meters.js";
import type { Group } from "../pipeline/state.js";
import { act, type Act, type Flow } from "../steps.js";
import type { Ports } from "./ports.js";

export interface Contents {
  readonly flows: Map<string, Flow>;
  readonly groups: Map<string, Group>;
  readonly meters: Map<string, Meter>;
}

export class Scope {
  constructor(
    private readonly bridge: string,
    private readonly ports: Ports,
  ) {}

  /** The name of a table, a group or a meter of the bridge. */
  name(text: string): string {
    return `${this.bridge}:${text}`;
  }

  flow(flow: Flow): Flow {
    const { match, acts } = flow;
    return {
      ...flow,
      name: `${this.bridge} ${flow.name}`,
      table: this.name(flow.table),
      match: { ...match, inPort: match.inPort === undefined ? undefined : this.#port(match.inPort) },
      acts: this.acts(acts),
    };
  }

  group({ buckets, ...group }: Group): Group {
    return { ...group, buckets: buckets.map((acts) => this.acts(acts)) };
  }

  acts(acts: readonly Act[]): Act[] {
    return acts.map((one) => this.#act(one));
  }

  #act({ key: _, ...one }: Act): Act {
    switch (one.kind) {
      case "output":
      case "encap":
      case "set_in_port":
      case "tunnel_pop":
        return act({ ...one, port: this.#port(one.port) });
      case "lookup": {
        const { inPort } = one;
        return act({
          ...one,
          table: this.name(one.table),
          inPort: inPort === undefined ? undefined : this.#port(inPort),
        });
      }
      case "group":
      case "meter":
        return act({ ...one, id: this.name(one.id) });
      case "write":
        return act({ ...one, acts: this.acts(one.acts) });
      case "clones":
        return act({ ...one, lists: one.lists.map((list) => this.acts(list)) });
      default:
        return act(one);
    }
  }

  #port(text: string): string {
    return this.ports.word(this.bridge, text);
  }
}

/** `br1 table 2` for the second bridge's table, `table 2` for the first one's. */
export function tableTitle(table: string): string {
  const at = table.indexOf(":");
  return at < 0 ? `table ${table}` : `${table.slice(0, at)} table ${table.slice(at + 1)}`;
}
