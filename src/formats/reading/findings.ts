/** Collects what an importer says of a source. */
import { withoutKeys } from "../text/keys.js";
import type { DriverNote, ImportFinding, SourcePlace } from "./finding.js";

type Place = Pick<SourcePlace, "line" | "column">;

export class Findings {
  /** The name of the source that is read. */
  file = "";
  /** Whether the source may have keys: no finding shows one, whatever reads its line. */
  hidesKeys = false;
  readonly list: ImportFinding[] = [];
  readonly driver: DriverNote[] = [];

  /** An element that is not carried over; `rule` is the rule of the scenario that lacks it. */
  refuse({ line, column }: Place, text: string, reason: string, rule: string | null = null): void {
    this.refuseAt({ file: this.file, line, column }, text, reason, rule);
  }

  /** An element of any source. */
  refuseAt({ file, line, column }: SourcePlace, text: string, reason: string, rule: string | null = null): void {
    this.#add({ file, line, column, severity: "refused", text, reason, rule });
  }

  /** What was chosen where the source leaves it open. */
  assume({ line, column }: Place, text: string, reason: string): void {
    this.#add({ file: this.file, line, column, severity: "assumed", text, reason, rule: null });
  }

  #add(finding: ImportFinding): void {
    const { text, reason } = finding;
    this.list.push(this.hidesKeys ? { ...finding, text: withoutKeys(text), reason: withoutKeys(reason) } : finding);
  }

  /** What the driver does to an element. */
  explain({ line, column }: Place, text: string, does: string, field?: string): void {
    this.driver.push({ file: this.file, line, column, text, does, ...(field === undefined ? {} : { field }) });
  }

  /** Forgets what is refused from a number on: it belongs to a command that failed. */
  forgetRefused(from: number): void {
    const kept = this.list.splice(from).filter(({ severity }) => severity !== "refused");
    for (const finding of kept) this.list.push(finding);
  }

  /** Gives rules other names. */
  rename(names: ReadonlyMap<string, string>): void {
    this.list.forEach((finding, n) => {
      const name = finding.rule === null ? undefined : names.get(finding.rule);
      if (name !== undefined) this.list[n] = { ...finding, rule: name };
    });
  }

  /** Puts the findings from a number on into the order of their source. */
  sortFrom(from: number): void {
    const sorted = this.list.splice(from).sort((a, b) => a.line - b.line || a.column - b.column);
    for (const finding of sorted) this.list.push(finding);
  }

  get refused(): readonly ImportFinding[] {
    return this.list.filter(({ severity }) => severity === "refused");
  }
}
