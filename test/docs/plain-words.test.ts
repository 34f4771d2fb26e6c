import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sentencesOf } from './sentences-of.ts';
import { repositoryFiles } from '../kit/repository-files.ts';

const root = join(import.meta.dirname, '../..');

/** Words that readers of English stumble over, and what to write instead. */
const rules: readonly { readonly words: RegExp; readonly instead: string }[] = [
  {
    words:
      /(?<!\b(?:the|a|their|its|exact|of|and) )\bcounts? (?:as|for|until|alone|only (?:when|if|while|as|for|in)|there|where|when|if|once|nothing|no more|no longer|like|elsewhere|in one|from then)\b|\b(?:it|which|that|who|they|those|not|longer|always|never|then|one) counts?(?=[.,;:)]|$)/i,
    instead: 'is valid, applies, is used, is treated as',
  },
  { words: /\bof now\b/i, instead: 'current' },
  { words: /\b(?:go|goes|going|went|gone) on\b/i, instead: 'continues' },
  { words: /\b(?:told|tells?|telling)\b/i, instead: 'is notified, learns; reports, shows, reveals, distinguishes' },
  {
    words: /^["'(*]*(?:What|Whatever|Whose|Whoever|Whom|Those (?:who|that|whose))\b(?!.*\?["')*]*$)/,
    instead: 'the thing or the person by its name, then a verb',
  },
  { words: /\bof yours\b/i, instead: 'your, of the caller' },
  { words: /\banswer to (?:our|the) support\b/i, instead: 'contact our support' },
  { words: /^["'(*]*Who (?!.*\?["')*]*$)/, instead: 'the person, operator or caller who, then a verb' },
  { words: /(?<!\bmust )\b(?:has|have) signed in, or called\b/i, instead: 'must have signed in, or called' },
  { words: /\b(?:is|are) away\b/i, instead: 'cannot be reached, is unreachable' },
  {
    words: /^(?:Why|When|Where|How|By [\w-]+|Its [\w-]+)\.$/,
    instead: 'a noun with its field: Reason for the repair.',
  },
];

/** Texts that people read: comments of the sources and of test/kit, texts and descriptions in them and printed from them, and the pages. */
const files = repositoryFiles().filter(
  (file) => !/^test\/(?!kit\/)|^(?:package-lock|knip|tsconfig)\b|^\.|\/\.|^(?:CHANGELOG)\.md$/.test(file),
);

function problemsOf(file: string, text: string): string[] {
  return sentencesOf(file, text).flatMap(({ start, text: sentence }) =>
    rules.flatMap(({ words, instead }) => {
      const [word] = words.exec(sentence) ?? [];
      const line = () => text.slice(0, start).split('\n').length;
      return word === undefined
        ? []
        : [`${file}:${line()}: not "${word.trim()}" but: ${instead} | ${sentence.slice(0, 160)}`];
    }),
  );
}

test('texts that people read use the words of plain English', () => {
  expect(files.length).toBeGreaterThan(1_000);
  expect(files.flatMap((file) => problemsOf(file, readFileSync(join(root, file), 'utf8')))).toEqual([]);
});

test.each([
  ['a.ts', '/** Fine. */\nconst a = 1; // This token counts until it\n// ends.', 2, 'counts until'],
  ['a.ts', "\n\nconst description = 'The work goes on.';", 3, 'goes on'],
  ['a.ts', '/**\n * The caller of a change.\n *\n * Whoever changes it has locked it.\n */', 4, 'Whoever'],
  ['a.sql', 'select 1;\n-- The owner is told of it.', 2, 'told'],
  ['a.md', '# Title\n\nA list:\n\n- It is short.\n- What is no id is refused.', 6, 'What'],
  ['a.md', 'Two sentences. The rights of\nnow apply.', 1, 'of now'],
  ['a.md', '| Code | What it does |', 1, 'What'],
  ['a.json', '{\n  "description": "Id. Whose delivery."\n}', 2, 'Whose'],
  ['a.graphql', '"""\nThe id of an upload of yours.\n"""\ntype A', 2, 'of yours'],
  ['a.yaml', 'rule:\n  # It tells them.', 2, 'tells'],
  ['a.ts', '/** Who made the change. */', 1, 'Who'],
  ['a.ts', "const proof = 'The user has signed in, or called it.';", 1, 'has signed in, or called'],
  ['a.md', 'It waits while the cache is away.', 1, 'is away'],
  ['a.json', '{\n  "description": "When."\n}', 2, 'When.'],
  ['a.graphql', '"""\nIts name.\n"""\ntype A', 2, 'Its name.'],
])('%s with a word of the list is found: %s', (file, text, line, word) => {
  expect(problemsOf(file, text)).toEqual([expect.stringContaining(`${file}:${line}: not "${word}"`)]);
});

test('names, code and other meanings of a word are not found', () => {
  const texts = [
    ['a.ts', "import { told } from './told.ts';\nconst counts = told(1, 2);\nif (counts) tells(counts);"],
    [
      'a.ts',
      '/** Calls `told` with the count. What does it return? It counts records, and bases the result on the count. */',
    ],
    [
      'a.md',
      '```sh\n# What goes on\n```\n\nThe process counts requests. Who may call it? Users must have signed in, or called it.',
    ],
  ] as const;
  for (const [file, text] of texts) expect(problemsOf(file, text)).toEqual([]);
});
