import { newId } from '#entities/kit/base/ids.ts';
import type { Random } from '../random.ts';

/** Ids that requests name: by kind, of the caller's own organization and of another one. */
export interface FuzzIds {
  readonly own: ReadonlyMap<string, string>;
  readonly theirs: ReadonlyMap<string, string>;
}

const nested = (depth: number, inner: unknown): unknown => {
  let value = inner;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

/** Texts that are valid JSON strings, and that something behind the API could take for something else. */
export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\t\r\n',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\u202Egnp.exe',
  '\ufeff',
  'e\u0301'.repeat(50),
  '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}',
  '\u{10FFFF}',
  '\u0130\u0131\u017F\u1E9E',
  'x'.repeat(300),
  'x'.repeat(10_000),
  'x'.repeat(200_000),
  '../../../../etc/passwd',
  String.raw`..\..\windows\win.ini`,
  '/',
  '//evil.example.com',
  '%00',
  '%',
  '%25%zz',
  '_',
  "' or '1'='1",
  '"; drop table users; --',
  '$1',
  '?',
  ':id',
  '{}',
  '{a,b}',
  '${7*7}',
  '{{7*7}}',
  '{{#each}}',
  '<script>alert(1)</script>',
  '\r\nSet-Cookie: a=b',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'http://127.0.0.1:1/',
  'http://[::1]/',
  'https://user:pass@example.com:99999/',
  'a@b',
  'a@example.com\r\nBcc: b@example.com',
  `${'a'.repeat(64)}@${'b.'.repeat(90)}com`,
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '10000-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.000Z',
  '-000001-01-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-01-31T24:00:00Z',
  '2026-01-31T12:00:00+99:99',
  '2026-01-31',
  'infinity',
  'NaN',
  '1e400',
  '-1',
  '9'.repeat(40),
  '0.'.padEnd(60, '1'),
  '0x10',
  'null',
  'true',
  '[]',
  '__proto__',
  'constructor',
  'toString',
  '7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
  '8ZZZZZZZZZZZZZZZZZZZZZZZZZ',
  '00000000000000000000000000',
  'eyJhbGciOiJub25lIn0.e30.',
  'bm90IGEgY3Vyc29y',
  'WyJub25lIl0',
  '(a+)+$',
  '*',
  'W/"1"',
  'a, b, c',
];

const hostileNumbers: readonly number[] = [
  0,
  -0,
  -1,
  1,
  0.1,
  -2_147_483_649,
  2_147_483_648,
  Number.MAX_SAFE_INTEGER,
  2 ** 63,
  -(2 ** 63) - 1_025,
  1e21,
  1e308,
  5e-324,
];

const hostileShapes: readonly unknown[] = [
  null,
  true,
  false,
  [],
  {},
  [null],
  [[]],
  [{}],
  { a: 1 },
  { $ne: null },
  { eq: null },
  { in: [] },
  { not: { not: { not: {} } } },
  { toString: 1, valueOf: 2, length: 3 },
  nested(10, 1),
  nested(60, 'x'),
  nested(70, null),
  nested(2_000, 1),
  Array.from({ length: 1_000 }, (_each, index) => index),
  Array.from({ length: 30_000 }, () => 'x'),
  Object.fromEntries(Array.from({ length: 500 }, (_each, index) => [`key_${index}`, index])),
  Object.fromEntries([['__proto__', { isPolluted: true }]]),
  { constructor: { prototype: { isPolluted: true } } },
];

/** A value that hardly any place accepts, or that one accepts although it should not. */
export function hostileValue(random: Random, ids: FuzzIds): unknown {
  const sort = random.below(10);
  if (sort < 4) return random.pick(hostileTexts);
  if (sort < 6) return random.pick(hostileNumbers);
  if (sort < 8) return random.pick(hostileShapes);
  return idOf(random, ids);
}

/** As a part of a URL, a header or a cell. */
export function hostileText(random: Random, ids: FuzzIds): string {
  if (random.chance(0.15)) return idOf(random, ids);
  const text = random.pick(hostileTexts);
  return text.length > 10_000 ? text.slice(0, 5_000) : text;
}

/** The id of a record of any kind, or of that one: mostly of the caller's organization, sometimes of another one, seldom of nothing. */
export function idOf(random: Random, { own, theirs }: FuzzIds, kind?: string): string {
  const from = random.chance(0.8) ? own : theirs;
  if (random.chance(0.05)) return newId();
  const known = kind === undefined || random.chance(0.05) ? undefined : from.get(kind);
  return known ?? random.pick([...from.values()]);
}

type Json = unknown;

/**
 * The value with something in it replaced, left out, added or repeated, at a random depth.
 */
export function mutated(random: Random, value: Json, ids: FuzzIds): Json {
  const isDeeper = random.chance(0.75);
  if (Array.isArray(value) && value.length > 0 && isDeeper) {
    const index = random.below(value.length);
    if (random.chance(0.1)) return [...(value as Json[]), ...(value as Json[])];
    return (value as Json[]).map((each, at) => (at === index ? mutated(random, each, ids) : each));
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const entries = Object.entries(value);
    const turn = random.below(10);
    if (turn === 0) return Object.fromEntries([...entries, [random.pick(hostileTexts), hostileValue(random, ids)]]);
    if (entries.length > 0 && turn < 9) {
      const index = random.below(entries.length);
      if (turn === 1) return Object.fromEntries(entries.filter((_entry, at) => at !== index));
      return Object.fromEntries(
        entries.map(([name, each], at) => [name, at === index ? mutated(random, each, ids) : each]),
      );
    }
  }
  return hostileValue(random, ids);
}
