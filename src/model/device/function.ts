/**
 * A function of a device, as programs use it (docs/rules.md, "Domains, functions and the eSwitch").
 */
import { FunctionBase, type DeviceBase } from "../base/deviceBase.js";
import type { PrintedFields } from "../../base/printable.js";
import { HostRules } from "../flow/hostRules.js";
import { TablePipeline } from "../table/pipeline.js";

export class DeviceFunction extends FunctionBase {
  /**
   * Rules of the host's applications. They get the frames that no flow and no direct rule of this
   * function took.
   */
  readonly hostRules: HostRules;
  /** @internal The tables that its frames pass. */
  readonly pipeline: TablePipeline;

  /** @internal */
  constructor(device: DeviceBase, vport: number) {
    super(device, vport);
    this.pipeline = this.part(TablePipeline);
    this.hostRules = this.part(HostRules);
  }

  protected override printedFields(): PrintedFields {
    return { name: this.name, vport: this.vport, hostRules: this.hostRules };
  }
}
