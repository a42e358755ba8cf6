/** Writes a scenario in a format. */
import { PORT_VXLAN } from "../abi/protocols.js";
import { checkOptions } from "../base/checks.js";
import { inCall, refuse } from "../errors.js";
import { namesHint } from "../base/nearest.js";
import { parseScenario, type Scenario } from "../scenario/index.js";
import { ExportFindings, type ExportFinding } from "../formats/writing/finding.js";
import { withoutReceivers } from "../formats/writing/receivers.js";
import { EXPORT_FORMATS, FORMATS, type ExportFormat } from "./formats.js";

/** Formats without the UDP ports that the driver registers; tc has those beside 4789. */
const WITHOUT_PORTS: readonly ExportFormat[] = ["testpmd", "ovs", "c"];

function refuseVxlanPorts({ device }: Scenario, format: ExportFormat, findings: ExportFindings): void {
  const ports = device?.parser?.vxlanPorts;
  if (ports === undefined || ports.join() === String(PORT_VXLAN)) return;
  const reason =
    format === "tc" && !ports.includes(PORT_VXLAN)
      ? `drivers always register ${PORT_VXLAN}`
      : "the kernel's driver registers UDP ports for VXLAN: ip link add NAME type vxlan dstport PORT external";
  if (WITHOUT_PORTS.includes(format) || (format === "tc" && !ports.includes(PORT_VXLAN)))
    findings.refuse("device.parser.vxlanPorts", reason);
}

/** Formats that show what a device has, the rules of its driver too. */
const GRAPHS: readonly ExportFormat[] = ["dot", "mermaid", "svg"];

export interface ExportOptions {
  readonly format: ExportFormat;
  /** Whether elements that the format cannot express are left out. */
  readonly lenient?: boolean;
}

export interface ExportResult {
  /** Null if an element was refused, unless the export is lenient. */
  readonly text: string | null;
  readonly findings: readonly ExportFinding[];
}

/**
 * Writes a scenario in another format.
 *
 *     const { text } = exportRules(readFileSync("rules.json", "utf8"), { format: "dot" });
 *
 * @param scenario its text, or the object
 * @throws SteeringError EINVAL the scenario is refused, or the format is unknown
 */
export function exportRules(scenario: string | Scenario, options: ExportOptions): ExportResult {
  return inCall("exportRules", () => {
    checkOptions("", options, { format: "string", lenient: "boolean" });
    const { format, lenient = false } = options;
    if (!EXPORT_FORMATS.includes(format)) {
      const hint = namesHint(format, "formats", EXPORT_FORMATS);
      refuse({ code: "EINVAL", reason: "unsupported", path: "format", value: format, hint });
    }
    const findings = new ExportFindings();
    const whole = parseScenario(scenario);
    refuseVxlanPorts(whole, format, findings);
    const text = FORMATS[format].write(GRAPHS.includes(format) ? whole : withoutReceivers(whole), findings);
    return { text: findings.list.length > 0 && !lenient ? null : text, findings: findings.list };
  });
}
