/**
 * `--record`: the scenario of what programs have made on a device, taken when it has the most rules.
 *
 * Programs destroy their rules before they end. So the scenario is taken before a call that destroys a rule, where the
 * device has more rules than in the scenario before, and at the end of each session, where it has as many at least.
 */
import { openDeviceExport, printExportFinding, type DeviceScenario } from "../../../export/index.js";
import type { Device } from "../../../index.js";

export class DeviceRecord {
  readonly #export: () => DeviceScenario;
  readonly #stops: readonly (() => void)[];
  #rules: number;
  #kept: DeviceScenario;
  #keptRules: number;

  static async open(device: Device): Promise<DeviceRecord> {
    return new DeviceRecord(device, await openDeviceExport(device));
  }

  private constructor(device: Device, take: () => DeviceScenario) {
    this.#export = take;
    this.#rules = device.metrics().rules;
    this.#keptRules = this.#rules;
    this.#kept = take();
    this.#stops = [device.on("ruleAdded", () => this.#rules++), device.on("ruleRemoved", () => this.#rules--)];
  }

  /** A call is about to destroy a rule or a flow. */
  beforeDestruction(): void {
    if (this.#rules > this.#keptRules) this.take();
  }

  /** The objects of a session are about to be destroyed. */
  beforeEnd(): void {
    if (this.#rules >= this.#keptRules) this.take();
  }

  /** Takes the scenario now, whatever was taken before. */
  take(): void {
    this.#kept = this.#export();
    this.#keptRules = this.#rules;
  }

  end(): void {
    for (const stop of this.#stops) stop();
  }

  /** The scenario as text. */
  get text(): string {
    return `${JSON.stringify(this.#kept.scenario, null, 2)}\n`;
  }

  /** What the device had and the scenario has not, a line each. */
  get notes(): readonly string[] {
    return this.#kept.findings.map((finding) => printExportFinding(finding));
  }
}
