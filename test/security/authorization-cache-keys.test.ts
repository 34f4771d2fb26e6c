// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { expect, test } from 'vitest';
import { allowKey } from '#activities/clients/cache/allow-cache.ts';
import type { CheckRequest } from '#entities/kit/access/authorizer.ts';
import type { ConditionedTuple } from '#entities/kit/model/tuples.ts';
import { seeded, timesOf } from '../kit/depth.ts';
import type { Random } from '../kit/random.ts';
import { recordTried } from '../kit/tried.ts';

// T-56: OpenFGA CVE-2026-33729, -34972, -48096; Oathkeeper CVE-2026-33496: keys of remembered decisions that two questions share.

interface Asked {
  readonly question: CheckRequest;
  readonly revisions: string;
}

const pairs = timesOf({ sample: 20_000, prove: 1_000_000 });

/** Pieces of which ids are made; few, so that different questions often look alike when they are joined. */
const pieces = [
  'a',
  'b',
  ':',
  '#',
  '|',
  '\n',
  '\0',
  ' ',
  '"',
  ',',
  '1:',
  '2:a',
  'é',
  'e\u0301',
  '💡',
  '\u202E',
  '\uFEFF',
];

function textOf(random: Random): string {
  return Array.from({ length: random.below(4) }, () => random.pick(pieces)).join('');
}

function tieOf(random: Random): ConditionedTuple {
  const tie = { object: textOf(random), relation: textOf(random), subject: textOf(random) };
  if (random.chance(0.6)) return tie;
  const context = random.chance(0.5) ? {} : { [textOf(random)]: random.pick([textOf(random), 1, '1', true, null]) };
  return { ...tie, condition: { name: `c${textOf(random)}`, context } };
}

function askedOf(random: Random): Asked {
  return {
    question: {
      object: textOf(random),
      relation: textOf(random),
      subject: textOf(random),
      context: Array.from({ length: random.below(3) }, () => tieOf(random)),
    },
    revisions: textOf(random),
  };
}

/** Much the same: a character, or half of one, has moved from one part into the next. */
function shifted(random: Random, { question, revisions }: Asked): Asked {
  const { subject, relation, object, context } = question;
  const parts = [subject, relation, object, revisions];
  const place = random.below(parts.length - 1);
  const [left = '', right = ''] = parts.slice(place, place + 2);
  parts.splice(place, 2, left.slice(0, -1), left.slice(-1) + right);
  const [movedSubject = '', movedRelation = '', movedObject = '', movedRevisions = ''] = parts;
  return {
    question: { subject: movedSubject, relation: movedRelation, object: movedObject, context },
    revisions: movedRevisions,
  };
}

const keyOf = ({ question, revisions }: Asked): string => allowKey(question, revisions);
/** In a fixed order: equal for equal questions only. */
const textOfAsked = ({ question: { subject, relation, object, context }, revisions }: Asked): string =>
  JSON.stringify([subject, relation, object, context, revisions]);

test('T-56: random pairs of check requests have equal cache keys only when the requests are equal', () => {
  const random = seeded('authorization cache keys');
  const known = new Map<string, string>();
  const wrong: unknown[] = [];
  for (let count = 0; count < pairs; count++) {
    const one = askedOf(random);
    const two = random.chance(0.5) ? shifted(random, one) : askedOf(random);
    for (const asked of [one, two]) {
      // Against all that came before, and so against each other.
      const [key, text] = [keyOf(asked), textOfAsked(asked)];
      const before = known.get(key) ?? text;
      if (before !== text) wrong.push([before, text]);
      known.set(key, text);
    }
    if (textOfAsked(one) === textOfAsked(two) && keyOf(one) !== keyOf(two)) wrong.push([one, two]);
  }
  recordTried('pairs of check requests', pairs);
  expect(wrong).toEqual([]);
  expect(known.size).toBeGreaterThan(pairs / 2);
});

test.each([
  [
    { subject: 'user:a', relation: 'b' },
    { subject: 'user:ab', relation: '' },
  ],
  [
    { object: 'task:1', relation: 'can_view' },
    { object: 'task:1#can_view', relation: '' },
  ],
  [{ object: 'task:1|x' }, { object: 'task:1', subject: '|x' }],
  [{ object: 'task:1\n' }, { object: 'task:1' }],
  [{ object: 'task:é' }, { object: 'task:e\u0301' }],
])('T-56: %j and %j are different', (one, two) => {
  const empty: CheckRequest = { object: '', relation: '', subject: '', context: [] };
  expect(allowKey({ ...empty, ...one }, '')).not.toBe(allowKey({ ...empty, ...two }, ''));
});

test('T-56: contextual tuples, their order, their conditions and the revisions are part of the cache key', () => {
  const tie = { object: 'task:1', relation: 'parent_context', subject: 'organization:1' };
  const other = { object: 'task:1', relation: 'parent', subject: 'task:2' };
  const condition = { name: 'c', context: { a: 1 } };
  const asked = (context: readonly ConditionedTuple[], revisions = 'r') =>
    allowKey({ object: 'task:1', relation: 'can_view', subject: 'user:1', context }, revisions);
  const keys = [
    asked([]),
    asked([tie]),
    asked([tie, other]),
    asked([tie, tie]),
    asked([{ ...tie, condition }]),
    asked([{ ...tie, condition: { name: 'c', context: { a: '1' } } }]),
    asked([{ ...tie, condition: { name: 'd', context: { a: 1 } } }]),
    asked([], 'r2'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});
