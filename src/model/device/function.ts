/** A function of a device as programs see it (docs/rules.md, "Domains, functions and the eSwitch"). */
import { FunctionBase, type DeviceBase } from "../base/deviceBase.js";
import type { PrintedFields } from "../../printable.js";
import { HostRules } from "../flow/hostRules.js";
import { TablePipeline } from "../table/pipeline.js";

export class DeviceFunction extends FunctionBase {
  /** Rules of the host's applications, which get the frames that flows and direct rules of this function leave. */
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
