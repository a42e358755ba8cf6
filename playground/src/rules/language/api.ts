/** What the editor asks of the language worker. Offsets count UTF-16 units of the text. */

export interface Language {
  /** What can stand at an offset. */
  complete(text: string, offset: number): Promise<Completions | null>;
  /** What stands at an offset; null where nothing is known of it. */
  describe(text: string, offset: number): Promise<Description | null>;
}

export interface Completions {
  /** The text that is replaced. */
  readonly from: number;
  readonly to: number;
  readonly items: readonly CompletionItem[];
}

export interface CompletionItem {
  readonly label: string;
  readonly kind: "key" | "value" | "name" | "template";
  /** What is inserted; `${name}` is a place to fill in, with a proposal. */
  readonly snippet: string;
  readonly detail: string;
  readonly about: string;
  /** Whether names are completed next, inside the quotes that were inserted. */
  readonly goesOn: boolean;
}

export interface Description {
  readonly from: number;
  readonly to: number;
  /** `outer.ipv4_dst`, `queues[0]`. */
  readonly name: string | null;
  readonly lines: readonly string[];
  /** For a name: the path of the object that has it. */
  readonly definition: string | null;
}
