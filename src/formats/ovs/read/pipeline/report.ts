/** What a bridge's flows could not become, told once; and free names. */
import type { Draft } from "../../../reading/draft.js";
import type { Findings } from "../../../reading/findings.js";
import type { Place } from "../../../text/refusal.js";
import type { Tunnel } from "../bridge/ports.js";
import type { FlowSegment } from "../segment.js";

export class Report {
  readonly #file: string;
  readonly #told = new Set<string>();
  readonly #names = new Map<string, number>();

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {
    this.#file = findings.file;
  }

  /** An action that a rule lacks. */
  lacks(segment: FlowSegment, rule: string, place: Place, text: string, reason: string): undefined {
    this.tell(place, text, reason, rule);
    segment.missing.push(`${text}: ${reason}`);
    return undefined;
  }

  tell(place: Place, text: string, reason: string, rule: string | null = null): void {
    const key = `${place.line} ${place.column} ${text} ${reason}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.findings.file = this.#file;
    this.findings.refuse(place, text, reason, rule);
  }

  /** The driver registers the port of a VXLAN tunnel. @returns why it cannot, or null */
  registerVxlan({ name, place }: Tunnel, port: number): string | null {
    if (this.draft.vxlanPorts.includes(port)) return null;
    const refused = this.draft.registerVxlan(port);
    if (refused === null) this.findings.explain(place, name, `UDP port ${port} is registered for VXLAN`);
    return refused;
  }

  assume(place: Place, text: string, reason: string): void {
    const key = `${text} ${reason}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.findings.assume(place, text, reason);
  }

  numbered(name: string): string {
    const count = (this.#names.get(`t ${name}`) ?? 0) + 1;
    this.#names.set(`t ${name}`, count);
    return count === 1 ? name : `${name} (${count})`;
  }

  /** A free name of a rule; many rules of one name do not make it slow. */
  free(name: string): string {
    const count = (this.#names.get(name) ?? 0) + 1;
    this.#names.set(name, count);
    return this.draft.freeName("rules", count === 1 ? name : `${name} (${count})`);
  }
}
