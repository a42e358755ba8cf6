/**
 * A function of a device: the PF, which manages the eSwitch, or a VF. It has all ports of the device, and rules of its own
 * (docs/rules.md, "Domains, functions and the eSwitch").
 */
import { VPORT_MANAGER } from "../../abi/engine.js";
import type { Classifier } from "../table/classifier.js";
import { Device } from "./device.js";
import type { DomainType } from "../table/domain.js";
import { FlowTables, type FlowCount } from "../flow/entries.js";
import { describe } from "../../checks.js";
import { HostRules } from "../flow/hostRules.js";
import { Stages } from "../table/pipeline.js";
import { AnchorTables } from "../flow/steeringAnchor.js";

export class DeviceFunction {
  readonly device: Device;
  /** 0 for the PF, VFs from 1. */
  readonly vport: number;
  /** That of the device, or with `/vf1` behind it. */
  readonly name: string;
  /** Rules of the host's applications, which get what flows and direct rules of this function leave. */
  readonly hostRules: HostRules;
  /** @internal */
  readonly stages: Stages;
  /** @internal */
  readonly flows: FlowTables;
  /** @internal */
  readonly anchors: AnchorTables;

  /** @internal */
  constructor(device: Device, vport: number, flowCount: FlowCount) {
    this.device = device;
    this.vport = vport;
    this.name = this.managesSwitch ? device.name : `${device.name}/vf${vport}`;
    this.stages = new Stages(this);
    this.flows = new FlowTables(this, flowCount);
    this.anchors = new AnchorTables(this);
    this.hostRules = new HostRules(this);
  }

  /** Whether it is the PF. */
  get managesSwitch(): boolean {
    return this.vport === VPORT_MANAGER;
  }

  /** @internal The root table of a domain on this function; it stays from now on. @throws ENOMEM */
  rootTable(call: string, type: DomainType): Classifier {
    switch (type) {
      case "nic_rx":
        return this.stages.pin(call, "root");
      case "nic_tx":
        return this.stages.pin(call, "egress");
      case "fdb":
        return this.stages.pin(call, "fdb");
    }
  }
}

/** The function that a device stands for, which is the PF, or a function itself. */
export function functionFrom(call: string, path: string, of: Device | DeviceFunction): DeviceFunction {
  if (of instanceof Device) return of.function(VPORT_MANAGER);
  if (of instanceof DeviceFunction) return of;
  throw new TypeError(`${call}: ${path} must be a Device or a DeviceFunction, not ${describe(of)}`);
}
