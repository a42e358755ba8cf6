/** The worker of imports and exports: rules of other programs from and into scenarios. */
import { expose } from "comlink";
import type { Explanation } from "flowsteer/explain";
import { exportRules, printExportFinding, type ExportFormat } from "flowsteer/export";
import { PROFILE_NAMES } from "flowsteer";
import {
  DRIVER_NAMES,
  formatWords,
  IMPORT_FORMATS,
  ImportedRules,
  importRules,
  type FormatWord,
  type ImportFormat,
  type ImportOptions,
} from "flowsteer/import";
import type {
  Choices,
  ElementOf,
  ProvedObjects,
  Exported,
  OwnWords,
  ReadSource,
  Source,
  SourceOptions,
} from "./api.js";

/** The lists of a scenario whose objects rules of a text make. */
const LISTS = ["rules", "flows", "hostRules", "deviceFlows"] as const;

/** The rules that were read last, and their text. */
let imported: ImportedRules | null = null;
let last: Source | null = null;

function optionsOf({ format, map, driver, profile, into }: SourceOptions): ImportOptions {
  return {
    lenient: true,
    namePlaces: true,
    map,
    ...(format !== null && { format }),
    ...(driver !== null && { driver }),
    ...(profile !== null && { profile: profile as NonNullable<ImportOptions["profile"]> }),
    ...(into !== null && { into }),
  };
}

/** Reads a text, unless it is the last one. */
function readOnce(source: Source): void {
  if (JSON.stringify(source) !== JSON.stringify(last)) importer.read(source);
}

const importer = {
  read: (source: Source): ReadSource => {
    const { text, options: given } = source;
    last = source;
    const sources = [{ file: given.file, text }];
    const options = optionsOf(given);
    const result = importRules(sources, options);
    const { scenario, findings, driver, elementOf, formats } = result;
    imported = scenario === null ? null : new ImportedRules(sources, options, scenario, result);
    const elements = LISTS.flatMap((key) =>
      (scenario?.[key] ?? []).flatMap((_, n): ElementOf[] => {
        const path = `${key}[${n}]`;
        const element = elementOf(path);
        return element === undefined ? [] : [{ path, line: element.line, column: element.column, text: element.text }];
      }),
    );
    return {
      scenario: `${JSON.stringify(scenario, null, 2)}\n`,
      format: given.format ?? formats[0] ?? null,
      findings,
      driver,
      elements,
    };
  },

  /**
   * An answer about rules in the words of their text.
   * @param more what else names rules and their fields
   */
  ownWords: (source: Source, why: Explanation | null, more: unknown): OwnWords => {
    readOnce(source);
    return {
      why: why === null ? null : (imported?.inOwnWords(why) ?? why),
      names: Object.fromEntries(imported?.fieldNames([why, more]) ?? []),
    };
  },

  /** The findings of proofs that are about what the text says, by their places in the list. */
  aboutElements: (found: readonly ProvedObjects[]): readonly number[] => {
    const numbered = found.map((one, n) => ({ ...one, n }));
    return (imported?.aboutElements(numbered) ?? numbered).map(({ n }) => n);
  },

  choices: (): Choices => ({ formats: IMPORT_FORMATS, drivers: DRIVER_NAMES, profiles: PROFILE_NAMES }),

  words: (format: ImportFormat): readonly FormatWord[] => formatWords(format),

  write: (text: string, format: ExportFormat): Exported => {
    const { text: made, findings } = exportRules(text, { format, lenient: true });
    return { text: made ?? "", left: findings.map(printExportFinding) };
  },
};

export type Importer = typeof importer;

expose(importer);
