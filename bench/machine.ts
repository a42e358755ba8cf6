/** Describes the machine on which figures were measured. */
import { arch, availableParallelism, cpus, platform } from "node:os";
import { dpdkVersion } from "./peers/rteAcl.js";

export function machine(): Record<string, string | number> {
  const dpdk = dpdkVersion();
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    threads: availableParallelism(),
    platform: `${platform()} ${arch()}`,
    node: process.versions.node,
    v8: process.versions.v8,
    ...(dpdk === undefined ? {} : { dpdk }),
  };
}
