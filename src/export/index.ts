/** `flowsteer/export`: scenarios as rules of other programs, as programs, and as graphs. It only re-exports. */
export { printExportFinding, type ExportFinding } from "../formats/writing/finding.js";
export { openDeviceExport, scenarioOf, type DeviceScenario, type DeviceScenarioOptions } from "./device/scenarioOf.js";
export { EXPORT_FORMATS, type ExportFormat } from "./formats.js";
export { exportRules, type ExportOptions, type ExportResult } from "./exportRules.js";
