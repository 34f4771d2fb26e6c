import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lifecycleTool } from '#tools/commands/lifecycle-arguments.ts';
import { runLifecycleCommand } from '#tools/commands/lifecycle-commands.ts';
import { runSweepCommand, sweepTool } from '#tools/commands/sweep-commands.ts';
import { readCommand } from '#tools/commands/tool.ts';
import { asOwner } from '../kit/as-owner.ts';
import { openBilledWorld, type BilledWorld } from '../kit/billing/paying-organization.ts';
import { settingsOf, unpaidOrganizations } from '../kit/billing/unpaid-organization.ts';

const dayMs = 86_400_000;

let billed: BilledWorld;
beforeAll(async () => {
  billed = await openBilledWorld({ worker: true });
});
afterAll(() => billed.close());

/** The blocks of the section, each with its language. */
function stepsOf(heading: string) {
  const [, after = ''] = readFileSync('docs/lifecycle.md', 'utf8').split(`## ${heading}\n`);
  const [section = ''] = after.split('\n## ');
  return [...section.matchAll(/^ *```(sh|yaml)\n([\s\S]*?)^ *```/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
    lines: text.trim().split(/\n */),
  }));
}

/** Words as a shell splits them. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}

async function run(line: string): Promise<string> {
  const { runtime } = billed.world;
  const lines: string[] = [];
  const tool = { runtime, print: (text: string) => lines.push(text) };
  const [, , name, , ...args] = wordsOf(line);
  const isDone =
    name === 'sweep'
      ? await runSweepCommand(readCommand(sweepTool, args), tool)
      : await runLifecycleCommand(readCommand(lifecycleTool, args), tool);
  expect(isDone, `${line}\n${lines.join('\n')}`).toBe(true);
  return lines.join('\n');
}

/** The variables that say the same as a part of the configuration file. */
function variablesOf(tree: object, prefix = 'CORE'): [name: string, value: string][] {
  return Object.entries(tree).flatMap(([key, value]: [string, unknown]) => {
    const name = `${prefix}_${key.toUpperCase()}`;
    return typeof value === 'object' && value !== null ? variablesOf(value, name) : [[name, String(value)]];
  });
}

async function configure(text: string): Promise<void> {
  await billed.world.reconfigure(Object.fromEntries(variablesOf(parse(text) as object)));
}

test('the steps lead from a dry run to the deletion, and nobody is deleted before the last one', async () => {
  const { world } = billed;
  const [spared = '', postponed = '', due = ''] = await unpaidOrganizations(world, 3);
  const past = new Date(world.clock.now().getTime() - 40 * dayMs);
  await asOwner(world, 'update organizations set created_at = $2 where id = any($1)', [[postponed, due, spared], past]);
  const inDays = (days: number) => new Date(world.clock.now().getTime() + days * dayMs).toISOString();
  const said: string[] = [];
  const isThere = (id: string) =>
    asOwner(world, 'select 1 from organizations where id = $1 and deleted_at is null', [id]);
  for (const { language, text, lines } of stepsOf('Switching on deletion')) {
    if (language === 'yaml') {
      await configure(text);
      continue;
    }
    for (const line of lines) {
      expect(await isThere(due), line).toHaveLength(1);
      if (line.endsWith('-- delete-overdue-organizations')) world.clock.advance(8 * dayMs);
      said.push(
        await run(
          line
            .replace('ORGANIZATION', line.includes('postpone') ? postponed : spared)
            .replace('2027-01-31', inDays(20).slice(0, 10))
            .replace('2027-06-30', inDays(200).slice(0, 10)),
        ),
      );
    }
  }
  const [now = '', later = '', list = '', explained = '', , marked = '', listed = '', overdue = '', , deleted = ''] =
    said;
  expect(said).toHaveLength(10);
  for (const text of [now, later]) for (const id of [spared, postponed, due]) expect(text).toContain(id);
  expect(list).toContain('0 organizations are marked.');
  expect(explained).toContain('now: mark, because nobody pays');
  expect(marked).toContain(' done, 0 failed');
  expect(listed).toContain(due);
  expect(listed).not.toContain(spared);
  for (const id of [postponed, due]) expect(overdue).toContain(id);
  expect(deleted).toContain('1 done, 0 failed');
  expect(await isThere(due)).toEqual([]);
  for (const id of [spared, postponed]) expect(await isThere(id)).toHaveLength(1);
  expect((await settingsOf(world, spared)).markedForDeletionAt).toBeNull();
});
