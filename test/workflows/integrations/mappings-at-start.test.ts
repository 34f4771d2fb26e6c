import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Mapping } from '#activities/clients/integrations/definition.ts';
import { fieldsOf, refuseMappings } from '#activities/integrations/ingest/refuse-mappings.ts';
import { maxPasses, takePassPlace } from '#activities/integrations/runs/pass-places.ts';
import { accountOf, ingestGround, pagesOf } from '../../kit/integrations/ingest-ground.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const refusal = (mapping: Omit<Mapping, 'kind'>) =>
  refuseMappings(world.runtime.expressions, [{ id: 'kettles', mappings: [{ kind: 'directoryAccount', ...mapping }] }]);

test('mappings of the product are right', async () => {
  await refuseMappings(world.runtime.expressions);
});

test.each([
  [{ mapExpr: '{"externalId": payload.}' }, 'kettles, directoryAccount: '],
  [{ mapExpr: '"no map"' }, 'kettles, directoryAccount: '],
  [{ mapExpr: '{"externalId": payload.id}', filterExpr: '1' }, 'kettles, directoryAccount: '],
  [{ mapExpr: '{"externalId": payload.id, "mail": payload.mail}' }, 'gives "mail", which is none of externalId'],
])('the mapping %j is refused', async (mapping, message) => {
  await expect(refusal(mapping)).rejects.toThrow(message);
});

test('fields of a mapping are the keys of its outermost map', () => {
  expect(fieldsOf(`{"a": b ? "c" : "d", 'e': {"f": 1}, "g": ["h"], "i": x == "}" ? "," : ":"}`)).toEqual([
    'a',
    'e',
    'g',
    'i',
  ]);
});

test('a pass waits for a place, so that messages find one', async () => {
  const ground = await ingestGround(world);
  ground.answer = pagesOf([accountOf(1)]);
  const { id } = await ground.request();
  const places = Array.from({ length: maxPasses }, () => takePassPlace());
  expect(takePassPlace()).toBeUndefined();
  const waiting = await ground.advance(id);
  expect([waiting.isDone, waiting.pauseMs > 0, ground.read]).toEqual([false, true, []]);
  for (const leave of places) leave?.();
  expect(await ground.advance(id)).toMatchObject({ isDone: true });
});
