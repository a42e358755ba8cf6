/**
 * Matchers for Vitest, and for Jest: what would happen to a frame, and why where it is another thing. It only re-exports.
 *
 * @module vitest
 */
export {
  matchers,
  steered,
  type MatcherResult,
  type SteeredFrame,
  type SteeredFrom,
  type SteeringMatchers,
} from "./matchers.js";
