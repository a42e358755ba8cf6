/** Moves and scales a picture by mouse, wheel, touch and keyboard. */
import { signal, type Signal } from "@preact/signals";
import type { Box } from "./boxes.js";

/** A point of the picture stands at `x + scale * point` of the window. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

const SMALLEST = 0.2;
const LARGEST = 3;
/** What fits is shown no larger than this. */
const NATURAL = 1;
/** A press that moves less is a click. */
const CLICK = 4;

export class PanZoom {
  readonly view: Signal<View> = signal({ x: 0, y: 0, scale: 1 });
  /** Whether the person has moved the picture. */
  moved = false;
  readonly #pointers = new Map<number, { x: number; y: number }>();
  #dragged = false;
  #element: Element | null = null;

  /** Listens to an element. @returns ends it */
  attach(element: HTMLElement | SVGElement): () => void {
    this.#element = element;
    const control = new AbortController();
    const options = { signal: control.signal, passive: false } as const;
    const on = <K extends keyof HTMLElementEventMap>(name: K, run: (event: HTMLElementEventMap[K]) => void): void => {
      element.addEventListener(name, run as EventListener, options);
    };
    on("wheel", (event) => this.#wheel(event));
    on("pointerdown", (event) => this.#down(event));
    on("pointermove", (event) => this.#move(event));
    on("pointerup", (event) => this.#up(event));
    on("pointercancel", (event) => this.#up(event));
    return () => control.abort();
  }

  /** Whether the click that comes now ended a drag. */
  get dragged(): boolean {
    return this.#dragged;
  }

  /**
   * Shows a picture, whole unless it would be smaller than `least`; then `middle` of it.
   * @param middle the part that is shown where there is no room for all
   */
  fit(width: number, height: number, least = SMALLEST, middle: Box | null = null): void {
    const { width: wide, height: high } = this.#size();
    if (width === 0 || height === 0 || wide === 0) return;
    const scale = Math.max(least, Math.min(NATURAL, wide / width, high / height));
    const place = (room: number, size: number, at: number): number =>
      size <= room ? (room - size) / 2 : Math.max(room - size, Math.min(0, room / 2 - at));
    this.view.value = {
      scale,
      x: place(wide, width * scale, middle === null ? 0 : (middle.x + middle.width / 2) * scale),
      y: place(high, height * scale, middle === null ? 0 : (middle.y + middle.height / 2) * scale),
    };
    this.moved = false;
  }

  /** Scales around the middle. */
  zoom(factor: number): void {
    const { width, height } = this.#size();
    this.#scaleAt(width / 2, height / 2, factor);
  }

  pan(x: number, y: number): void {
    const { view } = this;
    view.value = { ...view.value, x: view.value.x + x, y: view.value.y + y };
    this.moved = true;
  }

  /** Moves as little as shows a box. */
  reveal({ x, y, width, height }: Box): void {
    const { width: wide, height: high } = this.#size();
    const { x: left, y: top, scale } = this.view.value;
    const shift = (from: number, size: number, room: number): number =>
      from < 8 ? 8 - from : from + size > room - 8 ? Math.max(8 - from, room - 8 - from - size) : 0;
    const dx = shift(left + x * scale, width * scale, wide);
    const dy = shift(top + y * scale, height * scale, high);
    if (dx !== 0 || dy !== 0) this.view.value = { x: left + dx, y: top + dy, scale };
  }

  #size(): { width: number; height: number } {
    const box = this.#element?.getBoundingClientRect();
    return { width: box?.width ?? 0, height: box?.height ?? 0 };
  }

  #scaleAt(x: number, y: number, factor: number): void {
    const { x: left, y: top, scale } = this.view.value;
    const next = Math.max(SMALLEST, Math.min(LARGEST, scale * factor));
    const ratio = next / scale;
    this.view.value = { x: x - (x - left) * ratio, y: y - (y - top) * ratio, scale: next };
    this.moved = true;
  }

  #wheel(event: WheelEvent): void {
    event.preventDefault();
    const box = this.#element?.getBoundingClientRect();
    // A pinch on a touchpad comes as a wheel with Ctrl, in smaller steps.
    const speed = event.ctrlKey ? 0.01 : event.deltaMode === 1 ? 0.03 : 0.0015;
    this.#scaleAt(event.clientX - (box?.left ?? 0), event.clientY - (box?.top ?? 0), Math.exp(-event.deltaY * speed));
  }

  #down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.#dragged = false;
  }

  #move(event: PointerEvent): void {
    const last = this.#pointers.get(event.pointerId);
    if (last === undefined) return;
    const here = { x: event.clientX, y: event.clientY };
    if (this.#pointers.size === 1) {
      if (!this.#dragged && Math.hypot(here.x - last.x, here.y - last.y) < CLICK) return;
      this.#dragged = true;
      this.#element?.setPointerCapture(event.pointerId);
      this.pan(here.x - last.x, here.y - last.y);
    } else this.#pinch(event.pointerId, last, here);
    this.#pointers.set(event.pointerId, here);
  }

  /** Two fingers: their distance scales, their middle moves. */
  #pinch(id: number, last: { x: number; y: number }, here: { x: number; y: number }): void {
    const other = [...this.#pointers].find(([one]) => one !== id)?.[1];
    const box = this.#element?.getBoundingClientRect();
    if (other === undefined || box === undefined) return;
    this.#dragged = true;
    const before = Math.hypot(last.x - other.x, last.y - other.y);
    const after = Math.hypot(here.x - other.x, here.y - other.y);
    this.pan((here.x - last.x) / 2, (here.y - last.y) / 2);
    if (before > 0) this.#scaleAt((here.x + other.x) / 2 - box.left, (here.y + other.y) / 2 - box.top, after / before);
  }

  #up(event: PointerEvent): void {
    this.#pointers.delete(event.pointerId);
  }
}
