/** Kinds of lines: commands, listings, and what ethtool prints. */
import { commandWithin } from "../../text/lines.js";

export const ASSIGNMENT = /^(?:export\s+|local\s+)?[A-Za-z_]\w*=/;
export const COMMAND = /^(?:[\w./-]*\/)?(?:ethtool|\$\{?ETHTOOL\}?)\s/;
export const FILTER = /^Filter:\s*\d+/;
/** Lines of a listing after the first one of a rule. */
export const ENTRY = /^(?:Rule Type|Action|RSS Context ID|[A-Z][A-Za-z0-9 -]*):\s/;
export const LISTED_BEFORE =
  /^(?:\d+ RX rings available|Total \d+ rules?|New RSS context is \d+|Added rule with ID \d+)$/;
export const WITHIN = commandWithin(
  /(?<![\w-])ethtool\s+(?:[-\u2010-\u2015][NUXnu]|--(?:config|show)-(?:nfc|ntuple)|--set-rxfh-indir|--rxfh)\s/,
);
/** What ethtool prints where the kernel does not execute a command. */
export const FAILED = /^(?:rmgr: |Cannot |netlink error: |ethtool: |Operation not |Unmatched )/;
export const RINGS = /^(\d{1,5}) RX rings available/;
export const ADDED = /^Added rule with ID (\d+)/;
