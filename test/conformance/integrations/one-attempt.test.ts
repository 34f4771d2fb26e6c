import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IntegrationDefinition } from '#activities/clients/integrations/definition.ts';
import { integrationDefinitions } from '#activities/clients/integrations/definitions.ts';
import { ProviderError } from '#activities/clients/integrations/provider-error.ts';
import { HttpFake } from '../../kit/fakes/http-fake.ts';
import { misbehave, type Misbehaviour } from '../../kit/fakes/integrations/misbehaviour.ts';
import { adapterSamples } from '../../kit/integrations/adapter-samples.ts';
import { callbackUrl, ProviderContexts, state } from '../../kit/integrations/provider-contexts.ts';

/** Those of which an SDK might think that another attempt helps. */
const failures: readonly Misbehaviour[] = ['fail', 'limit', 'cut', 'half', 'page', 'redirect'];

const definitions = integrationDefinitions.filter(({ operations }) => operations.length > 0);

let contexts: ProviderContexts;
let provider: HttpFake;
let failure: Misbehaviour = 'fail';

beforeAll(async () => {
  contexts = await ProviderContexts.open();
  provider = await HttpFake.start(() => misbehave(failure, `${provider.url}/elsewhere`));
});
afterAll(async () => {
  await provider.close();
  await contexts.close();
});

function sampleFor({ id }: IntegrationDefinition) {
  const sample = adapterSamples[id];
  if (!sample) throw new Error(`${id} has no sample; add one to test/kit/integrations/adapter-samples.ts`);
  return sample;
}

type Call = readonly [name: string, call: () => Promise<unknown>];

/** Everything that asks a provider, by name. */
function callsOf(definition: IntegrationDefinition): Call[] {
  const { credential, userInput, inputs = {}, answer, kept = {} } = sampleFor(definition);
  const context = { ...contexts.context(credential, userInput), baseUrl: () => provider.url };
  const parameters = new URLSearchParams(answer);
  const request = { kept, callbackUrl, state };
  const ofConnections = definition.connections.flatMap((connection): Call[] => {
    const { credentialRef, auth } = connection;
    const calls: readonly (readonly [string, (() => Promise<unknown>) | false | undefined])[] = [
      ['check', () => connection.check(context)],
      ['refresh', connection.refresh !== undefined && (async () => connection.refresh?.(context))],
      ['revoke', connection.revoke !== undefined && (async () => connection.revoke?.(context))],
      ['begin', auth && (() => auth.begin(context, { state, callbackUrl }))],
      [
        'proceed',
        auth?.proceed !== undefined &&
          (async () => auth.proceed?.(context, parameters, { ...request, nextState: 'next' })),
      ],
      ['finish', auth && (() => auth.finish(context, parameters, request))],
    ];
    return calls.flatMap(([name, call]) => (call ? [[`${name} ${credentialRef}`, call] as const] : []));
  });
  const ofOperations = definition.operations.map((operation): Call => {
    const input = inputs[operation.name] ?? {};
    return operation.policy === 'inline'
      ? [`run ${operation.name}`, () => operation.run(context, input)]
      : [`read ${operation.name}`, () => operation.readPage(context, input)];
  });
  return [...ofConnections, ...ofOperations];
}

describe.each(definitions.map((definition) => [definition.id, definition] as const))('%s', (id, definition) => {
  test.each(failures)('asks a provider that answers with "%s" once, and says what is wrong', async (given) => {
    failure = given;
    const { settings, asksNothing = [] } = sampleFor(definition);
    await contexts.set(settings(provider.url));
    const quiet: string[] = [];
    for (const [name, call] of callsOf(definition)) {
      const before = provider.requests.length;
      const error = await call().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const asked = provider.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
      if (asked.length === 0) quiet.push(name);
      else expect({ name, asked: asked.length, error }).toEqual({ name, asked: 1, error: expect.any(ProviderError) });
    }
    expect(quiet, `calls of ${id} that ask nothing`).toEqual(asksNothing);
  });
});

test('every sample is that of a definition', () => {
  const ids = new Set(definitions.map(({ id }) => id));
  expect(Object.keys(adapterSamples).filter((id) => !ids.has(id))).toEqual([]);
});
