/** What an exporter says of an element that the format cannot express. */

export interface ExportFinding {
  /** Where it stands in the scenario: `rules[3].actions[0]`. */
  readonly path: string;
  /** The rule, flow or table that lacks it in the text; null if none does. */
  readonly name: string | null;
  /** Why, as a sentence without a full stop. */
  readonly reason: string;
}

/** A finding in one line. */
export function printExportFinding({ path, name, reason }: ExportFinding): string {
  return `${path}${name === null ? "" : ` (${name})`}: not exported: ${reason}`;
}

/** Collects what an exporter says. */
export class ExportFindings {
  readonly list: ExportFinding[] = [];

  refuse(path: string, reason: string, name: string | null = null): void {
    this.list.push({ path, name, reason });
  }
}
