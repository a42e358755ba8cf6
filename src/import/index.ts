/** `flowsteer/import`: rules of other programs and of devices, as scenarios. It only re-exports. */
export { IMPORT_FORMATS, type ImportFormat } from "./formats.js";
export { DRIVER_NAMES, type DriverName } from "../drivers/driver.js";
export {
  printFinding,
  printNote,
  type DriverNote,
  type ImportFinding,
  type ImportSeverity,
  type SourceElement,
  type SourcePlace,
} from "../formats/reading/finding.js";
export {
  importRules,
  importScenario,
  recognizes,
  type ImportOptions,
  type ImportResult,
  type ImportSource,
} from "./importRules.js";
export { isUnclaimed } from "../drivers/madeRules.js";
export type { TextEdit } from "./edits.js";
export { respelled, type Respelling } from "./respelled.js";
export type { FieldWords } from "./ownValues.js";
export { RuleWords } from "./ruleWords.js";
export type { OwnRepair } from "./ownRepairs.js";
export { ImportedRules, type OwnExplanation } from "./ownWords.js";
export { formatWords, type FormatWord } from "./vocabulary.js";
