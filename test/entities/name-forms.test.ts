import { describe, expect, test } from 'vitest';
import { hasLineBreak, isVisible, nameForm, nameProblem } from '#entities/kit/base/name-form.ts';

describe('names that look the same', () => {
  test.each([
    ['in the case of their letters', ['Straße', 'STRASSE', 'STRAẞE', 'strasse']],
    ['in a letter that has two forms', ['ΟΔΟΣ', 'οδος', 'οδοσ']],
    ['in how an accent is written', ['Café', 'Cafe\u0301', 'CAFÉ']],
    ['in their white space', ['a b', ' a  b ', 'a\u00a0b', 'A\u3000\tB\u2028']],
    ['in how an emoji is drawn', ['⚠️ overdue', '⚠ Overdue', '⚠︎ overdue']],
    ['in characters that nobody sees', ['ab', 'a\u200bb', 'a\u00adb', '\ufeffab', 'a\u202eb', 'a\u200db', 'a\u200cb']],
    ['in a dot that is written apart', ['İzmir', 'i̇zmir']],
  ])('and differ %s are one', (_about, names) => {
    expect(new Set(names.map(nameForm)).size).toBe(1);
  });

  test.each([
    ['ılık', 'ilik'],
    ['Cafe', 'Café'],
    ['a b', 'ab'],
    ['می‌خواهم', 'میخواهم'],
    ['👨‍👩‍👧', '👨👩👧'],
    [
      '🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}',
      '🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}',
    ],
    ['m²', 'm2'],
  ])('%s and %s are two', (one, other) => {
    expect(nameForm(one)).not.toBe(nameForm(other));
  });

  test('have a form that is that of itself', () => {
    for (const name of ['ΟΔΟΣ Straße', ' ǅ\u0345 ', '⚠️ a', 'ﬁ', 'İ ı', '\u1e9e\u0323\u0307'])
      expect(nameForm(nameForm(name)), name).toBe(nameForm(name));
  });
});

test.each([
  '⚠️ Overdue',
  '1️⃣ first',
  '👨‍👩‍👧',
  '👩🏽‍🚀',
  '❤️‍🔥',
  '🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}',
  'می‌خواهم',
  'خانه‌ها',
  'क्‍ष',
  'क्‌ष',
  'ශ්‍රී',
  '辻\u{E0100}',
  'a\tb',
])('a name such as %j has no problem', (name) => {
  expect(nameProblem(name)).toBeUndefined();
});

test.each([
  ['a\u200bb', 'U+200B'],
  ['a\u200db', 'U+200D'],
  ['a\u200cb', 'U+200C'],
  // A letter that joins no following one.
  ['کار\u200cها', 'U+200C'],
  ['👨\u200d', 'U+200D'],
  ['\ufe0fa', 'U+FE0F'],
  ['a\ufe0f', 'U+FE0F'],
  ['a\u{E0100}', 'U+E0100'],
  ['a\u202eb', 'U+202E'],
  ['a\u3164b', 'U+3164'],
])('in the name %j a character that nobody sees is named', (name, character) => {
  expect(nameProblem(name)).toBe(`contains an invisible character (${character})`);
});

test('what shows nothing is recognized', () => {
  const blank = [
    '',
    ' ',
    '\u00a0',
    '\u200b',
    '\ufe0f',
    '\u3164',
    '\u115f',
    '\u1160',
    '\uffa0',
    '\u2800',
    '\u200d\u200c',
    '\u00ad',
    '\u2028',
  ];
  expect(blank.filter(isVisible)).toEqual([]);
  expect(['a', '1', '.', '⚠️', '\u0600', ' \u200bش '].filter((text) => !isVisible(text))).toEqual([]);
});

test('every character that ends a line in some program is one', () => {
  expect(['\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029'].filter((end) => !hasLineBreak(`a${end}b`))).toEqual([]);
  expect(hasLineBreak('a\tb\u00a0c')).toBe(false);
});
