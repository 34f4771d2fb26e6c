// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { createDatabase, dropDatabase } from '#temporal-dev/servers/create-database.ts';
import { ScratchCopy } from '../kit/processes/scratch-copy.ts';

const admin = inject('stack').postgresUrl.replace('DATABASE', 'postgres');
/** Databases: of who worked on each branch, and one that is new. */
const names = {
  firsts: `firsts_${process.pid}`,
  seconds: `seconds_${process.pid}`,
  fresh: `fresh_${process.pid}`,
};
const url = (name: keyof typeof names) => inject('stack').postgresUrl.replace('DATABASE', names[name]);

let copy: ScratchCopy;
beforeAll(async () => {
  copy = new ScratchCopy(join(inject('stack').folder, `branches-${newId()}`));
  for (const name of ['firsts', 'seconds'] as const) await createDatabase(admin, names[name], inject('stack').template);
  await createDatabase(admin, names.fresh);
});
afterAll(async () => {
  for (const name of Object.values(names)) await dropDatabase(admin, name);
});

function kindFile(kind: string, table: string): string {
  return `import { defineEntityModule } from '../kit/model/define.ts';
import { text } from '../kit/model/fields.ts';
import { organizationRecord } from '../presets/organization-record.ts';

export const ${kind} = defineEntityModule({
  kind: '${kind}',
  table: '${table}',
  description: 'Made on a branch.',
  fields: { name: text('Name.', { max: 64, exposed: 'read-write', lists: ['filter', 'order', 'search'] }) },
  tenancy: 'organization',
  policy: organizationRecord(),
  mutate: ['create'],
  events: ['created'],
});
`;
}

/** Adds a kind and its migration on a branch of its own, against the database of who works on it. */
async function addOnBranch(kind: string, area: string, database: 'firsts' | 'seconds'): Promise<void> {
  copy.git('checkout', '-q', '-b', database, 'main');
  copy.write(`entities/${area}/${kind}.ts`, kindFile(kind, database));
  const list = `entities/${area}/index.ts`;
  copy.write(list, `${copy.read(list)}export { ${kind} } from './${kind}.ts';\n`);
  expect(await copy.migrate('new', url(database), `add-${database}`)).toContain('Wrote');
  expect(await migrate(database)).toEqual([`add-${database}`]);
  copy.commit(`add ${database}`);
}

/** Runs what is pending; the names of migrations without their times. */
async function migrate(database: keyof typeof names): Promise<string[]> {
  const [, ran = ''] = /^Ran (.*)\.$/m.exec(await copy.migrate('up', url(database))) ?? [];
  return ran
    .split(', ')
    .flatMap((name) => (/^(?:function|triggers of) /.test(name) ? [] : name.replace(/^\d{14}-/, '')));
}

test('branches that each added a kind and a migration merge, and both run, whichever ran before', async () => {
  await addOnBranch('secondBranchRecord', 'organizations', 'seconds');
  await addOnBranch('firstBranchRecord', 'work', 'firsts');
  copy.git('checkout', '-q', 'main');
  copy.git('merge', '-q', '--no-edit', 'firsts');
  copy.git('merge', '-q', '--no-edit', 'seconds');

  expect((await migrate('fresh')).slice(-2)).toEqual(['add-seconds', 'add-firsts']);
  // The older one runs after the newer one here.
  expect(await migrate('firsts')).toEqual(['add-seconds']);
  expect(await migrate('seconds')).toEqual(['add-firsts']);
  for (const database of ['fresh', 'firsts', 'seconds'] as const)
    expect(await copy.migrate('new', url(database), 'more')).toContain('there is nothing to write');
});
