/** What the page gives to a dialog over it. */
export interface ViewProps {
  readonly onClose: () => void;
}
