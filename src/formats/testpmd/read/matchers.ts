/** Matchers that a driver makes: one for each mask and priority of a table, in the order of their first rules. */
import type { Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import type { Word } from "../../text/refusal.js";

export class Matchers {
  readonly #names = new Map<string, string>();

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {}

  /** The matcher of a mask at a priority; `because` is said of a new one. */
  of(table: string, priority: number, mask: string, because: () => string, { place, text }: Word): string {
    const key = `${table} ${priority} ${mask}`;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const name = this.draft.freeName("matchers", `${table} priority ${priority}`);
    const description = because();
    this.draft.push("matchers", { name, description, table, priority });
    this.findings.explain(place, text, `matcher ${name}: ${description}`);
    this.#names.set(key, name);
    return name;
  }

  /** Removes matchers without rules: their rules were destroyed. */
  finish(): void {
    const used = new Set(this.draft.list("rules").map(({ matcher }) => matcher));
    const made = new Set(this.#names.values());
    const unused = this.draft.list("matchers").filter(({ name }) => made.has(name) && !used.has(name));
    this.draft.remove("matchers", new Set(unused));
  }
}
