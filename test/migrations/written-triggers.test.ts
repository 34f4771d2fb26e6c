import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { createDatabase, dropDatabase } from '#temporal-dev/servers/create-database.ts';
import { ScratchCopy } from '../kit/processes/scratch-copy.ts';

const admin = inject('stack').postgresUrl.replace('DATABASE', 'postgres');
const name = `triggers_${process.pid}`;
const url = inject('stack').postgresUrl.replace('DATABASE', name);

let copy: ScratchCopy;
beforeAll(async () => {
  copy = new ScratchCopy(join(inject('stack').folder, `triggers-${newId()}`));
  await createDatabase(admin, name, inject('stack').template);
});
afterAll(() => dropDatabase(admin, name));

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

const heldTriggers = () =>
  query(`select pg_get_triggerdef(oid) as definition from pg_trigger where not tgisinternal order by 1`);

/** Writes a migration. @returns its text */
async function written(what: string): Promise<string> {
  const [, file = ''] = /Wrote (\S+\.ts)\./.exec(await copy.migrate('new', url, what)) ?? [];
  return copy.read(file);
}

const up = () => copy.migrate('up', url);
const down = () =>
  copy.shell(
    `'${process.execPath}' --input-type=module -e "import { migrateDown } from './migrations/migrator.ts'; await migrateDown('${url}')"`,
  );

test('a migration leaves the triggers of all tables alone, also that of a table that gets a column, and goes up and down', async () => {
  const before = await heldTriggers();
  expect(JSON.stringify(before)).toContain('note_update AFTER UPDATE ON public.memberships');
  const file = 'entities/organizations/membership.ts';
  copy.change(file, '  fields: {\n', `  fields: {\n    remark: text('Remark.', { max: 99, optional: true }),\n`);
  copy.change(file, 'import { choice, reference }', 'import { choice, reference, text }');
  const text = await written('remark-of-members');
  expect(text).toContain('add "remark" text null');
  expect(text).not.toMatch(/trigger/i);
  for (const move of [up, down, up]) {
    await move();
    expect(await heldTriggers()).toEqual(before);
  }
});

test('a table that a migration drops comes back with its triggers', async () => {
  copy.write(
    'entities/organizations/short-lived.ts',
    `import { defineEntityModule } from '../kit/model/define.ts';
import { text } from '../kit/model/fields.ts';
import { organizationRecord } from '../presets/organization-record.ts';

export const shortLived = defineEntityModule({
  kind: 'shortLived',
  table: 'short_lives',
  description: 'Kind that goes again.',
  fields: { name: text('Name.', { max: 64 }) },
  tenancy: 'organization',
  policy: organizationRecord(),
  expose: { name: 'read-write' },
  filter: [],
  order: ['createdAt'],
  events: ['created'],
});
`,
  );
  const list = 'entities/organizations/index.ts';
  const without = copy.read(list);
  copy.write(list, `${without}export { shortLived } from './short-lived.ts';\n`);
  expect(await written('short-lives')).not.toMatch(/trigger/i);
  await up();
  await query(
    `create trigger note_insert after insert on short_lives for each row execute function note_caller_change('organization_id')`,
  );
  const before = await heldTriggers();
  copy.write(list, without);
  expect(await written('no-short-lives')).toMatch(
    /down\(\)[^]*create table "short_lives"[^]*CREATE TRIGGER note_insert AFTER INSERT ON public\.short_lives/,
  );
  await up();
  expect(await heldTriggers()).toHaveLength(before.length - 1);
  await down();
  expect(await heldTriggers()).toEqual(before);
});
