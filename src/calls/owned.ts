/** The objects that the calls of a program make, and that end with it. */
import { SteeringError } from "../errors.js";
import { HANDLES, type HandleName } from "./handles.js";
import { functions } from "./notation.js";

/** The functions of the facades, by their C names. */
type Facade = Readonly<Record<string, unknown>>;

/** The kind of object that a call of the facades makes. */
export const MAKERS: ReadonlyMap<string, HandleName> = new Map([
  ...functions.flatMap(({ name, returns }) => (typeof returns === "object" ? [[name, returns.handle] as const] : [])),
  // Those that the table of C calls reaches by others.
  ["ibv_reg_mr_iova", "ibv_mr"],
  ["mlx5dv_create_cq", "ibv_cq"],
  ["mlx5dv_create_flow_action_esp", "ibv_flow_action"],
  ["mlx5dv_create_qp", "ibv_qp"],
  ["mlx5dv_create_wq", "ibv_wq"],
  ["mlx5dv_devx_create_cmd_comp", "mlx5dv_devx_cmd_comp"],
]);

/** Calls that destroy their first argument. */
export const DESTROYERS: ReadonlySet<string> = new Set(Object.values(HANDLES).map(({ destroy }) => destroy));

/**
 * Destroys objects, users before what they use, as the kernel does when a process ends.
 * @param objects in the order in which they were made
 */
export function destroyAll(objects: Iterable<readonly [object, HandleName]>, facade: Facade): void {
  let left = [...objects].reverse();
  for (let count = -1; count !== left.length;) {
    count = left.length;
    left = left.filter(([object, kind]) => {
      try {
        (facade[HANDLES[kind].destroy] as (object: object) => unknown)(object);
        return false;
      } catch (error) {
        // In use: what uses it goes first.
        if (error instanceof SteeringError) return true;
        throw error;
      }
    });
  }
}
