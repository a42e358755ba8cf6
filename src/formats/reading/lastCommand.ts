/** The last command of a text, whose effect an answer below it takes back: `RTNETLINK answers: File exists`. */
import type { Word } from "../text/refusal.js";
import type { Findings } from "./findings.js";

export class LastCommand {
  #undo: (() => unknown) | undefined;
  #from = 0;

  constructor(private readonly findings: Findings) {}

  /** A command is read. */
  begin(): void {
    this.#from = this.findings.list.length;
    this.#undo = () => undefined;
  }

  /** Answers that follow are not about a command. */
  end(): void {
    this.#undo = undefined;
  }

  /** What takes the effect of the command back. */
  set undo(undo: () => unknown) {
    if (this.#undo !== undefined) this.#undo = undo;
  }

  /** An answer says that the command was not executed. */
  failed({ text, place }: Word): void {
    if (this.#undo !== undefined) {
      this.findings.forgetRefused(this.#from);
      this.#undo();
      this.#undo = undefined;
    }
    this.findings.assume(place, text, "the command before it failed: ignored");
  }
}
