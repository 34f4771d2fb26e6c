import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RecordedRequest } from '../../kit/integrations/recording-proxy.ts';
import { ScimClient } from '../../kit/integrations/scim-client.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** A sample of the requests of test/conformance/scim-testers.test.ts, with ids as `{resource 1}`. */
const recorded = JSON.parse(
  readFileSync(new URL('../../conformance/scim/requests.json', import.meta.url), 'utf8'),
) as readonly { readonly tester: string; readonly requests: readonly RecordedRequest[] }[];

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test.each(recorded)('the requests of $tester are answered as they were when it found nothing', async ({ requests }) => {
  const scim = await ScimClient.connect(world, await signedIn(world, await buildPerson(world)));
  const ids = new Map<string, string>();
  const filled = (text: string) => text.replaceAll(/\{resource \d+\}/g, (name) => ids.get(name) ?? name);
  for (const { method, path, body, ifMatch, status, createdId } of requests) {
    const text = body === undefined ? undefined : filled(JSON.stringify(body));
    const answer = await scim.send(method, filled(path), text, ifMatch === undefined ? {} : { 'if-match': ifMatch });
    expect(answer.status, `${method} ${path} ${text}: ${JSON.stringify(answer.body)}`).toBe(status);
    if (createdId !== undefined) ids.set(createdId, answer.body.id as string);
  }
  expect(requests.length).toBeGreaterThan(15);
});
