import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { contextOf, type ProviderContext } from '#activities/clients/integrations/definition.ts';
import { chatIntegration } from '#activities/clients/integrations/chat/definition.ts';
import type { ProviderAccess } from '#activities/clients/integrations/provider-access.ts';
import { advanceRun } from '#activities/integrations/runs/advance-run.ts';
import { integration, integrationRun } from '#entities/index.ts';
import { requestRun } from '#entities/integrations/runs/request-run.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem, transactAs } from '../../kit/as-person.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { openChatConnections, type ChatConnections } from '../../kit/integrations/chat-connection.ts';
import type { Instance } from '../../kit/world.ts';

let ground: ChatConnections;
let other: Instance;
/** Those of two processes, each with its own connections to the database. */
let accesses: readonly [ProviderAccess, ProviderAccess];

beforeAll(async () => {
  ground = await openChatConnections();
  other = await ground.world.openInstance();
  accesses = [ground.world.runtime.integrations, other.runtime.integrations];
});
afterEach(() => {
  ground.chat.before = undefined;
});
afterAll(() => ground.close());

const askedBy = (access: ProviderAccess, id: string) => access.probe(id);

/** Milliseconds until the account is free. */
async function freeIn(workspaceId: string): Promise<number> {
  const [row] = await asOwner<{ ms: number }>(
    ground.world,
    `select (extract(epoch from free_at - clock_timestamp()) * 1000)::float8 as ms
       from integration_account_rates where account = $1`,
    [`chat/${workspaceId}`],
  );
  return row?.ms ?? 0;
}

test('requests of two processes to one account keep its rate, and no transaction is open while they wait', async () => {
  const id = await ground.connect('TRATE');
  const at: number[] = [];
  const held: number[] = [];
  const units = () => [ground.world.runtime, other.runtime].reduce((sum, one) => sum + one.database.activeUnits, 0);
  ground.chat.before = () => {
    at.push(performance.now());
    return undefined;
  };
  const asked = [0, 1, 2, 3, 4, 5].map((index) => askedBy(accesses[index % 2 ? 1 : 0], id));
  // After the first slots are taken, the others wait.
  const looks = (async () => {
    for (let look = 0; look < 8; look++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (look > 2) held.push(units());
    }
  })();
  await Promise.all([...asked, looks]);
  expect(at).toHaveLength(6);
  // Five a second: the last of six is a second after the first.
  expect((at.at(-1) ?? 0) - (at[0] ?? 0)).toBeGreaterThan(900);
  expect(Math.max(...held)).toBe(0);
});

test('an operation takes as much of the rate as it costs', async () => {
  const id = await ground.connect('TCOST');
  const operation = chatIntegration.operations.find(({ name }) => name === 'directorySync');
  const read = (context: ProviderContext) => {
    if (operation?.policy !== 'run') throw new Error('it is no run');
    return operation.readPage(contextOf(context, operation), {});
  };
  await accesses[0].use(id, read);
  const ms = await freeIn('TCOST');
  expect(ms).toBeGreaterThan(2_000);
  expect(ms).toBeLessThan(3_000);
});

test('a pause that the other system asks one process for keeps all from asking', async () => {
  const id = await ground.connect('TPAUSE');
  ground.chat.before = async () => ({ status: 429, body: { ok: false }, headers: { 'retry-after': '600' } });
  const limited = {
    code: 'rate_limited',
    retryAfterMs: expect.toSatisfy((ms: number) => ms > 500_000 && ms <= 600_000),
  };
  await expect(askedBy(accesses[0], id)).rejects.toMatchObject(limited);
  ground.chat.before = undefined;
  const requests = ground.chat.requests.length;
  await expect(askedBy(accesses[1], id)).rejects.toMatchObject(limited);
  // People are told when to try again.
  const client = await ground.client();
  const answer = await client.post(`/v1/integrations/${id}/operations/run`, {
    operation: 'messageSend',
    input: { text: 'hello', channel: 'C0000000001' },
  });
  expectProblem(answer, 'integration_unavailable');
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(500);
  expect(ground.chat.requests).toHaveLength(requests);
  // Another account is asked.
  await askedBy(accesses[1], await ground.connect('TOTHER'));
  // A run is told when it may continue, and stops nothing.
  const { database, expressions } = ground.world.runtime;
  const organizationId = ground.owner.organization.id;
  const row = await asSystem(ground.world, organizationId, (data) => data.get(integration, id));
  const run = await transactAs(
    ground.world.runtime,
    systemCaller('test', organizationId),
    async (unit) => ({
      ...(await requestRun(unit, { integration: row, operation: 'directorySync', trigger: 'person' })),
    }),
    newId(),
  );
  const advance = advanceRun({ database, expressions, integrations: accesses[1] }, run.id, { budgetMs: 1_000 });
  await expect(advance).rejects.toMatchObject(limited);
  expect(await asSystem(ground.world, organizationId, (data) => data.get(integrationRun, run.id))).toMatchObject({
    status: 'running',
    errorCode: 'rate_limited',
  });
  expect(await asSystem(ground.world, organizationId, (data) => data.get(integration, id))).toMatchObject({
    status: 'connected',
  });
});
