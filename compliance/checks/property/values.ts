/** Random values of an argument's type, as SQL expressions. */
import fc from 'fast-check';
import { CoverageError } from '../../errors.ts';
import { anyText, jsonText } from './json_text.ts';
import { textLiteral } from './sql_text.ts';

const text = anyText.map(textLiteral);

/** Within what a timestamp can hold: 4713 BC to 294276 AD, to the microsecond. */
const time = fc
  .tuple(
    fc.oneof(fc.integer({ min: 1970, max: 2100 }), fc.integer({ min: -4711, max: 294275 })),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 28 }),
    fc.integer({ min: 0, max: 86_399_999_999 }),
  )
  .map(([year, month, day, micros]) => {
    const pad = (value: number, width = 2): string => String(value).padStart(width, '0');
    const [date, era] = year > 0 ? [year, ''] : [1 - year, ' BC'];
    const seconds = Math.floor(micros / 1e6);
    const clock = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((part) =>
      pad(Math.floor(part)),
    );
    return `'${pad(date, 4)}-${pad(month)}-${pad(day)} ${clock.join(':')}.${pad(micros % 1e6, 6)}+00${era}'`;
  });

const byType: Readonly<Record<string, fc.Arbitrary<string>>> = {
  text,
  'text[]': fc
    .array(
      fc.oneof({ weight: 1, arbitrary: fc.constant('null') }, { weight: 4, arbitrary: text }),
      {
        maxLength: 6,
      },
    )
    .map((items) => (items.length === 0 ? "'{}'" : `array[${items.join(', ')}]`)),
  integer: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map(String),
  boolean: fc.constantFrom('true', 'false'),
  uuid: fc.uuid().map((value) => `'${value}'`),
  jsonb: jsonText().map(textLiteral),
  'timestamp with time zone': time,
};

/** @throws CoverageError for a type that nobody has said how to make values of. */
export function randomValue(type: string): fc.Arbitrary<string> {
  const arbitrary = byType[type];
  if (arbitrary === undefined)
    throw new CoverageError(
      `no random values of type ${type} are known: name them in compliance/checks/property/values.ts`,
    );
  return arbitrary;
}
