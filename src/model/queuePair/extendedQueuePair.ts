/**
 * Extended queue pairs: a program builds send requests call by call and posts them together
 * (ibv_wr_post(3)).
 */
import {
  IBV_QPT_UD,
  IBV_SEND_FENCE,
  IBV_SEND_INLINE,
  IBV_SEND_IP_CSUM,
  IBV_SEND_SIGNALED,
  IBV_SEND_SOLICITED,
} from "../../abi/verbs.js";
import { checkObject, describe, unsigned, wrongType } from "../../base/checks.js";
import { mistyped, named, refuse, SteeringError } from "../../errors.js";
import { joined } from "../../packet/bytes.js";
import { NamedPrintable, type PrintedFields } from "../../base/printable.js";
import { living } from "../base/handle.js";
import { QueuePair } from "./queuePair.js";
import type { ScatterEntry } from "../queue/scatter.js";
import { buildFlag, checkBuildFlags } from "./sendOperations.js";
import type { DatagramAddress, SendRequest } from "./sendQueue.js";

/** `struct ibv_data_buf`: bytes that are copied into a request. */
export interface InlineBuffer {
  addr: Uint8Array;
  /** Bytes. @default the length of `addr` */
  length?: number | undefined;
}

/** A request that is being built. */
interface Draft {
  readonly request: SendRequest;
  hasData: boolean;
}

const CITE = "ibv_wr_post(3)";
const FLAGS = IBV_SEND_FENCE | IBV_SEND_IP_CSUM | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
export const EXTENDED = new WeakMap<QueuePair, ExtendedQueuePair>();

/**
 * `struct ibv_qp_ex`. A refusal that C reports at `ibv_wr_complete` is kept until then. SPEC: calls
 * whose effect C leaves undefined are refused at once: operations that were not declared, and calls
 * in the wrong place.
 */
export class ExtendedQueuePair extends NamedPrintable {
  readonly qp_base: QueuePair;
  /** The `wr_id` of the next requests. @default 0n */
  wr_id: bigint | number = 0n;
  /** The flags of the next requests: IBV_SEND_SIGNALED, _SOLICITED, _FENCE, _IP_CSUM. @default 0 */
  wr_flags = 0;
  private readonly _operations: number;
  /** The requests since `ibv_wr_start`; null outside of a posting. */
  private _drafts: Draft[] | null = null;
  private _failed: SteeringError | null = null;

  private constructor(qp: QueuePair, operations: number) {
    super();
    this.qp_base = qp;
    this._operations = operations;
  }

  /** @internal Makes a queue pair that builds requests of these operations (IBV_QP_EX_WITH_*). */
  static create(qp_type: number, flags: number | bigint, make: () => QueuePair): QueuePair {
    const operations = checkBuildFlags(qp_type, flags);
    const qp = make();
    EXTENDED.set(qp, new ExtendedQueuePair(qp, operations));
    return qp;
  }

  /** @internal @throws EINVAL the queue pair was made without IBV_QP_INIT_ATTR_SEND_OPS_FLAGS */
  static of(qp: QueuePair): ExtendedQueuePair {
    const extended = EXTENDED.get(living("qp", qp, QueuePair));
    if (extended !== undefined) return extended;
    const hint = "create it by ibv_create_qp_ex with IBV_QP_INIT_ATTR_SEND_OPS_FLAGS";
    return refuse({ code: "EINVAL", reason: "not_requested", path: "qp", value: qp, hint, cite: CITE });
  }

  get name(): string {
    return this.qp_base.name;
  }

  protected override printedFields(): PrintedFields {
    const { qp_base, wr_id, wr_flags } = this;
    return { qp_base, wr_id, wr_flags, requests: this._drafts?.length ?? null };
  }

  /** @internal `ibv_wr_start`. */
  start(): void {
    if (this._drafts !== null) this._misplaced("call ibv_wr_complete or ibv_wr_abort first");
    this._drafts = [];
    this._failed = null;
  }

  /** @internal Begins a request: `ibv_wr_send` and so on. */
  build(opcode: number, more: Partial<SendRequest> = {}): void {
    const drafts = this._posting();
    if ((this._operations & buildFlag(opcode)) === 0) {
      const hint = "name the operation in send_ops_flags of ibv_create_qp_ex, where the device has it";
      refuse({ code: "EOPNOTSUPP", reason: "bad_opcode", path: "qp", value: this, hint, cite: CITE });
    }
    const { wr_id, wr_flags } = this;
    this._keep(() => {
      if ((unsigned("qp.wr_flags", wr_flags, 32) & ~FLAGS) === 0) return;
      const hint = "FENCE, SIGNALED, SOLICITED or IP_CSUM; ibv_wr_set_inline_data makes a request inline";
      refuse({ code: "EINVAL", reason: "bad_send_flags", path: "qp.wr_flags", value: wr_flags, hint });
    });
    drafts.push({ request: { wr_id, opcode, send_flags: wr_flags, sg_list: [], ...more }, hasData: false });
  }

