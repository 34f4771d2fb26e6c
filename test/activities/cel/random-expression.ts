import type { Random } from '../../kit/random.ts';

type Type = 'int' | 'double' | 'string' | 'bool' | 'list';

/** Literals and variables by their types. */
const leaves: Readonly<Record<Type, readonly string[]>> = {
  int: ['0', '1', '-7', '42', 'i', '9223372036854775807'],
  double: ['0.5', '-2.25', '1e3', 'd'],
  string: ['""', '"a"', '"Abc"', 's'],
  bool: ['true', 'false', 'b'],
  list: ['[]', '[1, 2, 3]', 'l', '[i, -1]'],
};

/** Forms of expressions by their types; `$int` stands for an expression of type int, `$x` for the name of a new variable. */
const forms: Readonly<Record<Type, readonly string[]>> = {
  int: [
    '($int + $int)',
    '($int - $int)',
    '($int * $int)',
    '($int / $int)',
    '($int % $int)',
    '-($int)',
    'size($string)',
    'size($list)',
    '($bool ? $int : $int)',
    '$list[$int]',
    'int($double)',
    '$string.indexOf($string)',
  ],
  double: [
    '($double + $double)',
    '($double / $double)',
    '($double * $double)',
    'double($int)',
    '($bool ? $double : $double)',
  ],
  string: [
    '($string + $string)',
    'string($int)',
    '($bool ? $string : $string)',
    '$string.replace("e", $string)',
    '$string.lowerAscii()',
    '$string.substring($int)',
    '$string.split($string).join("-")',
    '{"k": $string}["k"]',
  ],
  bool: [
    '($bool && $bool)',
    '($bool || $bool)',
    '!($bool)',
    '($int < $int)',
    '($int == $int)',
    '($string == $string)',
    '($double >= $double)',
    '($list == $list)',
    '($int in $list)',
    '$list.all($x, $x > $int)',
    '$list.exists($x, $x == $int)',
    '$list.exists_one($x, $x < $int)',
    '$string.contains($string)',
    '$string.startsWith($string)',
    '$string.matches("^[a-z]+$")',
    'has({"k": $int}.k)',
  ],
  list: [
    '($list + $list)',
    '$list.map($x, $x + $int)',
    '$list.filter($x, $x > $int)',
    '[$int, $int]',
    '($bool ? $list : $list)',
  ],
};

const types = Object.keys(leaves) as readonly Type[];

/** A random expression whose types fit. Its variables are `i`, `d`, `s`, `b` and `l`. */
export function typedExpression(random: Random, depth: number, type: Type = random.pick(types)): string {
  if (depth === 0 || random.chance(0.15)) return random.pick(leaves[type]);
  const name = `x${random.below(1e6)}`;
  return random
    .pick(forms[type])
    .replaceAll(/\$(int|double|string|bool|list)/g, (_, part: Type) => typedExpression(random, depth - 1, part))
    .replaceAll('$x', name);
}

/** Pieces of expressions, and what expressions must not find. */
const pieces = [
  'object',
  'old_object',
  '.status',
  '.tags',
  '.secret',
  '.constructor',
  '.__proto__',
  '["constructor"]',
  '[0]',
  'x',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  '?',
  ' + ',
  ' - ',
  ' * ',
  ' / ',
  ' % ',
  '!',
  '-',
  '&&',
  '||',
  ' == ',
  ' < ',
  ' in ',
  '1',
  '0',
  '2.5',
  '3u',
  '"a"',
  'b"a"',
  "'",
  '"',
  '"""',
  'r"\\',
  '`',
  '`a-b`',
  '//',
  '\n',
  '\\',
  '😀',
  '\0',
  'null',
  'true',
  '.map(x, ',
  '.all(x, ',
  '.filter(x, ',
  'cel.bind(x, ',
  'has(',
  'size(',
  'type(',
  'dyn(',
  'indexBy(',
  'matches("(a+)+$")',
  'timestamp("2026-01-01T00:00:00Z")',
  'duration("1h")',
  '.getHours("x")',
  '.format([1])',
  'optional.of(',
  '.?a',
  '.orValue(',
  'process',
  'globalThis',
  'import("fs")',
  '__proto__',
  'prototype',
  'google.protobuf.Timestamp',
  'event_time',
  'int(',
  'string(',
];

/** A random text of such pieces, which is rarely an expression. */
export function randomText(random: Random, length: number): string {
  return Array.from({ length: random.below(length) + 1 }, () => random.pick(pieces)).join('');
}
