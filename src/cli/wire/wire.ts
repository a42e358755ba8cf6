/** A wire: frames come in and go out by a socket or a pipe. What it cannot pass on is lost, and counted by reason. */

/** Why a wire loses a frame; docs/serve.md tells them. */
export const LOSSES = [
  "not_connected",
  "too_slow",
  "too_long",
  "not_sent",
  "stranger",
  "bad_length",
  "bad_capture",
  "no_parser",
  "refused",
] as const;
export type Loss = (typeof LOSSES)[number];

export interface WireCounts {
  framesIn: number;
  bytesIn: number;
  framesOut: number;
  bytesOut: number;
  /** Frames that were lost, by reason. */
  readonly lost: Map<Loss, number>;
}

/** Takes a frame that came in; `linkType` is its LINKTYPE_ number. */
export type TakeFrame = (frame: Uint8Array, linkType: number) => void;

/** The most bytes that wait for a slow peer. */
export const MAX_WAITING = 4 << 20;

/** As the device: frames of more bytes are refused. */
export const MAX_FRAME = 262_144;

const ETHERNET = 1;

/** A command for what can be plugged in. */
export interface Plug {
  readonly what: string;
  readonly command: string;
}

export abstract class Wire {
  readonly counts: WireCounts = { framesIn: 0, bytesIn: 0, framesOut: 0, bytesOut: 0, lost: new Map() };
  /** Is called when standard input has ended, and nothing more comes. */
  onEnd: (() => void) | null = null;
  #take: TakeFrame | null = null;

  /** Opens it. Frames come from then on, if it is not `begin` later. @throws NodeJS.ErrnoException */
  abstract open(): Promise<void>;

  /** Where it leads, in words: `UDP 127.0.0.1:10001, peer 127.0.0.1:10002`. */
  abstract describe(): string;

  /** Commands that plug something in; `name` is that of its place. */
  abstract plugs(name: string): readonly Plug[];

  /** Whether a peer can get frames now. */
  abstract get connected(): boolean;

  /** Waits until what was sent has left. */
  abstract flush(): Promise<void>;

  /** Closes it after what was sent has left. */
  abstract close(): Promise<void>;

  /** Closes it at once, where its peer reads too slowly. */
  abandon(): void {}

  /** Sends a frame. @returns why it is lost; null where it is on its way */
  protected abstract transmit(frame: Uint8Array): Loss | null;

  begin(take: TakeFrame): void {
    this.#take = take;
  }

  /** Sends a frame, or counts why it is lost. */
  send(frame: Uint8Array): void {
    const loss = this.transmit(frame);
    if (loss !== null) {
      this.lose(loss);
      return;
    }
    this.counts.framesOut++;
    this.counts.bytesOut += frame.length;
  }

  protected arrived(frame: Uint8Array, linkType = ETHERNET): void {
    if (frame.length > MAX_FRAME) {
      this.lose("too_long");
      return;
    }
    this.counts.framesIn++;
    this.counts.bytesIn += frame.length;
    this.#take?.(frame, linkType);
  }

  lose(loss: Loss): void {
    const { lost } = this.counts;
    lost.set(loss, (lost.get(loss) ?? 0) + 1);
  }
}
