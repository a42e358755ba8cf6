/**
 * Snapshots of devices: save, restore, copy (docs/snapshots.md).
 *
 * @module snapshot
 */
export {
  attachmentsOf,
  cloneDevice,
  restoreDevice,
  snapshotOf,
  type Restored,
  type SnapshotOptions,
} from "./snapshot.js";
export type { Attached, PortEnd, RestoreOptions } from "./restore.js";
export type { Kept } from "./save.js";
