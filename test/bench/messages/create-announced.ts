import { openApiInstallation, type ApiInstallation } from '../api-installation.ts';
import { duel } from '../duel.ts';
import type { LoadRequest } from '../load-generator.ts';
import type { Bench } from '../row.ts';
import { endpointSettings } from './bench-endpoints.ts';
import { createEndpoint } from './create-endpoint.ts';

type Person = ApiInstallation['people'][number];

/** Creates of tasks in an organization with an endpoint that wants their events, against one without endpoints. */
export const createAnnounced: Bench = {
  name: 'create-announced',
  run: async (say) => {
    const installation = await openApiInstallation(endpointSettings);
    try {
      const { url, client } = installation;
      // The first organization is unlike the others.
      const [, announced, silent] = installation.people as [Person, Person, Person];
      await createEndpoint(url, announced.token);
      const requests = ({ token }: Person): LoadRequest[] => [
        { method: 'POST', path: '/v1/tasks', token, body: { title: 'Something that somebody has to do' } },
      ];
      const rows = await duel({
        name: 'create-announced',
        ours: { url, requests: requests(announced) },
        reference: { url, requests: requests(silent) },
        note: 'a task whose event an endpoint wants; reference: the same where nobody wants it',
        say,
      });
      await check(client, announced, silent);
      return rows;
    } finally {
      await installation.close();
    }
  },
};

/** Every event of the one has its message, and none of the other has one. */
async function check(client: ApiInstallation['client'], announced: Person, silent: Person): Promise<void> {
  const { rows } = await client.query<{ organization_id: string; events: number; messages: number }>(
    `select e.organization_id, count(*)::int as events, count(m.event_id)::int as messages
     from events e left join webhook_messages m on m.event_id = e.id
     where e.topic = 'task.created' and e.organization_id = any($1) group by e.organization_id`,
    [[announced.organizationId, silent.organizationId]],
  );
  const counts = new Map(rows.map((row) => [row.organization_id, row]));
  const [one, other] = [counts.get(announced.organizationId), counts.get(silent.organizationId)];
  if (!one || one.messages !== one.events || !other || other.messages !== 0)
    throw new Error(`create-announced: ${JSON.stringify(rows)}`);
}
