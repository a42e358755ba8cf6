/** Rules that follow their file: when the scenario changes on disk, the served device changes to it. */
import { readFile } from "node:fs/promises";
import { statSync } from "node:fs";
import { SteeringError } from "../../index.js";
import { restoreScenario, savedScenario, updateScenario, type LoadedScenario } from "../../scenario/index.js";
import { attachmentsOf, restoreDevice, snapshotOf } from "../../snapshot/index.js";

/** Milliseconds between two looks at the file. */
const INTERVAL = 250;

/** What a change of the file did. */
export type Reloaded =
  | {
      readonly kind: "reload";
      readonly created: readonly string[];
      readonly destroyed: readonly string[];
      /** Rules, flows and host rules that stay. */
      readonly kept: number;
    }
  | { readonly kind: "reload-refused"; readonly message: string; readonly path: string | null };

/** Watches the file of a scenario. */
export class ScenarioFile {
  readonly #file: string;
  readonly #loaded: LoadedScenario;
  readonly #tell: (what: Reloaded) => void;
  /** One change after the other. */
  #work: Promise<void> = Promise.resolve();
  #text: string;
  /** Time and size of the file that was read last; null before the first look. */
  #seen: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  readonly #read = (): void => {
    this.#work = this.#work.then(() => this.#reload());
  };

  /** @param text the contents that were loaded */
  constructor(file: string, text: string, loaded: LoadedScenario, tell: (what: Reloaded) => void) {
    this.#file = file;
    this.#text = text;
    this.#loaded = loaded;
    this.#tell = tell;
  }

  /** Begins. A signal SIGHUP reads the file at once. */
  watch(): void {
    this.#timer = setInterval(() => this.#look(), INTERVAL);
    process.on("SIGHUP", this.#read);
  }

  /** Ends, after a change that is under way. */
  async end(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    process.off("SIGHUP", this.#read);
    await this.#work;
  }

  #look(): void {
    const stat = statSync(this.#file, { throwIfNoEntry: false });
    // Editors replace a file: for a moment there is none.
    if (stat === undefined) return;
    const seen = `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#read();
  }

  async #reload(): Promise<void> {
    try {
      const text = await readFile(this.#file, "utf8");
      if (text === this.#text) return;
      this.#text = text;
      await tryOn(this.#loaded, text);
      const { created, destroyed, kept } = await updateScenario(this.#loaded, text);
      this.#tell({ kind: "reload", created, destroyed, kept: kept.length });
    } catch (error) {
      const path = error instanceof SteeringError ? (error.path ?? null) : null;
      this.#tell({ kind: "reload-refused", message: (error as Error).message, path });
    }
  }
}

/** Makes the change on a copy of the device first: what is refused in the middle changes nothing of the device. */
async function tryOn(loaded: LoadedScenario, text: string): Promise<void> {
  const bytes = snapshotOf(loaded.device, { keep: savedScenario(loaded) });
  const attach = Object.fromEntries(attachmentsOf(bytes).map((name) => [name, null]));
  const { device, kept } = await restoreDevice(bytes, { attach });
  await updateScenario(await restoreScenario(device, kept), text);
}
