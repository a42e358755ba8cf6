/**
 * The eSwitch: what joins the functions of a device and its ports. Its root table is the one of all FDB domains; without
 * it, and for frames that nobody there wants, the core does what docs/rules.md says of an eSwitch without rules.
 */
import { TABLE_FDB, TABLE_ROOT } from "../abi/engine.js";
import { Classifier } from "./classifier.js";
import type { Device } from "./device.js";

export class ESwitch {
  readonly #device: Device;
  #root: Classifier | null = null;

  constructor(device: Device) {
    this.#device = device;
  }

  /** The table that frames come to first which no function has received yet; 0 where there is none. */
  get table(): number {
    return this.#root?.table ?? 0;
  }

  /** The root table, which stays from now on. @throws ENOMEM */
  root(call: string): Classifier {
    if (this.#root === null) {
      const device = this.#device;
      const table = device.allocated(call, device.core.exports.createTable(TABLE_ROOT | TABLE_FDB));
      this.#root = new Classifier(device, table, false);
      device.core.exports.setFdb(table);
    }
    return this.#root;
  }
}
