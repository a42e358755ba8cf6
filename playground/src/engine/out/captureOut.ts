/** The frames as their destinations got them, as a capture: one interface for each destination and link type. */
import { PcapngWriter, type CoreSource, type Outcome } from "flowsteer";
import { cannotRun, loadScenario, type FrameInput, type LoadedScenario } from "flowsteer/scenario";
import type { Progress } from "../api.js";
import type { Run } from "../steer/run.js";
import type { Pace } from "../work/lane.js";
import { FileParts } from "./parts.js";
import { inFile } from "./times.js";

/** Frames that are steered at a time. */
const PIECE = 64;

/** A frame before it is steered. */
interface Arriving {
  readonly time: bigint | null;
  readonly bytes: Uint8Array;
  readonly wireLength: number;
  readonly linkType: number;
}

/** The frames are steered once more: outcomes of many frames do not keep their bytes. */
export async function captureOut(run: Run, core: CoreSource, pace: Pace, progress: Progress): Promise<Blob> {
  const loaded = await loadScenario(run.text, { core });
  pace.check();
  const names = run.outcomes.classes.flatMap(({ reached }) => [...reached]);
  const out = new Destinations([...new Set(names)].sort());
  for await (const inputs of inputsOf(run, pace)) {
    steer(loaded, inputs, out);
    progress(inputs.at(-1)?.number ?? 0, run.frames.count, "Writing");
    await pace.rest();
  }
  return out.end();
}

type Numbered = FrameInput & { readonly number: number };

async function* inputsOf({ frames }: Run, pace: Pace): AsyncGenerator<Numbered[], void> {
  for (let first = 1; first <= frames.count; first += PIECE) {
    const numbers = Array.from({ length: Math.min(PIECE, frames.count + 1 - first) }, (_, i) => first + i);
    if (frames.capture === null) {
      yield numbers.map((number) => ({ ...frames.input(number), number }));
    } else {
      const bytes = await frames.bytes(numbers);
      pace.check();
      yield numbers.map((number, i) => {
        const { time, linkType, wireLength } = frames.head(number);
        return { number, time, linkType, wireLength, bytes: bytes[i] ?? new Uint8Array() };
      });
    }
  }
}

function steer(loaded: LoadedScenario, inputs: readonly Numbered[], out: Destinations): void {
  const steered = inputs.filter(({ linkType = 1, bytes }) => cannotRun(linkType, bytes.length) === null);
  for (const [i, outcome] of loaded.run(steered).entries()) {
    const { time = null, bytes, linkType = 1, wireLength = bytes.length } = steered[i] as Numbered;
    out.add({ time, bytes, linkType, wireLength }, outcome);
  }
}

class Destinations {
  readonly #parts = new FileParts();
  readonly #interfaces: { name: string; linkType: number; nanoseconds: true }[];
  #writer: PcapngWriter;

  /** @param names most destinations get Ethernet */
  constructor(names: readonly string[]) {
    this.#interfaces = names.map((name) => ({ name, linkType: 1, nanoseconds: true }));
    this.#writer = this.#section();
  }

  /** A frame that leaves by a cabled port arrives where the cable leads, too. */
  add(frame: Arriving, { to, copies }: Outcome): void {
    for (const there of [...copies, ...to]) {
      const wireLength = frame.wireLength + there.frame.length - frame.bytes.length;
      const arrived = { ...frame, bytes: there.frame, wireLength, linkType: there.linkType ?? frame.linkType };
      this.#write(there.name, arrived);
      if (there.kind === "port" && there.outcome !== null) this.add(arrived, there.outcome);
    }
  }

  end(): Blob {
    return this.#parts.end();
  }

  #write(name: string, { time, bytes, wireLength, linkType }: Arriving): void {
    const isThis = (one: { name: string; linkType: number }): boolean => one.name === name && one.linkType === linkType;
    let interfaceId = this.#interfaces.findIndex(isThis);
    if (interfaceId < 0) {
      // Interfaces come before frames in a section, so a new one starts a new section.
      interfaceId = this.#interfaces.push({ name, linkType, nanoseconds: true }) - 1;
      this.#writer = this.#section();
    }
    this.#parts.add(this.#writer.frame({ time: inFile(time), bytes, wireLength, interfaceId }));
  }

  #section(): PcapngWriter {
    const writer = new PcapngWriter({ interfaces: this.#interfaces });
    this.#parts.add(writer.header());
    return writer;
  }
}
