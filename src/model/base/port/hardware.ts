/** The hardware of a device besides its core: ports, limits, and how many objects are alive. */
import { Inventory, limitsFrom, type DeviceLimits } from "../limits.js";
import { makePorts, type Port, type PortOptions } from "./ports.js";

export interface HardwareOptions extends PortOptions {
  limits?: Partial<DeviceLimits> & { flows?: number };
}

export class Hardware {
  readonly ports: readonly Port[];
  readonly inventory: Inventory;
  /** Verbs flows of all functions: how many are alive, and the limit. */
  readonly flows: { alive: number; readonly most: number };

  constructor(name: string, ports: number, options: HardwareOptions) {
    this.inventory = new Inventory(limitsFrom(options.limits ?? {}));
    this.flows = { alive: 0, most: options.limits?.flows ?? Infinity };
    this.ports = makePorts(name, ports, options);
  }
}
