/**
 * The rules of before the tour. The tab has them, so that a reload goes on with the tour; the browser has a copy, which is
 * offered where the tab was closed in the middle of it.
 */
import { batch } from "@preact/signals";
import type { Source } from "../importing/api.js";
import { openedRules, openRules, source } from "./document.js";
import { notify } from "./notices.js";
import { recall, remember, type Where } from "./remembered.js";

export interface OwnRules {
  readonly text: string;
  readonly source: Source | null;
  readonly opened: string;
  readonly name: string;
}

const KEY = "tour.own";

export function ownRules(where: Where): OwnRules | null {
  return JSON.parse(recall(KEY, where) ?? "null") as OwnRules | null;
}

export function keepOwn(own: OwnRules): void {
  remember(KEY, JSON.stringify(own), "tab");
  remember(KEY, JSON.stringify(own));
}

export function releaseOwn(): void {
  remember(KEY, null, "tab");
  remember(KEY, null);
}

/** Opens them again. */
export function openOwn({ text, source: of, opened, name }: OwnRules): void {
  batch(() => {
    openRules(text, name);
    source.value = of;
    openedRules.value = opened;
  });
}

/** Offers what a tour that was never ended has left. */
export function offerOwn(): void {
  const own = ownRules("browser");
  if (own === null) return;
  const back = (): void => {
    releaseOwn();
    openOwn(own);
  };
  const text = `The tour was not finished. Your earlier rules, "${own.name}", have been kept.`;
  notify({ id: "tour", text, actions: [{ title: "Open them", run: back }] });
}
