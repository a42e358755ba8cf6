/**
 * What a driver puts between the text of a rule and the device. Importers state facts of a rule, the driver decides its
 * table and its priority. docs/drivers.md has the source of each behaviour.
 */
import { MLX5_PMD, MLX5_PMD_HWS, type Pmd, type PmdRule } from "./mlx5Pmd.js";
import { MLX5E, type EthtoolFacts, type KernelDriver } from "./mlx5e.js";

export const DRIVER_NAMES = ["mlx5-pmd", "mlx5-pmd-hws", "mlx5e", "none"] as const;
export type DriverName = (typeof DRIVER_NAMES)[number];

/** The drivers of an import: that of DPDK's rules, and that of the kernel's. Null: the text's own order. */
export interface Drivers {
  readonly pmd: Pmd | null;
  readonly kernel: KernelDriver | null;
}

/** The drivers under a name. One of DPDK leaves the kernel's as it is, and the reverse. */
export function driversOf(name: DriverName | undefined): Drivers {
  if (name === "none") return { pmd: null, kernel: null };
  return { pmd: name === "mlx5-pmd-hws" ? MLX5_PMD_HWS : MLX5_PMD, kernel: MLX5E };
}

/** Rules of templates exist with hardware steering only. */
export function templatePmd(pmd: Pmd | null): Pmd | null {
  return pmd === null ? null : MLX5_PMD_HWS;
}

export type { EthtoolFacts, KernelDriver, Pmd, PmdRule };
