/** What is selected. A pane that selects sets it here; every pane shows it. */
import { signal } from "@preact/signals";
import type { FrameFilter, FrameWay } from "../engine/api.js";

/** The number of the frame; null for none. */
export const selectedFrame = signal<number | null>(null);
/** The path of the selected frame; null until the engine has answered. */
export const way = signal<FrameWay | null>(null);
/** The index of the step in the trace of the selected frame. */
export const selectedStep = signal(0);
/** The path of an object in the rules, such as `rules[2]`. */
export const selectedPath = signal<string | null>(null);
/** Bytes of the selected frame, and the field that lies there. */
export const selectedBytes = signal<{ readonly offset: number; readonly length: number } | null>(null);
/** The name of a match field, such as `outer.ipv4_dst`. */
export const selectedField = signal<string | null>(null);
/** What the list of frames shows. */
export const filter = signal<FrameFilter>({});
