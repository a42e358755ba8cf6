/** Scrolls a list as little as shows an item whole, or its top. Nothing else moves. */
export function keepInView(list: HTMLElement, item: HTMLElement): void {
  const above = item.getBoundingClientRect().top - list.getBoundingClientRect().top + list.scrollTop;
  const below = above + item.offsetHeight;
  if (above < list.scrollTop) list.scrollTop = above;
  else if (below > list.scrollTop + list.clientHeight) list.scrollTop = Math.min(above, below - list.clientHeight);
}
