/**
 * The head of a rule in memory; assembly/classify/rule.ts has what follows. A 5-tuple rule with one action fills one cache line.
 *
 * Both compilers read this file: numeric constants only, no imports.
 *
 *     0      8      12     16     20         24   28      29        30      31       32
 *     | rank | mask | hash | next | previous | id | tuple | actions | flags | column | ...
 *     32       36        40       48                               64
 *     | action | counter | bounds | value lanes, 16 bytes each ... |
 *
 *     mask             the mask that rules of its table share (assembly/classify/mask.ts)
 *     next, previous   link the rules of a rule list (listOrder.ts). `previous` of the first is the
 *                      last rule, `next` of the last is 0
 *     id               the number in outcomes
 *     actions          how many
 *     bounds           ranges of two 16-bit fields, such as ports, in `column` of the lanes:
 *                      | low | low | ~high | ~high |, all zero for none
 *     action           the only action, or the address of a block
 *     counter          beside a block: the counter of a rule with a fast path. It lies in the cache
 *                      line of the rule, so that counting does not wait for the block
 */
export const RULE_RANK = 0;
export const RULE_MASK = 8;
export const RULE_HASH = 12;
export const RULE_NEXT = 16;
export const RULE_PREVIOUS = 20;
export const RULE_ID = 24;
export const RULE_TUPLE = 28;
export const RULE_ACTION_COUNT = 29;
/**
 * Flags MORE_* (parts of the rule outside the first lane, the bounds and the line), FAST_PATH*, and
 * MARK* (listOrder.ts).
 */
export const RULE_FLAGS = 30;
export const RULE_COLUMN = 31;
export const RULE_ACTION = 32;
export const RULE_COUNTER = 36;
export const RULE_BOUNDS = 40;
export const RULE_VALUE = 48;
