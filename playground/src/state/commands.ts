/** Every action of the page, for keys, palette and the list of keys. A pane registers its own. */
import { signal } from "@preact/signals";

export interface Command {
  /** `frames.next`. */
  readonly id: string;
  /** What it does, as a button says it: "Next frame". */
  readonly title: string;
  /** `j`, `Ctrl+K`, `?`; without it, the palette alone has it. Keys without Ctrl do nothing while text is edited. */
  readonly key?: string;
  /** The word on its button in the bar above; without it, the bar has none. */
  readonly bar?: string;
  readonly run: () => void;
}

export const commands = signal<readonly Command[]>([]);

/** Adds commands. @returns takes them away again */
export function registerCommands(added: readonly Command[]): () => void {
  commands.value = [...commands.peek(), ...added];
  return () => {
    commands.value = commands.peek().filter((one) => !added.includes(one));
  };
}
