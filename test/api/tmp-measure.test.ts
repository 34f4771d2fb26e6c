import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isExposed } from '#entities/kit/model/exposure.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { syntheticRegistry } from '../kit/synthetic-kinds.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let client: TestClient;
let person: Person;
const registry = syntheticRegistry();

beforeAll(async () => {
  world = await openWorld({ registry });
  person = await buildPerson(world);
  client = await signedIn(world, person);
}, 120_000);
afterAll(() => world.close(), 60_000);

test('measure', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 100; i++) {
    const k = i % 110;
    const { data } = await client.graphql(`mutation { createThing${k}(input: { name: "a" }) { thing${k} { id } } }`);
    ids.push(data[`createThing${k}`][`thing${k}`].id);
  }
  const pg = new Client({ connectionString: world.databaseUrl });
  await pg.connect();
  await pg.query("create table record_kinds (id text primary key, kind text not null)");
  await pg.query("insert into record_kinds select entity_id, entity_kind from history where operation='created'");
  await pg.query("grant select on record_kinds to core_app");
  await pg.query("set role core_app"); await pg.query(`set core.organization_id = '${person.organization.id}'`); await pg.query(`set core.user_id = '${person.user.id}'`);
  const kinds = registry.modules.filter(isExposed);
  const union = kinds.map((m) => `select id, '${m.kind}' as kind from ${m.table} where id = any($1::text[]) and deleted_at is null`).join(' union all ');
  const time = async (label: string, text: string, values: string[], name?: string) => {
    const times: number[] = [];
    let rows = 0;
    for (let i = 0; i < 12; i++) { const t = performance.now(); rows = (await pg.query({ text, values: [values], ...(name ? { name } : {}) })).rowCount ?? 0; times.push(performance.now() - t); }
    console.log(label, rows, 'first', times[0]!.toFixed(2), 'median', times.toSorted((a, b) => a - b)[6]!.toFixed(2));
  };
  await time('union 1 unnamed', union, [ids[0]!]);
  await time('union 1 named', union, [ids[0]!], 'u1');
  await pg.query("set plan_cache_mode = force_generic_plan");
  await time('union 1 generic', union, [ids[0]!], 'u2');
  await time('union 100 generic', union, ids, 'u2');
  await time('table 1', 'select id, kind from record_kinds where id = any($1::text[])', [ids[0]!]);
  await time('table 100', 'select id, kind from record_kinds where id = any($1::text[])', ids);
  await time('history 100', 'select entity_id, entity_kind from history where entity_id = any($1::text[])', ids);
  for (let i = 0; i < 5; i++) { const t = performance.now(); const a = await client.graphql('query ($id: ID!) { node(id: $id) { id } }', { id: ids[0] }); console.log('node', performance.now() - t, JSON.stringify(a.body).slice(0, 150)); }
  await pg.end();
  expect(1).toBe(1);
}, 120_000);
