/** What the page says once, above the panes, with what can be done about it. */
import { signal } from "@preact/signals";

export interface Notice {
  /** A new notice with the same id takes the place of the old one. */
  readonly id: string;
  readonly text: string;
  readonly actions?: readonly NoticeAction[];
}

export interface NoticeAction {
  /** As a button says it: "Go back to them". */
  readonly title: string;
  /** The notice goes away after it. */
  readonly run: () => void;
}

export const notices = signal<readonly Notice[]>([]);

export function notify(notice: Notice): void {
  notices.value = [...notices.peek().filter(({ id }) => id !== notice.id), notice];
}

export function dismiss(id: string): void {
  notices.value = notices.peek().filter((one) => one.id !== id);
}
