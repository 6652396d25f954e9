/**
 * The documented answer of a function, and whether an answer is one (contract §4, §5). Pure.
 *
 * An answer is a refusal, an object with refused = true, a reason of the function's own list and the
 * keys that the reason brings; or the documented effect: exactly its keys, each of its type.
 */

/** Key (`finished?` where it may be absent) → type, as `type` or `type or null`. */
export type Effect = Readonly<Record<string, string>>;
export type Documented = {
  refusals: readonly string[];
  /** Of the answer; of each row where the function returns rows. */
  effect: Effect;
};
/** Reason → the keys that it must bring beside refused and reason. */
export type Reasons = Readonly<Record<string, readonly string[]>>;

type Json = unknown;
type JsonObject = Readonly<Record<string, Json>>;

export function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether an answer says that it refuses, well-formed or not. */
export function refuses(answer: Json): answer is JsonObject {
  return isObject(answer) && answer.refused === true;
}

/** What is wrong with a refusal, or undefined. */
export function refusalProblem(
  refusal: JsonObject,
  documented: Documented | undefined,
  reasons: Reasons,
): string | undefined {
  const { reason } = refusal;
  if (typeof reason !== 'string' || !Object.hasOwn(reasons, reason))
    return `the reason ${JSON.stringify(reason)} is not in the contract's list`;
  if (documented !== undefined && !documented.refusals.includes(reason))
    return `the reason ${reason} is not documented for this function`;
  const absent = reasons[reason]?.find((key) => !Object.hasOwn(refusal, key));
  return absent === undefined ? undefined : `a refusal as ${reason} must bring "${absent}"`;
}

/** What is wrong with an effect, or undefined. */
export function effectProblem(answer: Json, effect: Effect): string | undefined {
  if (!isObject(answer)) return `it is no object: ${cut(answer)}`;
  const types = new Map(
    Object.entries(effect).map(([key, type]) => [key.replace(/\?$/, ''), type]),
  );
  const strange = Object.keys(answer).find((key) => !types.has(key));
  if (strange !== undefined) return `the key "${strange}" is not documented`;
  for (const [key, type] of Object.entries(effect)) {
    const name = key.replace(/\?$/, '');
    if (!Object.hasOwn(answer, name)) {
      if (key.endsWith('?')) continue;
      return `the key "${name}" is missing`;
    }
    const value = answer[name];
    if (!isOfType(value, type)) return `"${name}" is ${cut(value)}, not ${type}`;
  }
  return undefined;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME = /^\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d(:\d\d)*( BC)?$/;
const STATUSES = [
  ...['queued', 'leased', 'in_progress', 'retry_waiting'],
  ...['succeeded', 'dead_letter', 'cleaned'],
];

const types: Readonly<Record<string, (value: Json) => boolean>> = {
  true: (value) => value === true,
  false: (value) => value === false,
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => Number.isInteger(value),
  text: (value) => typeof value === 'string',
  uuid: (value) => typeof value === 'string' && UUID.test(value),
  time: (value) => typeof value === 'string' && TIME.test(value),
  status: (value) => typeof value === 'string' && STATUSES.includes(value),
  array: (value) => Array.isArray(value),
  object: isObject,
};
/** The words that an effect may use. */
export const typeWords: readonly string[] = Object.keys(types);

function isOfType(value: Json, type: string): boolean {
  return type.split(' or ').some((word) => types[word]?.(value) ?? false);
}

function cut(value: Json): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