  /** @internal `ibv_wr_set_sge`, `ibv_wr_set_sge_list`. */
  setEntries(count: number, list: readonly ScatterEntry[] | null): void {
    const draft = this._withoutData();
    const entries = counted("num_sge", count, "sg_list", list);
    this._keep(() => {
      const { max_send_sge: most = 0 } = this._limits();
      if (count <= most) return;
      const hint = `max_send_sge is ${most}`;
      refuse({ code: "ENOMEM", reason: "out_of_range", path: "num_sge", value: count, hint });
    });
    draft.request.sg_list = entries.map((entry) => ({ ...entry }));
    draft.hasData = true;
  }

  /** @internal `ibv_wr_set_inline_data`, `ibv_wr_set_inline_data_list`: copies the bytes. */
  setInline(count: number, list: readonly InlineBuffer[] | null): void {
    const draft = this._withoutData();
    const parts = counted("num_buf", count, "buf_list", list).map((buffer, i) => bytesIn(i, buffer));
    const bytes = joined(...parts);
    this._keep(() => {
      const { max_inline_data: most = 0 } = this._limits();
      if (bytes.length <= most) return;
      const [value, hint] = [`${bytes.length} bytes`, `max_inline_data is ${most}`];
      refuse({ code: "ENOMEM", reason: "out_of_range", path: "length", value, hint });
    });
    const { request } = draft;
    request.sg_list = [{ addr: bytes, lkey: 0 }];
    request.send_flags = (request.send_flags ?? 0) | IBV_SEND_INLINE;
    draft.hasData = true;
  }

  /** @internal `ibv_wr_set_ud_addr`. */
  setAddress(ud: DatagramAddress): void {
    const { qp_type } = this.qp_base;
    const draft = this._last();
    if (qp_type !== IBV_QPT_UD) {
      const hint = "only requests of UD queue pairs have an address";
      refuse({ code: "EINVAL", reason: "bad_object", path: "qp", value: this, hint, cite: CITE });
    }
    draft.request.wr = { ud };
  }

  /** @internal `ibv_wr_complete`: posts all requests since `ibv_wr_start`, or none. */
  complete(): void {
    const drafts = this._posting();
    this._drafts = null;
    if (this._failed !== null) throw this._failed;
    for (const [i, draft] of drafts.entries()) this._checkComplete(`wr[${i}]`, draft);
    this.qp_base.postAll(drafts.map(({ request }) => request));
  }

  /** @internal `ibv_wr_abort`: forgets all requests since `ibv_wr_start`. */
  abort(): void {
    this._posting();
    this._drafts = null;
  }

  private _checkComplete(path: string, { request, hasData }: Draft): void {
    const missing = (hint: string): never =>
      refuse({ code: "EINVAL", reason: "missing_setter", path, hint, cite: CITE });
    if (!hasData) missing("call ibv_wr_set_sge, ibv_wr_set_sge_list or ibv_wr_set_inline_data after its builder");
    if (this.qp_base.qp_type === IBV_QPT_UD && request.wr === undefined) missing("call ibv_wr_set_ud_addr");
  }

  /** The request that setters change. */
  private _last(): Draft {
    const draft = this._posting().at(-1);
    return draft ?? this._misplaced("call a builder such as ibv_wr_send first");
  }

  private _withoutData(): Draft {
    const draft = this._last();
    return draft.hasData ? this._misplaced("the request has its data already") : draft;
  }

  private _posting(): Draft[] {
    living("qp", this.qp_base, QueuePair);
    return this._drafts ?? this._misplaced("call ibv_wr_start first");
  }

  private _limits(): { max_send_sge?: number | undefined; max_inline_data?: number | undefined } {
    return this.qp_base.query().init_attr.cap;
  }

  /** @internal The refusal that a builder or a setter keeps takes its name. */
  nameKept(call: string): void {
    named(call, this._failed);
  }

  /** Keeps the first refusal for `ibv_wr_complete`. */
  private _keep(check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof SteeringError)) throw error;
      this._failed ??= error;
    }
  }

  private _misplaced(hint: string): never {
    refuse({ code: "EINVAL", reason: "bad_posting", path: "qp", value: this, hint, cite: CITE });
  }
}

/** The first `count` items of a list; a list of none may be null. */
function counted<T>(path: string, count: number, listPath: string, list: readonly T[] | null): readonly T[] {
  const items = list === null && count === 0 ? [] : list;
  if (!Array.isArray(items)) mistyped(`${listPath} must be an array, not ${describe(list)}`);
  if (unsigned(path, count, 32) <= items.length) return items.slice(0, count) as T[];
  const hint = `the list has ${items.length}`;
  return refuse({ code: "EINVAL", reason: "out_of_range", path, value: count, hint });
}

function bytesIn(i: number, buffer: InlineBuffer): Uint8Array {
  const path = `buf_list[${i}]`;
  checkObject(path, buffer);
  const { addr, length } = buffer;
  if (!(addr instanceof Uint8Array)) wrongType(`${path}.addr`, "a Uint8Array", addr);
  const size = unsigned(`${path}.length`, length ?? addr.length, 32);
  if (size <= addr.length) return addr.subarray(0, size);
  const hint = `addr has ${addr.length} bytes`;
  return refuse({ code: "EINVAL", reason: "out_of_range", path: `${path}.length`, value: size, hint });
}
