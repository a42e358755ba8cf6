/**
 * TIRs (CREATE_TIR): a TIR leads to one receive queue, or through RSS to those of an RQT. MODEL:
 * rules decide about loopback (docs/flows.md), so `self_lb_en` has no effect.
 */
import { Op } from "../../abi/engine.js";
import type { Context } from "../base/context.js";
import { DevxObject } from "../base/devxObject.js";
import type { FrameTarget } from "../base/target.js";
import { retire, type Handle } from "../base/handle.js";
import { receiverAt } from "./receivers.js";
import type { Rqt } from "./rqt.js";
import { RssRecord, type HashOptions } from "../queue/rss.js";

/** The destination of a TIR: a receive queue number, or an RQT with hash options. */
export type TirDestination = { readonly rqn: number } | { readonly rqt: Rqt; readonly hash: HashOptions };

export class Tir extends DevxObject {
  readonly numberedAs = "tir";
  readonly context: Context;
  /** The number of the TIR (tirn). */
  readonly id: number;
  /** The action that delivers frames to it. */
  readonly target: FrameTarget;
  private readonly _holds: Handle;
  private readonly _rss: RssRecord | null;

  private constructor(context: Context, target: FrameTarget, holds: Handle, rss: RssRecord | null) {
    const id = context.device.nextNumber("tir") + 1;
    super(context.device, `tir${id}`);
    this.context = context;
    this.id = id;
    this.target = target;
    this._holds = holds;
    this._rss = rss;
    holds.users++;
    context.users++;
  }

  /** @throws EINVAL for a number without a receive queue on the function; ENOMEM */
  static create(context: Context, to: TirDestination): Tir {
    if ("rqn" in to) {
      const queue = receiverAt("inline_rqn", context, to.rqn);
      return new Tir(context, { op: Op.queue, operand: queue.handle }, queue, null);
    }
    const rss = new RssRecord(to.rqt.list, to.hash);
    return new Tir(context, { op: Op.rss, operand: rss.address }, to.rqt, rss);
  }

  /** The queue or the RQT that it leads to. */
  get leadsTo(): Handle {
    return this._holds;
  }

  destroy(): void {
    retire("obj", this, "destroy the actions, flows and entries that lead to it first");
    this._rss?.release();
    this._holds.users--;
    this.context.users--;
  }
}
