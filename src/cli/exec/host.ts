/** STUB. */
import type { LoadedScenario } from "../../scenario/index.js";
import type { Outcome } from "../../index.js";
import type { RefusedCall, SessionReport } from "./reports.js";

export interface HostListener {
  /** A session has begun. */
  started?(pid: number): void;
  refused(call: RefusedCall): void;
  /** A call is about to destroy a rule or a flow. */
  destroying?(): void;
  /** A session ends; its objects are still there. */
  ending?(): void;
  ended(session: SessionReport): void;
}

export interface HostOptions {
  /** The path of the socket. @default one in a private folder */
  readonly path?: string;
  readonly listener: HostListener;
  /** Further devices. */
  readonly others?: readonly LoadedScenario[];
}

export class ExecHost {
  static open(loaded: LoadedScenario, { path = "/tmp/flowsteer.sock" }: HostOptions): Promise<ExecHost> {
    return Promise.resolve(new ExecHost(path, loaded));
  }

  private constructor(
    readonly path: string,
    readonly loaded: LoadedScenario,
  ) {}

  receive(port: number, frame: Uint8Array, linkType = 1): Outcome {
    return this.loaded.device.receive(port, frame, { linkType });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
