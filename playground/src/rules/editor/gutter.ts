/** Marks beside the lines: rules that the selected frame hit, and findings. */
import { Facet, type Extension, type RangeSet } from "@codemirror/state";
import { gutter, GutterMarker } from "@codemirror/view";

/** Sets of marks; each part of the editor provides its own. */
export const gutterMarks = Facet.define<RangeSet<GutterMarker>>();

/** A shape, with words for the pointer. */
export class Mark extends GutterMarker {
  readonly #kind: string;
  readonly #shape: string;
  readonly #title: string;

  constructor(kind: "hit" | "error" | "warning" | "note" | "dead", shape: string, title: string) {
    super();
    this.#kind = kind;
    this.#shape = shape;
    this.#title = title;
  }

  override eq(other: Mark): boolean {
    return other.#kind === this.#kind && other.#title === this.#title;
  }

  override toDOM(): Node {
    const mark = document.createElement("span");
    mark.className = `cm-${this.#kind}`;
    mark.textContent = this.#shape;
    mark.title = this.#title;
    return mark;
  }
}

export const marksGutter: Extension = gutter({
  class: "cm-marks",
  markers: (view) => view.state.facet(gutterMarks),
});
