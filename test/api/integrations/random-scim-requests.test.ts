import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { depth, seedOf, timesOf } from '../../kit/depth.ts';
import { ScimClient, type ScimAnswer } from '../../kit/integrations/scim-client.ts';
import { compared, ScimModel, type ScimDocument } from '../../kit/integrations/scim-model.ts';
import type { Exchange } from '../../kit/integrations/scim-exchange.ts';
import { scimRequest } from '../../kit/integrations/scim-requests.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { recordTried } from '../../kit/tried.ts';
import { openWorld, type World } from '../../kit/world.ts';

const directories = timesOf({ sample: 3, prove: 100 });
const requestsEach = 50;

let world: World;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld();
  client = await signedIn(world, await buildPerson(world));
});
afterAll(() => world.close());

/** Compares an answer with that of the model. @param history requests until now, which say what went wrong */
function check(exchange: Exchange, answer: ScimAnswer, history: readonly string[]): void {
  const { status, scimType, resource, page, isChanged, heldTag } = exchange;
  const where = `${history.join('\n')}\n${JSON.stringify(answer)}`;
  expect(answer.status, where).toBe(status);
  if (status >= 400) {
    expect(answer.body, where).toMatchObject({ status: String(status), ...(scimType ? { scimType } : {}) });
    return;
  }
  if (resource) {
    expect(compared(answer.body as ScimDocument), where).toEqual(resource(answer));
    expect(answer.body.meta, where).toMatchObject({ version: answer.etag });
    if (isChanged !== undefined && heldTag !== undefined) expect(answer.etag !== heldTag, where).toBe(isChanged);
  }
  if (page) {
    const resources = (answer.body.Resources as ScimDocument[]).map(compared);
    expect({ ...answer.body, Resources: resources }, where).toMatchObject({
      totalResults: page.total,
      startIndex: page.startIndex,
      itemsPerPage: page.resources.length,
      Resources: page.resources,
    });
    expect(resources, where).toEqual(page.resources);
  }
}

test('random requests are answered as a small model answers them, and leave the same users and groups', async () => {
  const statuses = new Map<number, number>();
  const sequences = fc.array(scimRequest, { minLength: requestsEach, maxLength: requestsEach });
  await fc.assert(
    fc.asyncProperty(sequences, async (requests) => {
      const scim = await ScimClient.connect(world, client, newId());
      const model = new ScimModel();
      const history: string[] = [];
      for (const request of requests) {
        const exchange = request(model);
        const { method, path, body, ifMatch } = exchange;
        history.push(`${method} ${decodeURIComponent(path)} ${ifMatch ?? ''} ${JSON.stringify(body) ?? ''}`);
        check(
          exchange,
          await scim.send(method, path, body, ifMatch === undefined ? {} : { 'if-match': ifMatch }),
          history,
        );
        statuses.set(exchange.status, (statuses.get(exchange.status) ?? 0) + 1);
      }
      const shown = async (path: string) =>
        ((await scim.send('GET', `${path}?count=200`)).body.Resources as ScimDocument[]).map(compared);
      expect(await shown('/Users')).toEqual([...model.users.values()].map((user) => model.shownUser(user)));
      expect(await shown('/Groups')).toEqual([...model.groups.values()].map((group) => model.shownGroup(group)));
    }),
    // A directory that has changed is not brought back for a shorter sequence.
    { numRuns: directories, seed: seedOf('random SCIM requests'), endOnFailure: true },
  );
  // A sample may lack the rare ones.
  for (const status of depth === 'prove' ? [200, 201, 204, 400, 404, 409, 412] : [200, 201, 400])
    expect(statuses.get(status), String(status)).toBeGreaterThan(0);
  recordTried('random SCIM requests against a model', directories * requestsEach);
});
