import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPerson, signedIn } from '../kit/people.ts';
import { codeBlocks, ReaderShell } from '../kit/records/reader-shell.ts';
import { ended } from '../kit/events/started-transfers.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let shell: ReaderShell;
let url: string;
beforeAll(async () => {
  world = await openWorld({ worker: true });
  ({ url } = await world.listen());
  shell = new ReaderShell(dirname(world.mailFolder), 'reader');
});
afterAll(async () => {
  await shell?.close();
  await world.close();
});

test('an import and an export over REST are as the page says', async () => {
  const client = await signedIn(world, await buildPerson(world));
  writeFileSync(join(dirname(world.mailFolder), 'reader', 'tasks.csv'), 'title,priority\nfirst,5\nsecond,7\n');
  await shell.run(`API=${url}\nTOKEN=${client.cookies.get('access_token')}\n`);
  const [startImport = '', startExport = '', ...more] = codeBlocks('docs/imports-and-exports.md', 'sh');
  expect(more).toEqual([]);
  const { id } = JSON.parse(await shell.run(startImport)) as { id: string };
  expect(await ended(client, 'imports', id)).toMatchObject({ status: 'completed', done_rows: 2 });
  const { id: exportId } = JSON.parse(await shell.run(startExport)) as { id: string };
  expect(await ended(client, 'exports', exportId)).toMatchObject({ status: 'completed', done_rows: 2 });
});
