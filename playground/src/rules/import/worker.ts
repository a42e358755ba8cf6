/** The worker of imports and exports: rules of other programs from and into scenarios. */
import { expose } from "comlink";
import { exportRules, printExportFinding, type ExportFormat } from "flowsteer/export";
import { importRules } from "flowsteer/import";
import type { Exported, Imported } from "./api.js";

const importer = {
  read: (text: string, file: string): Imported => {
    const { scenario, findings, elementOf } = importRules([{ file, text }], { lenient: true });
    // Those that the text says, not what the import adds for them.
    const rules = (["rules", "flows", "hostRules", "deviceFlows"] as const).flatMap((key) =>
      (scenario?.[key] ?? []).filter((_, n) => elementOf(`${key}[${n}]`) !== undefined),
    );
    return { text: `${JSON.stringify(scenario, null, 2)}\n`, rules: rules.length, findings };
  },
  write: (text: string, format: ExportFormat): Exported => {
    const { text: made, findings } = exportRules(text, { format, lenient: true });
    return { text: made ?? "", left: findings.map(printExportFinding) };
  },
};

export type Importer = typeof importer;

expose(importer);
