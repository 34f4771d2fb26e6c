import { expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { eventsTool } from '#tools/commands/event-arguments.ts';
import { ArgumentError, readCommand } from '#tools/commands/tool.ts';

const id = newId();
const read = (line: string) => readCommand(eventsTool, line.split(' '));

test.each([
  ['', 'command'],
  ['dance', 'no command "dance"'],
  ['show', 'one id'],
  ['show here', 'not an id'],
  [`show ${id} ${newId()}`, 'one id'],
  [`show ${id} --limit 3`, 'no option --limit'],
  ['list --status broken', 'no status "broken"'],
  ['list --limit 0', 'from 1 to 1000'],
  ['list --limit 1001', 'from 1 to 1000'],
  ['list --since yesterday', 'not a time'],
  ['list --until 2026-01-31', 'not a time'],
  ['list --organization acme', 'not an id'],
  ['list --after here', 'not a position'],
  ['list --reason x', 'no option --reason'],
  [`retry ${id}`, '--reason'],
  [`retry ${id} --reason=`, '--reason'],
  ['skip --reason x', 'a selection, or --all'],
  ['skip --status failing --reason x', 'a selection, or --all'],
  [`retry ${id} --all --reason x`, 'a selection, or --all'],
  ['retry --listener x --status held --reason x', 'only failing'],
  ['skip --listener x --status done --reason x', 'only failing and held'],
  ['retry --all --reason x --rate 0', 'from 1 to 100'],
  ['retry --all --reason x --rate fast', 'from 1 to 100'],
  [`stop ${id}`, '--reason'],
  ['retry --all --reason x --force', '--force'],
])('npm run events -- %s is refused', (line, message) => {
  const refused = () => read(line);
  expect(refused).toThrow(ArgumentError);
  expect(refused).toThrow(message);
});

test('omitted arguments have a value', () => {
  expect(read('list')).toEqual({ name: 'list', selection: { states: ['failing', 'held', 'skipped'] }, limit: 50 });
  expect(read(`skip ${id} --reason x`)).toMatchObject({
    selection: { states: ['failing', 'held'], eventIds: [id] },
    reason: 'x',
    perSecond: 10,
    isDryRun: false,
    operator: expect.stringMatching(/.@./),
  });
  expect(read('retry --all --reason x --dry-run').name).toBe('retry');
});

test('a selection is read', () => {
  const line = `list --status done,held --topic task.* --organization ${id} --request r --since 2026-01-31T10:30:00+01:00 --error Db`;
  expect(read(line)).toMatchObject({
    selection: {
      states: ['held', 'done'],
      topic: 'task.*',
      organizationId: id,
      requestId: 'r',
      since: '2026-01-31T09:30:00.000Z',
      error: 'Db',
    },
  });
});
