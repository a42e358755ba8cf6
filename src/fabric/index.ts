/**
 * Fabrics: devices, cables and one clock, for simulators (docs/in-your-simulator.md).
 *
 * @module fabric
 */
export { createFabric, type FabricOptions } from "./create.js";
export type { Fabric, FabricCable } from "./fabric.js";
export { fabricAttachmentsOf, restoreFabric, type RestoredFabric } from "./restore.js";
export type { FabricNode, Link } from "./links.js";
export type { CaptureTarget } from "./captures.js";
export {
  fatTree,
  leafSpine,
  type Cabling,
  type FatTreeOptions,
  type LeafSpineOptions,
  type Topology,
} from "./topologies.js";
