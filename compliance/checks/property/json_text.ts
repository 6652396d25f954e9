/**
 * Any JSON that jsonb can hold, as text: nested, with repeated keys, numbers beyond every integer
 * and float, every character but NUL. Text and not values, since JavaScript's own numbers and
 * objects cannot hold these.
 */
import fc from 'fast-check';

/** Every text of PostgreSQL: any code point but NUL and the surrogates. */
export const anyText: fc.Arbitrary<string> = fc
  .oneof(
    fc.string({ maxLength: 20 }),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({ unit: 'grapheme', maxLength: 300, size: 'max' }),
    fc.constantFrom('', ' ', 'null', 'true', '0', '{}', 'alpha', 'tests', 'dot_iu'),
  )
  .map((text) => text.replaceAll('\0', ' '));

const numberText = fc.oneof(
  fc.integer().map(String),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    ...['0', '-0', '1e400', '-1e400', '1e-400', '0.1', '1.0', '1E+2', '9223372036854775808'],
    ...['2147483647', '2147483648', '-2147483648', '-2147483649', '123456789012345678901234567890'],
  ),
);

/** `keys` are tried as object keys more often than others. */
export function jsonText(keys: readonly string[] = []): fc.Arbitrary<string> {
  const key = keys.length === 0 ? anyText : fc.oneof(fc.constantFrom(...keys), anyText);
  const { value } = fc.letrec<{ value: string; leaf: string }>((tie) => ({
    leaf: fc.oneof(
      fc.constantFrom('null', 'true', 'false'),
      numberText,
      anyText.map((text) => JSON.stringify(text)),
    ),
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('leaf'),
      arrayText(tie('value'), 5),
      arrayText(numberText, 80),
      objectText(key, tie('value')),
    ),
  }));
  return value;
}

function arrayText(item: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> {
  return fc.array(item, { maxLength, size: 'max' }).map((items) => `[${items.join(',')}]`);
}

function objectText(key: fc.Arbitrary<string>, value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(fc.tuple(key, value), { maxLength: 5 }).map(entriesText);
}

/** Keys may repeat: jsonb keeps the last. */
export function entriesText(entries: readonly (readonly [string, string])[]): string {
  return `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}
