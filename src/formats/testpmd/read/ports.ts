/** What the ports of testpmd are on the device. */
import type { Draft, Endpoint } from "../../reading/draft.js";
import { notImported, type Word } from "../../text/refusal.js";

const MAX = 255n;

export class Ports {
  readonly #known = new Map<bigint, Endpoint>();

  constructor(
    private readonly draft: Draft,
    private readonly assume: (word: Word, reason: string) => void,
  ) {}

  /** Port 0 is the wire and the PF, port n VF n, unless `--map` says otherwise. @throws NotImported */
  of(port: bigint, word: Word): Endpoint {
    const known = this.#known.get(port);
    if (known !== undefined) return known;
    const mapped = this.draft.mapped(`port${port}`);
    if (mapped === undefined && port > MAX)
      notImported(word, "a device has 255 VFs at most; --map says what the port is");
    const endpoint = mapped ?? (port === 0n ? { port: 1 } : { vport: Number(port) });
    if (mapped === undefined) {
      const what = port === 0n ? "the wire and the PF" : `VF ${port}`;
      this.assume(word, `port ${port} is taken for ${what}; --map port${port}=... overrides this`);
    }
    this.#known.set(port, this.draft.endpoint(endpoint));
    return endpoint;
  }

  /** The function whose frames the ingress and egress rules of a port see. @throws NotImported */
  functionOf(port: bigint, word: Word): number {
    const endpoint = this.of(port, word);
    return "vport" in endpoint ? endpoint.vport : 0;
  }
}

/** The `misc.source_port` of frames from an endpoint. */
export function sourcePort(endpoint: Endpoint): bigint {
  return "vport" in endpoint ? BigInt(endpoint.vport) : 0xffffn;
}
