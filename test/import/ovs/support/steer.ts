/** Frames at the ports of bridges that are a scenario: port 1 is the uplink, 2 and on are VFs, LOCAL is the PF. */
import { loadScenario, type LoadedScenario, type Scenario } from "../../../../src/scenario/index.js";
import { hexOf } from "../../../../src/base/hex.js";

/** A port and the bytes of a frame, as hexadecimal text. */
export type PortFrame = readonly [port: string, bytes: string];

/** VFs that a bridge has at least. */
const VFS = 3;

/** The scenario with a queue on each function that gets all its frames, in place of what drivers receive. */
export async function loadBridge(scenario: Scenario): Promise<LoadedScenario> {
  const vports = Math.max(VFS, scenario.device?.vports ?? 0);
  const functions = Array.from({ length: vports + 1 }, (_, vport) => vport);
  return loadScenario({
    ...scenario,
    hostRules: [],
    device: { ...scenario.device, vports },
    queues: functions.map((vport) => ({ name: nameOf(vport), function: vport })),
    flows: functions.map((vport) => ({ queue: nameOf(vport), type: "all_default" as const })),
  });
}

const nameOf = (vport: number): string => (vport === 0 ? "LOCAL" : String(vport + 1));

/** What comes out of a frame, in the order of ports and bytes. */
export function steer(loaded: LoadedScenario, [port, bytes]: PortFrame): PortFrame[] {
  const frame = Uint8Array.from(bytes.match(/../g) ?? [], (digits) => parseInt(digits, 16));
  const [outcome] = loaded.run([port === "1" ? { bytes: frame } : { bytes: frame, send: port }]);
  return sorted((outcome?.to ?? []).map(({ name, frame: out }): PortFrame => [portOf(name), hexOf(out)]));
}

export function sorted(frames: readonly PortFrame[]): PortFrame[] {
  return [...frames].sort((a, b) => (a.join() < b.join() ? -1 : 1));
}

function portOf(name: string): string {
  return name.startsWith("port:") ? name.slice(5) : name.replace(/^qp:/, "");
}
