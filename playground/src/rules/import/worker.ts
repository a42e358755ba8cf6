/** The worker of imports and exports: rules of other programs from and into scenarios. */
import { expose } from "comlink";
import { exportRules, printExportFinding, type ExportFormat } from "flowsteer/export";
import { importRules } from "flowsteer/import";
import type { Exported, Imported } from "./api.js";

const importer = {
  read: (text: string, file: string): Imported => {
    const { scenario, findings } = importRules([{ file, text }], { lenient: true });
    const count = scenario?.rules?.length ?? 0;
    const others = (scenario?.flows?.length ?? 0) + (scenario?.hostRules?.length ?? 0);
    return { text: `${JSON.stringify(scenario, null, 2)}\n`, rules: count + others, findings };
  },
  write: (text: string, format: ExportFormat): Exported => {
    const { text: made, findings } = exportRules(text, { format, lenient: true });
    return { text: made ?? "", left: findings.map(printExportFinding) };
  },
};

export type Importer = typeof importer;

expose(importer);
