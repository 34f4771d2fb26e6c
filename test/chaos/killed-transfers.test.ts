import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Failpoint } from '#entities/kit/base/failpoint.ts';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { ProductProcesses, type Program } from '../kit/processes/product-processes.ts';
import type { TestClient } from '../kit/test-client.ts';
import { documentOf, ended, startExport, startImport } from '../kit/events/started-transfers.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';

const worker = 'worker/worker-main.ts' satisfies Program;

/** Where the worker dies, one life after the other, with the passes that it survives. */
const deaths: readonly (readonly [Failpoint, number])[] = [
  ['import-page-written', 2],
  ['export-page-kept', 1],
  ['export-stored', 0],
];

let folder: string;
let world: World;
let owner: Person;
let client: TestClient;
let product: ProductProcesses;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'core-killed-transfers-'));
  // A folder that the world and the worker share.
  world = await openWorld({
    environment: {
      CORE_OBJECTSTORAGE_DEVMODE: 'false',
      CORE_OBJECTSTORAGE_PROVIDERS_DISK_ENABLED: 'true',
      CORE_OBJECTSTORAGE_PROVIDERS_DISK_BUCKET: join(folder, 'files'),
    },
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  product = await ProductProcesses.start(world, [worker], {
    [worker]: deaths.map(([name, passes]) => ({ FAILPOINTS: `${name}=kill@${passes}` })),
  });
});
afterAll(async () => {
  await product.close();
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

const rows = 3_200;

test('killed in the middle: an import is written once, and an export has each record once', async () => {
  const lines = Array.from({ length: rows }, (_none, index) => `task ${index}\n`).join('');
  const { id } = await startImport(world, owner, client, `title\n${lines}`);
  const imported = await ended(client, 'imports', id);
  expect(imported).toMatchObject({ status: 'completed', done_rows: rows });
  const counted = await asOwner(
    world,
    `select count(*)::int as tasks, count(distinct title)::int as titles from tasks where organization_id = $1`,
    [owner.organization.id],
  );
  expect(counted).toEqual([{ tasks: rows, titles: rows }]);
  const { id: exportId } = await startExport(client, { record_kind: 'task', fields: ['title'] });
  const exported = await ended(client, 'exports', exportId);
  expect(exported).toMatchObject({ status: 'completed', done_rows: rows });
  const titles = (await documentOf(client, exported)).split('\r\n').slice(1, -1);
  expect(titles).toHaveLength(rows);
  expect(new Set(titles).size).toBe(rows);
  const [place] = product.places;
  await place?.untilFirstLivesEnded();
  recordTried('kills in exports and imports', place?.deaths ?? 0);
});
