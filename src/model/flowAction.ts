/** Flow actions, which IBV_FLOW_SPEC_ACTION_HANDLE names (ibv_create_flow(3)). */
import type { Context } from "./context.js";
import { Handle, retire } from "./handle.js";

/** MODEL: this release has no calls that make one. A flow uses those that it names. */
export abstract class FlowAction extends Handle {
  readonly context: Context;
  /** What stands for it where C has a pointer. */
  readonly handle: number;

  protected constructor(context: Context, name: string) {
    super(context.device, name);
    this.context = context;
    this.handle = this.device.named.add(this);
    context.users++;
  }

  destroy(call: string): void {
    retire(call, "action", this, "destroy the flows that use it first");
    this.device.named.remove(this);
    this.context.users--;
  }
}
