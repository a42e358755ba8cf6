/** What a device is made of, apart from what it steers with: its ports, and how many objects it can hold. */
import { Inventory, limitsFrom, type DeviceLimits } from "./limits.js";
import { makePorts, type Port, type PortOptions } from "./ports.js";

export interface HardwareOptions extends PortOptions {
  limits?: Partial<DeviceLimits> & { flows?: number };
}

export class Hardware {
  readonly ports: readonly Port[];
  readonly inventory: Inventory;
  /** Verbs flows of all functions: alive, and the most there may be. */
  readonly flows: { alive: number; readonly most: number };

  constructor(call: string, name: string, ports: number, options: HardwareOptions) {
    this.inventory = new Inventory(limitsFrom(call, options.limits ?? {}));
    this.flows = { alive: 0, most: options.limits?.flows ?? Infinity };
    this.ports = makePorts(call, name, ports, options);
  }
}
