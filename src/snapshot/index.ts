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
  type Attached,
  type Kept,
  type PortEnd,
  type Restored,
  type RestoreOptions,
  type SnapshotOptions,
} from "./snapshot.js";
