/** What a device is made of, apart from what it steers with: its ports, and how many objects it can hold. */
import { Inventory, limitsFrom, type DeviceLimits } from "../base/limits.js";
import { makePorts, type Port, type PortOptions } from "../base/ports.js";

export interface HardwareOptions extends PortOptions {
  limits?: Partial<DeviceLimits>;
}

export class Hardware {
  readonly ports: readonly Port[];
  readonly inventory: Inventory;

  constructor(call: string, name: string, ports: number, options: HardwareOptions) {
    this.inventory = new Inventory(limitsFrom(call, options.limits ?? {}));
    this.ports = makePorts(call, name, ports, options);
  }
}
