import { membership, user } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { eventually } from '../kit/eventually.ts';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { duel } from './duel.ts';
import { openBenchInstallation, type BenchInstallation } from './installation.ts';
import type { LoadRequest } from './load-generator.ts';
import { seedRecords, signIn, type BenchPerson } from './records.ts';
import type { Bench } from './row.ts';

/** Tasks that are changed in turn, so that clients seldom wait for the same row. */
const tasks = 128;

/** Changes of tasks by a member, whose right comes from the tasks: authorization store with remembered allows, against the rows alone. */
export const authzWarm: Bench = {
  name: 'authz-warm',
  run: async (say) => {
    const installation = await openBenchInstallation();
    const [person] = (await seedRecords(installation)) as [BenchPerson, ...BenchPerson[]];
    await makeMember(installation, person);
    const on = await start(installation, {});
    const off = await start(installation, { CORE_AUTHZ_ENABLED: 'false' });
    try {
      const { token } = await signIn(on.url, person);
      const ids: string[] = [];
      for (let count = 0; count < tasks; count++) ids.push(await createTask(on.url, token));
      const requests = [1, 2].flatMap((priority) =>
        ids.map((id): LoadRequest => ({ method: 'PATCH', path: `/v1/tasks/${id}`, token, body: { priority } })),
      );
      return await duel({
        name: 'authz-warm',
        ours: { url: on.url, requests },
        reference: { url: off.url, requests },
        note: 'changes by a member with rights record by record, allows remembered; reference: authz.enabled off',
        say,
      });
    } finally {
      await on.stop();
      await off.stop();
      await installation.close();
    }
  },
};

async function makeMember({ runtime }: BenchInstallation, { userId, organizationId }: BenchPerson): Promise<void> {
  const context = { caller: systemCaller('benchmark', organizationId), requestId: newId() };
  await runtime.database.transact(context, async ({ data }) => {
    const held = await data.findOne(membership, { userId: { eq: userId } });
    const { id } = await data.create(user, { email: 'stand-in@example.com', displayName: 'Stand-in' });
    await data.create(membership, { organizationId, userId: id, role: 'owner' });
    await data.update(membership, held?.id ?? '', { role: 'member' });
  });
}

async function start(
  { environment }: BenchInstallation,
  more: Readonly<Record<string, string>>,
): Promise<ProductProcess> {
  const api = new ProductProcess({
    program: 'api/api-main.ts',
    environment: { ...environment, ...more },
    isSilent: true,
  });
  await api.ready;
  await eventually(() => api.url !== '');
  return api;
}

async function createTask(url: string, token: string): Promise<string> {
  const answer = await fetch(`${url}/v1/tasks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ title: 'To be changed' }),
  });
  return ((await answer.json()) as { id: string }).id;
}
