// Takes turns by the seed: npm test has some of these files, npm run prove has all.
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

test('a migration names no trigger, also where its table gets a column that one compares, and goes up and down', async () => {
  const file = 'entities/organizations/membership.ts';
  copy.change(file, '  fields: {\n', `  fields: {\n    remark: text('Remark.', { max: 99, optional: true }),\n`);
  copy.change(file, 'import { choice, reference }', 'import { choice, reference, text }');
  copy.change(file, `by: ['role']`, `by: ['role', 'remark']`);
  const text = await written('remark-of-members');
  expect(text).toContain('add "remark" text null');
  expect(text).not.toMatch(/trigger/i);
  await up();
  const before = await heldTriggers();
  expect(JSON.stringify(before)).toMatch(/note_update AFTER UPDATE ON public.memberships.*old.remark IS DISTINCT FROM/);
  await down();
  expect(JSON.stringify(await heldTriggers())).not.toContain('note_');
  await up();
  expect(await heldTriggers()).toEqual(before);
});

test('the triggers of a table come and go with the kind that decides about callers, and no migration names them', async () => {
  copy.write(
    'entities/organizations/short-lived.ts',
    `import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { text } from '../kit/model/fields.ts';
import { organizationRecord } from '../presets/organization-record.ts';

export const shortLived = defineEntityModule({
  kind: 'shortLived',
  table: 'short_lives',
  description: 'Kind that is removed again.',
  fields: { name: text('Name.', { max: 64, exposed: 'read-write' }) },
  tenancy: 'organization',
  behaviours: [decidesCallers({ of: 'organizationId', by: ['name'] })],
  policy: organizationRecord(),
  events: ['created'],
});
`,
  );
  const list = 'entities/organizations/index.ts';
  const [without, kindless] = [copy.read(list), await heldTriggers()];
  const withKind = `${without}export { shortLived } from './short-lived.ts';\n`;
  copy.write(list, withKind);
  expect(await written('short-lives')).not.toMatch(/trigger/i);
  expect(await up()).toContain('triggers of short_lives');
  const before = await heldTriggers();
  expect(JSON.stringify(before)).toContain('old.name IS DISTINCT FROM new.name');
  copy.write(list, without);
  expect(await written('no-short-lives')).not.toMatch(/trigger/i);
  await up();
  expect(await heldTriggers()).toEqual(kindless);
  await down();
  // As the version before, which lacks the last migration.
  await copy.shell('rm migrations/*-no-short-lives.ts');
  copy.write(list, withKind);
  expect(await up()).toContain('triggers of short_lives');
  expect(await heldTriggers()).toEqual(before);
});
